// `plimsoll next`: what the next request would hold, and why.
import assert from "node:assert/strict";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { AUDIT, checkRefusal, EXPORTS, file, folder, json, PLAN, plimsoll } from "./command.mjs";

const SESSIONS = [AUDIT, PLAN, EXPORTS];
const STATES = ["kept", "capped", "stubbed", "thinned", "summarized", "dropped"];
const AT = ["--window", "16k", "--reserve", "1000"];
const text = (args) => plimsoll(args).out;
const number = (value) => value.toLocaleString("en-US");

test("used, reserve and free add up to the window, and the states to the history", () => {
  for (const session of SESSIONS) {
    const seen = json(["next", session, ...AT]);
    const { used, reserve, free, contextTokens } = seen.window;
    assert.equal(used + reserve + free, contextTokens);
    assert.deepEqual(Object.keys(seen.changes), STATES);
    for (const state of STATES) {
      const mine = seen.history.filter((one) => one.state === state);
      const sum = (of) => mine.reduce((all, one) => all + of(one), 0);
      assert.deepEqual(seen.changes[state], {
        messages: mine.length,
        newly: sum((one) => Number(one.isNew)),
        tokens: sum((one) => one.tokens),
        sentTokens: sum((one) => one.sentTokens),
      });
    }
    assert.equal(seen.history.length, seen.messages);
    const shown = text(["next", session, ...AT]);
    assert.ok(shown.includes(`used ${number(used)} (`));
    assert.ok(shown.includes(`free ${number(free)}`));
    assert.ok(shown.includes(`${number(seen.request.unmanaged)} -> ${number(used)} tokens`));
  }
});

test("the reason of the next edit is shown whole at every width", () => {
  for (const width of ["40", "80", "200"]) {
    const shown = text(["next", AUDIT, "--window", "64k", "--width", width]);
    const [, edit = ""] = /^(EDIT {2}.*(?:\n {6}\S.*)*)/m.exec(shown) ?? [];
    const { nextEdit } = json(["next", AUDIT, "--window", "64k"]);
    assert.ok(edit.replace(/\s+/g, " ").endsWith(`because ${nextEdit.reason}`), edit);
    for (const line of edit.split("\n")) assert.ok(line.length <= Number(width), line);
  }
});

test("next says that a session without messages sends nothing", () => {
  const header = {
    type: "session",
    version: 3,
    id: "a",
    timestamp: "2026-01-01T00:00:00Z",
    cwd: "/",
  };
  const shown = text(["next", file("bare.jsonl", `${JSON.stringify(header)}\n`)]);
  assert.match(shown, /^WOULD send nothing: the session has no messages$/m);
});

test("next forecasts the figures of the request that follows", () => {
  const messages = JSON.parse(readFileSync(PLAN, "utf8"));
  const list = Array.isArray(messages) ? messages : messages.messages;
  const { runs } = json(["replay", PLAN, ...AT]);
  for (const at of [10, 30, runs[0].calls.length - 1]) {
    const { call, sent, used, unmanaged, event } = runs[0].calls[at];
    const cut = list.slice(0, sent);
    const before = Array.isArray(messages) ? cut : { ...messages, messages: cut };
    const path = file(`cut-${at}.json`, JSON.stringify(before));
    const { window, request } = json(["next", path, ...AT]);
    assert.deepEqual(
      [window.used, request.unmanaged, request.event, request.call],
      [used, unmanaged, event, call],
    );
  }
});

test("next gives each changed message a rule, evidence, a time and a way to restore it", () => {
  const { history } = json(["next", AUDIT, "--window", "64k"]);
  const changed = history.filter((one) => one.state !== "kept");
  assert.ok(changed.length > 100);
  // The recorded session has edits and a fold at these calls, counted from 1.
  const { runs } = json(["replay", AUDIT, "--window", "64k"]);
  const events = runs[0].calls.filter(({ event }) => event !== null).map(({ call }) => call);
  for (const { since } of changed) assert.ok(events.includes(since.call), `call ${since.call}`);
  for (const one of changed) {
    assert.notEqual(one.rule, "keep");
    assert.ok(one.evidence.length > 0 && one.restore.length > 0 && one.since !== null);
    assert.ok(one.sentTokens < one.tokens, `#${one.index}`);
  }
  for (const one of history.filter(({ state }) => state === "kept")) {
    assert.deepEqual([one.rule, one.since, one.sentTokens], ["keep", null, one.tokens]);
  }
});

test("next writes figures in evidence with thousands separators", () => {
  const { history } = json(["next", AUDIT, "--window", "64k"]);
  const large = history.filter((one) => one.tokens - one.sentTokens >= 1000);
  assert.ok(large.length > 0);
  const [, shown] = text(["next", AUDIT, "--window", "64k"]).split("LARGEST CHANGES\n");
  assert.match(shown, /^ {2}.*\d,\d{3} tokens, now /m);
  assert.doesNotMatch(shown, /\d{4}/);
});

test("next groups the whole history in order, and --all lists every message", () => {
  const rows = (out) => [...out.matchAll(/^ *#(\d+)(?:-(\d+))? {2}/gm)];
  const table = (args) => text(args).split(/^WHY/m)[0];
  for (const session of SESSIONS) {
    const { messages } = json(["next", session, ...AT]);
    const runs = rows(table(["next", session, ...AT]));
    assert.ok(runs.length <= 30, `${runs.length} lines`);
    let next = 0;
    for (const [, first, last = first] of runs) {
      assert.equal(Number(first), next);
      next = Number(last) + 1;
    }
    assert.equal(next, messages);
    const all = rows(table(["next", session, ...AT, "--all"]));
    assert.deepEqual(
      all.map(([, index]) => Number(index)),
      Array.from({ length: messages }, (_, index) => index),
    );
  }
});

test("next says in one line that a session within its window does not change", () => {
  const messages = 3;
  const path = file(
    "small.json",
    JSON.stringify([
      { role: "user", content: "Is the harbour open?" },
      { role: "assistant", content: "Until six." },
      { role: "user", content: "Thank you." },
    ]),
  );
  const out = text(["next", path]);
  assert.equal(json(["next", path]).due, null);
  assert.match(out, /no change · it grows at its end/);
  assert.match(out, new RegExp(`#0-${messages - 1} .* kept `));
  assert.doesNotMatch(out, /WHY|LARGEST/);
});

test("--idle makes the cache cold, and next marks the edits it allows as new", () => {
  const warm = json(["next", AUDIT, "--window", "64k"]);
  const cold = json(["next", AUDIT, "--window", "64k", "--idle", "2h"]);
  assert.equal(cold.request.at - warm.request.at, 7_200_000);
  assert.equal(warm.request.event, null);
  assert.notEqual(cold.request.event, null);
  assert.ok(cold.window.used < warm.window.used);
  const isNew = cold.history.filter((one) => one.isNew);
  assert.ok(isNew.length > 0);
  for (const { index } of isNew) assert.equal(warm.history[index].isNew, false);
  assert.match(text(["next", AUDIT, "--window", "64k", "--idle", "2h"]), / {2}now$/m);
});

test("next leaves the session file and its folder unchanged", () => {
  const path = file("kept.json", readFileSync(PLAN));
  const before = [readdirSync(folder), readFileSync(path, "utf8"), statSync(path).mtimeMs];
  plimsoll(["next", path, ...AT]);
  assert.deepEqual(
    [readdirSync(folder), readFileSync(path, "utf8"), statSync(path).mtimeMs],
    before,
  );
});

test("next keeps to the width, prints only ASCII with --ascii, and colours no text away", () => {
  for (const session of SESSIONS) {
    for (const width of [40, 60, 80, 120]) {
      const out = text(["next", session, ...AT, "--width", String(width)]);
      for (const line of out.split("\n")) assert.ok([...line].length <= width, `${width}: ${line}`);
      assert.match(out, /\b(stubbed|dropped|thinned|capped)\b/, "state is a word");
    }
  }
  const bare = text(["next", PLAN, ...AT]);
  const painted = text(["next", PLAN, ...AT, "--color", "always"]);
  // The bar and its legend are letters where there is no colour.
  const words = (out) => stripVTControlCharacters(out).split(/^(?=WOULD)/m)[1];
  assert.equal(words(painted), words(bare));
  assert.match(text(["next", PLAN, ...AT, "--ascii"]), /^[\n -~]*$/);
});

test("escape sequences in a session never reach the terminal through next", () => {
  const evil = "x\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\r\n";
  const call = { type: "tool_use", id: "a", name: evil, input: { [evil]: evil } };
  const result = { type: "tool_result", tool_use_id: "a", content: evil.repeat(2000) };
  const messages = [
    { role: "user", content: evil },
    { role: "assistant", content: [call] },
    { role: "user", content: [result] },
    { role: "assistant", content: evil },
  ];
  const path = file("evil \u001b[31m.json", JSON.stringify(messages));
  for (const more of [[], ["--all"], ["--json"], ["--preset", evil]]) {
    const { out, err } = plimsoll(["next", path, "--window", "8k", ...more]);
    assert.doesNotMatch(out + err, /(?!\n)[\p{Cc}\p{Cf}]/u, more.join(" "));
  }
});

test("next refuses wrong options and files with a message", () => {
  const cases = [
    [["next"], /FILE is missing: no agent session was found for this folder/],
    [["next", AUDIT, PLAN], /takes one file, got 2/],
    [["next", AUDIT, "--window", "32k,64k"], /--window: one for this command/],
    [["next", AUDIT, "--preset", "economy,balanced"], /--preset: plimsoll next takes one/],
    [["next", AUDIT, "--preset", "greedy"], /preset: expected one of balanced, economy, retention/],
    [["next", AUDIT, "--provider", "nobody"], /provider: expected "anthropic", /],
    [["next", AUDIT, "--estimator", "guess"], /estimator: expected /],
    [["next", AUDIT, "--idle", "soon"], /--idle: a time like 90s, 5m or 1h, got "soon"/],
    [["next", PLAN, "--idle", "5m"], /--idle: the file tells no times/],
    [["next", AUDIT, "--call", "3"], /--call is not an option of \w+, only of inspect, detail, /],
    [["inspect", AUDIT, "--all"], /--all is not an option of \w+, only of next and turns/],
  ];
  for (const [args, expected] of cases) checkRefusal(args, assert, expected);
  checkRefusal(["next", join(folder, "absent.json")], assert, /absent\.json: no such file/, 3);
  checkRefusal(["next", file("noise.json", "\u0000\u0001")], assert, /noise\.json: /, 3);
});
