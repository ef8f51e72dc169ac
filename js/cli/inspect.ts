/** `plimsoll inspect FILE`: what fills the window at one call, by kind and by message. The figures. */
import { absentOf } from "../session-files/absent.js";
import type { Bucket, InspectReport, ListedMessage } from "../types.js";
import { type Facts, viewFacts } from "./header.js";
import { type Arguments, topOf } from "./options.js";
import { callOf, reportAt, type Source } from "./source.js";
import { type ShownCall, view } from "./view.js";
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
  pressure: Array<{ call: number; used: number; event: ShownCall["event"] }>;
  largest: ListedMessage[];
}

export function inspect(source: Source, args: Arguments): Inspection {
  using played = view(source);
  const call = callOf(args, played);
  const top = topOf(args, 10);
  const { calls } = played;
  const all = viewFacts(source, played, call);
  const report = reportAt(source, played, call);
  const buckets = [...played.composition(call - 1), ...overcounted(report)].filter(
    (one) => one.tokens > 0 || one.sentTokens !== 0,
  );
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

/** What the file holds of a request beyond what its provider counted, as a part below 0: the parts then add up to the count. */
function overcounted({ buckets }: InspectReport): Bucket[] {
  return buckets
    .filter(({ bucket, tokens }) => bucket === "unseen" && tokens < 0)
    .map(({ bucket, tokens }) => {
      return {
        bucket,
        blocks: 1,
        tokens: 0,
        sentTokens: tokens,
        kept: 1,
        capped: 0,
        stubbed: 0,
        gone: 0,
      };
    });
}
