// @ts-check
/** A window that fills up call by call: a fold that waits for its summary, or gets none, costs no more epochs than one without a summarizer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;

const WINDOW = { contextTokens: 24_000, maxOutputTokens: 2_000 };
const CALLS = 80;

/** A file of about 700 tokens, another each time. @param {number} at */
const source = (at) =>
  Array.from(
    { length: 50 },
    (_, line) => `pub fn check_${at}_${line}(input: &str) -> bool { input.len() > ${line * at} }`,
  ).join("\n");

/** An agent that reads file after file and says what it found: its requests. @param {any} options */
async function epochs(options) {
  const context = new api.ContextManager({ window: WINDOW, format: "anthropic", ...options });
  /** @type {any[]} */
  const history = [{ role: "user", content: "Audit every module." }];
  const seen = { epochs: 0, folds: 0, peak: 0 };
  for (let at = 0; at < CALLS; at += 1) {
    const prepared = await context.prepare(history);
    seen.epochs = prepared.epoch;
    seen.peak = Math.max(seen.peak, prepared.tokens);
    if (prepared.compaction?.record) seen.folds += 1;
    const found = `Module ${at} is done. ${"What was found so far holds for it as well. ".repeat(9)}`;
    const use = { type: "tool_use", id: `t${at}`, name: "read", input: { path: `m${at}.rs` } };
    const result = { type: "tool_result", tool_use_id: `t${at}`, content: source(at) };
    history.push({ role: "assistant", content: [{ type: "text", text: found }, use] });
    history.push({ role: "user", content: [result] });
  }
  context[Symbol.dispose]();
  return seen;
}

/** @param {{ requiredHeadings: string[] }} job */
const summary = async ({ requiredHeadings }) =>
  requiredHeadings.map((name) => `## ${name}\nThe audit goes on, module by module.`).join("\n\n") ||
  "Module by module was read, and nothing was found in any of them.";
const failing = async () => {
  throw new Error("503 overloaded");
};

test("a summarizer, even a failing one, causes at most one epoch more than none", {
  skip,
}, async () => {
  const none = await epochs({});
  const good = await epochs({ summarize: summary });
  const broken = await epochs({ summarize: failing });
  console.log(JSON.stringify({ none, good, broken }));
  assert.ok(none.folds >= 1 && good.folds >= 1 && broken.folds >= 1, "each of them folds");
  assert.ok(good.epochs <= none.epochs + 1, `${good.epochs} epochs, ${none.epochs} without`);
  assert.ok(broken.epochs <= none.epochs + 1, `${broken.epochs} epochs, ${none.epochs} without`);
  for (const { peak } of [none, good, broken])
    assert.ok(peak <= WINDOW.contextTokens - WINDOW.maxOutputTokens, `${peak} tokens`);
});
