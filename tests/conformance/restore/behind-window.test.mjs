// @ts-check
/** Sessions that are restored where the host holds only a later part of their history, whatever is asked of them first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;

const options = { window: { contextTokens: 30_000 }, format: "anthropic", estimator: "chars/4" };
const history = Array.from({ length: 41 }, (_, at) => ({
  role: at % 2 === 0 ? "user" : "assistant",
  content: `message ${at} `.padEnd(200, "tide "),
}));
const later = history.slice(20);

/** @type {Record<string, (context: any) => unknown>} */
const first = {
  plan: (context) => context.plan(later),
  compact: (context) => context.compact(later, { force: true }),
  pin: (context) => {
    context.plan(later);
    context.pin({ index: 2 });
  },
};

for (const [name, ask] of Object.entries(first)) {
  test(`a request after ${name} is made where the host has let go of the start`, {
    skip,
  }, async () => {
    const before = new api.ContextManager(options);
    before.request(history);
    const context = api.ContextManager.restore(before.snapshot(), options);
    await ask(context);
    const { messages } = context.request(later);
    const answer = { role: "assistant", content: "It is ebb." };
    const next = context.request([...later, answer, { role: "user", content: "And now?" }]);
    assert.deepEqual(next.messages.slice(0, messages.length), messages);
    assert.match(JSON.stringify(messages.at(-1)), /message 40/);
    before[Symbol.dispose]();
    context[Symbol.dispose]();
  });
}
