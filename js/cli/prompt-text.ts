/** The report of `plimsoll prompt` as text. */
import { relative } from "node:path";
import { count, most, percent, plural } from "../render/numbers.js";
import { type Screen, type Span, spans } from "../render/screen.js";
import { type Cell, type Column, table } from "../render/table.js";
import { harmlessLines } from "../render/text.js";
import type { SectionReport } from "../types.js";
import { heading } from "./header.js";
import type { PromptReport } from "./prompt.js";

const LOOKED_FOR = [
  "AGENTS.md, SOUL.md, TOOLS.md, IDENTITY.md, USER.md, HEARTBEAT.md,",
  "BOOTSTRAP.md, MEMORY.md, memory/ of today and yesterday,",
  "ACECLAW.md, ACECLAW.local.md, .aceclaw/",
];

export function promptText(screen: Screen, report: PromptReport): string[] {
  const none = report.sections.every(({ key }) => key === "task-focus");
  return [
    ...screen.flow(spans("title", [report.workspace])),
    ...sizes(screen, report),
    ...report.skipped.flatMap(({ path, reason }) =>
      screen.flow(spans("bad", [`skipped: ${relative(report.workspace, path)}: ${reason}`])),
    ),
    "",
    ...request(screen, report),
    "",
    ...(report.sections.length > 0 ? sections(screen, report) : []),
    ...(none ? nothing(screen) : []),
  ];
}

/** The prompt itself. */
export function plainPrompt({ prompt }: PromptReport): string[] {
  return harmlessLines(prompt.trimEnd());
}

function sizes(screen: Screen, report: PromptReport): string[] {
  const { budget, totalChars, stablePrefixChars, window, sections } = report;
  const tokens = sections.reduce((sum, { estimatedTokens }) => sum + estimatedTokens, 0);
  const from = window
    ? ` (of a window of ${count(window.contextTokens)} tokens)`
    : " (the most; --window sets it)";
  const total: Span[] = [
    { role: "strong", text: `Budget ${count(budget.maxTotalChars)} chars` },
    { role: "faint", text: from },
  ];
  const each: Span[] = [
    { role: "plain", text: `a section at most ${count(budget.maxPerTierChars)}` },
  ];
  return [
    ...screen.flow([total, each]),
    ...screen.flow(
      spans("plain", [
        `used ${count(totalChars)} (${percent(totalChars, budget.maxTotalChars)}%)`,
        `about ${plural(tokens, "token")}`,
        `stable prefix ${count(stablePrefixChars)}`,
        `free ${count(Math.max(0, budget.maxTotalChars - totalChars))}`,
      ]),
    ),
  ];
}

function request(screen: Screen, { focus }: PromptReport): string[] {
  if (!focus) return heading(screen, "REQUEST", ["none; --query TEXT lifts what it is about"]);
  const named = (what: string, list: readonly string[]): string[] =>
    list.length === 0 ? [] : [`${what} ${list.join(", ")}`];
  return [
    ...heading(screen, "REQUEST", [focus.querySummary]),
    ...screen.flow(
      spans("plain", [
        ...named("files", focus.activeFilePaths),
        ...named("symbols", focus.activeSymbols),
        ...named("asks for", focus.planSignals),
      ]),
    ),
  ];
}

const COLUMNS: readonly Column[] = [
  { head: "SECTION", shrink: 18 },
  { head: "PRIORITY", right: true },
  { head: "BASE", right: true, drop: 1 },
  { head: "CHARS", right: true },
  { head: "", bar: true, drop: 3, spare: true },
  { head: "OF", right: true, drop: 0 },
  { head: "TOKENS", right: true, drop: 2 },
  { head: "STATE" },
];

/** A row for each section, and under it why it is there, what lifts it and where it comes from. */
function sections(screen: Screen, report: PromptReport): string[] {
  const { sections } = report;
  const largest = most(sections.map(({ finalChars }) => finalChars)) || 1;
  const rows = sections.map((one): Cell[] => [
    one.key,
    String(one.priority),
    String(one.basePriority),
    count(one.finalChars),
    one.finalChars / largest,
    count(one.originalChars),
    count(one.estimatedTokens),
    state(one),
  ]);
  const sum = (of: (one: SectionReport) => number): string =>
    count(sections.reduce((all, one) => all + of(one), 0));
  const total = [
    "total",
    "",
    "",
    count(report.totalChars),
    "",
    sum(({ originalChars }) => originalChars),
    sum(({ estimatedTokens }) => estimatedTokens),
    "",
  ];
  const [head = "", ...lines] = table(screen, COLUMNS, rows, total);
  const body = sections.flatMap((one, at) => [lines[at] ?? "", ...why(screen, report, one)]);
  return [head, ...body, lines.at(-1) ?? ""];
}

function state({ included, truncated }: SectionReport): Cell {
  if (!included) return { text: "left out", role: "bad" };
  return truncated ? { text: "cut", role: "edit" } : { text: "whole", role: "plain" };
}

function why(screen: Screen, { workspace }: PromptReport, one: SectionReport): string[] {
  const inside = (path: string): string => {
    const short = relative(workspace, path);
    return short.startsWith("..") ? path : short;
  };
  const boosts = one.evidence.filter((line) => /^\+\d/.test(line));
  const sources = one.evidence
    .filter((line) => !/^\+\d/.test(line))
    .map(inside)
    .filter((path) => !one.inclusionReason.includes(path));
  const kept = one.protected ? ["protected"] : [];
  const facts = spans("faint", [one.inclusionReason, ...kept, ...boosts, ...sources]);
  return screen.flow(facts, undefined, screen.width - 4).map((line) => `    ${line}`);
}

function nothing(screen: Screen): string[] {
  return ["nothing was found of what is looked for:", ...LOOKED_FOR].flatMap((line) =>
    screen.flow(spans("faint", [line])),
  );
}
