/** Functions over a whole transcript, without a session: check, repair, estimate. */
import { ContextManager } from "./context.js";
import { call, send } from "./core.js";
import { counterOf, setParts } from "./count.js";
import type * as glue from "./glue/plimsoll_bg.js";
import { argumentJson } from "./json.js";
import { onlyKnown } from "./known.js";
import type {
  BudgetCheck,
  ContextWindow,
  Estimate,
  Estimator,
  Format,
  Parts,
  Provider,
  Violation,
} from "./types.js";
import { within } from "./within.js";

/** What goes out beside the messages, as far as rules ask for it. */
type Beside = Pick<Parts, "system" | "tools">;
const RULES = ["format", "thinking", "system", "tools"];

/**
 * The rules of a provider that a transcript breaks, in the order of its messages; empty: the provider would accept it.
 *
 * @param options `thinking`: extended thinking is on in the request, then I11, I20 and I23 are checked too. `system`, `tools`:
 * what goes out beside the messages, for what is counted over all of it (I13, I28, I29).
 * @throws {PlimsollError} `MALFORMED_MESSAGE`, `UNKNOWN_FORMAT`, `INVALID_ARGUMENT`, `TOO_LARGE`.
 * @example
 * const broken = validate(messages, "anthropic"); // [{ rule: "I2", index: 4, path: "/content/0", message: "…" }]
 */
export function validate<M>(
  messages: readonly M[],
  provider: Provider,
  options: { format?: Format; thinking?: boolean } & Beside = {},
): Violation[] {
  const {
    format,
    thinking = false,
    system = null,
    tools = null,
  } = onlyKnown("options", options, RULES);
  const given = { provider, ...(format ? { format } : {}) };
  const beside = argumentJson({ system, tools }, "parts");
  return within("validate", messages, given, (manager) => {
    setParts("validate", manager, beside, undefined);
    return call("validate", () => manager.check(thinking));
  }) as Violation[];
}

/**
 * The transcript as the provider accepts it, and what was mended. Nothing is changed on a valid one; a result that never
 * came is said to be missing, never invented.
 *
 * @param options `thinking`: the model refuses calls without their signature (Gemini 3): a lost one of the current turn is
 *   made up for by the documented sentinel, at a cost in quality. Without it nothing is signed.
 * @throws {PlimsollError} as `validate`.
 */
export function repair<M>(
  messages: readonly M[],
  provider: Provider,
  options: { format?: Format; thinking?: boolean } & Beside = {},
): { messages: M[]; repairs: Violation[] } {
  const { format = "auto", thinking = false, system, tools } = onlyKnown("options", options, RULES);
  const window = { contextTokens: 0 };
  using manager = new ContextManager<M>({ window, provider, format, signCalls: thinking });
  const request = manager.request(messages, { system, tools });
  return { messages: request.messages, repairs: request.repairs };
}

/**
 * Tokens and characters of a request as it stands, by kind; the kinds sum to the whole.
 *
 * @throws {PlimsollError} as `validate`.
 */
export function estimateRequest<M>(
  request: Parts & { messages: readonly M[] },
  options: { format?: Format; estimator?: Estimator } = {},
): Estimate {
  return measured("estimateRequest", request, options, (manager) => manager.estimate()) as Estimate;
}

/**
 * A request as it stands beside the room that a window has for it: the window less what is held back for the answer, never below
 * 0. Where the window is unknown (0), nothing is over it.
 *
 * @throws {PlimsollError} as `validate`.
 * @example
 * const { overBudget, excessTokens } = checkBudget({ messages, system, tools }, { contextTokens: 200_000, maxOutputTokens: 8_192 });
 */
export function checkBudget<M>(
  request: Parts & { messages: readonly M[] },
  window: ContextWindow,
  options: { format?: Format; estimator?: Estimator } = {},
): BudgetCheck {
  const room = argumentJson(window, "window");
  const work = (manager: glue.Manager): string => manager.check_budget(send(room));
  return measured("checkBudget", request, options, work) as BudgetCheck;
}

/** What `work` tells of a request. */
function measured(
  during: string,
  request: Parts & { messages: readonly unknown[] },
  options: { format?: Format; estimator?: Estimator },
  work: (manager: glue.Manager) => string,
): unknown {
  const { messages, system = null, tools = null, unseenTokens = null } = request;
  onlyKnown("options", options, ["format", "estimator"]);
  const beside = argumentJson({ system, tools, unseenTokens }, "parts");
  return within(during, messages, options, (manager) => {
    setParts(during, manager, beside, counterOf(options.estimator));
    return call(during, () => work(manager));
  });
}
