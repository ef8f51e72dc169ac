// @ts-check
/** The host's clock: an answer that is no time is refused by name before anything moves. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { good, manager, skip, talk } from "../support/agent-session.mjs";

/** @type {Record<string, any>} */
const WRONG = {
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  "-Infinity": Number.NEGATIVE_INFINITY,
  "9e15": 9e15,
  object: { now: 1 },
  "null prototype": Object.create(null),
  text: "2026-01-01",
  bigint: 5n,
};
const refused = {
  code: "INVALID_ARGUMENT",
  message: /^clock: expected a function that gives milliseconds since 1970, as Date.now does, got /,
};
const facts = (/** @type {any} */ it) => JSON.parse(JSON.stringify(it));

for (const [name, wrong] of Object.entries(WRONG)) {
  test(`a clock that gives ${name} is refused by name, and the session is unchanged`, {
    skip,
  }, async () => {
    let time = /** @type {any} */ (1_000_000);
    const summarize = async (/** @type {any} */ job) => good(job);
    const one = manager(summarize, { clock: () => time });
    const other = manager(summarize, { clock: () => 1_000_000 });
    const history = talk(20);
    /** @type {Array<(context: any, time: () => void) => any>} */
    const calls = [
      (context) => context.request(history),
      (context) => context.prepare(history),
      (context) => context.compact(history, { force: true }),
      (context) => context.plan(history),
      (context) => context.status(),
      (context) => context.inspect(),
      (context) => context.flushPrompt(),
    ];
    for (const call of calls) {
      time = wrong;
      await assert.rejects(async () => call(one.context), refused);
      time = 1_000_000;
      const [got, wanted] = [await call(one.context), await call(other.context)];
      assert.deepEqual(facts(got), facts(wanted));
    }
    assert.deepEqual(facts(one.context.request(history)), facts(other.context.request(history)));
  });
}

test("a clock that fails while the summarizer works fails the compaction before it is carried out", {
  skip,
}, async () => {
  let isWrong = false;
  const { context, types } = manager(
    async (/** @type {any} */ job) => {
      isWrong = true;
      return good(job);
    },
    { clock: () => (isWrong ? Number.NaN : 1_000_000) },
  );
  const history = talk(20);
  const before = context.request(history);
  await assert.rejects(context.compact(history, { force: true }), refused);
  assert.equal(types().at(-1), "compaction-failed");
  isWrong = false;
  const after = context.request(history);
  assert.deepEqual(facts(after.messages), facts(before.messages));
  assert.equal(after.compaction, null);
});
