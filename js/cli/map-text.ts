/** The report of `plimsoll map` as text. */
import { header } from "./header.js";
import { what } from "./inspect-text.js";
import type { MapReport } from "./map.js";
import { type Filled, partNamed, windowBar } from "./parts.js";
import type { Role, Screen } from "./style.js";
import { type Column, table } from "./table.js";
import { count, most, percent } from "./text.js";
import { where, windowLines } from "./window.js";

/** One bar. */
interface Bar {
  letter: string;
  role: Role;
  name: string;
  tokens: number;
  state?: string;
}

export function mapText(screen: Screen, report: MapReport): string[] {
  const { window, parts, results, largest } = report;
  const filled: Filled = {
    ...report,
    buckets: report.buckets.map(({ bucket, tokens }) => ({ bucket, sent: tokens })),
  };
  const wholes = parts.map(({ part, tokens }): Bar => ({ ...partNamed(part), tokens }));
  const tools = results.map(({ tool, tokens }): Bar => {
    return { ...partNamed("results"), name: tool, tokens };
  });
  const messages = largest.map((one): Bar => {
    const name = `#${one.index} ${what(one)}`;
    return { letter: "", role: "plain", name, tokens: one.sentTokens, state: one.state };
  });
  return [
    ...header(screen, report),
    "",
    ...windowLines(screen, window, [where(report.call, report.calls)]),
    ...windowBar(screen, filled),
    ...bars(screen, "WHAT FILLS IT", wholes, window.used),
    ...bars(screen, "RESULTS BY TOOL", tools, window.used),
    ...bars(screen, "LARGEST MESSAGES", messages, window.used),
  ];
}

/** Bars of one scale: the longest is the first of them. */
function bars(screen: Screen, head: string, rows: readonly Bar[], used: number): string[] {
  if (rows.length === 0) return [];
  const columns: Column[] = [
    { head: "" },
    { head, shrink: 10 },
    { head: "TOKENS", right: true },
    { head: "%", right: true },
    { head: "", bar: true, drop: 3 },
    { head: "STATE" },
  ];
  const top = most(rows.map(({ tokens }) => tokens)) || 1;
  const cells = rows.map(({ letter, role, name, tokens, state }) => [
    { text: letter, role },
    name,
    count(tokens),
    percent(tokens, used),
    Math.max(0, tokens) / top,
    state ?? "",
  ]);
  const shown = columns.map((_, at) => at).filter((at) => at < 5 || rows.some((row) => row.state));
  const pick = <C>(all: readonly C[]): C[] => shown.flatMap((at) => all[at] ?? []);
  return ["", ...table(screen, pick(columns), cells.map(pick))];
}
