/** Events of a session. */
import type { CompactionOutcome } from "./compaction.js";
import type { Status } from "./report.js";
import type { CheckpointRecord } from "./summary.js";

/** What `on` is called with. */
export type ContextEvent =
  | EpochEvent
  | CompactionEvent
  | CheckpointEvent
  | PressureEvent
  | OutputUnreservedEvent
  | SummarizerIdleEvent
  | CallbackFailedEvent;

/** Fires when pressure first reaches a level: 70, 85 or 95 % of the usable window. Each level fires once until the next compaction. */
export type PressureEvent = {
  type: "pressure";
  /** The level before. */
  from: Status["pressure"];
  /** The level reached. */
  to: Status["pressure"];
  /** Share of the usable window in use, in percent, rounded down. */
  usedPct: number;
};

/**
 * `window.maxOutputTokens` is not set, so that a request may fill the window, and a provider may refuse it together with the `max_tokens`
 * that you send. Fires once for each manager, with the first `pressure`; not if you set the option, to 0 too.
 */
export type OutputUnreservedEvent = {
  type: "output-unreserved";
  /** What to do, in words. */
  reason: string;
};

/**
 * A compaction by `compact()`, or by your summarizer in `prepare()`, starts or has ended. What `request` and `prepare` edit and fold by rule
 * fires `epoch` instead. `compaction-failed`: an attempt failed, or could not call your summarizer (`outcome.reason` says
 * why). `compaction-deferred`: a summary is due, but your
 * summarizer is not asked until `until`, after a failure; or until you force a compaction (`until` is `null`), after two that
 * did not help. It fires once for each such pause.
 */
export type CompactionEvent =
  | { type: "compaction-start" }
  | {
      /** Whether the compaction ended, or failed. */
      type: "compaction-end" | "compaction-failed";
      /** What it did, and the calls of summarizers. */
      outcome: CompactionOutcome;
    }
  | {
      type: "compaction-deferred";
      /** Why, in words. */
      reason: string;
      /** ISO 8601 time at which the pause ends, or `null` if only a forced compaction ends it. */
      until: string | null;
    };

/**
 * You configured `summarize` and call `request()`, which never calls it: only `prepare()` and `compact()` do. Fires once for each
 * manager, with the first request that folds, or would have folded, without the summary.
 */
export type SummarizerIdleEvent = {
  type: "summarizer-idle";
  /** What to do, in words. */
  reason: string;
};

/**
 * One of your functions threw. The call continues; `reason` says what is used instead. Fires once for each function of a manager,
 * however often that throws.
 */
export type CallbackFailedEvent = {
  type: "callback-failed";
  /** The option that the function was passed as. */
  callback: "estimator" | "key" | "isSummary" | "create" | "clock";
  /** What it threw. */
  error: unknown;
  /** What happened and what is used instead, in words. */
  reason: string;
};

/** A checkpoint was made, or could not be made. The session continues either way. */
export type CheckpointEvent =
  | {
      type: "checkpoint";
      /** The checkpoint. */
      record: CheckpointRecord;
    }
  | {
      type: "checkpoint-failed";
      /** Why, in words. */
      reason: string;
    };

/**
 * Something other than the end of the request changed. Drop any state that the provider keeps of the conversation (OpenAI's
 * `previous_response_id` or `conversation`, a cache handle): it belongs to the earlier messages.
 */
export type EpochEvent = {
  type: "epoch";
  /** The epoch that begins. */
  epoch: number;
  /** `edit`, `fold`, `parts` (system or tools changed), or `history` (you changed the history). */
  reason: string;
  /** Position in the request of the first message that changed; -1: system or tools. */
  firstChanged: number;
  /** Tokens of the previous request. */
  tokensBefore: number;
  /** Tokens of the request. */
  tokensAfter: number;
  /** Tokens after the first change: the provider has to read them again at full price. */
  cachedTokensLost: number;
};
