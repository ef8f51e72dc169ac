/** `ContextBudget`: the fill of a window, for a host that does its own compaction. */
import { refuseNonFinite } from "../core/arguments.js";
import { invalid } from "../core/errors.js";
import { argumentJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import { estimateSinceReply } from "../functions/transcript.js";
import * as glue from "../glue/plimsoll_bg.js";
import type { ContextWindow, Estimator } from "../types.js";

/** A budget as the core counts it. */
interface Counted {
  tokens: number;
  usage: number;
  answered: number;
  base: number;
  estimated: number;
  window: number;
  source: "usage" | "estimate";
  hinted: number;
  reached: number;
  consumed: number;
  messages: number;
  run: BudgetStatus["run"] | null;
  thresholdTokens: number;
  compress: boolean;
  status: BudgetStatus;
  line: string;
  short: string;
  hint: string | null;
}

/** How full a budget is. All sizes are tokens. */
export interface BudgetStatus {
  /** Tokens: the last usage and an estimate of what came since, or an estimate alone. */
  used: number;
  /** The usable window: `contextTokens - maxOutputTokens`. */
  budget: number;
  /** `budget` less `used`, at least 0. */
  remaining: number;
  /** `used` of `budget` in percent, rounded down. Can be over 100. */
  usedPct: number;
  /** Prompt of the last response with a usage, in tokens; 0 while estimates count. */
  promptTokens: number;
  /** Its completion, in tokens. */
  completionTokens: number;
  /** Whether a provider has counted `used`, all but what came since. */
  source: "usage" | "estimate";
  /** The highest band that is reached; `ok` below the first, and with `enabled: false`. */
  band: "ok" | "warn" | "compact" | "force";
  /** Sums of all responses; only with `maxRunTokens`. */
  run?: {
    /** Tokens of all responses together. */
    consumed: number;
    /** Tokens that are left; -1 if there is no limit. */
    remaining: number;
    /** True if the limit is reached. */
    exceeded: boolean;
  };
}

/** Options of `ContextBudget`. Bands begin at shares of the usable window (0..1), none before the one below it. */
export type ContextBudgetOptions = Pick<ContextWindow, "maxOutputTokens"> & {
  /** The model's window in tokens. Default 131,072. 0: it is unknown, and no band is reached. */
  contextTokens?: number | undefined;
  /** False: counts, but reaches no band, asks for no compaction and has no hint. Default true. */
  enabled?: boolean | undefined;
  /** Share at which the band `warn` begins. Default 0.80. */
  warn?: number | undefined;
  /** Share at which the band `compact` begins, and with it `shouldCompress()`. Default 0.85. */
  compact?: number | undefined;
  /** Share at which the band `force` begins. Default 1. */
  force?: number | undefined;
  /** With more messages than this `shouldCompress()` is true, whatever their size (OpenClaw: 500). Default 0: no limit. */
  maxMessages?: number | undefined;
  /** Tokens that all calls of a run may use together (AIClaw's run budget). 0 or less: no limit. Default: `BudgetStatus.run` is left out. */
  maxRunTokens?: number | undefined;
  /** How tokens are estimated. Default `generic`. */
  estimator?: Estimator | undefined;
};

/**
 * Shows how full a window is, for a host that does its own compaction. It uses the provider's counts if there are any, else an
 * estimate of the messages. `ContextManager` does the same and acts on it.
 *
 * @example
 * const budget = new ContextBudget({ contextTokens: 131_072 });
 * budget.updateFromResponse(usage?.prompt_tokens ?? 0, usage?.completion_tokens ?? 0);
 * budget.estimateFromMessages(messages); // adds what came since, such as the results of tools
 * budget.statusLine(); // 📚 Context: 45,231/131,072 (34%)
 * if (budget.shouldCompress()) await compact(messages, { window: { contextTokens: 131_072 } });
 */
export class ContextBudget {
  readonly #options: Omit<ContextBudgetOptions, "estimator">;
  readonly #estimator: Estimator | undefined;
  #counted: Counted;

  /** @throws {PlimsollError} `INVALID_ARGUMENT` names the option. */
  constructor(options: ContextBudgetOptions) {
    if (typeof options !== "object" || options === null) {
      throw invalid("options", "{ contextTokens }", options);
    }
    const { estimator, ...rest } = options;
    for (const [name, value] of Object.entries(rest)) refuseNonFinite(name, value, 0);
    this.#options = rest;
    this.#estimator = estimator;
    this.#counted = this.#ask({});
  }

  /** Tokens in use: the provider's count, else the estimate. */
  get estimatedTokens(): number {
    return this.#counted.tokens;
  }

  /** Tokens at which the first band, `warn`, begins. */
  get thresholdTokens(): number {
    return this.#counted.thresholdTokens;
  }

  /** The whole window in tokens; 0 if it is unknown. */
  get contextWindow(): number {
    return this.#counted.window;
  }

  /**
   * Records the usage of a response. If it is 0 or implausible (no number, negative, more than eight windows), estimates are used again.
   *
   * @param promptTokens tokens of everything that was sent
   * @param completionTokens tokens of the answer
   */
  updateFromResponse(promptTokens: number, completionTokens: number): void {
    const prompt = tokens(promptTokens);
    this.#counted = this.#ask({ prompt, completion: tokens(completionTokens) });
  }

  /**
   * The estimate of a whole history. It counts while no provider has; after a usage, what came since is added to it.
   *
   * @throws {PlimsollError} as `estimateRequest`.
   */
  estimateFromMessages<M>(messages: readonly M[]): number {
    const estimator = this.#estimator === undefined ? {} : { estimator: this.#estimator };
    const { tokens: estimate, since } = estimateSinceReply(messages, estimator);
    this.#counted = this.#ask({ estimate, since, messages: messages.length });
    return estimate;
  }

  /** Returns true in the bands `compact` and `force`, and with more than `maxMessages` messages. Ask between two steps. */
  shouldCompress(): boolean {
    return this.#counted.compress;
  }

  /** Returns how full the budget is. */
  getStatus(): BudgetStatus {
    const { run, status } = this.#counted;
    return run ? { ...status, run } : { ...status };
  }

  /**
   * Returns a line such as `📚 Context: 45,231/131,072 (34%)`. An estimate is marked: `~45,231`.
   *
   * @param form `short`: GoClaw's `[Context: 45k/131k tokens (34%)]`, or an empty string if the window is unknown. Default `full`.
   */
  statusLine(form: "full" | "short" = "full"): string {
    return form === "short" ? this.#counted.short : this.#counted.line;
  }

  /**
   * Returns a hint for the model when a band is newly reached, once, else `null`. Put it at the end of the next request; in the system
   * prompt it would cost the whole prompt cache. Bands are reported anew after usage was below the first band.
   */
  hint(): string | null {
    const { hint, reached } = this.#counted;
    if (hint !== null) {
      this.#counted.hinted = reached;
      this.#counted = this.#ask({});
    }
    return hint;
  }

  #ask(
    news: { [name in "prompt" | "completion" | "estimate" | "since" | "messages"]?: number },
  ): Counted {
    const { tokens, source, hinted, consumed, messages } = this.#counted ?? {};
    const { usage, answered, base, estimated } = this.#counted ?? {};
    const counts = { usage, answered, base, estimated };
    const kept = { tokens, source, hinted, consumed, messages, ...counts };
    const ask = argumentJson({ ...this.#options, ...kept, ...news }, "options");
    const answer = call("ContextBudget", () => glue.budget(send(ask)));
    return JSON.parse(answer) as Counted;
  }
}

/** A provider's figure as an integer number of tokens. */
function tokens(figure: number): number {
  // Within what the core takes, and exact as a number of JavaScript.
  return Number.isFinite(figure) && figure > 0 ? Math.min(Math.floor(figure), 2 ** 46) : 0;
}
