// @ts-check
/** `status().nextEdit` forecasts where the next edit comes, by the rules that then decide. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random } from "../generated/histories.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);
const skip = !api && why;

const call = (/** @type {number} */ at) => ({
  role: "assistant",
  content: [{ type: "tool_use", id: `t${at}`, name: "read", input: { path: `src/m${at}.rs` } }],
});
const result = (/** @type {number} */ at, /** @type {number} */ words) => ({
  role: "user",
  content: [
    { type: "tool_result", tool_use_id: `t${at}`, content: `fn f${at} ${"word ".repeat(words)}` },
  ],
});

/** A session that reads files of about so many words until its first edit. @param {any} options @param {number} words */
function firstEdit(options, words) {
  const next = random(7);
  const context = new api.ContextManager(options);
  assert.equal(context.status().nextEdit, null, "nothing is known before the first call");
  const history = [{ role: "user", content: "Audit all modules." }];
  const forecasts = [];
  for (let at = 0; at < 400; at += 1) {
    const before = context.status().used;
    const { edits, epoch } = context.request(history);
    if (edits.length > 0 && epoch > 0) return { forecasts, actual: before };
    const { used, nextEdit } = context.status();
    if (at > 0) forecasts.push({ used, ...nextEdit });
    history.push(call(at), /** @type {any} */ (result(at, Math.floor(words * (0.5 + next())))));
  }
  throw new Error("no edit came");
}

for (const contextTokens of [32_000, 128_000, 200_000])
  test(`a steady session is edited near the forecast size in a window of ${contextTokens} tokens`, {
    skip,
  }, () => {
    const { forecasts, actual } = firstEdit(
      { window: { contextTokens, maxOutputTokens: 8_000 } },
      600,
    );
    const errors = forecasts.slice(4).map(({ tokens }) => Math.abs(tokens - actual) / actual);
    console.log(`edited at ${actual}; worst error ${(100 * Math.max(...errors)).toFixed(0)} %`);
    assert.ok(errors.length > 10 && Math.max(...errors) < 0.2, JSON.stringify(forecasts));
    assert.match(forecasts.at(-1).reason, /^editing then costs less/);
  });

test("a preset that acts only at its trigger forecasts the trigger", { skip }, () => {
  for (const preset of ["capacity", "openclaw"]) {
    const options = { preset, window: { contextTokens: 32_000, maxOutputTokens: 4_000 } };
    const context = new api.ContextManager(options);
    context.request([{ role: "user", content: "go" }, call(0), result(0, 500)]);
    const { trigger } = context.inspect().window;
    assert.deepEqual(context.status().nextEdit, { tokens: trigger, reason: "that is the trigger" });
  }
});

test("a session without a window has no forecast", { skip }, () => {
  const context = new api.ContextManager({ window: { contextTokens: 0 } });
  context.request([{ role: "user", content: "go" }, call(0), result(0, 500)]);
  assert.equal(context.status().nextEdit, null);
});
