// `plimsoll turns` and `plimsoll map`: the course of a session, and what fills its window.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AUDIT, EXPORTS, file, json, PLAN, plimsoll } from "./command.mjs";

const SESSIONS = [AUDIT, PLAN, EXPORTS];
const AT = ["--window", "16k", "--reserve", "1000", "--preset", "balanced"];
const number = (value) => value.toLocaleString("en-US");
const sum = (rows, of) => rows.reduce((all, one) => all + of(one), 0);

test("turns contain each call of a replay exactly once", () => {
  for (const session of SESSIONS) {
    const seen = json(["turns", session, ...AT]);
    const [run] = json(["replay", session, ...AT]).runs;
    assert.equal(seen.byCall.length, run.calls.length);
    for (const [at, one] of seen.byCall.entries()) {
      const { used, unmanaged, event, epoch } = run.calls[at];
      assert.deepEqual(
        [one.call, one.used, one.unmanaged, one.event, one.epoch],
        [at + 1, used, unmanaged, event, epoch],
      );
    }
    let next = 1;
    for (const { turn, calls, used, peak, edits, folds } of seen.byTurn) {
      const mine = seen.byCall.slice(calls[0] - 1, calls[1]);
      assert.equal(calls[0], next);
      next = calls[1] + 1;
      assert.ok(mine.every((one) => one.turn === turn));
      assert.equal(used, mine.at(-1).used);
      assert.equal(peak, Math.max(...mine.map((one) => one.used)));
      assert.equal(edits, mine.filter(({ event }) => event === "edit").length);
      assert.equal(folds, mine.filter(({ event }) => event === "fold").length);
    }
    assert.equal(next, seen.calls + 1);
  }
});

test("freed tokens are the difference between full history and request", () => {
  for (const session of SESSIONS) {
    const { byCall, byTurn } = json(["turns", session, ...AT]);
    const last = byCall.at(-1);
    const freed = sum(byCall, (one) => one.freed);
    assert.equal(freed, last.unmanaged - last.used);
    assert.equal(
      sum(byTurn, (one) => one.freed),
      freed,
    );
    for (const one of byCall) assert.ok(one.event !== null || one.freed === 0);
    assert.ok(freed > 1000);
  }
});

test("turns count a compaction after the last call", () => {
  const entry = (id, parentId, message) => ({
    type: "message",
    id,
    parentId,
    timestamp: "2026-03-02T08:00:00Z",
    message,
  });
  const rows = [
    { type: "session", version: 3, id: "s", timestamp: "2026-03-02T08:00:00Z", cwd: "/x" },
    entry("a", null, { role: "user", content: "go", timestamp: 1 }),
    entry("b", "a", { role: "assistant", content: [{ type: "text", text: "ok" }], timestamp: 1 }),
    {
      ...{ type: "compaction", id: "c", parentId: "b", timestamp: "2026-03-02T08:00:00Z" },
      ...{ summary: "it went", firstKeptEntryId: "b", tokensBefore: 5000 },
    },
  ];
  const session = file("ended.jsonl", rows.map((row) => JSON.stringify(row)).join("\n"));
  assert.equal(json(["turns", session]).compactions, 1);
  assert.match(plimsoll(["turns", session]).out, /freed 0 tokens · 1 compaction\n/);
});

test("turns show the provider's count beside the estimate if the file has one", () => {
  const record = (type, more) =>
    JSON.stringify({ type, timestamp: "2026-03-02T08:00:00Z", ...more });
  const rows = [record("session_meta", { payload: { id: "s" } })];
  for (let call = 1; call <= 4; call += 1) {
    const spoken = {
      type: "message",
      role: "user",
      content: [{ type: "input_text", text: "Go on. ".repeat(100) }],
    };
    const answered = {
      ...spoken,
      role: "assistant",
      content: [{ type: "output_text", text: "Done." }],
    };
    const usage = { last_token_usage: { input_tokens: 1000 * call, output_tokens: 2 } };
    rows.push(
      record("response_item", { payload: spoken }),
      record("response_item", { payload: answered }),
    );
    rows.push(record("event_msg", { payload: { type: "token_count", info: usage } }));
  }
  const path = file("usage.jsonl", rows.join("\n"));
  const sent = json(["turns", path]);
  assert.deepEqual(
    sent.byCall.map((one) => [one.used, one.usage, one.source]),
    [1000, 2000, 3000, 4000].map((tokens) => [tokens, tokens, "provider"]),
  );
  assert.deepEqual([sent.preset, sent.calibration.calls], [null, 4]);
  assert.match(plimsoll(["turns", path]).out, /^What the agent sent, by the provider's count\n/);
  const seen = json(["turns", path, "--preset", "balanced"]);
  assert.deepEqual(
    seen.byCall.map((one) => one.usage),
    [1000, 2000, 3000, 4000],
  );
  assert.equal(seen.usage.calls, 4);
  const ratios = seen.byCall.map((one) => one.unmanaged / one.usage).sort((a, b) => a - b);
  assert.equal(seen.usage.estimatePerUsage, ratios[1]);
  const { out } = plimsoll(["turns", path, "--preset", "balanced"]);
  assert.match(out, /^TURN .* WHOLE +USAGE$/m);
  assert.match(out, / 4,000$/m);
  assert.match(out, /usage of 4 of 4 calls/);
  assert.match(plimsoll(["turns", PLAN]).out, /no usage in this file: all figures are estimates/);
  assert.doesNotMatch(plimsoll(["turns", PLAN]).out, /USAGE$/m);
});

test("turns list turns or, with --calls, calls, and all of them with --all", () => {
  const rows = (args) =>
    plimsoll(["turns", AUDIT, "--window", "64k", "--preset", "balanced", ...args])
      .out.split(/^TURN.*$/m)[1]
      .split("\n")
      .filter((line) => /^ *\d+ +\d/.test(line));
  assert.equal(rows([]).length, 11);
  assert.equal(rows(["--calls"]).length, 235);
  const shown = rows([]).join("\n");
  assert.match(shown, / 2 edits +27,049 /);
  assert.match(shown, / 1 fold +24,728 /);
  const one = file(
    "one-turn.json",
    JSON.stringify([
      { role: "user", content: "Count." },
      ...Array.from({ length: 40 }, (_, at) => ({ role: "assistant", content: `${at}` })),
    ]),
  );
  const { out } = plimsoll(["turns", one]);
  assert.match(out, /22 calls not listed; --calls lists all/);
  assert.doesNotMatch(plimsoll(["turns", one, "--calls"]).out, /not listed/);
});

test("map lists all parts of the request, largest first", () => {
  for (const session of SESSIONS) {
    for (const more of [[], ["--call", "20"]]) {
      const seen = json(["map", session, ...AT, ...more]);
      assert.equal(
        sum(seen.parts, (one) => one.tokens),
        seen.window.used,
      );
      assert.equal(
        sum(seen.results, (one) => one.tokens),
        seen.parts.find(({ part }) => part === "results").tokens,
      );
      for (const rows of [
        seen.parts,
        seen.results,
        seen.largest.map((one) => ({ tokens: one.sentTokens })),
      ])
        for (const [at, { tokens }] of rows.entries())
          assert.ok(at === 0 || tokens <= rows[at - 1].tokens);
      const { out } = plimsoll(["map", session, ...AT, ...more]);
      for (const { part, tokens } of seen.parts)
        assert.match(out, new RegExp(`^[A-Z] +${part} +${number(tokens)} `, "m"));
    }
  }
  assert.equal(json(["map", PLAN, "--top", "3"]).largest.length, 3);
  assert.doesNotMatch(plimsoll(["map", PLAN, "--top", "0"]).out, /LARGEST/);
});

test("map names figures that the file lacks", () => {
  const { out } = plimsoll(["map", AUDIT]);
  assert.match(out, /not in this file: the system prompt, the tool definitions/);
  for (const name of ["turns", "check"])
    assert.match(plimsoll([name, AUDIT]).out, /not in this file: the system prompt/);
  assert.deepEqual(json(["map", PLAN]).absent, []);
});
