/** `plimsoll inspect FILE`: what fills the window at one call, by kind and by message. The figures. */

import type { Bucket, ListedMessage, Replay, ReplayCall, SessionFile } from "../types.js";
import { type Facts, facts } from "./header.js";
import { type Given, whole } from "./options.js";
import type { Setting } from "./setting.js";

/** The report, the same as text and as JSON. `used + reserve + free = contextTokens`. */
export interface Inspection extends Facts {
  schema: "plimsoll.inspect/1";
  /** Which request, from 1. */
  call: number;
  window: {
    contextTokens: number;
    source: Setting["source"];
    used: number;
    reserve: number;
    /** Below 0 where the request is over the window. */
    free: number;
  };
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

export function inspect(
  file: string,
  session: SessionFile,
  played: Replay,
  { window, source }: Setting,
  given: Given,
): Inspection {
  const last = played.calls.length;
  const call = whole("call", given.text("call"), 1, last) ?? last;
  const top = whole("top", given.text("top"), 0, 1_000_000) ?? 10;
  const chosen = played.calls[call - 1];
  const used = chosen?.used ?? 0;
  const reserve = window.maxOutputTokens;
  const free = window.contextTokens - reserve - used;
  const buckets = played.composition(chosen?.call).filter((one) => one.tokens > 0 || one.sent > 0);
  const rows = played.messages(chosen?.call);
  return {
    schema: "plimsoll.inspect/1",
    ...facts(file, session, played.messages(played.calls[last - 1]?.call), last),
    call,
    window: { contextTokens: window.contextTokens, source, used, reserve, free },
    absent: absentOf(buckets),
    buckets: [...buckets].sort((a, b) => b.sent - a.sent || b.tokens - a.tokens),
    pressure: played.calls.map(({ used, event }, index) => ({ call: index + 1, used, event })),
    largest: [...rows].sort((a, b) => b.tokens - a.tokens || a.index - b.index).slice(0, top),
  };
}

/** What no bucket is of: the file does not tell it. */
export function absentOf(buckets: readonly Bucket[]): string[] {
  const isThere = (name: string): boolean => buckets.some((one) => one.bucket === name);
  return ABSENT.filter(([bucket]) => !isThere(bucket)).map(([, what]) => what);
}
