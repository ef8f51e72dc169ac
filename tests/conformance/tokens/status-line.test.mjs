// @ts-check
/** A manager's status line and hint, as those of a `ContextBudget` of the same figures. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);
const skip = !api && why;

const WINDOW = { contextTokens: 10_000 };
const history = [{ role: "user", content: "go" }];

/** After a call whose usage was so many tokens. @param {number} tokens */
function used(tokens, context = new api.ContextManager({ window: WINDOW, format: "anthropic" })) {
  const prepared = context.request(history);
  context.observe({ input_tokens: tokens, output_tokens: 0 }, prepared);
  return context;
}

test("a session's status line equals a budget's, by provider count and by estimate", {
  skip,
}, () => {
  const budget = new api.ContextBudget(WINDOW);
  budget.updateFromResponse(4_523, 0);
  const context = used(4_523);
  assert.equal(context.statusLine(), "📚 Context: 4,523/10,000 (45%)");
  assert.equal(context.statusLine(), budget.statusLine());
  assert.equal(context.statusLine("short"), "[Context: 4k/10k tokens (45%)]");
  assert.equal(context.statusLine("short"), budget.statusLine("short"));
  const estimated = new api.ContextManager({ window: WINDOW });
  const { tokens } = estimated.request(history);
  assert.equal(estimated.statusLine(), `📚 Context: ~${tokens}/10,000 (0%)`);
});

test("a hint is given once for each band, and again after usage fell", { skip }, () => {
  const context = used(7_900);
  assert.equal(context.hint(), null);
  const hints = [8_000, 8_400, 8_600, 8_200, 10_000, 5_000, 8_900].map((tokens) => {
    used(tokens, context);
    const hint = context.hint();
    assert.equal(context.hint(), null, "once");
    return hint?.replace(/ tokens\..*/, "") ?? null;
  });
  const of = (/** @type {number} */ pct) => `[Context: ${pct}% of 10,000`;
  assert.deepEqual(hints, [of(80), null, of(86), null, of(100), null, of(89)]);
});
