/** Why a summary that is due is not asked for now, in words and with its time. */

/** As the core gives it: `cooldown` or `ineffective`. */
export interface Blocked {
  reason: string;
  /** End of the cool-down, in milliseconds since the epoch. */
  untilMs?: number;
}

/** The last time that a `Date` can hold. */
const LAST_MS = 8.64e15;

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
