/** Summary of a compaction: the job for the host's summarizers, and its result. */
import { summarizersOf } from "../session/options.js";
import type { CompactionOutcome, ContextManagerOptions, SummaryOptions } from "../types.js";
import { driver } from "./lazy-driver.js";
import type { CorePlan } from "./plans.js";

/** Result of a job. */
export interface SummaryOutcome {
  /** `null` if there is no summary. */
  summary: string | null;
  /** An extract of the messages replaces the summary. */
  degraded: boolean;
  /** Why there is no summary, or what is wrong with it; else empty. */
  reason: string;
  /** Pinned texts and identifiers that are not in the summary. */
  lost: string[];
  attempts: CompactionOutcome["attempts"];
  /** Kind of failure, from which the core decides when to call a summarizer again. */
  failure: string;
  fromCheckpoint: boolean;
  /** No summarizer was at fault: the engine did not load, or failed itself. */
  isBroken?: boolean;
}

export const NO_SUMMARY: SummaryOutcome = {
  summary: null,
  degraded: false,
  reason: "",
  lost: [],
  attempts: [],
  failure: "none",
  fromCheckpoint: false,
};

/** Options of a job that are options of the session. */
export function jobOptions<M>({ window, estimator, summary = {} }: ContextManagerOptions<M>): {
  job: object;
  redact: SummaryOptions["redact"] | undefined;
} {
  const { redact, minimumTokens: _, checkpoints: __, ...rest } = summary;
  // A counter of the host cannot run in the engine.
  const named = typeof estimator === "string" ? estimator : "generic";
  return { redact, job: { contextTokens: window.contextTokens, ...rest, estimator: named } };
}

/** A job: the plan, the messages to summarize and what the host wants. */
interface Job {
  corePlan: CorePlan;
  /** The messages that the plan removes, flat, each as JSON. */
  messages: string[];
  /** Topic that the host wants the summary to be about. */
  focus: string | undefined;
  /** Tokens of a request now. */
  requestTokens: number;
  /** Calls of a checkpoint that failed just before. */
  strikes: Promise<number>;
}

/**
 * Calls the host's summarizers for a plan.
 *
 * @throws {PlimsollError} if the engine does not load or an option of the summary is invalid; never for a summarizer that fails
 */
export async function summarize<M>(
  options: ContextManagerOptions<M>,
  { corePlan, messages, focus, requestTokens, strikes }: Job,
  signal: AbortSignal,
): Promise<SummaryOutcome> {
  const { droppedTokens, room, previousSummary, splitTurn, pins, identifiers } = corePlan;
  const { checkpoints, folds, waits, degrades } = corePlan;
  const { job, redact } = jobOptions(options);
  const figures = { previousSummary, droppedTokens, room, splitTurn, pins, identifiers };
  const ahead = { checkpoints: checkpoints ?? undefined, folds, waits };
  const { drive } = await driver.load();
  return drive({
    options: {
      ...{ ...job, ...figures, ...ahead, requestTokens, focus },
      ...{ degrade: degrades, strikes: await strikes },
    },
    messages,
    summarizers: summarizersOf(options),
    signal,
    redact,
  });
}
