/** The state of a session, as numbers. */
import type { ListedMessage, WindowReport } from "../generated.js";
import type { CompactionPlan, CompactionRecord } from "./compaction.js";
import type { PromptBudget, RequestFocus, SectionReport } from "./prompt.js";

/** How full the window is. All sizes are tokens. */
export interface Status {
  /** Tokens of the last request. */
  used: number;
  /** Tokens that a request may have: the window less the output reserve. */
  usable: number;
  /** `usable` less `used`. */
  remaining: number;
  /** `used` of `usable` in percent, rounded down. */
  usedPct: number;
  /** `low` below 70 %, `medium` below 85 %, `high` below 95 %, then `critical`. */
  pressure: "low" | "medium" | "high" | "critical";
  /** Whether recent requests grew. `unknown` before there are enough of them. */
  trend: "unknown" | "stable" | "rising" | "falling";
  /** Whether the provider's own counts are part of the figures. */
  source: "usage+estimate" | "estimate";
  /** Tokens of the largest request so far. */
  peakTokens: number;
  /** Folds so far. */
  compactions: number;
  /** Tokens that compactions and edits have removed. */
  tokensSaved: number;
  /** The current epoch. */
  epoch: number;
  /** What would pay and waits for a better time or a summarizer; `null` if nothing does. */
  due: "edit" | "fold" | null;
  /**
   * The next edit or fold to expect if the session goes on as it went and the prompt cache stays warm: a forecast, made by the rules
   * that decide. `null` before the first call, or without a window.
   */
  nextEdit: null | {
    /** About how many tokens the request will have then. */
    tokens: number;
    /** Why it comes then: the end of a sentence that begins "next edit at about N tokens, because". */
    reason: string;
  };
  /** Why no summarizer is called now, or `null` if nothing prevents it. */
  blocked: null | {
    /** `cooldown`: after a failure. `ineffective`: the last two compactions did not help. `running`: a compaction is under way. */
    reason: "cooldown" | "ineffective" | "running";
    /** For `cooldown`: when it ends, in epoch milliseconds. */
    untilMs?: number;
  };
  /** The last memory flush prompt (`flushPrompt`) since the last compaction. */
  flush?: {
    /** Its percentage: 50, 75 or 90. */
    threshold: number;
    /** Whether the agent has written a file in `memory/` after it. */
    acted: boolean;
  };
}

/** Totals of a session so far. Not part of a snapshot. */
export interface SessionMonitor {
  /** Tokens of the last requests, at most 32; consecutive equal values are listed once. */
  samples: number[];
  /** Input tokens that were reported. */
  inputTokens: number;
  /** Output tokens that were reported. */
  outputTokens: number;
  /** Model calls with reported usage, and those that you recorded. */
  requests: {
    /** All of them. */
    total: number;
    /** The number of each source: `main_turn`, `continuation` (after a compaction), `compaction_summary`, and your own. */
    bySource: Record<string, number>;
  };
  /** Compactions, and those that you recorded. */
  compactions: {
    /** All of them. */
    total: number;
    /** The number of each phase: `PRUNED`, `SUMMARIZED`, `TRUNCATED`, `DISCARDED`, and your own. */
    byPhase: Record<string, number>;
    /** Tokens that they removed. */
    tokensSaved: number;
    /** The last one, or `null` if there was none. */
    last: {
      /** Its phase. */
      phase: string;
      /** When it was made, in epoch milliseconds; `null` if that is unknown. */
      at: number | null;
      /** Tokens of the request before. */
      tokensBefore: number;
      /** Tokens of the request after. */
      tokensAfter: number;
    } | null;
  };
}

/**
 * What fills a window, why each part is in or out, and what would go next. A live session, a replay, the command line and an RPC give
 * the same report. Percents are 0..100, to four places. Tokens are estimates unless a field says otherwise.
 */
export interface InspectReport {
  schema: "context.inspect/1";
  /** Option `id` of the session. */
  sessionId: string;
  /** Characters (UTF-16 code units) of the system prompt. */
  totalChars: number;
  /** Tokens of the system prompt. */
  estimatedTokens: number;
  /** The window. */
  contextWindowTokens: number;
  /** Share of the system prompt in the window. */
  systemPromptSharePct: number;
  /** Focus of the `PromptPlan` that was passed as `system`; `null` if it was plain text. */
  requestFocus: RequestFocus | null;
  /** Budget of that plan, or `null`. */
  budget: PromptBudget | null;
  /** Sections of that plan that were cut. */
  truncatedSectionKeys: string[];
  /** Sections of that plan; `estimatedTokens` are by the session's estimator. */
  sections: SectionReport[];
  /** `used + reserve + free = contextWindowTokens`. Above `trigger` room is made, down to `target`; both `null` if no window is known. */
  window: WindowReport;
  /** What the request consists of, the largest first. The tokens sum to `window.used`. */
  buckets: Array<{
    /** As `Bucket.bucket`. A plan's prompt is split into `rules`, `candidates`, `skills`, `learned`, `memory` and `core`. */
    bucket: string;
    /** Tokens as sent. `unseen` is the difference between the provider's count and our estimate; it can be negative. */
    tokens: number;
    /** Share of `window.used`. */
    sharePct: number;
    /** How much of the original is still sent; for sections by characters. */
    retainedPct: number;
  }>;
  /** Every message of the history and how much of it is sent. Tokens are estimates even if usage is known. */
  messages: ListedMessage[];
  /** How full the window is. */
  status: Status;
  /** Totals so far. */
  monitor: SessionMonitor;
  /** The newest folds, at most 32. Only the last has its texts. */
  compactions: CompactionRecord[];
  /** What a compaction would do now. */
  next: CompactionPlan;
  /** The text under the `detailKey` that was asked for. */
  detail?: {
    /** The key. */
    key: string;
    /** The text. */
    content: string;
  };
  /** If that key does not exist: the nearest keys. */
  nearestKeys?: string[];
}
