// @ts-check
/**
 * Sessions restored with the measures of their messages: these are not read again, and every request is the one that a session
 * restored without measures makes.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { someSessionFiles } from "../support/session-files.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);
const skip = !api && why;

const options = { window: { contextTokens: 12_000, maxOutputTokens: 1_000 }, clock: () => 0 };
/** The host's key of a message. @param {any} message */
const key = ({ id }) => id;

/** @template T @param {T} value @returns {T} */
const copyOf = (value) => JSON.parse(JSON.stringify(value));

/** How a restored session may know which message is which. @type {Array<[string, object]>} */
const WAYS = [
  ["by the host's key", { key }],
  ["by position in a history that only grows", { appendOnly: true }],
  ["by JSON", {}],
];

/** A reading agent's history, each message with an id. @param {number} turns */
function history(turns) {
  const messages = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const call = `call_${turn}`;
    const result = `fn part_${turn}() { call_${turn % 7}(src/part_${turn % 5}.rs:${turn}) } `;
    messages.push(
      { role: "user", content: `look at src/part_${turn}.rs, then report` },
      {
        role: "assistant",
        content: [
          { type: "text", text: "I read it." },
          { type: "tool_use", id: call, name: "read", input: { path: `src/part_${turn}.rs` } },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: call, content: result.repeat(9) }],
      },
      { role: "assistant", content: `part_${turn} calls call_${turn % 7}` },
    );
  }
  return messages.map((message, at) => ({ id: `m${at}`, ...message }));
}

/** A session's next request after a restart, with what it read for it. @param {Uint8Array} bytes @param {object} how @param {any[]} messages */
function restored(bytes, how, messages) {
  const manager = api.ContextManager.restore(bytes, { ...options, ...how });
  const before = manager.counters().bytesMeasured;
  const { messages: sent, tokens, epoch, firstChanged, edits } = manager.request(messages);
  const read = manager.counters().bytesMeasured - before;
  const snapshot = Buffer.from(manager.snapshot()).toString("base64");
  return { read, manager, answer: copyOf({ sent, tokens, epoch, firstChanged, edits, snapshot }) };
}

/** The snapshots of a session that has made requests along a history: without measures and with them. @param {any[]} messages @param {object} how */
function parked(messages, how) {
  const manager = new api.ContextManager({ ...options, ...how });
  for (let end = 8; end < messages.length; end += 24) manager.request(messages.slice(0, end));
  manager.request(messages);
  return { plain: manager.snapshot(), measured: manager.snapshot({ measures: true }) };
}

for (const [way, how] of WAYS) {
  test(`${way}: a restored session reads no message again`, { skip }, () => {
    const messages = history(80);
    const { plain, measured } = parked(messages, how);
    for (const more of [0, 3]) {
      const next = history(80 + more);
      const without = restored(plain, how, copyOf(next));
      const known = restored(measured, how, copyOf(next));
      assert.deepEqual(known.answer, without.answer);
      const size = JSON.stringify(next).length;
      assert.ok(without.read > size * 0.9, `${without.read} of ${size} bytes`);
      // What is new is read, and what was made one line, to be cut once more.
      const room = JSON.stringify(next.slice(4 * 80)).length;
      assert.ok(known.read <= room, `${known.read} bytes read, ${room} are new`);
    }
  });

  test(`${way}: whatever the host has changed meanwhile is noticed`, { skip }, () => {
    const messages = history(60);
    const { plain, measured } = parked(messages, how);
    const other = { id: "new", role: "user", content: "look at src/other.rs instead" };
    /** @type {Record<string, any[]>} */
    const changed = {
      "the first is another": messages.with(0, other),
      "the last is another": messages.slice(0, -1).concat(other),
      "the end is cut": messages.slice(0, 100),
      "the start is cut": messages.slice(40),
      "nothing is left": [other],
      "one is put in front": [other, ...messages],
    };
    // A host that says that its history only grows must not change the middle of it.
    if (!("appendOnly" in how)) {
      changed["one in the middle is another"] = messages.with(100, other);
      changed["two in the middle are gone"] = messages.toSpliced(100, 4);
      changed["one stands in between"] = messages.toSpliced(100, 0, other);
      changed["the end comes first"] = [...messages.slice(120), ...messages.slice(0, 120)];
    }
    for (const [name, list] of Object.entries(changed)) {
      const without = restored(plain, how, copyOf(list));
      assert.deepEqual(restored(measured, how, copyOf(list)).answer, without.answer, name);
    }
  });
}

test("measures of a session whose oldest messages are forgotten are each message's own", {
  skip,
}, () => {
  const messages = history(60);
  const [{ plain }, later] = [parked(messages, { key }), messages.slice(40)];
  const { manager } = restored(plain, { key }, copyOf(later));
  const [without, known] = [manager.snapshot(), manager.snapshot({ measures: true })].map((bytes) =>
    restored(bytes, { key }, copyOf(later)),
  );
  assert.deepEqual(known?.answer, without?.answer);
  const next = [...later, ...history(100).slice(240)];
  for (let end = later.length; end <= next.length; end += 4) {
    const [one, other] = [without, known].map((it) => it?.manager.request(next.slice(0, end)));
    assert.deepEqual(one?.messages, other?.messages, `${end} messages`);
  }
});

test("a message of the last group that has grown under its key is read again", { skip }, () => {
  const call = (/** @type {string} */ id) => ({
    ...{ type: "tool_use", id, name: "read", input: { path: id } },
  });
  const result = (/** @type {string} */ id) => ({
    ...{ type: "tool_result", tool_use_id: id, content: `what ${id} says` },
  });
  const before = [
    ...history(10),
    { id: "calls", role: "assistant", content: [call("a"), call("b")] },
    { id: "results", role: "user", content: [result("a")] },
  ];
  const { plain, measured } = parked(before, { key });
  const grown = before.with(-1, {
    id: "results",
    role: "user",
    content: [result("a"), result("b")],
  });
  const known = restored(measured, { key }, copyOf(grown));
  assert.deepEqual(known.answer, restored(plain, { key }, copyOf(grown)).answer);
  assert.match(JSON.stringify(known.answer.sent.at(-1)), /what a says.*what b says/);
});

test("a message that the host stores as we edited it is read again, under its key too", {
  skip,
}, () => {
  const thinking = { type: "thinking", thinking: "the parser first", signature: "a".repeat(40) };
  const messages = history(6)
    .slice(0, -1)
    .map((message, at) =>
      at === 1 ? { ...message, content: [thinking, ...message.content] } : message,
    );
  const manager = new api.ContextManager({ ...options, key });
  manager.request(messages);
  // Reasoning after an edit is not sent.
  const edited = messages.with(0, { ...messages[0], id: "other", content: "look again" });
  const view = manager.request(edited);
  assert.equal(view.messages[1].content.length, 2, "without its reasoning");
  const next = { id: "next", role: "assistant", content: "it is done" };
  const stored = [...copyOf(view.messages), next, { ...next, id: "last", role: "user" }];
  const before = manager.snapshot({ measures: true });
  assert.deepEqual(copyOf(manager.request(stored).messages), stored);
  for (const bytes of [before, manager.snapshot({ measures: true })]) {
    assert.deepEqual(restored(bytes, { key }, copyOf(stored)).answer.sent, stored);
    const { read, answer } = restored(bytes, { key }, copyOf(edited));
    assert.deepEqual(answer.sent, copyOf(view.messages));
    assert.equal(read, 0, "the original is known");
  }
});

test("a session that goes on after it was restored is parked with all measures again", {
  skip,
}, () => {
  const { measured } = parked(history(40), { key });
  const { manager } = restored(measured, { key }, history(44));
  const again = manager.snapshot({ measures: true });
  const known = restored(again, { key }, history(44));
  assert.ok(known.read < 1_000, `${known.read} bytes read`);
});

test("measures outlive a session that was restored and not asked", { skip }, () => {
  const { measured } = parked(history(40), { key });
  const manager = api.ContextManager.restore(measured, { ...options, key });
  assert.deepEqual(manager.snapshot({ measures: true }), measured);
});

test("other settings than those that were measured under read the texts", { skip }, () => {
  const messages = history(40);
  const { plain, measured } = parked(messages, { key });
  for (const more of [
    { estimator: "chars/4" },
    { estimator: (/** @type {string} */ text) => text.length },
    { imageTokens: 7 },
    { provider: "kimi" },
    { preset: "retention" },
    { window: { contextTokens: 100_000 } },
  ]) {
    const how = { key, ...more };
    const [without, known] = [plain, measured].map((bytes) => restored(bytes, how, messages));
    assert.deepEqual(known?.answer, without?.answer, Object.keys(more)[0]);
  }
});

test("a host that counts by itself gets a snapshot without measures", { skip }, () => {
  const estimator = (/** @type {string} */ text) => text.length;
  const { plain, measured } = parked(history(10), { estimator });
  assert.deepEqual(measured, plain);
});

test("a snapshot whose measures were changed is refused", { skip }, () => {
  const { plain, measured } = parked(history(10), {});
  const damaged = [plain.length + 3, measured.length - 40].map((at) => {
    const bytes = measured.slice();
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    return bytes;
  });
  damaged.push(measured.slice(0, -1), measured.slice(0, plain.length + 20));
  for (const bytes of damaged) {
    assert.throws(() => api.ContextManager.restore(bytes, options), { code: "CORRUPT_STATE" });
  }
});

test("measures hold no secret that is known by its form, and no text", { skip }, () => {
  const secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
  const messages = history(3).concat({
    id: "s",
    role: "user",
    content: `push with ${secret} to the quiet harbour`,
  });
  const { measured } = parked(messages, { key });
  const text = Buffer.from(measured).toString("latin1");
  assert.ok(text.includes("src/part_2.rs"));
  assert.ok(!text.includes("abcdefghij") && !text.includes("quiet harbour"));
});

test("a key that throws, or that two messages share, costs no more than time", { skip }, () => {
  const messages = history(40);
  const shared = messages.map((message, at) =>
    at % 9 === 4 ? { ...message, id: "same" } : message,
  );
  const { plain, measured } = parked(messages, { key });
  const throws = (/** @type {any} */ message) => {
    if (message.id.endsWith("7")) throw new Error("no key");
    return message.id;
  };
  for (const [list, of] of /** @type {const} */ ([
    [messages, throws],
    [shared, key],
  ])) {
    const [without, known] = [plain, measured].map((it) => restored(it, { key: of }, copyOf(list)));
    assert.deepEqual(known?.answer, without?.answer);
  }
});

test("a summary that the host points out is read as a text", { skip }, () => {
  const isSummary = ({ id }) => id === "m0";
  const messages = history(40).with(0, {
    id: "m0",
    role: "user",
    content: "Summary: all of src/part_0.rs is done.",
  });
  const { plain, measured } = parked(messages, { key, isSummary });
  const [without, known] = [plain, measured].map((it) =>
    restored(it, { key, isSummary }, copyOf(messages)),
  );
  assert.deepEqual(known?.answer, without?.answer);
});

test("real sessions: restored at any call, with measures as without", { skip }, () => {
  let [sessions, all, read] = [0, 0, 0];
  for (const [number, { bytes, name }] of someSessionFiles(6)) {
    const { messages } = api.readSession(bytes());
    if (messages.length < 10) continue;
    const [, how] = WAYS[number % WAYS.length] ?? [];
    const withIds = "key" in (how ?? {});
    const contextTokens = [24_000, 200_000][number % 2] ?? 0;
    const window = { contextTokens, maxOutputTokens: 1_000 };
    const ids = new WeakMap();
    const fresh = (/** @type {number} */ end) => {
      const copies = copyOf(messages.slice(0, end));
      for (const [at, copy] of copies.entries()) ids.set(copy, `${at}`);
      return copies;
    };
    const more = {
      window,
      ...(withIds ? { key: (/** @type {object} */ it) => ids.get(it) } : how),
    };
    const manager = new api.ContextManager({ ...options, ...more });
    const end = Math.ceil(messages.length * 0.8);
    manager.request(fresh(Math.ceil(end / 2)));
    manager.request(fresh(end));
    const [plain, measured] = [manager.snapshot(), manager.snapshot({ measures: true })];
    for (const upto of [end, messages.length, Math.ceil(end * 0.7)]) {
      const without = restored(plain, more, fresh(upto));
      const known = restored(measured, more, fresh(upto));
      assert.deepEqual(known.answer, without.answer, `${name}, ${upto} messages`);
      if (upto !== end) continue;
      [all, read] = [all + without.read, read + known.read];
    }
    sessions += 1;
  }
  console.log(`${sessions} sessions: ${all} bytes read without measures, ${read} with them`);
  assert.ok(sessions === 0 || read < all / 10);
});
