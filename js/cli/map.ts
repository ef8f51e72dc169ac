/** `plimsoll map FILE`: what fills the window, the biggest first: parts, then results by tool, then messages. The figures. */
import { partsOf } from "../render/parts.js";
import { absentOf } from "../session-files/absent.js";
import type { InspectReport, ListedMessage } from "../types.js";
import { type Facts, viewFacts } from "./header.js";
import { type Arguments, topOf } from "./options.js";
import { resultsOf } from "./parts.js";
import { callOf, reportAt, type Source } from "./source.js";
import { view } from "./view.js";
import { type WindowFigures, windowFigures } from "./window.js";

/** The report, the same as text and as JSON. The parts together are `window.used`. */
export interface MapReport extends Facts {
  schema: "plimsoll.map/1";
  /** Which request, from 1. */
  call: number;
  window: WindowFigures;
  /** What a request has and this file does not tell: the figures are without it. */
  absent: string[];
  buckets: InspectReport["buckets"];
  /** Tokens as sent. */
  parts: Array<{ part: string; tokens: number }>;
  results: Array<{ tool: string; tokens: number }>;
  largest: ListedMessage[];
}

export function map(source: Source, args: Arguments): MapReport {
  using played = view(source);
  const call = callOf(args, played);
  const top = topOf(args, 10);
  const all = viewFacts(source, played, call);
  const { buckets, messages, ...report } = reportAt(source, played, call);
  const sized = buckets.map(({ bucket, tokens }) => ({ bucket, sentTokens: tokens }));
  return {
    schema: "plimsoll.map/1",
    ...all,
    call,
    window: windowFigures({ ...report, buckets, messages }, source.setting),
    absent: absentOf(buckets),
    buckets,
    parts: partsOf(sized)
      .filter(({ sent }) => sent !== 0)
      .map(({ name, sent }) => ({ part: name, tokens: sent }))
      .sort((a, b) => b.tokens - a.tokens),
    results: buckets.flatMap(({ bucket, tokens }) => {
      const tool = resultsOf(bucket);
      return tool === undefined || tokens === 0 ? [] : [{ tool, tokens }];
    }),
    largest: messages
      .filter((one) => one.sentTokens > 0)
      .sort((a, b) => b.sentTokens - a.sentTokens || a.index - b.index)
      .slice(0, top),
  };
}
