// @ts-check
/** Measures of messages beside a stored session: the next process that opens it does not read the messages again. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, step } from "../conformance/support/agent-session.mjs";
import { folder, opened, skip } from "./stores.mjs";

const options = {
  window: { contextTokens: 8_000, maxOutputTokens: 500 },
  format: "anthropic",
  clock: () => 1_000_000,
  appendOnly: true,
};

/** @param {number} steps */
const history = (steps) => [
  { role: "user", content: "build it" },
  ...Array.from({ length: steps }, (_, at) => step(at)).flat(),
];

/** A request of the stored session, as JSON, and the bytes that were read for it. @param {any} store @param {any[]} messages */
async function asked(store, messages) {
  const context = await api.ContextManager.open(store, "one", options);
  const sent = JSON.stringify(context.request(structuredClone(messages)).messages);
  return { sent, read: context.counters().bytesMeasured };
}

for (const kind of /** @type {const} */ (["memory", "file"])) {
  test(`${kind}: a session that is opened again reads what is new`, {
    skip: skip(kind),
  }, async (t) => {
    const store = await opened({ kind, place: kind === "file" ? folder(t) : "" });
    {
      const context = await api.ContextManager.open(store, "one", options);
      context.request(history(60));
      await context.save();
      const cold = await asked(store, history(60));
      await context.save({ measures: true });
      const known = await asked(store, history(60));
      assert.equal(known.sent, cold.sent);
      assert.ok(cold.read > 10_000 && known.read < 2_000, `${cold.read}, then ${known.read} bytes`);
      // A later commit leaves them where they are.
      context.request(history(64));
      await context.save();
    }
    const later = await asked(store, history(64));
    const size = JSON.stringify(history(64).slice(history(60).length)).length;
    assert.ok(later.read < size + 2_000, `${later.read} bytes, ${size} are new`);
    await store.delete("one");
    assert.equal(await store.loadMeasures("one"), null);
  });
}

test("measures that a store has lost or damaged cost no more than time", {
  skip: skip("memory"),
}, async () => {
  const store = await opened({ kind: "memory", place: "" });
  {
    const context = await api.ContextManager.open(store, "one", options);
    context.request(history(60));
    await context.save({ measures: true });
  }
  const { sent } = await asked(store, history(60));
  const bytes = await store.loadMeasures("one");
  for (const other of [new Uint8Array(), bytes.slice(1), bytes.with(50, bytes[50] ^ 1)]) {
    await store.saveMeasures("one", other);
    const read = await asked(store, history(60));
    assert.equal(read.sent, sent);
    assert.ok(read.read > 10_000);
  }
});

test("a store without measures refuses to save them, and nothing is committed", {
  skip: skip("memory"),
}, async () => {
  const {
    saveMeasures: _,
    loadMeasures: __,
    ...store
  } = await opened({ kind: "memory", place: "" });
  const context = await api.ContextManager.open(store, "one", options);
  context.request(history(4));
  await assert.rejects(context.save({ measures: true }), {
    code: "INVALID_ARGUMENT",
    message: /saveMeasures/,
  });
  assert.equal(await store.load("one"), null);
  assert.deepEqual(await context.save(), { revision: 1, rebased: false });
});

test("a store that answers with anything but bytes is refused by name", {
  skip: skip("memory"),
}, async () => {
  const store = await opened({ kind: "memory", place: "" });
  await store.commit("one", new api.ContextManager(options).snapshot(), null);
  const wrong = { ...store, loadMeasures: async () => "measures" };
  await assert.rejects(api.ContextManager.open(wrong, "one", options), {
    code: "INVALID_ARGUMENT",
    message: /loadMeasures/,
  });
});

test("measures that are asked for by another word than true or false are refused", {
  skip: skip("memory"),
}, async () => {
  const store = await opened({ kind: "memory", place: "" });
  const context = await api.ContextManager.open(store, "one", options);
  const message = 'options.measures: expected true or false, got "no"';
  await assert.rejects(context.save({ measures: "no" }), { message });
  assert.throws(() => context.snapshot({ measures: "no" }), { message });
  assert.equal(await store.load("one"), null);
});
