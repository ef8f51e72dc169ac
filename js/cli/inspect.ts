/** `plimsoll inspect FILE`: what fills the window at one call, by kind and by message. The figures. */
import type { Bucket, ListedMessage, ReplayCall } from "../types.js";
import { type Facts, facts } from "./header.js";
import { type Arguments, topOf } from "./options.js";
import { callOf, play, reportAt, type Source } from "./source.js";
import { type WindowFigures, windowFigures } from "./window.js";

/** The report, the same as text and as JSON. `used + reserve + free = contextTokens`. */
export interface Inspection extends Facts {
  schema: "plimsoll.inspect/1";
  /** Which request, from 1. */
  call: number;
  window: WindowFigures;
  /** What a request has and this file does not tell: the figures are without it. */
  absent: string[];
  buckets: Bucket[];
  pressure: Array<{ call: number; used: number; event: ReplayCall["event"] }>;
  largest: ListedMessage[];
}

const ABSENT = [
  ["system", "the system prompt"],
  ["tools", "the tool definitions"],
] as const;

export function inspect(source: Source, args: Arguments): Inspection {
  using played = play(source);
  const call = callOf(args, played);
  const top = topOf(args, 10);
  const { calls } = played;
  const all = facts(source, played);
  const report = reportAt(source, played, call);
  const buckets = played
    .composition(call - 1)
    .filter((one) => one.tokens > 0 || one.sentTokens > 0);
  return {
    schema: "plimsoll.inspect/1",
    ...all,
    call,
    window: windowFigures(report, source.setting),
    absent: absentOf(buckets),
    buckets: [...buckets].sort((a, b) => b.sentTokens - a.sentTokens || b.tokens - a.tokens),
    pressure: calls.map(({ used, event }, index) => ({ call: index + 1, used, event })),
    largest: [...report.messages]
      .sort((a, b) => b.tokens - a.tokens || a.index - b.index)
      .slice(0, top),
  };
}

/** What no bucket is of: the file does not tell it. */
export function absentOf(buckets: ReadonlyArray<{ bucket: string }>): string[] {
  const isThere = (name: string): boolean => buckets.some((one) => one.bucket === name);
  return ABSENT.filter(([bucket]) => !isThere(bucket)).map(([, what]) => what);
}
