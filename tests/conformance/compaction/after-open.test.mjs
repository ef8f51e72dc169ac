// @ts-check
/** A compaction that is the first thing asked of a session that was opened again, or that is asked of a shorter history than the last. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../generated/histories.mjs";
import { landed } from "../generated/supported-pairs.mjs";
import { api, count, good, prose, sentText, skip } from "../support/agent-session.mjs";

/** @param {number} at @returns {any[]} */
const step = (at) => [
  { role: "user", parts: [{ kind: "text", text: `step ${at}` }], plain: true },
  ...[0, 1].flatMap((call) => [
    {
      role: "assistant",
      parts: [
        { kind: "call", id: `call${at}at${call}`, name: "read", input: { path: `f${at}.rs` } },
      ],
    },
    {
      role: "tool",
      parts: [
        {
          ...{ kind: "result", id: `call${at}at${call}`, name: "read", error: false },
          text: `src/f${at}_${call}.rs ${prose(180)}`,
        },
      ],
    },
  ]),
  { role: "assistant", parts: [{ kind: "text", text: `done ${at}: ${prose(60)}` }], plain: true },
];
/** A store of one process. */
function inMemory() {
  /** @type {{ bytes: Uint8Array, revision: number } | null} */
  let stored = null;
  return {
    load: async () => stored,
    commit: async (/** @type {string} */ _, /** @type {Uint8Array} */ bytes) => {
      stored = { bytes, revision: (stored?.revision ?? 0) + 1 };
      return stored.revision;
    },
    delete: async () => {
      stored = null;
    },
  };
}
const STEPS = 9;
const formats = new Map((api ? landed(api) : []).map(({ format, provider }) => [format, provider]));

for (const [format, provider] of formats)
  for (const summarizes of [true, false])
    test(`compact right after open folds ${summarizes ? "with" : "without"} a summarizer (${format})`, {
      skip,
    }, async () => {
      const turns = Array.from({ length: STEPS + 3 }, (_, at) => step(at));
      const history = (/** @type {number} */ steps) =>
        render(
          { turns: turns.slice(0, steps).flat(), clean: true, signed: false, way: 3, window: 0 },
          format,
          provider,
        );
      const summarize = async (/** @type {any} */ job) => good(job);
      const options = {
        ...{ window: { contextTokens: 12_000 }, format, provider, clock: () => 1_000_000 },
        ...(summarizes ? { summarize, summary: { minimumTokens: 0 } } : {}),
      };
      const store = inMemory();
      const first = await api.ContextManager.open(store, "s", options);
      for (let steps = 1; steps <= STEPS; steps++) first.request(history(steps));
      const folded = await first.compact(history(STEPS), { force: true });
      assert.equal(folded.status, summarizes ? "summarized" : "folded", folded.reason);
      for (const steps of [STEPS + 1, STEPS + 2, STEPS + 3]) first.request(history(steps));
      await first.save();
      const bytes = first.snapshot();
      for (const [name, context, steps] of /** @type {Array<[string, any, number]>} */ ([
        ["opened", await api.ContextManager.open(store, "s", options), STEPS + 3],
        ["restored, on a shorter history", api.ContextManager.restore(bytes, options), STEPS + 2],
        ["on a shorter history", first, STEPS + 2],
      ])) {
        const passed = history(steps);
        const outcome = await context.compact(passed, { force: true });
        assert.equal(outcome.status, folded.status, `${name}: ${outcome.reason}`);
        assert.ok(outcome.tokensAfter < outcome.tokensBefore);
        const after = context.request(passed);
        assert.deepEqual(after.compaction, outcome, name);
        if (summarizes) assert.equal(count(sentText(after), "Zebra_One"), 1, name);
        for (const word of outcome.extracted.identifiers.slice(0, 3))
          assert.ok(sentText(after).includes(word), `${name}: ${word}`);
        assert.deepEqual(api.validate(after.messages, provider, { format }), [], name);
      }
    });

test("plan changes nothing in an opened session", { skip }, async () => {
  const options = {
    window: { contextTokens: 12_000 },
    format: "anthropic",
    clock: () => 1_000_000,
  };
  const turns = Array.from({ length: STEPS + 1 }, (_, at) => step(at)).flat();
  const made = { turns, clean: true, signed: false, way: 3, window: 0 };
  const history = render(made, "anthropic", "anthropic");
  const first = new api.ContextManager(options);
  first.request(history);
  await first.compact(history, { force: true });
  const sent = first.request(history);
  const opened = api.ContextManager.restore(first.snapshot(), options);
  opened.plan(history.slice(0, -6), { force: true });
  opened.plan(history, { force: true });
  assert.deepEqual(opened.request(history).messages, sent.messages);
});
