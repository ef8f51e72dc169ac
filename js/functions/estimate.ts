/** Token estimates of plain text. */
import { textOf } from "../core/arguments.js";
import { invalid } from "../core/errors.js";
import { call, send } from "../core/main.js";
import * as glue from "../glue/plimsoll_bg.js";
import type { Estimator } from "../types.js";

const numbers = new Map<string, number>();

/**
 * Estimates the tokens of a text. A named estimator gives a whole number, the same on every platform.
 *
 * @param text the text
 * @param estimator tokenizer family or ratio, default `generic`. The answer of a function is returned as it is; if it throws,
 * `generic` is used.
 * @throws {PlimsollError} `INVALID_ARGUMENT` if `text` is no string, the estimator is unknown, or a function's answer
 * is not a number of tokens.
 * @example
 * estimateTokens("The quick brown fox"); // 4 or so
 * estimateTokens(code, "o200k");
 */
export function estimateTokens(text: string, estimator: Estimator = "generic"): number {
  textOf("text", text);
  if (typeof estimator === "function") return countedBy(estimator, text);
  return call("estimateTokens", () => {
    const number = numberOf(estimator);
    return glue.estimate_tokens(send(text), number);
  });
}

/** What the host's counter says of a text; the generic estimate if it throws. */
export function countedBy(
  counter: (text: string) => number,
  text: string,
  failed?: (error: unknown) => void,
): number {
  let answer: number;
  try {
    answer = counter(text);
  } catch (error) {
    failed?.(error);
    return estimateTokens(text);
  }
  if (Number.isFinite(answer) && answer >= 0) return answer;
  throw invalid("estimator", "a function that gives a finite number, 0 or more", answer);
}

/** The core's number for an estimator's name; to be asked within `call`. */
export function numberOf(estimator: string): number {
  let number = numbers.get(estimator);
  if (number === undefined) {
    number = glue.estimator(textOf("estimator", estimator));
    numbers.set(estimator, number);
  }
  return number;
}
