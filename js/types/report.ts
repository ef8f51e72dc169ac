/** How a session stands. */
import type { ListedMessage, WindowReport } from "../generated.js";
import type { CompactionPlan, CompactionRecord } from "./compaction.js";
import type { PromptBudget, RequestFocus, SectionReport } from "./prompt.js";

/** How full the window is. */
export interface Status {
  used: number;
  usable: number;
  remaining: number;
  pct: number;
  pressure: "low" | "medium" | "high" | "critical";
  trend: "unknown" | "stable" | "rising" | "falling";
  source: "usage+estimate" | "estimate";
  peakTokens: number;
  compactions: number;
  tokensSaved: number;
  epoch: number;
  due: "edit" | "fold" | null;
  blocked: null | { reason: "cooldown" | "ineffective" | "running"; untilMs?: number };
  /** The last prompt for notes since room was last made, and whether a file in `memory/` was written since. */
  flush?: { threshold: number; acted: boolean };
}

/** What a session has come to so far. Not in a snapshot. */
export interface SessionMonitor {
  /** Tokens of the last requests, at most 32, each other than the one before. */
  samples: number[];
  /** All that was reported of requests. */
  inputTokens: number;
  outputTokens: number;
  /** Calls of the model whose usage was reported (`main_turn`; `continuation` after a compaction), of summarizers (`compaction_summary`), and what the host recorded. */
  requests: { total: number; bySource: Record<string, number> };
  /** Room that was made: `PRUNED`, `SUMMARIZED`, `TRUNCATED`, `DISCARDED`, and what the host recorded. */
  compactions: {
    total: number;
    byPhase: Record<string, number>;
    tokensSaved: number;
    last: { phase: string; at: number | null; tokensBefore: number; tokensAfter: number } | null;
  };
}

/**
 * What fills a window, why each part is in or out, and what would go next: one report, the same from a live session, a replay,
 * the CLI and an RPC. Percents are of 100, to four places.
 */
export interface InspectReport {
  schema: "context.inspect/1";
  sessionId: string;
  /** The system prompt: its UTF-16 code units, its tokens without the message around it, and their share of the window. */
  totalChars: number;
  estimatedTokens: number;
  contextWindowTokens: number;
  systemPromptSharePct: number;
  /** Of the plan that the system prompt was given as; null and empty where it was given as text. */
  requestFocus: RequestFocus | null;
  budget: PromptBudget | null;
  truncatedSectionKeys: string[];
  /** `estimatedTokens` of a section are by the session's own estimator. */
  sections: SectionReport[];
  /** used + reserve + free = contextWindowTokens. Something must go above `trigger`, and then down to `target`; null: no window is known. */
  window: WindowReport;
  /** What the request consists of, the largest first; together they are `window.used`. */
  buckets: Array<{
    /** As in `Bucket`; of a plan's prompt `rules`, `candidates`, `skills`, `learned`, `memory` and `core` instead of `system`. */
    bucket: string;
    /** As sent. `unseen`: what the provider counted beyond our estimates, below 0 where it counted less. */
    tokens: number;
    /** Share of what is used. */
    sharePct: number;
    /** What is left of it; of sections by their characters. */
    retainedPct: number;
  }>;
  /** Tokens are estimates, whatever the provider counted. */
  messages: ListedMessage[];
  status: Status;
  monitor: SessionMonitor;
  /** The newest are remembered, at most 32; what they say of the last alone. */
  compactions: CompactionRecord[];
  next: CompactionPlan;
  /** The text under the key that was asked for. */
  detail?: { key: string; content: string };
  /** The keys nearest to one that there is not. */
  nearestKeys?: string[];
}
