/** A table that fits: columns that matter least go first when there is no room, then the widest text is cut. */
import { bar } from "./bar.js";
import { most } from "./numbers.js";
import type { Role, Screen } from "./screen.js";
import { columns } from "./text.js";

export interface Column {
  head: string;
  /** Numbers stand to the right. */
  right?: boolean;
  /** The cells are shares, 0..1, drawn as bars in what room is left. */
  bar?: boolean;
  /** May be cut down to so many columns. */
  shrink?: number;
  /** Left out when there is no room: the highest first. Without it, never. */
  drop?: number;
  /** Left out before any text is cut. */
  spare?: boolean;
}

export type Cell = string | number | { text: string; role: Role } | { share: number; role: Role };

const GAP = 2;
const BAR = { least: 6, most: 28 };

/** The lines of the table. A last row may be set off as a total. */
export function table(
  screen: Screen,
  heads: readonly Column[],
  rows: readonly (readonly Cell[])[],
  total?: readonly Cell[],
): string[] {
  const all = total === undefined ? rows : [...rows, total];
  const { shown, widths } = layout(screen, heads, all);
  const line = (cells: readonly Cell[], role: Role): string => {
    const parts = shown.map((index) => {
      const column = heads[index];
      return column === undefined
        ? ""
        : draw(screen, column, cells[index] ?? "", widths[index] ?? 0, role);
    });
    return parts.join(" ".repeat(GAP)).trimEnd();
  };
  const head = line(
    heads.map((column) => column.head),
    "head",
  );
  const body = rows.map((cells) => line(cells, "plain"));
  return total === undefined ? [head, ...body] : [head, ...body, line(total, "strong")];
}

function draw(screen: Screen, column: Column, cell: Cell, width: number, role: Role): string {
  const own = asCell(screen, cell, width, role);
  const text = screen.fit(own.text, width);
  const blank = " ".repeat(Math.max(0, width - columns(text)));
  // Painted without its padding, so that no colour runs through empty columns.
  const shown = screen.paint(own.role, text);
  return column.right ? blank + shown : shown + blank;
}

function asCell(
  screen: Screen,
  cell: Cell,
  width: number,
  role: Role,
): { text: string; role: Role } {
  if (typeof cell === "string") return { text: cell, role };
  if (typeof cell === "number") return { text: bar(screen, cell, width), role: "sent" };
  return "share" in cell ? { text: bar(screen, cell.share, width), role: cell.role } : cell;
}

function layout(
  screen: Screen,
  heads: readonly Column[],
  rows: readonly (readonly Cell[])[],
): { shown: number[]; widths: number[] } {
  const natural = heads.map((column, index) => {
    if (column.bar) return BAR.least;
    return Math.max(columns(column.head), most(rows.map((row) => cellWidth(screen, row[index]))));
  });
  let shown = heads.map((_, index) => index);
  const taken = (): number =>
    shown.reduce((sum, index) => sum + (natural[index] ?? 0), GAP * (shown.length - 1));
  for (;;) {
    const over = taken() - screen.width;
    if (over <= 0) break;
    const able = shown.filter(
      (index) =>
        heads[index]?.shrink !== undefined && (natural[index] ?? 0) > (heads[index]?.shrink ?? 0),
    );
    const slack = able.reduce(
      (sum, index) => sum + (natural[index] ?? 0) - (heads[index]?.shrink ?? 0),
      0,
    );
    const least = shown
      .filter((index) => heads[index]?.drop !== undefined)
      .sort((a, b) => (heads[b]?.drop ?? 0) - (heads[a]?.drop ?? 0))[0];
    if (least !== undefined && (heads[least]?.spare || slack < over)) {
      shown = shown.filter((index) => index !== least);
      continue;
    }
    // On the narrowest screens any text is cut.
    const cut = able.length > 0 ? able : shown.filter((index) => (natural[index] ?? 0) > 1);
    const widest = cut.sort((a, b) => (natural[b] ?? 0) - (natural[a] ?? 0))[0];
    if (widest === undefined) break;
    natural[widest] = (natural[widest] ?? 0) - 1;
  }
  const room = Math.max(0, screen.width - taken());
  const bars = shown.filter((index) => heads[index]?.bar);
  for (const index of bars)
    natural[index] = Math.min(BAR.most, BAR.least + Math.floor(room / bars.length));
  return { shown, widths: natural };
}

function cellWidth(screen: Screen, cell: Cell | undefined): number {
  if (cell === undefined || typeof cell === "number") return 0;
  if (typeof cell !== "string" && "share" in cell) return 0;
  return columns(screen.safe(typeof cell === "string" ? cell : cell.text));
}
