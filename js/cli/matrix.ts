/** Presets beside windows: the runs of one preset in one window as a row, no management as the measure. */
import { most } from "../render/numbers.js";
import type { ReplayTotals } from "../types.js";
import type { Run } from "./replay.js";

const SHARES = ["recall", "farRecall", "contentRecall", "userText"] as const;
const COUNTS = ["bill", "edits", "folds", "epochs", "overWindow", "violations"] as const;
type Figure = (typeof SHARES)[number] | (typeof COUNTS)[number];

/** Sums over the sessions; shares are the mean over those that have one, each session counting the same. */
export interface MatrixRow {
  /** Tokens. */
  window: number;
  /** `unmanaged`: everything is sent, whatever the window. */
  preset: string;
  sessions: number;
  calls: number;
  /** In uncached input tokens. */
  bill: number;
  /** Of the unmanaged bill, the share that is saved; below 0 where it costs more. */
  saved: number;
  /** Unmanaged requests over the usable window: a provider would refuse them, and still they are in the unmanaged bill. */
  unmanagedOverWindow: number;
  /** Its bill over that of the cheapest preset in this window whose recall is no lower, less 1; null: not a preset. */
  regret: number | null;
  recall: number | null;
  farRecall: number | null;
  contentRecall: number | null;
  userText: number | null;
  /** Requests that were edited. */
  edits: number;
  folds: number;
  /** Requests that changed something before their end. */
  epochs: number;
  /** Requests over the usable window. */
  overWindow: number;
  /** Of the provider's rules; null: not looked at. */
  violations: number | null;
  /** The largest request. */
  peak: number;
  /** The figures in which no preset is better in this window, and some are worse. */
  best: Figure[];
}

export function matrix(runs: readonly Run[]): MatrixRow[] {
  const windows = [...new Set(runs.map((run) => run.window.contextTokens))];
  const presets = [...new Set(runs.map((run) => run.preset))];
  return windows.flatMap((window) => {
    const here = runs.filter((run) => run.window.contextTokens === window);
    const of = (preset: string): Run[] => here.filter((run) => run.preset === preset);
    const rows = presets.map((preset) => managed(window, preset, of(preset)));
    return [...marked(rows), unmanaged(window, of(presets[0] ?? ""))];
  });
}

function managed(window: number, preset: string, runs: readonly Run[]): MatrixRow {
  const sum = (of: (run: Run) => number): number => runs.reduce((all, run) => all + of(run), 0);
  const bill = sum((run) => run.totals.bill);
  return {
    window,
    preset,
    sessions: runs.length,
    calls: sum((run) => run.calls.length),
    bill,
    saved: savedOf(
      bill,
      sum((run) => run.totals.unmanagedBill),
    ),
    unmanagedOverWindow: sum((run) => run.unmanagedOverWindow),
    regret: null,
    ...shares(runs, (totals, name) => totals[name]),
    edits: sum((run) => times(run, "edit")),
    folds: sum((run) => run.totals.folds),
    epochs: sum((run) => run.totals.epochs),
    overWindow: sum((run) => run.totals.overWindow),
    violations: sum((run) => run.totals.violations),
    peak: most(runs.map((run) => run.totals.peak)),
    best: [],
  };
}

/** Where everything is sent, everything asked for is there. */
function unmanaged(window: number, runs: readonly Run[]): MatrixRow {
  const sum = (of: (run: Run) => number): number => runs.reduce((all, run) => all + of(run), 0);
  const over = sum((run) => run.unmanagedOverWindow);
  return {
    window,
    preset: "unmanaged",
    sessions: runs.length,
    calls: sum((run) => run.calls.length),
    bill: sum((run) => run.totals.unmanagedBill),
    saved: 0,
    unmanagedOverWindow: over,
    regret: null,
    ...shares(runs, (totals, name) => (totals[name] === null ? null : 1)),
    edits: 0,
    folds: 0,
    epochs: 0,
    overWindow: over,
    violations: null,
    peak: most(runs.flatMap((run) => run.calls.map((one) => one.unmanaged))),
    best: [],
  };
}

type Shares = Pick<MatrixRow, (typeof SHARES)[number]>;

function shares(
  runs: readonly Run[],
  of: (totals: ReplayTotals, name: (typeof SHARES)[number]) => number | null,
): Shares {
  const means = SHARES.map((name) => {
    const known = runs.flatMap((run) => of(run.totals, name) ?? []);
    return [name, known.length === 0 ? null : known.reduce((a, b) => a + b, 0) / known.length];
  });
  return Object.fromEntries(means) as Shares;
}

/** As they are printed: what looks the same is the same. */
function shown(row: MatrixRow, name: Figure): number {
  const value = row[name] ?? 0;
  return (SHARES as readonly string[]).includes(name)
    ? -Math.round(1000 * value)
    : Math.round(value);
}

function marked(rows: readonly MatrixRow[]): MatrixRow[] {
  const best = ([...COUNTS, ...SHARES] as const).map((name) => {
    const values = rows.filter((row) => row[name] !== null).map((row) => shown(row, name));
    const least = Math.min(...values);
    return { name, least, differs: values.some((value) => value > least) };
  });
  return rows.map((row) => ({
    ...row,
    regret: regretOf(row, rows),
    best: best.flatMap(({ name, least, differs }) =>
      differs && row[name] !== null && shown(row, name) === least ? [name] : [],
    ),
  }));
}

function regretOf(row: MatrixRow, rows: readonly MatrixRow[]): number {
  const equal = rows.filter((other) => shown(other, "recall") <= shown(row, "recall"));
  const least = Math.min(...equal.map(({ bill }) => bill));
  return least > 0 ? row.bill / least - 1 : 0;
}

export function savedOf(bill: number, total: number): number {
  return total > 0 ? (total - bill) / total : 0;
}

export function times({ calls }: Run, event: "edit" | "fold"): number {
  return calls.filter((one) => one.event === event).length;
}
