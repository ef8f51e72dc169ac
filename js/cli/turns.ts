/** `plimsoll turns FILE`: how full the window was turn by turn, what made room, what the provider counted. The figures. */
import { absentOf } from "../session-files/absent.js";
import type { SessionFile } from "../types.js";
import { type Facts, viewFacts } from "./header.js";
import { reportAt, type Source } from "./source.js";
import { type ShownCall, type View, view } from "./view.js";
import { type WindowFigures, windowFigures } from "./window.js";

/** A call, and what it changed. */
export interface TurnCall extends Omit<ShownCall, "sent"> {
  /** From 1. */
  call: number;
  /** The turn that it belongs to; 0: it came before the first. */
  turn: number;
  /** Tokens that went out of the request with this call's event. */
  freed: number;
  /** Input tokens that the provider counted, cached or not; null: the file does not tell. */
  usage: number | null;
}

/** The calls of a turn as one; `used`, `unmanaged`, `epoch` and `usage` are those of its last. */
export interface Turn
  extends Pick<TurnCall, "turn" | "used" | "unmanaged" | "epoch" | "freed" | "usage"> {
  /** First and last, from 1. */
  calls: [number, number];
  peak: number;
  /** Calls that edited, that folded, and before which the agent compacted. */
  edits: number;
  folds: number;
  compactions: number;
  violations: number;
  /** Calls over the window. */
  overWindow: number;
}

/** The report, the same as text and as JSON. */
export interface TurnsReport extends Facts {
  schema: "plimsoll.turns/1";
  /** Null: it is what the agent sent. */
  preset: string | null;
  /** At the last call. */
  window: WindowFigures;
  /** Calls whose usage the file tells; the median of our estimate of the whole history, divided by it. Null where nothing
   *  is told, or the agent that wrote the file compacted: then it did not send the whole. */
  usage: { calls: number; estimatePerUsage: number | null };
  /** How estimates were fitted to what the provider counted; null in a simulation, and if the file tells nothing. */
  calibration: View["calibration"];
  /** What a request has and this file does not tell: the estimates are without it, and usage is not. */
  absent: string[];
  /** Compactions by the agent that wrote the file. */
  compactions: number;
  byTurn: Turn[];
  byCall: TurnCall[];
}

export function turns(source: Source): TurnsReport {
  using played = view(source);
  const report = reportAt(source, played, played.calls.length);
  const calls = callsOf(source.session, played.calls, (sent) => report.messages[sent - 1]?.turn);
  const compactions = source.session.compactions.length;
  const isComparable = played.preset !== null && compactions === 0;
  const ratios = calls.flatMap(({ usage, unmanaged }) => (usage ? [unmanaged / usage] : []));
  return {
    schema: "plimsoll.turns/1",
    ...viewFacts(source, played, played.calls.length),
    preset: played.preset,
    window: windowFigures(report, source.setting),
    usage: { calls: ratios.length, estimatePerUsage: isComparable ? median(ratios) : null },
    calibration: played.calibration,
    absent: absentOf(report.buckets),
    compactions,
    byTurn: turnsOf(calls),
    byCall: calls,
  };
}

function callsOf(
  session: SessionFile,
  calls: readonly ShownCall[],
  turnOf: (sent: number) => number | undefined,
): TurnCall[] {
  let before = { used: 0, unmanaged: 0 };
  return calls.map(({ sent, ...one }, index) => {
    // Of a recording the whole is what was sent: what a compaction freed is how much less that is.
    const more = one.event === "compaction" ? 0 : one.unmanaged - before.unmanaged;
    const freed = one.event === null ? 0 : Math.max(0, before.used + more - one.used);
    before = one;
    return {
      ...one,
      call: index + 1,
      turn: turnOf(sent) ?? 0,
      freed,
      // Files that report nothing may write zeros.
      usage: session.calls[index]?.usage?.inputTokens || null,
    };
  });
}

function turnsOf(calls: readonly TurnCall[]): Turn[] {
  const runs: TurnCall[][] = [];
  for (const one of calls) {
    const run = runs.at(-1);
    if (run?.[0]?.turn === one.turn) run.push(one);
    else runs.push([one]);
  }
  return runs.flatMap((run): Turn[] => {
    const [first, last] = [run[0], run.at(-1)];
    if (first === undefined || last === undefined) return [];
    const sum = (of: (one: TurnCall) => number): number =>
      run.reduce((all, one) => all + of(one), 0);
    return [
      {
        turn: last.turn,
        calls: [first.call, last.call],
        used: last.used,
        peak: run.reduce((most, { used }) => Math.max(most, used), 0),
        unmanaged: last.unmanaged,
        epoch: last.epoch,
        edits: sum(({ event }) => Number(event === "edit")),
        folds: sum(({ event }) => Number(event === "fold")),
        compactions: sum(({ event }) => Number(event === "compaction")),
        freed: sum(({ freed }) => freed),
        usage: last.usage,
        violations: sum(({ violations }) => violations),
        overWindow: sum(({ fits }) => Number(!fits)),
      },
    ];
  });
}

function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}
