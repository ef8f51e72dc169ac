/** Outcome of a compaction in the host's terms: made from a fold, from a request that made room, or from the reason why nothing was done. */
import type { CompactionOutcome, ExtractedContext } from "../types.js";

/** How room was made, or why none was. */
export interface Room
  extends Pick<CompactionOutcome, "status" | "reason" | "tokensBefore" | "tokensAfter"> {
  /** Removed messages from which files, commands and errors have not been extracted yet. */
  unread: number[];
  /** Identifiers in what was removed without a fold. */
  identifiers: string[];
}

/** A fold, as the core reports it with a request. */
export interface Folded {
  id: string;
  at: number;
  firstKept: number;
  kept: Array<[number, number]>;
  head: string;
  summary: string;
  identifiers: string[];
  extracted: Lists;
  lost: string[];
  degraded: boolean;
}

/** A fold with the tokens of the request before and after it. */
export interface Sized extends Folded {
  status?: CompactionOutcome["status"];
  /** Why there is no summary, if none was wanted. */
  reason?: string;
  tokensBefore: number;
  tokensAfter: number;
}

/** Reduction in percent, rounded down. */
function pct(before: number, after: number): number {
  return Math.floor((100 * (before - after)) / Math.max(before, 1));
}

/** Outcome without a fold: nothing was done, it failed, or messages were only shortened. */
export function outcomeWithout(
  status: CompactionOutcome["status"],
  reason: string,
  tokensBefore: number,
  tokensAfter: number = tokensBefore,
  extracted: ExtractedContext = { ...nothingFound(), identifiers: [] },
): CompactionOutcome {
  const reductionPct = pct(tokensBefore, tokensAfter);
  const sizes = { tokensBefore, tokensAfter, reductionPct };
  return { status, reason, ...sizes, record: null, extracted, attempts: [] };
}

/** What the agent did in the removed messages, without identifiers. */
export type Lists = Omit<ExtractedContext, "identifiers">;

export const nothingFound = (): Lists => ({
  ...{ modifiedFiles: [], readFiles: [] },
  ...{ commands: [], errors: [] },
});

/** Reason of a fold that was to have a summary, until a more precise one is known. */
export const WITHOUT_SUMMARY = "folded without a summary";

/** Outcome of a fold. Without a summary, digest and hot set carry it. */
export function outcomeOf(
  fold: Sized,
  attempts: CompactionOutcome["attempts"] = [],
  reason?: string,
): CompactionOutcome {
  const { tokensBefore, tokensAfter, head, firstKept, kept, summary, lost, degraded, id } = fold;
  const extracted = { ...fold.extracted, identifiers: fold.identifiers };
  const without = degraded ? WITHOUT_SUMMARY : undefined;
  return {
    status: fold.status ?? (summary === "" || degraded ? "folded" : "summarized"),
    reason: reason ?? without ?? fold.reason ?? "",
    tokensBefore,
    tokensAfter,
    reductionPct: pct(tokensBefore, tokensAfter),
    record: {
      type: "compaction",
      id,
      timestamp: new Date(fold.at).toISOString(),
      summary,
      firstKeptEntryId: null,
      firstKeptIndex: firstKept,
      kept,
      head,
      tokensBefore,
      tokensAfter,
      details: extracted,
      lost,
      degraded,
    },
    extracted,
    attempts,
  };
}

/** Why the summarizer must not be called now. */
export interface Blocked {
  /** `cooldown` or `ineffective`. */
  reason: string;
  /** End of the cool-down, in milliseconds since the epoch. */
  untilMs?: number;
}

/** The last time that a `Date` can hold. */
const LAST_MS = 8.64e15;

/** Returns why a summary that is due is not requested now, in words, and until when. */
export function deferral({ reason, untilMs }: Blocked): { reason: string; until: string | null } {
  if (untilMs === undefined) {
    const words = "the last two compactions did not help; force one to ask the summarizer again";
    return { reason: `${reason}: ${words}`, until: null };
  }
  const until = new Date(Math.min(untilMs, LAST_MS)).toISOString();
  return {
    reason: `${reason}: the summarizer is not asked until ${until}, after a failure`,
    until,
  };
}
