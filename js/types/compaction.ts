/** Compactions: plans, outcomes and records. */
import type { Parts } from "./options.js";
import type { SummaryJob } from "./summary.js";

/** Options of `compact`. */
export type CompactOptions = Parts & {
  /** Compact even below the trigger and during a cool-down. Default false. */
  force?: boolean | undefined;
  /** Topic that the summary should concentrate on; its first 700 characters are used. */
  focus?: string | undefined;
  /** Carry out this plan. Rejects with `STALE_PLAN` if the history has changed since it was made. */
  plan?: CompactionPlan | undefined;
};

/** What a compaction would do. All positions refer to the history that the plan was made for. */
export interface CompactionPlan {
  /** Fingerprint of that history. */
  base: string;
  /** `prune`: shortening is enough. `summarize`: a fold. `overflow`: nothing removable is left. `none`: nothing to do. */
  outcome: "none" | "prune" | "summarize" | "overflow";
  /** Why, in words. */
  reason: string;
  /** First message that stays unchanged. Messages before it are replaced by the head, except `kept`. Never inside a tool group. */
  firstKept: number;
  /** Messages before `firstKept` of which something is kept, as [from, to). */
  kept: Array<[number, number]>;
  /** What would be summarized, in runs that fit the summarizer's window. */
  chunks: Array<{
    /** First message of the run. */
    from: number;
    /** First message after the run. */
    to: number;
    /** Estimated tokens of the run. */
    tokens: number;
  }>;
  /**
   * Expected number of calls of the summarizer: one for each chunk, and one that merges several. Fewer if texts are cut for the summarizer,
   * more if answers are rejected; 0 if no summary would be made.
   */
  calls: number;
  /** Tokens of the request now. */
  tokensBefore: number;
  /** Estimated tokens of the request after the compaction. */
  tokensAfterEstimate: number;
  /** What the agent did in the messages that would be removed. */
  extracted: ExtractedContext;
  /** Blocks that would be removed, by internal number. Only for passing the plan back. */
  gone?: Array<[number, number]>;
  /** If `outcome` is `overflow`: what cannot be removed. */
  floor?: Floor | null;
}

/** Tokens of a request that no compaction can remove: the reason why it does not fit. */
export interface Floor {
  /** System prompt, system messages, and `unseenTokens`. */
  systemTokens: number;
  /** Tool definitions. */
  toolTokens: number;
  /** Pinned messages and texts. */
  pinnedTokens: number;
  /** Newest thinking that the provider requires unchanged, with its tool calls and results. */
  thinkingTokens: number;
  /** Last message of the user and everything after it, without that thinking. */
  lastTurnTokens: number;
  /** Shortened older messages, the messages that replace removed ones, and tokens that the provider counts beyond our estimate. */
  otherTokens: number;
  /** Tokens held back for the answer (`maxOutputTokens`). */
  reserveTokens: number;
  /** The whole window. */
  windowTokens: number;
}

/** Result of a compaction, or of the room made for one request. */
export interface CompactionOutcome {
  /**
   * `summarized`: a fold with a summary. `folded`: a fold without one. `truncated`: old bodies were cut. `pruned`: edits were enough.
   * `discarded`: the oldest messages were dropped. `none`: nothing was done. `failed`: it was tried and did not succeed.
   */
  status: "none" | "pruned" | "summarized" | "folded" | "truncated" | "discarded" | "failed";
  /** Why, in words. */
  reason: string;
  /** Tokens of the request before. */
  tokensBefore: number;
  /** Tokens of the request after. */
  tokensAfter: number;
  /** Share of tokens removed, in percent, rounded down. */
  reductionPct: number;
  /** The fold, or `null` if there was none. */
  record: CompactionRecord | null;
  /** What the agent did in what was removed or shortened, whether or not a summarizer is configured. */
  extracted: ExtractedContext;
  /** If it failed because of an overflow: what cannot be removed. No summarizer was asked. */
  floor?: Floor | null;
  /** Every call of a summarizer, in order. Empty if none was called. */
  attempts: Array<{
    /** What the call was for. */
    kind: SummaryJob["kind"];
    /** Position in `summarize`. */
    summarizer: number;
    /**
     * `empty`: no text. `cut`: stopped at its token limit. `refused`: the model declined. `inflated`: not smaller than what it
     * replaces. `unverified`: a heading or a pinned fact is missing. `timeout`, `aborted`, `threw`: the call itself failed.
     */
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
    /** What was missing, or the error's message. */
    detail?: string;
  }>;
}

/** A fold, as one line of JSONL: what OpenClaw and GoClaw write, and what is needed to rebuild the request. */
export interface CompactionRecord {
  type: "compaction";
  /** Id of the record; sorts by time. */
  id: string;
  /** ISO 8601 time. */
  timestamp: string;
  /** The summary; empty if there was none. */
  summary: string;
  /** Id of the first kept message in the session file, if the file has ids. */
  firstKeptEntryId: string | null;
  /** Index of the first kept message. */
  firstKeptIndex: number;
  /** Messages before `firstKeptIndex` of which something is kept, as [from, to). */
  kept: Array<[number, number]>;
  /** The text that replaces the folded messages: summary and digest. */
  head: string;
  /** Tokens of the request before. */
  tokensBefore: number;
  /** Tokens of the request after. */
  tokensAfter: number;
  /** What the agent did in the folded messages. */
  details: ExtractedContext;
  /** Identifiers that the summary was asked to keep and does not contain. */
  lost: string[];
  /** True if a summary was wanted and could not be made. */
  degraded: boolean;
  /** True if the summary is a checkpoint made earlier, so that no summarizer was called. */
  fromCheckpoint?: boolean;
}

/** What an agent did, read from its tool calls and their results. Lists have no duplicates and a limited length. */
export interface ExtractedContext {
  /** Paths of files that were written or edited. */
  modifiedFiles: string[];
  /** Paths of files that were read. */
  readFiles: string[];
  /** Shell commands. */
  commands: string[];
  /** Error messages. */
  errors: string[];
  /** Names, paths and values that the digest lists; without a fold, those of the shortened results. */
  identifiers: string[];
}
