/** `plimsoll replay FILE`: the session call by call under a policy, beside what it would have been without. */
import { axis, chart } from "./bar.js";
import { type Facts, facts, header } from "./header.js";
import type { Played, ReplayCall, ReplayTotals, Session } from "./model.js";
import type { Setting } from "./setting.js";
import type { Screen } from "./style.js";
import { type Cell, type Column, table } from "./table.js";
import { count, fit, percent, plural } from "./text.js";

/** The session under one preset. */
export interface Run {
  preset: string;
  totals: ReplayTotals;
  calls: ReplayCall[];
}

/** The report, the same as text and as JSON. */
export interface ReplayReport {
  schema: "plimsoll.replay/1";
  file: string;
  format: string;
  messages: number;
  turns: number;
  receipt: Facts["receipt"];
  window: { contextTokens: number; maxOutputTokens: number; source: Setting["source"] };
  runs: Run[];
}

export function replayReport(
  file: string,
  session: Session,
  played: ReadonlyArray<{ preset: string; played: Played }>,
  { window, source }: Setting,
): ReplayReport {
  const first = played[0]?.played;
  const { calls: _calls, ...told } = facts(
    file,
    session,
    first?.messages() ?? [],
    first?.calls.length ?? 0,
  );
  const runs = played.map(({ preset, played: { totals, calls } }) => ({
    preset,
    totals: { ...totals },
    calls: calls.map((one) => ({ ...one })),
  }));
  return { schema: "plimsoll.replay/1", ...told, window: { ...window, source }, runs };
}

export function replayText(screen: Screen, report: ReplayReport, every: boolean): string[] {
  const { window, runs } = report;
  const calls = runs[0]?.calls.length ?? 0;
  const usable = window.contextTokens - window.maxOutputTokens;
  const note =
    window.source === "assumed"
      ? " (assumed; --window sets it)"
      : window.source === "file"
        ? " (from the file)"
        : "";
  const reserve =
    window.maxOutputTokens > 0
      ? `${screen.sign("between")}reserve ${count(window.maxOutputTokens)}`
      : "";
  const presets = runs.map((run) => run.preset).join(", ");
  const top = [
    ...header(screen, { ...report, calls }),
    "",
    `${screen.paint("strong", `Window ${count(window.contextTokens)}`)}${screen.paint("faint", note)}${screen.paint("plain", `${reserve}${screen.sign("between")}${presets}`)}`,
    "",
  ];
  const [only] = runs;
  if (only === undefined || calls === 0)
    return [...top, "no model call in this file: nothing to replay"];
  if (runs.length > 1) return [...top, ...comparison(screen, runs)];
  return [
    ...top,
    ...picture(screen, only, usable),
    "",
    ...callTable(screen, only, usable, every),
    "",
    ...totalLines(screen, only, usable),
  ];
}

function picture(screen: Screen, { calls }: Run, usable: number): string[] {
  const width = Math.min(screen.width - 8, Math.max(calls.length, 1));
  const legend = [
    screen.paint("sent", screen.sign("full")) + screen.paint("plain", " sent"),
    screen.paint("faint", screen.sign("dot")) + screen.paint("plain", " without management"),
    screen.paint("edit", screen.sign("line")) + screen.paint("plain", " usable window"),
  ];
  return [
    `${screen.paint("head", "TOKENS BY CALL")}   ${legend.join("   ")}`,
    ...chart(screen, {
      sent: calls.map((one) => one.used),
      unmanaged: calls.map((one) => one.unmanaged),
      level: usable,
      height: 9,
      width,
    }),
    `${" ".repeat(8)}${axis(screen, 1, calls.length, width)}`,
  ];
}

function callTable(screen: Screen, { calls }: Run, usable: number, every: boolean): string[] {
  const heads: Column[] = [
    { head: "CALL", right: true },
    { head: "UNMANAGED", right: true },
    { head: "SENT", right: true },
    { head: "%", right: true },
    { head: "", bar: true, drop: 2 },
    { head: "EVENT" },
    { head: "BILL", right: true, drop: 1 },
    { head: "VALID" },
  ];
  const chosen = every ? calls.map((_, index) => index) : sample(calls);
  const row = (index: number): Cell[] => {
    const one = calls[index];
    if (one === undefined) return [];
    return [
      count(index + 1),
      count(one.unmanaged),
      count(one.used),
      percent(one.used, usable),
      one.used / usable,
      event(one),
      count(one.bill),
      valid(one, usable),
    ];
  };
  const left = calls.length - chosen.length;
  const lines = table(screen, heads, chosen.map(row));
  return left === 0
    ? lines
    : [
        ...lines,
        screen.paint(
          "faint",
          `${plural(left, "call")} not listed: --calls lists all, --json has every figure`,
        ),
      ];
}

function event({ event: what, edits }: ReplayCall): Cell {
  if (what === null) return { text: "-", role: "faint" };
  return { text: what === "edit" && edits > 0 ? `edit (${count(edits)})` : what, role: what };
}

function valid({ violations, used }: ReplayCall, usable: number): Cell {
  if (violations > 0) return { text: plural(violations, "violation"), role: "bad" };
  return used > usable ? { text: "yes, OVER", role: "bad" } : { text: "yes", role: "good" };
}

/** First and last, what went wrong, folds, edits, and some between, evenly: at most so many rows. */
function sample(calls: readonly ReplayCall[], most = 18): number[] {
  const chosen = new Set<number>([0, calls.length - 1]);
  const add = (wanted: (one: ReplayCall) => boolean, limit: number): void => {
    const found = calls.flatMap((one, index) => (wanted(one) && !chosen.has(index) ? [index] : []));
    const room = Math.max(0, Math.min(found.length, limit - chosen.size));
    for (let i = 0; i < room; i += 1) chosen.add(found[Math.floor((i * found.length) / room)] ?? 0);
  };
  add((one) => one.violations > 0, most);
  add((one) => one.event === "fold", most);
  add((one) => one.event === "edit", most - 6);
  add(() => true, most);
  return [...chosen].sort((a, b) => a - b);
}

function totalLines(screen: Screen, { calls, totals }: Run, usable: number): string[] {
  const between = screen.sign("between");
  const burst = calls.filter((one) => one.unmanaged > usable).length;
  const saved = percent(totals.unmanagedBill - totals.bill, totals.unmanagedBill);
  const rows: Array<[string, string]> = [
    [
      "bill",
      `${count(totals.bill)}, without management ${count(totals.unmanagedBill)}: ${Number(saved) < 0 ? `${saved.slice(1)}% more` : `${saved}% saved`}`,
    ],
    [
      "recall",
      `${recall(totals.recall)}${between}far ${recall(totals.farRecall)}${between}content ${recall(totals.contentRecall)}`,
    ],
    [
      "edits",
      `${plural(totals.edits, "edit")}${between}${plural(totals.folds, "fold")}${between}peak ${count(totals.peak)} of ${count(usable)}`,
    ],
    [
      "without",
      burst === 0
        ? "every call would fit without management"
        : `${plural(burst, "call")} would be over the window without management`,
    ],
  ];
  const lines = rows.map(
    ([name, text]) =>
      `${screen.paint("head", name.toUpperCase().padEnd(8))} ${screen.paint("plain", fit(text, screen.width - 9, screen.sign("cut")))}`,
  );
  const clean = totals.violations === 0 && totals.overWindow === 0;
  const verdict = `${plural(calls.length, "request")}, ${plural(totals.violations, "violation")}, ${count(totals.overWindow)} over the window`;
  return [...lines, "", screen.paint(clean ? "good" : "bad", verdict)];
}

function recall(share: number | null): string {
  return share === null ? "none asked" : `${percent(share, 1)}%`;
}

function comparison(screen: Screen, runs: readonly Run[]): string[] {
  const heads: Column[] = [
    { head: "PRESET", shrink: 8 },
    { head: "BILL", right: true },
    { head: "SAVED %", right: true },
    { head: "RECALL %", right: true },
    { head: "FAR %", right: true },
    { head: "CONTENT %", right: true, drop: 2 },
    { head: "EDITS", right: true },
    { head: "FOLDS", right: true },
    { head: "PEAK", right: true, drop: 1 },
    { head: "OVER", right: true },
    { head: "INVALID", right: true },
  ];
  const share = (value: number | null): string => (value === null ? "-" : percent(value, 1));
  const [first] = runs;
  const rows: Cell[][] = runs.map(({ preset, totals }) => [
    preset,
    count(totals.bill),
    percent(totals.unmanagedBill - totals.bill, totals.unmanagedBill),
    share(totals.recall),
    share(totals.farRecall),
    share(totals.contentRecall),
    count(totals.edits),
    count(totals.folds),
    count(totals.peak),
    { text: count(totals.overWindow), role: totals.overWindow > 0 ? "bad" : "good" },
    { text: count(totals.violations), role: totals.violations > 0 ? "bad" : "good" },
  ]);
  if (first !== undefined)
    rows.push([
      "none",
      count(first.totals.unmanagedBill),
      "0.0",
      ...Array.from({ length: 8 }, () => "-"),
    ]);
  return table(screen, heads, rows);
}
