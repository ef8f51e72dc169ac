/** The report of `plimsoll turns` as text. */
import { count, percent, plural } from "../render/numbers.js";
import { type Screen, spans } from "../render/screen.js";
import { type Cell, type Column, table } from "../render/table.js";
import { header } from "./header.js";
import { absentLines } from "./parts.js";
import { pressureLines } from "./pressure.js";
import { sample } from "./sample.js";
import type { Turn, TurnCall, TurnsReport } from "./turns.js";
import { where, windowLines } from "./window.js";

/** Which rows there are: those of turns or of calls, all of them or a selection. */
export interface Rows {
  byCall: boolean;
  every: boolean;
}

export function turnsText(screen: Screen, report: TurnsReport, rows: Rows): string[] {
  const { byTurn, byCall, window } = report;
  const notes = [where(byCall.length, byCall.length)];
  // Of one turn there is no course to see but that of its calls.
  const isByCall = rows.byCall || byTurn.length < 2;
  return [
    ...header(screen, report),
    "",
    ...windowLines(screen, window, notes),
    "",
    ...pressureLines(screen, byCall, window),
    "",
    ...(isByCall
      ? rowsOf(screen, byCall, callRow, report, "call", rows)
      : rowsOf(screen, byTurn, turnRow, report, "turn", rows)),
    "",
    ...totals(screen, report),
  ];
}

const COLUMNS: readonly Column[] = [
  { head: "TURN", right: true },
  { head: "CALLS", right: true },
  { head: "USED", right: true },
  { head: "%", right: true, drop: 0 },
  { head: "", bar: true, drop: 5, spare: true },
  { head: "EVENT" },
  { head: "FREED", right: true, drop: -1 },
  { head: "EPOCH", right: true, drop: 3, spare: true },
  { head: "WHOLE", right: true, drop: 2 },
  { head: "USAGE", right: true, drop: 1 },
];

/** Columns of a simulation. */
const SIMULATED: readonly string[] = ["EPOCH", "WHOLE", "USAGE"];

function rowsOf<T extends Turn | TurnCall>(
  screen: Screen,
  all: readonly T[],
  row: (one: T, usable: number) => Cell[],
  { window, usage, preset }: TurnsReport,
  word: string,
  { every, byCall }: Rows,
): string[] {
  const usable = window.contextTokens - window.reserve;
  const chosen =
    every || (byCall && word === "call")
      ? all
      : sample(all.map(sampled)).flatMap((at) => all[at] ?? []);
  // A recording has neither epochs nor a whole that differs from what was sent, and its usage is what is used.
  const isShown = ({ head }: Column): boolean =>
    preset === null ? !SIMULATED.includes(head ?? "") : usage.calls > 0 || head !== "USAGE";
  const shown = COLUMNS.flatMap((column, index) => (isShown(column) ? [index] : []));
  const pick = <C>(cells: readonly C[]): C[] => shown.flatMap((index) => cells[index] ?? []);
  const lines = table(
    screen,
    pick(COLUMNS),
    chosen.map((one) => pick(row(one, usable))),
  );
  const left = all.length - chosen.length;
  if (left === 0) return lines;
  const option = word === "call" ? "--calls" : "--all";
  return [...lines, screen.paint("faint", `${plural(left, word)} not listed; ${option} lists all`)];
}

/** A recording's compaction is listed as a fold is: it is one. */
function sampled(one: Turn | TurnCall): { violations: number; event: "edit" | "fold" | null } {
  const { violations } = one;
  if ("event" in one) return { violations, event: one.event === "compaction" ? "fold" : one.event };
  const event = one.folds + one.compactions > 0 ? "fold" : one.edits > 0 ? "edit" : null;
  return { violations: one.violations, event };
}

function turnRow(one: Turn, usable: number): Cell[] {
  const [first, last] = one.calls;
  const events = [
    ...(one.folds > 0 ? [plural(one.folds, "fold")] : []),
    ...(one.edits > 0 ? [plural(one.edits, "edit")] : []),
    ...(one.compactions > 0 ? [plural(one.compactions, "compaction")] : []),
  ];
  const calls = first === last ? count(first) : `${count(first)}-${count(last)}`;
  const isOver = one.overWindow > 0;
  return line(one, [String(one.turn), calls], events, isOver, usable);
}

function callRow(one: TurnCall, usable: number): Cell[] {
  const events = one.event === null ? [] : [one.event];
  return line(one, [String(one.turn), count(one.call)], events, !one.fits, usable);
}

function line(
  one: Turn | TurnCall,
  place: readonly string[],
  events: readonly string[],
  isOver: boolean,
  usable: number,
): Cell[] {
  const words = [
    ...events,
    ...(one.violations > 0 ? [plural(one.violations, "violation")] : []),
    ...(isOver ? ["OVER"] : []),
  ].join(", ");
  const role = isOver || one.violations > 0 ? "bad" : (sampled(one).event ?? "faint");
  return [
    ...place,
    count(one.used),
    percent(one.used, usable),
    one.used / usable,
    { text: words || "-", role },
    one.freed > 0 ? count(one.freed) : "-",
    count(one.epoch),
    count(one.unmanaged),
    one.usage === null ? "-" : count(one.usage),
  ];
}

/** What made room, and how our estimate stands to what was counted. */
function totals(screen: Screen, report: TurnsReport): string[] {
  const { byCall, usage, absent, preset, calibration } = report;
  const compactions = preset === null ? 0 : report.compactions;
  const freed = byCall.reduce((sum, one) => sum + one.freed, 0);
  const ratio = usage.estimatePerUsage;
  const figures = [
    `usage of ${count(usage.calls)} of ${plural(byCall.length, "call")}`,
    ...(calibration === null
      ? []
      : [
          `estimates are fitted to it within ${percent(calibration.errorP90, 1)}% (90 of 100 calls)`,
        ]),
    ...(ratio === null ? [] : [`the whole is estimated at ${ratio.toFixed(2)} of it (median)`]),
    ...(compactions === 0
      ? []
      : [`its agent compacted ${plural(compactions, "time")}, and sent less than the whole`]),
  ];
  const rows = [
    [
      `freed ${count(freed)} tokens`,
      preset === null
        ? plural(report.compactions, "compaction")
        : plural(byCall.at(-1)?.epoch ?? 0, "new epoch"),
    ],
    usage.calls === 0 ? ["no usage in this file: all figures are estimates"] : figures,
  ];
  return [
    ...rows.flatMap((texts) => screen.flow(spans("faint", texts))),
    ...absentLines(screen, absent),
  ];
}
