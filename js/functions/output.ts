/** Room for the answer in a request. */
import { onlyKnown, refuseNonFinite } from "../core/arguments.js";
import { argumentJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import * as glue from "../glue/plimsoll_bg.js";

/**
 * How many tokens of an answer to ask for: `min(requested, window - floor(margin * inputTokens) - buffer)`, but at least 100,
 * so that a provider does not refuse the request because input and answer together are more than the window.
 *
 * @param requested tokens that you would ask for: less than 100 stay as they are
 * @param window the model's context window; 0 (unknown): the answer is as requested
 * @param inputTokens of the request, such as `prepared.tokens`
 * @param options `margin`: what `inputTokens` is multiplied by, since it may be an estimate; default 1.2. `buffer`: tokens that
 *   stay free besides; default 100.
 * @throws {PlimsollError} `INVALID_ARGUMENT` for what is no number of tokens.
 * @example
 * capOutput(64_000, 128_000, 90_000); // 19900
 */
export function capOutput(
  requested: number,
  window: number,
  inputTokens: number,
  options: {
    /** Factor for `inputTokens`. Default 1.2. */
    margin?: number | undefined;
    /** Tokens that stay free besides. Default 100. */
    buffer?: number | undefined;
  } = {},
): number {
  const { margin, buffer } = onlyKnown("options", options, ["margin", "buffer"]);
  const amounts = { requested, window, inputTokens, margin, buffer };
  for (const [name, amount] of Object.entries(amounts)) refuseNonFinite(name, amount);
  const optionsJson = argumentJson(amounts, "options");
  return call("capOutput", () => glue.cap_output(send(optionsJson)));
}
