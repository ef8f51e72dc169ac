// @ts-check
/** Helpers for the tests of bad input: sound messages, one manager to ill-treat, and the content of a typed error. */
import assert from "node:assert/strict";
import { loadPackage } from "./package.mjs";

const { api, why } = await loadPackage();

export { api };
export const skip = api ? false : why;
export const window = { contextTokens: 32_000, maxOutputTokens: 2_000 };
export const format = "anthropic";

export const ask = { role: "user", content: "go" };
export const use = (/** @type {any} */ input, id = "a") => ({
  role: "assistant",
  content: [{ type: "tool_use", id, name: "read", input }],
});
export const gave = (/** @type {any} */ content, id = "a") => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content }],
});
export const good = () => [{ ...ask }, use({ path: "a" }), gave("1")];

export const boom = () => {
  throw new Error("boom");
};

/** One manager for the whole file: it must outlive all that is done to it. @type {any} */
let manager = null;
export function shared() {
  manager ??= new api.ContextManager({ window, format, clock: () => 1_700_000_000_000 });
  return manager;
}

export function noManager() {
  if (!api) return why;
  return typeof api.ContextManager === "function" ? false : "ContextManager is not in the package";
}

/** @param {() => any} run @returns {Promise<{ value: any, error: any }>} */
export async function attempt(run) {
  try {
    return { value: await run(), error: null };
  } catch (error) {
    return { value: null, error: error ?? new Error("nothing was thrown") };
  }
}

/** @param {any} error */
export const describe = (error) =>
  error === null
    ? ""
    : `${error.name} ${error.code ?? ""} ${error.message} ${JSON.stringify(error.info ?? null)}`;

/**
 * The error is ours, its code is one of `codes`, and it says where.
 * @param {any} error
 * @param {readonly string[]} codes
 * @param {{ index?: number | undefined, argument?: RegExp }} [place]
 * @returns {true}
 */
export function checkTypedError(error, codes, { index, argument } = {}) {
  assert.ok(error instanceof api.PlimsollError, `a PlimsollError: ${describe(error)}`);
  const { info, code, message } = /** @type {any} */ (error);
  assert.ok(codes.includes(code), `${code} is one of ${codes}: ${describe(error)}`);
  assert.equal(info.code, code);
  assert.ok(typeof message === "string" && message.length > 0, "it has a message");
  const isText = (/** @type {unknown} */ value) => typeof value === "string" && value.length > 0;
  switch (code) {
    case "MALFORMED_MESSAGE":
      assert.ok(Number.isInteger(info.index), `the index is named: ${describe(error)}`);
      if (index !== undefined) assert.equal(info.index, index);
      assert.equal(typeof info.path, "string");
      assert.ok(isText(info.expected), "what is allowed is named");
      break;
    case "INVALID_ARGUMENT":
      if (argument) assert.match(info.argument, argument);
      assert.ok(
        isText(info.argument) && isText(info.expected) && isText(info.got),
        describe(error),
      );
      break;
    case "TOO_LARGE":
      assert.ok(isText(info.what) && info.size > info.cap, describe(error));
      break;
    case "UNKNOWN_FORMAT":
      assert.equal(typeof info.saw, "string");
      break;
    default:
      assert.ok(isText(info.reason), describe(error));
  }
  return true;
}

/** The module and the manager that was ill-treated answer a sound question. */
export function checkStillWorks() {
  assert.ok(api.estimateTokens("still here") > 0);
  if (noManager()) return;
  const messages = good();
  const view = shared().request(messages);
  assert.deepEqual([view.messages.length, view.fits], [3, true]);
  assert.ok(
    view.messages.every(
      (/** @type {any} */ message, /** @type {number} */ at) => message === messages[at],
    ),
  );
}
