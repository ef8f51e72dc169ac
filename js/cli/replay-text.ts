/** The report of `plimsoll replay` as text. */

import type { ReplayCall } from "../types.js";
import { axis, chart } from "./bar.js";
import { header, windowLine } from "./header.js";
import type { ReplayReport, Run } from "./replay.js";
import { sample } from "./sample.js";
import { type Screen, type Span, spans } from "./style.js";
import { type Cell, type Column, table } from "./table.js";
import { count, most, percent, plural } from "./text.js";

export function replayText(screen: Screen, report: ReplayReport, every: boolean): string[] {
  const { window, runs } = report;
  const usable = window.contextTokens - window.maxOutputTokens;
  const reserve = window.maxOutputTokens > 0 ? [`reserve ${count(window.maxOutputTokens)}`] : [];
  const said = [...reserve, runs.map((run) => run.preset).join(", ")];
  const top = [
    ...header(screen, report),
    "",
    ...windowLine(screen, window.contextTokens, window.source, said),
    "",
  ];
  const [only, ...more] = runs;
  if (only === undefined) return top;
  if (more.length > 0) return [...top, ...comparison(screen, runs, usable)];
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
    ["sent", "full", "sent"],
    ["faint", "dot", "unmanaged"],
    ["edit", "line", "usable window"],
  ] as const;
  const keys = legend.map(([role, sign, word]): Span[] => [
    { role, text: screen.sign(sign) },
    { role: "plain", text: ` ${word}` },
  ]);
  const sent = calls.map((one) => one.used);
  const unmanaged = calls.map((one) => one.unmanaged);
  return [
    ...screen.flow([[{ role: "head", text: "TOKENS BY CALL" }], ...keys], "  "),
    ...chart(screen, { sent, unmanaged, level: usable, height: 9, width }),
    `${" ".repeat(8)}${axis(screen, 1, calls.length, width)}`,
  ];
}

const CALLS: readonly Column[] = [
  { head: "CALL", right: true },
  { head: "UNMANAGED", right: true, drop: 0 },
  { head: "SENT", right: true },
  { head: "%", right: true, drop: 1 },
  { head: "", bar: true, drop: 3 },
  { head: "EVENT" },
  { head: "BILL", right: true, drop: 2 },
  { head: "VALID" },
];

function callTable(screen: Screen, { calls }: Run, usable: number, every: boolean): string[] {
  const chosen = every ? calls.map((_, index) => index) : sample(calls);
  const rows = chosen.map((index): Cell[] => {
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
  });
  const lines = table(screen, CALLS, rows);
  const left = calls.length - chosen.length;
  if (left === 0) return lines;
  return [...lines, screen.paint("faint", `${plural(left, "call")} not listed; --calls lists all`)];
}

function event({ event: what, edits }: ReplayCall): Cell {
  if (what === null) return { text: "-", role: "faint" };
  return { text: edits > 0 ? `${what} (${count(edits)})` : what, role: what };
}

function valid({ violations, used }: ReplayCall, usable: number): Cell {
  if (violations > 0) return { text: plural(violations, "violation"), role: "bad" };
  return used > usable ? { text: "yes, OVER", role: "bad" } : { text: "yes", role: "good" };
}

function totalLines(screen: Screen, { calls, totals }: Run, usable: number): string[] {
  const over = (amount: number): string => `${count(amount)} over the window`;
  const burdens = calls.map((one) => one.unmanaged);
  const rows: Array<[string, string[]]> = [
    ["BILL", bill(totals.bill, totals.unmanagedBill)],
    [
      "RECALL",
      [
        share(totals.recall),
        `far ${share(totals.farRecall)}`,
        `content ${share(totals.contentRecall)}`,
      ],
    ],
    [
      "POLICY",
      [
        `${plural(times(calls, "edit"), "edit")} of ${plural(totals.edits, "message")}`,
        plural(totals.folds, "fold"),
        `peak ${count(totals.peak)} of ${count(usable)}`,
      ],
    ],
    [
      "UNMANAGED",
      [`peak ${count(most(burdens))}`, over(burdens.filter((tokens) => tokens > usable).length)],
    ],
  ];
  const lines = rows.flatMap(([name, texts]) => {
    const flowed = screen.flow(spans("plain", texts), screen.sign("between"), screen.width - 11);
    return flowed.map((text, line) => {
      return `${screen.paint("head", (line === 0 ? name : "").padEnd(10))} ${text}`;
    });
  });
  const clean = totals.violations === 0 && totals.overWindow === 0;
  const verdict = [
    plural(calls.length, "request"),
    plural(totals.violations, "violation"),
    over(totals.overWindow),
  ];
  return [...lines, "", ...screen.flow(spans(clean ? "good" : "bad", verdict), ", ")];
}

function times(calls: readonly ReplayCall[], event: ReplayCall["event"]): number {
  return calls.filter((one) => one.event === event).length;
}

function bill(ours: number, unmanaged: number): string[] {
  const saved = Number(percent(unmanaged - ours, unmanaged));
  const word = saved < 0 ? `${(-saved).toFixed(1)}% more` : `${saved.toFixed(1)}% saved`;
  return [count(ours), `unmanaged ${count(unmanaged)}`, word];
}

function share(value: number | null): string {
  return value === null ? "none asked" : `${percent(value, 1)}%`;
}

const PRESETS: readonly Column[] = [
  { head: "PRESET", shrink: 8 },
  { head: "BILL", right: true },
  { head: "SAVED", right: true },
  { head: "RECALL", right: true },
  { head: "FAR", right: true, drop: 4 },
  { head: "CONTENT", right: true, drop: 5 },
  { head: "EDITS", right: true, drop: 1 },
  { head: "FOLDS", right: true, drop: 1 },
  { head: "PEAK", right: true, drop: 3 },
  { head: "OVER", right: true },
  { head: "INVALID", right: true, drop: 0 },
];

/** Several presets side by side, and no management at all as the measure. */
function comparison(screen: Screen, runs: readonly Run[], usable: number): string[] {
  const bad = (amount: number): Cell => ({
    text: count(amount),
    role: amount > 0 ? "bad" : "good",
  });
  const short = (value: number | null): string => (value === null ? "-" : share(value));
  const rows = runs.map(({ preset, totals, calls }): Cell[] => [
    preset,
    count(totals.bill),
    `${percent(totals.unmanagedBill - totals.bill, totals.unmanagedBill)}%`,
    short(totals.recall),
    short(totals.farRecall),
    short(totals.contentRecall),
    count(times(calls, "edit")),
    count(totals.folds),
    count(totals.peak),
    bad(totals.overWindow),
    bad(totals.violations),
  ]);
  const [first] = runs;
  const burdens = first?.calls.map((one) => one.unmanaged) ?? [];
  const none = [
    "none",
    count(first?.totals.unmanagedBill ?? 0),
    ...Array.from({ length: 6 }, () => "-"),
  ];
  const over = burdens.filter((tokens) => tokens > usable).length;
  return table(screen, PRESETS, [...rows, [...none, count(most(burdens)), bad(over), "-"]]);
}
