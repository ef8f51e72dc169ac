/** The report of `plimsoll replay` as text. */
import { count, most, percent, plural } from "../render/numbers.js";
import { type Screen, type Span, spans } from "../render/screen.js";
import { type Cell, type Column, table } from "../render/table.js";
import type { ReplayCall } from "../types.js";
import { axis, chart } from "./chart.js";
import { type Facts, header } from "./header.js";
import { savedOf, times } from "./matrix.js";
import { matrixText } from "./matrix-text.js";
import type { Assumed, ReplayReport, Run } from "./replay.js";
import { sample } from "./sample.js";
import { windowLine } from "./window.js";

export function replayText(screen: Screen, report: ReplayReport, every: boolean): string[] {
  const { runs, files } = report;
  const [only, ...more] = runs;
  const [file, ...others] = files;
  if (only === undefined || file === undefined) return [];
  const top = others.length === 0 ? header(screen, file) : filesText(screen, files);
  if (more.length > 0)
    return [...top, "", ...costs(screen, report), "", ...matrixText(screen, report)];
  const { contextTokens, maxOutputTokens, source } = only.window;
  const usable = contextTokens - maxOutputTokens;
  const reserve = maxOutputTokens > 0 ? [`reserve ${count(maxOutputTokens)}`] : [];
  return [
    ...top,
    "",
    ...windowLine(screen, contextTokens, source, [...reserve, only.preset]),
    "",
    ...picture(screen, only, usable),
    "",
    ...callTable(screen, only, usable, every),
    "",
    ...totalLines(screen, only, usable),
  ];
}

/** Several files: what they hold together, and one by one what could not be read. */
function filesText(screen: Screen, files: readonly Facts[]): string[] {
  const sum = (of: (one: Facts) => number): number => files.reduce((all, one) => all + of(one), 0);
  const inside = [
    plural(
      sum((one) => one.messages),
      "message",
    ),
    plural(
      sum((one) => one.calls),
      "call",
    ),
  ];
  const bad = files.flatMap(({ file, receipt: { broken, unreadable = [] } }) => [
    ...(broken.length > 0 ? [`${file}: ${plural(broken.length, "broken line")}`] : []),
    ...(unreadable.length > 0 ? [`${file}: ${plural(unreadable.length, "broken message")}`] : []),
  ]);
  return [
    ...screen.flow([
      ...spans("title", [plural(files.length, "session")]),
      ...spans("faint", inside),
    ]),
    ...bad.flatMap((text) => screen.flow(spans("bad", [text]))),
  ];
}

/** What the bills are counted with. */
function costs(screen: Screen, { prices, runs }: ReplayReport): string[] {
  const { cacheRead, cacheWrite, output, cacheTtlMs } = prices;
  const [first] = runs;
  const summaries = new Set(runs.map(({ assumed }) => summarizer(assumed)));
  const reserve = first && first.window.maxOutputTokens > 0 ? first.window.maxOutputTokens : 0;
  return screen.flow(
    spans("plain", [
      `Prices: cache read ${cacheRead}, write ${cacheWrite}, output ${output}`,
      `the cache lives ${cacheTtlMs / 1000} s`,
      ...(reserve > 0 ? [`reserve ${count(reserve)}`] : []),
      ...(summaries.size > 1 ? ["summaries as in each file, if any"] : summaries),
    ]),
  );
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
  { head: "", bar: true, drop: 3, spare: true },
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

function totalLines(screen: Screen, run: Run, usable: number): string[] {
  const { calls, totals } = run;
  const over = (amount: number): string => `${count(amount)} over the window`;
  const burdens = calls.map((one) => one.unmanaged);
  const rows: Array<[string, string[]]> = [
    ["BILL", bill(run)],
    [
      "RECALL",
      [
        share(totals.recall),
        `far ${share(totals.farRecall)}`,
        `content ${share(totals.contentRecall)}`,
        `user text ${share(totals.userText)}`,
      ],
    ],
    ["MISSED", missed(run)],
    [
      "POLICY",
      [
        `${plural(times(run, "edit"), "edit")} of ${plural(totals.edits, "message")}`,
        plural(totals.folds, "fold"),
        ...(run.assumed.summarizer
          ? [`summaries ${count(totals.summaries)} for ${count(totals.summaryBill)}`]
          : []),
        `peak ${count(totals.peak)} of ${count(usable)}`,
      ],
    ],
    ["UNMANAGED", [`peak ${count(most(burdens))}`, over(run.unmanagedOverWindow)]],
    ["ASSUMED", assumptions(run)],
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

/** Tool calls that missed what had been removed: in all, and of 100 calls. */
function missed({ calls, totals }: Run): string[] {
  const per100 = (times: number): string =>
    `${count(times)} (${((100 * times) / Math.max(calls.length, 1)).toFixed(1)} per 100)`;
  return [`blind calls ${per100(totals.blindCalls)}`, `re-fetches ${per100(totals.refetches)}`];
}

/** What the figures rest on that the file does not show. */
function assumptions({ assumed, unmanagedOverWindow }: Run): string[] {
  const { unseenTokens, unseenSource, factor } = assumed;
  const from = { option: " by --unseen", usage: " by the provider's counts", none: "" };
  return [
    summarizer(assumed),
    `unseen ${count(unseenTokens)}${from[unseenSource]}`,
    factor === null ? "estimated tokens" : `estimates times ${factor.toFixed(2)}`,
    ...(unmanagedOverWindow > 0 ? ["unmanaged is billed over the window too"] : []),
  ];
}

function summarizer({ summaryTokens, summarySource }: Assumed): string {
  if (summaryTokens === null) return "no summarizer";
  const from = summarySource === "file" ? "as in the file" : "by --summary-tokens";
  return `summaries of ${count(summaryTokens)} ${from}`;
}

function bill({ totals, unmanagedOverWindow }: Run): string[] {
  const saved = Number(percent(savedOf(totals.bill, totals.unmanagedBill), 1));
  const word = saved < 0 ? `${(-saved).toFixed(1)}% more` : `${saved.toFixed(1)}% saved`;
  const doubt = unmanagedOverWindow > 0 ? " if unmanaged had fitted" : "";
  return [count(totals.bill), `unmanaged ${count(totals.unmanagedBill)}`, `${word}${doubt}`];
}

function share(value: number | null): string {
  return value === null ? "none asked" : `${percent(value, 1)}%`;
}
