/** Token estimates of plain text. */
import { call, send } from "./core.js";
import { counted } from "./count.js";
import { invalid } from "./errors.js";
import * as glue from "./glue/plimsoll_bg.js";
import type { Estimator } from "./types.js";

const numbers = new Map<string, number>();

/**
 * How many tokens a text has, for a tokenizer family or by a plain ratio. An estimate, not a count: a whole number,
 * the same for the same text everywhere.
 *
 * @param estimator default `generic`. A function is asked instead, and its answer given as it is.
 * @throws {PlimsollError} `INVALID_ARGUMENT` if `text` is no string, the estimator is unknown, or a function's answer
 * is not a number of tokens.
 * @example
 * estimateTokens("The quick brown fox"); // 4 or so
 * estimateTokens(code, "o200k");
 */
export function estimateTokens(text: string, estimator: Estimator = "generic"): number {
  if (typeof text !== "string") throw invalid("text", "a string", text);
  if (typeof estimator === "function") return counted(estimator(text));
  return call("estimateTokens", () => {
    const number = numberOf(estimator);
    return glue.estimate_tokens(send(text), number);
  });
}

/** The core's number for an estimator's name; to be asked within `call`. */
export function numberOf(estimator: string): number {
  let number = numbers.get(estimator);
  if (number === undefined) {
    number = glue.estimator(String(estimator));
    numbers.set(estimator, number);
  }
  return number;
}
