/** Reports of a live session, in the figures that the screens show. */
import type { Bucket, ListedMessage } from "../generated.js";
import type { InspectReport } from "../types.js";
import { type ChartLayers, type Facts, SOURCES, type Standing, type Table } from "./protocol.js";

/** A call, as views and replays list them. */
export type LiveCall = Partial<
  Record<"used" | "sent" | "unseen" | "at" | "usage", number | null>
> & {
  source?: string;
};

/** A request that was seen. */
export interface Point {
  used: number;
  messages: number;
  at: number;
  buckets: Bucket[];
  table: Table;
}

const STATES: Table["states"] = ["kept", "capped", "stubbed", "thinned", "summarized", "dropped"];

export function tableOf(messages: readonly ListedMessage[]): Table {
  const buckets = [...new Set(messages.map(({ bucket }) => bucket))];
  const column = (value: (message: ListedMessage) => number) => Uint32Array.from(messages, value);
  return {
    tokens: column(({ tokens }) => tokens),
    sent: column(({ sentTokens }) => sentTokens),
    state: column(({ state }) => Math.max(0, STATES.indexOf(state))),
    turn: column(({ turn }) => turn),
    bucket: column(({ bucket }) => buckets.indexOf(bucket)),
    states: STATES,
    buckets,
  };
}

/** Parts of a request. How many of a part were changed is counted in messages: a report does not have it of blocks. */
export function bucketsOf({ buckets, messages }: InspectReport): Bucket[] {
  return buckets.map(({ bucket, tokens }) => {
    const own = messages.filter((message) => message.bucket === bucket);
    const inState = (...states: string[]) =>
      own.filter(({ state }) => states.includes(state)).length;
    return {
      bucket,
      blocks: own.length,
      tokens: own.reduce((sum, message) => sum + message.tokens, 0),
      sentTokens: tokens,
      kept: inState("kept"),
      capped: inState("capped", "thinned"),
      stubbed: inState("stubbed"),
      gone: inState("summarized", "dropped"),
    };
  });
}

export function pointOf(report: InspectReport, at: number): Point {
  const { window, messages } = report;
  const table = tableOf(messages);
  return { used: window.used, messages: messages.length, at, buckets: bucketsOf(report), table };
}

export function standingOf(point: Pick<Point, "buckets" | "table">, call: number): Standing {
  return { run: "recorded", call, buckets: point.buckets, table: point.table };
}

/** Facts of a session with its calls, or of the requests that were seen of it. */
export function factsOf(
  report: InspectReport,
  calls: readonly LiveCall[] | null,
  points: readonly Point[],
): Facts {
  const { window, contextWindowTokens, messages, compactions } = report;
  const listed: readonly LiveCall[] =
    calls ?? points.map(({ used, messages: sent, at }) => ({ used, sent, at }));
  const column = (value: (call: LiveCall) => number | null | undefined, absent: number) =>
    Float64Array.from(listed, (call) => value(call) ?? absent);
  const source = ({ source: name }: LiveCall) =>
    SOURCES.indexOf((name ?? "session") as (typeof SOURCES)[number]);
  return {
    format: "live",
    messageFormat: "",
    messages: messages.length,
    calls: {
      used: column(({ used }) => used, 0),
      sent: Uint32Array.from(listed, (call) => call.sent ?? 0),
      from: new Uint32Array(listed.length),
      source: Uint8Array.from(listed, (call) => Math.max(0, source(call))),
      unseen: column(({ unseen }) => unseen, 0),
      usage: column(({ usage }) => usage, -1),
      calibrated: new Float64Array(listed.length).fill(-1),
      at: column(({ at }) => at, Number.NaN),
    },
    window: {
      contextTokens: contextWindowTokens,
      maxOutputTokens: window.reserve,
      source: "session",
    },
    calibration: null,
    models: [],
    compactions,
    receipt: { lines: 0, read: 0, unknown: 0, broken: [] },
    absent: [],
    bytes: 0,
    milliseconds: { read: 0, measure: 0 },
  };
}

/** What the requests that were seen consisted of. */
export function layersOf(points: readonly Point[]): ChartLayers {
  const names = [...new Set(points.flatMap(({ buckets }) => buckets.map((one) => one.bucket)))];
  const tokens = new Uint32Array(points.length * names.length);
  for (const [call, { buckets }] of points.entries())
    for (const { bucket, sentTokens } of buckets)
      tokens[call * names.length + names.indexOf(bucket)] = sentTokens;
  return { names, tokens };
}
