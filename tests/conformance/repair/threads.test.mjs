// @ts-check
/** Bugs that others reported, through the package: the cases of `tests/golden`, one test for each thread. What the kinds mean
 * stands in `tests/native/golden.rs`. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const folder = new URL("../../golden/", import.meta.url);

/** @param {any} case_ @param {unknown} message @param {number} at */
function filled(case_, message, at) {
  const text = JSON.stringify(message)
    .replaceAll("{nnn}", String(at).padStart(3, "0"))
    .replaceAll("{n}", String(at));
  if (!text.includes("{pad}")) return JSON.parse(text);
  let pad = "";
  for (let word = 0; pad.length < case_.pad; word += 1) pad += `v${at}x${word} `;
  return JSON.parse(text.replaceAll("{pad}", pad.trimEnd()));
}

/** @param {any} case_ @returns {any[]} */
function historyOf(case_) {
  const history = case_.messages.map((/** @type {any} */ message) => filled(case_, message, 0));
  for (let at = 1; at <= (case_.repeat?.times ?? 0); at += 1) {
    for (const message of case_.repeat.messages) history.push(filled(case_, message, at));
  }
  return history.concat(case_.after ?? []);
}

/** @param {string} format @param {any} case_ */
function checkOnce(format, case_) {
  const { provider, kind, system, tools, thinking } = case_;
  const history = historyOf(case_);
  const before = JSON.stringify(history);
  const options = { format, thinking, system, tools };
  const found = api.validate(history, provider, options);
  const mended = api.repair(history, provider, { format, system, tools });
  assert.equal(JSON.stringify(history), before, "the history is the host's");
  if (kind === "untouched") {
    assert.deepEqual(found, []);
    assert.deepEqual(mended.repairs, []);
    for (const [at, message] of mended.messages.entries()) assert.equal(message, history[at]);
    return;
  }
  const rule = case_.violates ?? case_.rule;
  assert.ok(
    found.some((/** @type {any} */ it) => it.rule === rule),
    JSON.stringify(found),
  );
  const left = api.validate(mended.messages, provider, options);
  if (kind === "report") {
    assert.ok(left.some((/** @type {any} */ it) => it.rule === rule));
    assert.deepEqual(mended.messages, history);
    return;
  }
  assert.deepEqual(left, []);
  const again = api.repair(mended.messages, provider, { format, system, tools });
  assert.deepEqual(again.repairs, []);
  assert.deepEqual(again.messages, mended.messages);
}

/** @param {string} format @param {any} case_ */
function checkNever(format, case_) {
  const { provider, system, tools, thinking } = case_;
  const context = new api.ContextManager({
    // As in tests/golden: early edits and half of the case's window, so that several epochs are seen.
    window: { contextTokens: case_.window / 2 },
    preset: "economy",
    format,
    provider,
    clock: () => 0,
  });
  const history = historyOf(case_);
  let last;
  for (let end = 1; end <= history.length; end += 1) {
    const isAssistant = (/** @type {any} */ message) => message?.role === "assistant";
    if (isAssistant(history[end - 1]) || (end < history.length && !isAssistant(history[end])))
      continue;
    last = context.request(history.slice(0, end), { system, tools });
    assert.deepEqual(last.repairs, []);
    assert.deepEqual(
      api.validate(last.messages, provider, { format, thinking, system, tools }),
      [],
    );
    for (const expected of case_.expect ?? []) checkExpected(expected, history.slice(0, end), last);
  }
  assert.ok(last.epoch > 1, "nothing was pruned");
}

/** @param {string} what @param {any[]} history @param {any} request */
function checkExpected(what, history, request) {
  const thinks = (/** @type {any} */ message) =>
    message.role === "assistant" &&
    Array.isArray(message.content) &&
    message.content.some((/** @type {any} */ block) => /thinking$/.test(block.type));
  const newest = history.findLast(thinks);
  const { messages, firstChanged, hints } = request;
  if (what === "newest-thinking") {
    if (newest) assert.ok(messages.includes(newest), "the very object");
  } else if (what === "bound-thinking") {
    if (firstChanged === null) return;
    for (const message of messages.slice(Math.max(firstChanged, 0)).filter(thinks)) {
      assert.equal(message, newest);
      assert.ok(hints.body, "the provider is told");
    }
  } else {
    for (const call of messages.filter((/** @type {any} */ message) => message.tool_calls)) {
      const id = call.tool_calls[0].id;
      const host = history.find((message) => message.tool_calls?.[0].id === id);
      assert.equal(call.reasoning_content, host.reasoning_content);
    }
  }
}

if (!api) test("transcripts that public threads report are repaired", { skip: why }, () => {});
for (const name of api ? ["anthropic", "openai-chat", "pi"] : []) {
  const { format, cases } = JSON.parse(readFileSync(new URL(`${name}.json`, folder), "utf8"));
  for (const case_ of cases) {
    test(`${case_.about} (${case_.rule}, ${case_.thread})`, () => {
      if (case_.kind === "never") checkNever(format, case_);
      else checkOnce(format, case_);
    });
  }
}
