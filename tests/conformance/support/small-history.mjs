// @ts-check
/** Small histories for the tests of `ContextManager`. */
import { loadPackage } from "./package.mjs";

const { api, why } = await loadPackage();

export { api };
export const skip = api ? false : why;

/** Words that no two messages share. */
export const words = (/** @type {number} */ count, /** @type {string} */ of) =>
  Array.from({ length: count }, (_, at) => `${of}${at}`).join(" ");

export const ask = (/** @type {string} */ text) => ({ role: "user", content: text });
export const say = (/** @type {string} */ text) => ({ role: "assistant", content: text });
export const use = (/** @type {string} */ id, /** @type {any} */ input = { path: `${id}.rs` }) => ({
  role: "assistant",
  content: [{ type: "tool_use", id, name: "read", input }],
});
export const gave = (/** @type {string} */ id, /** @type {any} */ content, error = false) => ({
  role: "user",
  content: [
    { type: "tool_result", tool_use_id: id, content, ...(error ? { is_error: true } : {}) },
  ],
});

/** A request, then `count` results of some 600 tokens each that nothing uses again. */
export function work(count = 40, from = 0) {
  const history = from === 0 ? [ask("find the bug in the parser, please")] : [];
  for (let at = from; at < from + count; at += 1)
    history.push(use(`call${at}`), gave(`call${at}`, words(200, `x${at}y`)));
  return history;
}

/** @param {Record<string, any>} [options] @returns {any} */
export const manager = (options = {}) =>
  new api.ContextManager({
    window: { contextTokens: 32_000, maxOutputTokens: 2_000 },
    format: "anthropic",
    clock: () => 1_700_000_000_000,
    ...options,
  });

/** The history as it grows, asked for at each call: all answers. @param {any} context @param {any[]} history @param {any} [parts] */
export function grow(context, history, parts) {
  const answers = [];
  for (let end = 1; end <= history.length; end += 1) {
    if (end < history.length && history[end].role !== "assistant") continue;
    answers.push(context.request(history.slice(0, end), parts));
  }
  return answers;
}

export const copy = (/** @type {any} */ value) => JSON.parse(JSON.stringify(value));
