/** The report of `plimsoll map` as text. */
import { count, most, percent } from "../render/numbers.js";
import { partNamed } from "../render/parts.js";
import type { Role, Screen } from "../render/screen.js";
import { type Cell, type Column, table } from "../render/table.js";
import { header } from "./header.js";
import { what } from "./inspect-text.js";
import type { MapReport } from "./map.js";
import { type Filled, windowBar } from "./parts.js";
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
    buckets: report.buckets.map(({ bucket, tokens }) => ({ bucket, sentTokens: tokens })),
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
    "",
    ...table(screen, COLUMNS, [
      ...bars(wholes, window.used),
      ...group("RESULTS BY TOOL", "", bars(tools, window.used)),
      ...group("LARGEST MESSAGES", "STATE", bars(messages, window.used)),
    ]),
  ];
}

const COLUMNS: readonly Column[] = [
  { head: "" },
  { head: "WHAT FILLS IT", shrink: 10 },
  { head: "TOKENS", right: true },
  { head: "%", right: true },
  { head: "", bar: true, drop: 3, spare: true },
  { head: "" },
];

/** Groups stand in one table, so that their columns stand below each other. */
function group(head: string, state: string, rows: Cell[][]): Cell[][] {
  if (rows.length === 0) return [];
  const title = ["", head, "TOKENS", "%", "", state].map((text): Cell => ({ text, role: "head" }));
  return [[], title, ...rows];
}

/** The longest bar of a group is its first. */
function bars(rows: readonly Bar[], used: number): Cell[][] {
  const top = most(rows.map(({ tokens }) => tokens)) || 1;
  return rows.map(({ letter, role, name, tokens, state }) => [
    { text: letter, role },
    name,
    count(tokens),
    percent(tokens, used),
    Math.max(0, tokens) / top,
    state ?? "",
  ]);
}
