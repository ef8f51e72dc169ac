// `plimsoll find`: where a text stands, and whether it is still sent.
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AUDIT,
  checkRefusal,
  EVIL,
  EXPORTS,
  file,
  hostile,
  json,
  PLAN,
  plimsoll,
} from "./command.mjs";

const AT = ["--window", "16k", "--reserve", "1000"];
const sum = (rows, of) => rows.reduce((all, one) => all + of(one), 0);

/** The text under a key, as `plimsoll detail` has it. */
const textOf = (key, session) => json(["detail", key, session, ...AT]).detail.content;

test("find lists each occurrence of a text with line and column", () => {
  for (const [session, text] of [
    [PLAN, "berth"],
    [AUDIT, "the"],
    [EXPORTS, "export"],
  ]) {
    const seen = json(["find", text, session, ...AT]);
    assert.ok(seen.places.length > 3);
    assert.equal(
      seen.found,
      sum(seen.places, (one) => one.found),
    );
    for (const { key, found, positions } of seen.places.slice(0, 4)) {
      if (key === null) continue;
      const content = textOf(key, session);
      assert.equal(content.split(text).length - 1, found);
      for (const { offset, line, column } of positions) {
        assert.equal(content.slice(offset, offset + text.length), text);
        assert.ok(content.split("\n")[line - 1].startsWith(text, column - 1), key);
      }
    }
  }
});

test("a hit shows the state of its message and how much of it is still sent", () => {
  const seen = json(["find", "harbour", AUDIT, "--window", "64k"]);
  const next = json(["next", AUDIT, "--window", "64k"]);
  assert.equal(seen.window.used, next.window.used);
  for (const { index, state, rule, turn, found, sent } of seen.places) {
    const one = next.history[index];
    assert.deepEqual([state, rule, turn], [one.state, one.rule, one.turn]);
    assert.ok(sent <= found);
    if (state === "kept") assert.equal(sent, found);
    if (state === "dropped") assert.equal(sent, 0);
  }
  const states = new Set(seen.places.map(({ state }) => state));
  assert.ok(states.has("kept") && states.has("dropped"));
  const { out } = plimsoll(["find", "harbour", AUDIT, "--window", "64k"]);
  assert.match(out, /"harbour" \d+ times in \d+ places · the next request has \d+/);
  assert.match(out, / no +dropped +fold$/m);
  assert.match(out, / yes +kept +keep$/m);
});

test("find counts user text in the head of a fold as sent", () => {
  const { places } = json(["find", "e", AUDIT, "--window", "64k"]);
  const users = places.filter(({ role }) => role === "user");
  assert.equal(users.length, 11);
  for (const { sent, found, state } of users) assert.deepEqual([state, sent], ["kept", found]);
});

test("find --call searches the request of that call", () => {
  const word = "harbour";
  const late = json(["find", word, AUDIT, "--window", "64k"]);
  const early = json(["find", word, AUDIT, "--window", "64k", "--call", "20"]);
  assert.equal(early.call, 20);
  assert.ok(early.found < late.found, "only what it saw");
  assert.equal(early.sent, early.found);
  assert.match(plimsoll(["find", word, AUDIT, "--call", "20"]).out, /request 20 has all of them/);
});

test("find matches literally, and ignores case with -i", () => {
  const path = file(
    "words.json",
    JSON.stringify({
      system: "Mind a+b.",
      messages: [
        { role: "user", content: "a+b (A+B)\nÉté été" },
        { role: "assistant", content: "aab" },
      ],
    }),
  );
  const places = (...args) =>
    JSON.parse(plimsoll(["find", ...args, path, "--json"]).out).places.map(({ key, found }) => [
      key,
      found,
    ]);
  assert.deepEqual(places("a+b"), [
    ["system", 1],
    ["message:0", 1],
  ]);
  assert.deepEqual(places("a+b", "-i").at(-1), ["message:0", 2]);
  assert.deepEqual(places("été", "--ignore-case"), [["message:0", 2]]);
  assert.deepEqual(places("été"), [["message:0", 1]]);
  const [place] = json(["find", "été", path]).places;
  assert.deepEqual(place.positions, [{ offset: 14, line: 2, column: 5 }]);
  assert.deepEqual(place.excerpt, { before: "Été ", match: "été", after: "" });
});

test("an excerpt of a long line splits no character", () => {
  const ships = "\u{1f6a2}".repeat(150);
  const path = file(
    "ships.json",
    JSON.stringify([
      { role: "user", content: `${ships}.berth.${ships}` },
      { role: "assistant", content: "so" },
    ]),
  );
  const { before, after } = json(["find", "berth", path]).places[0].excerpt;
  assert.deepEqual([before, after], [`${"\u{1f6a2}".repeat(99)}.`, `.${"\u{1f6a2}".repeat(99)}`]);
});

test("a search without hits exits with 1 and a message", () => {
  const { code, out, err } = plimsoll(["find", "no such text anywhere", PLAN]);
  assert.deepEqual([code, err], [1, ""]);
  assert.match(out, /"no such text anywhere" stands nowhere\n-i: /);
  const { code: bare, out: document } = plimsoll(["find", "no such text", PLAN, "--json"]);
  assert.equal(bare, 1);
  assert.deepEqual(JSON.parse(document).places, []);
  checkRefusal(["find", "", PLAN], assert, /find: the text is empty/);
  checkRefusal(["find"], assert, /TEXT is missing: plimsoll find TEXT FILE/);
  checkRefusal(
    ["find", "x"],
    assert,
    /FILE is missing: no agent session was found for this folder/,
  );
  checkRefusal(
    ["inspect", PLAN, "-i"],
    assert,
    /--ignore-case is not an option of \w+, only of find/,
  );
});

test("find prints an escape sequence it found without sending it to the terminal", () => {
  const path = hostile();
  const seen = json(["find", EVIL, path]);
  assert.ok(seen.found >= 2000);
  const result = seen.places.find(({ kind }) => kind === "toolResult");
  assert.equal(result.found, 2000);
  assert.equal(result.positions.length, 100, "positions have an end");
  assert.match(plimsoll(["find", EVIL, path]).out, /"rm\\u\{1b\}\[2J/);
});

test("find lists 30 places, or as many as --top says", () => {
  const rows = (out) => out.split("\n").filter((line) => /^ *#\d+ /.test(line)).length;
  const { places } = json(["find", "the", AUDIT]);
  const { out } = plimsoll(["find", "the", AUDIT, "--top", "4"]);
  assert.equal(rows(out), 4);
  assert.match(out, new RegExp(`${places.length - 4} messages not listed; --top ${places.length}`));
  assert.equal(
    rows(plimsoll(["find", "the", AUDIT, "--top", String(places.length)]).out),
    places.length,
  );
});
