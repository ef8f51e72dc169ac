/** What a session tells while it goes on. */
import type { CompactionOutcome } from "./compaction.js";
import type { Status } from "./report.js";
import type { CheckpointRecord } from "./summary.js";

export type ContextEvent = EpochEvent | CompactionEvent | CheckpointEvent | PressureEvent;

/**
 * A level of pressure that is newly reached, by a request or by what its provider counted: each once until a compaction, a higher one
 * instead of those below it.
 */
export type PressureEvent = {
  type: "pressure";
  from: Status["pressure"];
  to: Status["pressure"];
  pct: number;
};

/** A compaction begins, and how it ended. */
export type CompactionEvent =
  | { type: "compaction-start" }
  | { type: "compaction-end" | "compaction-failed"; outcome: CompactionOutcome };

/** A checkpoint was made, or could not be; the session goes on either way. */
export type CheckpointEvent =
  | { type: "checkpoint"; record: CheckpointRecord }
  | { type: "checkpoint-failed"; reason: string };

/**
 * Something other than the end of the request changed. State that a provider keeps of the conversation (OpenAI's
 * `previous_response_id` or `conversation`, a cache by handle) is of another conversation from now on: drop it.
 */
export type EpochEvent = {
  type: "epoch";
  epoch: number;
  /** edit, fold, parts (system or tools changed), or history (the host changed it). */
  reason: string;
  firstChanged: number;
  tokensBefore: number;
  tokensAfter: number;
  /** Tokens that the provider had cached and must read anew. */
  cachedTokensLost: number;
};
