// @ts-check
/**
 * Message objects that were measured once are not read again, whichever session or function they are passed to; what comes out
 * is what comes of copies, which nobody has seen before.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { sessionFiles } from "../support/session-files.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);
const skip = !api && why;

const options = { window: { contextTokens: 12_000, maxOutputTokens: 1_000 }, clock: () => 0 };

/** @template T @param {T} value @returns {T} */
const copyOf = (value) => JSON.parse(JSON.stringify(value));

/** @param {readonly any[]} messages @param {object} [more] */
function ask(messages, more = {}) {
  const manager = new api.ContextManager({ ...options, ...more });
  const { messages: sent, tokens, edits, epoch } = manager.request(messages);
  const read = manager.counters().bytesMeasured;
  const snapshot = Buffer.from(manager.snapshot()).toString("base64");
  return { read, answer: { sent, tokens, edits, epoch, snapshot } };
}

/** A reading agent's history. @param {number} turns */
function history(turns) {
  const messages = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const id = `call_${turn}`;
    messages.push(
      { role: "user", content: `look at src/part_${turn}.rs, then report` },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I read it." },
          { type: "tool_use", id, name: "read", input: { path: `src/part_${turn}.rs` } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: id,
            content:
              `fn part_${turn}() { call_${turn % 7}(src/part_${turn % 5}.rs:${turn}) } `.repeat(9),
          },
        ],
      },
      { role: "assistant", content: `part_${turn} calls call_${turn % 7}` },
    );
  }
  return messages;
}

test("a second session over the same objects reads none of them", { skip }, () => {
  const messages = history(120);
  const first = ask(messages);
  const again = ask(messages);
  assert.ok(first.read > 80_000, `${first.read} bytes read`);
  // The first messages show the format.
  assert.ok(again.read < 1_000, `${again.read} bytes read`);
  assert.deepEqual(again.answer, first.answer);
  assert.deepEqual(ask(copyOf(messages)).answer, first.answer);
});

test("functions over known objects answer as over copies", { skip }, () => {
  const messages = history(40);
  const all = (/** @type {any[]} */ list) => [
    api.estimateRequest({ messages: list }),
    api.validate(list, "anthropic"),
    api.repair(list, "anthropic").messages,
    api.pruneForRequest(list, { preset: "openclaw", ...options, clock: undefined }).messages,
    api.limitTurns(list, 3),
    api.estimateRequest({ messages: list }, { estimator: "chars/4" }),
    api.estimateRequest({ messages: list }, { imageTokens: 5 }),
  ];
  for (let time = 0; time < 3; time += 1) assert.deepEqual(all(messages), all(copyOf(messages)));
});

test("a message that was changed in place is read again", { skip }, () => {
  const changes = [
    (/** @type {any[]} */ list) => (list[4].content = "another request for src/other.rs"),
    (/** @type {any[]} */ list) => (list[5].content[0].text = "I do not read it."),
    (/** @type {any[]} */ list) => list[9].content.push({ type: "text", text: "and more" }),
    (/** @type {any[]} */ list) => (list[6].content[0].is_error = true),
    (/** @type {any[]} */ list) => delete list[8].role,
    (/** @type {any[]} */ list) => Object.assign(list[8], { role: "user" }),
    (/** @type {any[]} */ list) => (list[5].content[1].input.path = "src/changed.rs"),
  ];
  const messages = history(20);
  ask(messages);
  for (const change of changes) {
    change(messages);
    const outcome = (/** @type {any[]} */ list) => {
      try {
        return [ask(list).answer, api.estimateRequest({ messages: list })];
      } catch (error) {
        return /** @type {Error} */ (error).message;
      }
    };
    assert.deepEqual(outcome(messages), outcome(copyOf(messages)), String(change));
  }
});

test("an edit of an old message reads that message alone", { skip }, () => {
  const messages = history(60);
  const manager = new api.ContextManager({ window: { contextTokens: 1e6 }, clock: () => 0 });
  // Turn by turn, as a session grows.
  for (let turn = 1; turn <= 60; turn += 1) manager.request(messages.slice(0, 4 * turn));
  const before = manager.counters().bytesMeasured;
  const edited = messages.with(8, { role: "user", content: "look at src/other.rs instead" });
  const { messages: sent, tokens } = manager.request(edited);
  const read = manager.counters().bytesMeasured - before;
  assert.ok(read < 3_000, `${read} bytes read`);
  const fresh = new api.ContextManager({ window: { contextTokens: 1e6 }, clock: () => 0 });
  const other = fresh.request(copyOf(edited));
  assert.deepEqual([sent, tokens], [other.messages, other.tokens]);
});

test("a history of new objects with an edit of an old message reaches the core once", {
  skip,
}, () => {
  const messages = history(300);
  const manager = new api.ContextManager({ window: { contextTokens: 1e6 }, clock: () => 0 });
  manager.request(copyOf(messages));
  const edited = copyOf(messages).with(8, { role: "user", content: "look at src/other.rs" });
  const encode = TextEncoder.prototype.encodeInto;
  let passed = 0;
  TextEncoder.prototype.encodeInto = function (text, bytes) {
    passed += text.length;
    return encode.call(this, text, bytes);
  };
  try {
    const { firstChanged } = manager.request(edited);
    assert.equal(firstChanged, 8);
  } finally {
    TextEncoder.prototype.encodeInto = encode;
  }
  const all = JSON.stringify(edited).length;
  assert.ok(passed < 1.1 * all, `${passed} of ${all}`);
});

const KINDS = ["append", "replace", "remove", "insert", "change", "cut", "swap"];

/** Edits of a history, the same for the same seed. @param {number} seed */
function edits(seed) {
  let state = seed;
  const next = (/** @type {number} */ below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  return Array.from({ length: 2 + next(10) }, () => ({
    kind: KINDS[next(KINDS.length)],
    at: next(200),
    more: next(4),
  }));
}

/** The same message, but one that says itself how it is written: such a one is read each time. @param {any} message */
function unkept(message) {
  const toJSON = (/** @type {any} */ it) => Object.fromEntries(Object.entries(it));
  return Object.defineProperty(message, "toJSON", {
    value() {
      return toJSON(this);
    },
  });
}

test("however a history is edited, it is answered as if every message were read", { skip }, () => {
  const play = (/** @type {any[]} */ edits, /** @type {(it: any) => any} */ through) => {
    const part = (/** @type {number} */ from, /** @type {number} */ to) =>
      copyOf(history(to))
        .slice(4 * from)
        .map(through);
    let list = part(0, 6);
    let manager = new api.ContextManager(options);
    const answers = [];
    for (const [number, { kind, at, more }] of edits.entries()) {
      const place = at % Math.max(list.length, 1);
      const text = { role: "user", content: `note ${number} on src/part_${more}.rs` };
      if (kind === "append") list = [...list, ...part(6, 6 + more)];
      if (kind === "replace") list = list.with(place, through(text));
      if (kind === "remove") list = list.toSpliced(place, 1 + more);
      if (kind === "insert") list = list.toSpliced(place, 0, through(text));
      if (kind === "cut") list = list.slice(0, place);
      if (kind === "swap") list = [...list.slice(place), ...list.slice(0, place)];
      if (kind === "change") {
        list.slice(place, place + 1).map((it) => Object.assign(it, text));
        // A running session looks for a change in place only where something after it is another.
        manager = new api.ContextManager(options);
      }
      if (list.length === 0) list = part(0, 1);
      const { messages, tokens, epoch } = manager.request(list);
      const estimate = api.estimateRequest({ messages: list });
      const snapshot = Buffer.from(manager.snapshot()).toString("base64");
      answers.push(
        copyOf({ messages, tokens, epoch, snapshot, estimate, other: ask(list).answer }),
      );
    }
    return answers;
  };
  for (let seed = 1; seed <= 60; seed += 1) {
    assert.deepEqual(
      play(edits(seed), (it) => it),
      play(edits(seed), unkept),
      `seed ${seed}`,
    );
  }
});

test("real sessions: known objects answer as copies do, and few bytes are read", { skip }, () => {
  let [first, again, sessions] = [0, 0, 0];
  // One file in four: each is measured six times.
  for (const { bytes } of sessionFiles().filter((_, at) => at % 4 === 0)) {
    const { messages } = api.readSession(bytes());
    if (messages.length < 10) continue;
    for (const contextTokens of [20_000, 200_000]) {
      const window = { contextTokens, maxOutputTokens: 1_000 };
      const [one, other] = [ask(messages, { window }), ask(messages, { window })];
      assert.deepEqual(other.answer, one.answer);
      assert.deepEqual(ask(copyOf(messages), { window }).answer, one.answer);
      // A result that is too large for a small window is read to be cut.
      if (contextTokens < 200_000) continue;
      [first, again, sessions] = [first + one.read, again + other.read, sessions + 1];
    }
  }
  console.log(`${sessions} sessions: ${first} bytes read at first, ${again} again`);
  assert.ok(again < first);
});
