/** `plimsoll check FILE...`: sessions beside limits. The figures, and whether they are kept. */
import { suggestion } from "../core/nearest.js";
import { partNames, partsOf } from "../render/parts.js";
import { absentOf } from "../session-files/absent.js";
import type { InspectReport } from "../types.js";
import { usage } from "./errors.js";
import { type Facts, viewFacts } from "./header.js";
import { type Arguments, share, size } from "./options.js";
import { Progress } from "./progress.js";
import { callOf, reportAt, type Source } from "./source.js";
import { literal } from "./text.js";
import { type ShownCall, view } from "./view.js";
import { type WindowFigures, windowFigures } from "./window.js";

/** A limit, and what was measured. Above `most` it is passed. */
export interface Limit {
  /** fits, violations, pressure, used, or the part as it was named. */
  limit: string;
  unit: "tokens" | "share" | "violations";
  most: number;
  measured: number;
  /** The call at which it was measured, from 1. */
  call: number;
  /** Of a limit of parts: the largest of those that it names; null: there is none. */
  part?: string | null;
  ok: boolean;
}

/** A session, and its limits. */
export interface Checked extends Facts {
  /** Null: it is what the agent sent. */
  preset: string | null;
  /** Of which parts are measured, from 1. */
  call: number;
  /** At that call. */
  window: WindowFigures;
  /** What a request has and this file does not tell: nothing of it was measured. */
  absent: string[];
  ok: boolean;
  limits: Limit[];
}

/** The report, the same as text and as JSON. */
export interface CheckReport {
  schema: "plimsoll.check/1";
  ok: boolean;
  files: Checked[];
}

/** What is asked for beside what always has to hold. */
interface Wanted {
  pressure: number | undefined;
  used: number | undefined;
  parts: readonly PartLimit[];
}

interface PartLimit {
  name: string;
  most: number;
  /** `PART?=SIZE`: no error if no session has the part. */
  isOptional: boolean;
}

export function check(sources: readonly Source[], args: Arguments): CheckReport {
  const wanted: Wanted = {
    pressure: share("max-pressure", args.text("max-pressure")),
    used: size("max-used", args.text("max-used")),
    parts: args.list("max").map(partLimit),
  };
  const buckets = new Set<string>();
  using progress = new Progress(sources.length);
  for (const { session } of sources) progress.expect(1, session.calls.length);
  const files = sources.map((source) => {
    const file = checked(source, wanted, args, buckets);
    progress.finish(source.session.calls.length);
    return file;
  });
  for (const part of wanted.parts) refuseUnknown(part, files, [...buckets]);
  return { schema: "plimsoll.check/1", ok: files.every(({ ok }) => ok), files };
}

/** A limit on a part that no session has limits nothing: a misspelt name must not pass. */
function refuseUnknown(
  { name, isOptional }: PartLimit,
  files: readonly Checked[],
  known: readonly string[],
): void {
  const limits = files.flatMap((file) => file.limits.filter(({ limit }) => limit === name));
  if (isOptional || limits.some(({ part }) => part !== null)) return;
  const parts = [...new Set([...partNames, ...known])];
  throw usage(
    `--max: no part is named ${JSON.stringify(name)}.${suggestion(name, parts)} Parts: ${parts.join(", ")}. Write '${name}?=SIZE' if it may be absent`,
  );
}

function checked(
  source: Source,
  wanted: Wanted,
  args: Arguments,
  /** Collects the names of all buckets. */
  known: Set<string>,
): Checked {
  using played = view(source);
  const call = callOf(args, played);
  const all = viewFacts(source, played, call);
  const report = reportAt(source, played, call);
  for (const { bucket } of report.buckets) known.add(bucket);
  const calls = args.has("call") ? played.calls.slice(call - 1, call) : played.calls;
  const limits = [
    ...requestLimits(calls, report.status.usable, wanted, played.preset !== null),
    ...wanted.parts.flatMap((one) => partLimits(report, call, one)),
  ];
  return {
    ...all,
    preset: played.preset,
    call,
    window: windowFigures(report, source.setting),
    absent: absentOf(report.buckets),
    ok: limits.every(({ ok }) => ok),
    limits,
  };
}

/** What holds for every request, each at the one that comes nearest to it. */
function requestLimits(
  calls: readonly ShownCall[],
  usable: number,
  wanted: Wanted,
  isSimulated: boolean,
): Limit[] {
  const at = (of: (one: ShownCall) => number): { measured: number; call: number } => {
    const figures = calls.map(of);
    const measured = figures.reduce((most, one) => Math.max(most, one), 0);
    return { measured, call: (calls[figures.indexOf(measured)]?.call ?? 0) + 1 };
  };
  const limit = (
    name: string,
    unit: Limit["unit"],
    most: number | undefined,
    found: { measured: number; call: number },
  ): Limit[] => {
    const { measured, call } = found;
    if (most === undefined) return [];
    return [{ limit: name, unit, most, measured, call, ok: measured <= most }];
  };
  const used = at((one) => one.used);
  return [
    ...limit("fits", "tokens", usable, used),
    ...limit(
      "violations",
      "violations",
      // What was sent was accepted, or refused, by the provider itself.
      isSimulated ? 0 : undefined,
      at((one) => one.violations),
    ),
    ...limit("pressure", "share", wanted.pressure, {
      ...used,
      measured: usable > 0 ? used.measured / usable : 0,
    }),
    ...limit("used", "tokens", wanted.used, used),
  ];
}

/** The largest part that a limit names, and every other that passes it. */
function partLimits({ buckets }: InspectReport, call: number, { name, most }: PartLimit): Limit[] {
  const named = glob(name);
  const sums = partsOf(buckets.map(({ bucket, tokens }) => ({ bucket, sentTokens: tokens })));
  // A sum is meant only where it is named: `result*` are the results, each.
  const found = [
    ...buckets.filter(({ bucket }) => named.test(bucket)),
    ...sums
      .filter((part) => part.name === name && part.buckets > 0)
      .map((part) => ({ bucket: part.name, tokens: part.sent })),
  ]
    .filter((one, at, all) => at === all.findIndex(({ bucket }) => bucket === one.bucket))
    .sort((a, b) => b.tokens - a.tokens);
  const [largest, ...more] = found;
  const shown = largest === undefined ? [] : [largest, ...more.filter((one) => one.tokens > most)];
  const base = { limit: name, unit: "tokens", most, call } as const;
  if (shown.length === 0) return [{ ...base, measured: 0, part: null, ok: true }];
  return shown.map(({ bucket, tokens }) => {
    return { ...base, measured: tokens, part: bucket, ok: tokens <= most };
  });
}

/** "result bash=12k", or "result bash?=12k" if the part may be absent. */
function partLimit(text: string): PartLimit {
  const [, name, optional, amount] = /^(.*?[^\s?])\s*(\?)?=(.*)$/s.exec(text) ?? [];
  const most = size("max", amount?.trim());
  if (name === undefined || most === undefined)
    throw usage(`--max: a part and a size like 'result bash=12k', got ${JSON.stringify(text)}`);
  return { name, most, isOptional: optional !== undefined };
}

/** A name in which `*` stands for any letters, also for none. */
function glob(name: string): RegExp {
  return new RegExp(`^${name.split("*").map(literal).join(".*")}$`, "su");
}
