/** Reports as text, and budgets: they have a Wasm of their own. */

import { invalid } from "./errors.js";
import * as glue from "./glue/inspect_bg.js";
import { argumentJson } from "./json.js";
import { Seam } from "./seam.js";
import { estimateRequest } from "./transcript.js";
import type { ContextWindow, Estimator, InspectReport } from "./types.js";

export const inspections: Seam = new Seam("inspect", glue);

/** A report; also one of another version, as far as it is there. */
export type ShownReport = Omit<InspectReport, "monitor"> & Partial<Pick<InspectReport, "monitor">>;

/** How a report is shown: 100 columns, without colour, by default. */
export interface RenderOptions {
  /** Columns of a line, 20 to 500. */
  width?: number;
  /** Colours beside the words, never instead of them. */
  color?: boolean;
  /** Only signs of ASCII. */
  ascii?: boolean;
}

/**
 * A report as `/context list` shows it: the window and what fills it, the sections of the prompt, the largest messages, what would go
 * next. What a session holds is shown and never obeyed: escapes, control characters and marks that turn the direction are left out.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * console.log(renderList(context.inspect(), { width: process.stdout.columns, color: true }));
 */
export function renderList(report: ShownReport, options: RenderOptions = {}): string {
  const texts = [argumentJson(options, "options"), reportJson(report)];
  return inspections.call("renderList", () => glue.list(inspections.sendAll(texts)));
}

/**
 * What is under a key of a report, as `/context detail KEY` shows it: a section, `message:N`, a bucket or `system`, with its text, at most
 * 12,000 characters of it, if the report was asked for that. Where there is nothing, the nearest keys are named.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * renderDetail(context.inspect({ detailKey: "memory:soul" }), "memory:soul");
 */
export function renderDetail(
  report: ShownReport,
  key: string,
  options: RenderOptions = {},
): string {
  if (typeof key !== "string") throw invalid("key", "a string", key);
  const texts = [argumentJson(options, "options"), reportJson(report), key];
  return inspections.call("renderDetail", () => glue.detail(inspections.sendAll(texts)));
}

function reportJson(report: ShownReport): string {
  if (typeof report === "object" && report !== null) return argumentJson(report, "report");
  throw invalid("report", "a report of `inspect`", report);
}

/** What the core tells of a budget. */
interface Told {
  tokens: number;
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

/** How full a budget is. */
export interface BudgetStatus {
  used: number;
  /** The window less what is held back for the answer. */
  budget: number;
  remaining: number;
  /** Floored; may be over 100. */
  pct: number;
  /** Whether a provider has counted `used`. */
  source: "usage" | "estimate";
  band: "ok" | "warn" | "compact" | "force";
  /** What all responses together have taken, where there is `maxRunTokens`; `remaining` is -1 where that is no limit. */
  run?: { consumed: number; remaining: number; exceeded: boolean };
}

export type ContextBudgetOptions = ContextWindow & {
  /** `warn`, `compact`, `force`: shares at which the bands begin; 0.80, 0.85 and 1. */
  warn?: number;
  compact?: number;
  force?: number;
  /** More messages than this call for a compaction, whatever they weigh (OpenClaw's 500); 0, the default, is no limit. */
  maxMessages?: number;
  /** Tokens that all calls of a run may take together (AIClaw's run budget); 0 or less is no limit. */
  maxRunTokens?: number;
  estimator?: Estimator;
};

/**
 * How full a window is, for a host that does its own compaction: by the provider's usage where there is one, else by an estimate of
 * the messages. The `ContextBudget` of the feature request to OpenClaw; `ContextManager` does the same and acts on it.
 *
 * @example
 * const budget = new ContextBudget({ contextTokens: 131_072 });
 * budget.updateFromResponse(usage?.prompt_tokens ?? 0, usage?.completion_tokens ?? 0);
 * budget.estimateFromMessages(messages); // counts where the provider tells nothing
 * budget.statusLine(); // 📚 Context: 45,231/131,072 (34%)
 * if (budget.shouldCompress()) await compact(messages, { window: { contextTokens: 131_072 } });
 */
export class ContextBudget {
  readonly #options: Omit<ContextBudgetOptions, "estimator">;
  readonly #estimator: Estimator | undefined;
  #told: Told;

  /** @throws {PlimsollError} `INVALID_ARGUMENT` names the option. */
  constructor(options: ContextBudgetOptions) {
    if (typeof options !== "object" || options === null) {
      throw invalid("options", "{ contextTokens }", options);
    }
    const { estimator, ...rest } = options;
    for (const [name, value] of Object.entries(rest)) {
      if (typeof value === "number" && !Number.isFinite(value))
        throw invalid(name, "a finite number", value);
    }
    this.#options = rest;
    this.#estimator = estimator;
    this.#told = this.#ask({});
  }

  /** Tokens used, as the provider counted, or as estimated. */
  get estimatedTokens(): number {
    return this.#told.tokens;
  }

  /** Where the first band begins. */
  get thresholdTokens(): number {
    return this.#told.thresholdTokens;
  }

  get contextWindow(): number {
    return this.#options.contextTokens ?? 0;
  }

  /**
   * The usage of a response: all that was sent, and all that came back. Without it (0), or if it cannot be (no number, below 0, more than
   * eight windows), estimates count again.
   */
  updateFromResponse(promptTokens: number, completionTokens: number): void {
    const prompt = tokens(promptTokens);
    this.#told = this.#ask({ prompt, completion: tokens(completionTokens) });
  }

  /**
   * The estimate of a history; it counts while no provider has told.
   *
   * @throws {PlimsollError} as `estimateRequest`.
   */
  estimateFromMessages<M>(messages: readonly M[]): number {
    const estimator = this.#estimator === undefined ? {} : { estimator: this.#estimator };
    const estimate = estimateRequest({ messages }, estimator).tokens;
    this.#told = this.#ask({ estimate, messages: messages.length });
    return estimate;
  }

  /** From the `compact` band on, or with more than `maxMessages`: between two steps, before the next. */
  shouldCompress(): boolean {
    return this.#told.compress;
  }

  getStatus(): BudgetStatus {
    const { run, status } = this.#told;
    return run ? { ...status, run } : { ...status };
  }

  /**
   * `📚 Context: 45,231/131,072 (34%)`; an estimate is marked `~45,231`. `short`: `[Context: 45k/131k tokens (34%)]` (GoClaw's), empty where
   * the window is not known.
   */
  statusLine(form: "full" | "short" = "full"): string {
    return form === "short" ? this.#told.short : this.#told.line;
  }

  /**
   * Text for the end of the next request when a band is newly crossed, once; in the system prompt it would cost the whole cache. A new
   * cycle begins when usage is below the first band again.
   */
  hint(): string | null {
    const { hint, reached } = this.#told;
    if (hint !== null) {
      this.#told.hinted = reached;
      this.#told = this.#ask({});
    }
    return hint;
  }

  #ask(told: { prompt?: number; completion?: number; estimate?: number; messages?: number }): Told {
    const { tokens, source, hinted, consumed, messages } = this.#told ?? {};
    const kept = { tokens, source, hinted, consumed, messages };
    const ask = argumentJson({ ...this.#options, ...kept, ...told }, "options");
    const answer = inspections.call("ContextBudget", () => glue.budget(inspections.send(ask)));
    return JSON.parse(answer) as Told;
  }
}

/** What a host was told, as a whole number of tokens. */
function tokens(given: number): number {
  return Number.isFinite(given) && given > 0 ? Math.min(Math.floor(given), 2 ** 46) : 0;
}
