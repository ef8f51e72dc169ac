/** Compactions: planned, carried out, remembered. */
import type { Parts } from "./options.js";
import type { SummaryJob } from "./summary.js";

/** How `compact` is called. */
export type CompactOptions = Parts & {
  /** Also below the trigger, and during a cool-down. */
  force?: boolean | undefined;
  /** What the summary should dwell on. */
  focus?: string | undefined;
  /** Carry out this one, or `STALE_PLAN`. */
  plan?: CompactionPlan | undefined;
};

/** What a compaction would do. Positions are those of the history that it was made for. */
export interface CompactionPlan {
  /** Stands for that history: on another the plan is refused (`STALE_PLAN`). */
  base: string;
  outcome: "none" | "prune" | "summarize" | "overflow";
  reason: string;
  /** First message that is kept as it is: what stands before it is replaced by the head, except `kept`. Never inside a tool group. */
  firstKept: number;
  /** Messages before it of which something stays, as [from, to). */
  kept: Array<[number, number]>;
  /** What goes, in runs that a summarizer can take. */
  chunks: Array<{ from: number; to: number; tokens: number }>;
  tokensBefore: number;
  tokensAfterEstimate: number;
  extracted: ExtractedContext;
  /** The core's own numbers of what goes. */
  gone?: Array<[number, number]>;
  /** Of an overflow: what cannot go. */
  floor?: Floor | null;
}

/** What no compaction can make smaller, in tokens, beside the window: why a request does not fit. */
export interface Floor {
  /** The system prompt, and what is sent besides and not shown to us. */
  systemTokens: number;
  toolTokens: number;
  pinnedTokens: number;
  /** The last request of the user and what came since. */
  lastTurnTokens: number;
  /** Held back for the answer. */
  reserveTokens: number;
  windowTokens: number;
}

/** What a compaction came to. */
export interface CompactionOutcome {
  status: "none" | "pruned" | "summarized" | "truncated" | "discarded" | "failed";
  reason: string;
  tokensBefore: number;
  tokensAfter: number;
  reductionPct: number;
  record: CompactionRecord | null;
  extracted: ExtractedContext;
  /** Of a `failed` one that is an overflow: what cannot go. No summarizer was asked. */
  floor?: Floor | null;
  /** Calls of a summarizer; none where the fold is carried by digest and hot set. */
  attempts: Array<{
    kind: SummaryJob["kind"];
    summarizer: number;
    result:
      | "ok"
      | "empty"
      | "cut"
      | "refused"
      | "inflated"
      | "unverified"
      | "timeout"
      | "aborted"
      | "threw";
    detail?: string;
  }>;
}

/** A compaction that the file tells of. */
export interface CompactionRecord {
  type: "compaction";
  id: string;
  timestamp: string;
  summary: string;
  firstKeptEntryId: string | null;
  firstKeptIndex: number;
  kept: Array<[number, number]>;
  head: string;
  tokensBefore: number;
  tokensAfter: number;
  details: ExtractedContext;
  lost: string[];
  degraded: boolean;
  /** The summary was a checkpoint that stood ready; nobody was asked for it. */
  fromCheckpoint?: boolean;
}

export interface ExtractedContext {
  modifiedFiles: string[];
  readFiles: string[];
  commands: string[];
  errors: string[];
  identifiers: string[];
}
