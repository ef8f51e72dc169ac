/** The two shapes of a report: a name with what belongs to it, and a titled table. */
import type { Role, Screen, Span } from "./screen.js";
import { type Column, table } from "./table.js";

/** Columns of a name; on a narrow screen it has a line of its own. */
const NAME = 10;
const NARROW = { columns: 60, indent: 2 };
const GAP = "   ";
/** Columns by which a table is set in. */
const INDENT = "  ";

/** A text of one role. */
export function span(text: string, role: Role = "plain"): Span {
  return { role, text };
}

/** A name, and as many spans to a line as fit. A span that is too wide alone is cut. */
export function entry(screen: Screen, name: string, spans: readonly Span[]): string[] {
  const isNarrow = screen.width < NARROW.columns;
  const indent = " ".repeat(isNarrow ? NARROW.indent : NAME);
  const groups = spans.map((one) => [one]);
  const lines = screen.flow(groups, GAP, screen.width - indent.length);
  const head = screen.paint("strong", name);
  const [first = "", ...more] = lines;
  const begin = isNarrow ? [head, indent + first] : [head + indent.slice(name.length) + first];
  return [...begin, ...more.map((line) => indent + line)].map((line) => line.trimEnd());
}

/** A row's cells by column. */
export type Row = ReadonlyArray<{ text: string; role: Role }>;

/** A blank line, a title and a table; nothing without rows. A column in which no row has a text is left out. */
export function titledTable(
  screen: Screen,
  title: string,
  heads: readonly Column[],
  rows: readonly Row[],
): string[] {
  if (rows.length === 0) return [];
  const isUsed = (_: unknown, at: number): boolean => rows.some((row) => row[at]?.text !== "");
  const cells = rows.map((row) => row.filter(isUsed));
  const lines = table(screen.narrower(INDENT.length), heads.filter(isUsed), cells);
  return ["", screen.paint("strong", screen.fit(title)), ...lines.map((line) => INDENT + line)];
}
