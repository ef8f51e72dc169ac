/** Functions over a whole transcript, without a session: check, repair, estimate. */
import { flagOf, onlyKnown } from "../core/arguments.js";
import { withDisposed } from "../core/disposed.js";
import { argumentJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import type * as glue from "../glue/plimsoll_bg.js";
import { ContextManager } from "../session/context.js";
import { counterOf, setParts } from "../session/counter.js";
import { PARTS, partsOf } from "../session/options.js";
import type {
  BudgetCheck,
  ContextManagerOptions,
  ContextWindow,
  Estimate,
  Parts,
  Provider,
  Violation,
} from "../types.js";
import { within } from "./one-shot.js";

/** Options of `validate` and `repair`. */
type RuleOptions = Pick<ContextManagerOptions<unknown>, "format"> & Pick<Parts, "system" | "tools">;

/** How a transcript is read and measured. */
type MeasureOptions = Pick<ContextManagerOptions<unknown>, "format" | "estimator" | "imageTokens">;

/** A whole request. */
type RequestParts<M> = Parts & {
  /** Its messages. */
  messages: readonly M[];
};

const RULES = ["format", "thinking", "system", "tools"];

/**
 * Lists the rules of a provider that a transcript violates, in the order of its messages. An empty list means that none of the rules in
 * `docs/rules.md` is broken. Contents of a block are not checked, such as the name of a call or the source of an image.
 *
 * @param options `system` and `tools` are needed only for limits that count the whole request (I13, I28, I29)
 * @throws {PlimsollError} `MALFORMED_MESSAGE`, `UNKNOWN_FORMAT`, `INVALID_ARGUMENT`, `TOO_LARGE`.
 * @example
 * const broken = validate(messages, "anthropic"); // [{ rule: "I2", index: 4, path: "/content/0", message: "…" }]
 */
export function validate<M>(
  messages: readonly M[],
  provider: Provider,
  options: RuleOptions & {
    /** True if extended thinking is on in the request; rules I11, I20 and I23 are then checked too. Default false. */
    thinking?: boolean | undefined;
  } = {},
): Violation[] {
  const { format, thinking, ...parts } = onlyKnown("options", options, RULES);
  const isThinking = flagOf("thinking", thinking);
  const settings = { provider, ...(format ? { format } : {}) };
  const beside = argumentJson(partsOf(parts), "parts");
  return within("validate", messages, settings, (manager) => {
    setParts("validate", manager, beside, undefined);
    return call("validate", () => manager.check(isThinking));
  }) as Violation[];
}

/**
 * Repairs a transcript so that it breaks none of these rules. A valid one is returned unchanged. For a tool call without a result, a result is
 * added that says so; contents are never invented.
 *
 * @throws {PlimsollError} as `validate`.
 * @example
 * const { messages, repairs } = repair(history, "anthropic");
 */
export function repair<M>(
  messages: readonly M[],
  provider: Provider,
  options: RuleOptions & {
    /**
     * Gemini only: sends a tool call of the current turn whose thought signature is lost with the documented placeholder signature,
     * which costs quality. Default false.
     */
    thinking?: boolean | undefined;
  } = {},
): {
  /** The repaired transcript. Unchanged messages are the objects you passed in. */
  messages: M[];
  /** What was repaired. */
  repairs: Violation[];
} {
  const { format = "auto", thinking, system, tools } = onlyKnown("options", options, RULES);
  const window = { contextTokens: 0 };
  const signCalls = flagOf("thinking", thinking);
  const made = new ContextManager<M>({ window, provider, format, signCalls });
  const request = withDisposed(made, (manager) => manager.request(messages, { system, tools }));
  return { messages: request.messages, repairs: request.repairs };
}

/**
 * Estimates the tokens and characters of a request, in total and by kind.
 *
 * @throws {PlimsollError} as `validate`.
 * @example
 * const { tokens, byKind } = estimateRequest({ messages, system, tools });
 */
export function estimateRequest<M>(
  request: RequestParts<M>,
  options: MeasureOptions = {},
): Estimate {
  return measured("estimateRequest", request, options, (manager) => manager.estimate()) as Estimate;
}

/**
 * Compares a request with the usable window (`contextTokens - maxOutputTokens`, at least 0). If the window is unknown (0), no request is
 * over the budget.
 *
 * @throws {PlimsollError} as `validate`.
 * @example
 * const { overBudget, excessTokens } = checkBudget({ messages, system, tools }, { contextTokens: 200_000, maxOutputTokens: 8_192 });
 */
export function checkBudget<M>(
  request: RequestParts<M>,
  window: ContextWindow,
  options: MeasureOptions = {},
): BudgetCheck {
  const room = argumentJson(window, "window");
  const work = (manager: glue.Manager): string => manager.check_budget(send(room));
  return measured("checkBudget", request, options, work) as BudgetCheck;
}

/** Tokens of a history, and of the messages after the model's last one. */
export function estimateSinceReply(
  messages: readonly unknown[],
  options: Pick<MeasureOptions, "estimator">,
): { tokens: number; since: number } {
  const work = (manager: glue.Manager): string => {
    const { tokens } = JSON.parse(manager.estimate()) as Estimate;
    return JSON.stringify({ tokens, since: manager.estimate_since_reply() });
  };
  const what = measured("estimateFromMessages", { messages }, options, work);
  return what as { tokens: number; since: number };
}

/** What `work` tells of a request. */
function measured(
  during: string,
  request: RequestParts<unknown>,
  options: MeasureOptions,
  work: (manager: glue.Manager) => string,
): unknown {
  const { messages, ...parts } = onlyKnown("request", request, ["messages", ...PARTS]);
  onlyKnown("options", options, ["format", "estimator", "imageTokens"]);
  const beside = argumentJson(partsOf(parts), "parts");
  return within(during, messages, options, (manager) => {
    setParts(during, manager, beside, counterOf(options.estimator));
    return call(during, () => work(manager));
  });
}
