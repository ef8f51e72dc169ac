/** Reports of a session: the question as the core takes it, and its answer in the host's terms. */
import type { Sized } from "../compaction/outcome.js";
import { argumentJson, messageJson } from "../core/json.js";
import { closest } from "../core/nearest.js";
import type { InspectReport } from "../types.js";

/** A report as the core tells it; `keys`: the keys there are, if the one that was asked for does not exist. */
export type CoreReport = Omit<InspectReport, "compactions" | "nearestKeys"> & {
  compactions: Sized[];
  keys?: string[];
};

/** What the core is asked; what is JSON already goes as it is. */
export interface Question {
  sessionId?: string | undefined;
  detailKey?: string | undefined;
  /** JSON of what goes out beside the messages. */
  beside?: string | undefined;
  /** JSON of the next plan. */
  next: string;
  /** The message at a place, for a key that names one. */
  messageAt: (place: number) => unknown;
}

/** The question as JSON. */
export function question({ sessionId, detailKey, beside, next, messageAt }: Question): string {
  const place = /^message:(\d{1,9})$/.exec(detailKey ?? "")?.[1];
  const message = place === undefined ? undefined : messageAt(Number(place));
  const text = message === undefined ? "null" : messageJson(message, Number(place));
  const asked = argumentJson({ sessionId: sessionId ?? "", detailKey }, "options");
  return `{"beside":${beside ?? "{}"},"next":${next},"message":${text},${asked.slice(1)}`;
}

/** The report in the host's terms: of the keys there are, the nearest to the one that was asked for. */
export function withNearest(
  { keys, ...report }: CoreReport,
  detailKey = "",
): Omit<CoreReport, "keys"> & Pick<InspectReport, "nearestKeys"> {
  if (keys === undefined) return report;
  // Of the messages the core names the last: the number that was asked for is nearer, if there is such a message.
  const number = Number(/\d{1,9}$/.exec(detailKey)?.[0] ?? Number.NaN);
  const known = keys.map((key) => {
    const last = Number(/^message:(\d+)$/.exec(key)?.[1] ?? Number.NaN);
    return number < last ? `message:${number}` : key;
  });
  return { ...report, nearestKeys: closest(detailKey, known) };
}
