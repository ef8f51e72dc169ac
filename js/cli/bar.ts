/** Figures as pictures: bars, sparklines, a chart. All are text, so that they can be found, copied and piped. */
import type { Role, Screen } from "./style.js";
import { count, most, short } from "./text.js";

/** A bar of `share` of `width` columns, to half a column where the screen has the sign. Something is never drawn as nothing. */
export function bar(screen: Screen, share: number, width: number): string {
  const halves = Math.round(Math.min(1, Math.max(0, share)) * width * 2);
  if (share > 0 && halves === 0) return screen.sign("half") || screen.sign("bar");
  return screen.sign("bar").repeat(halves >> 1) + (halves % 2 === 0 ? "" : screen.sign("half"));
}

/** A part of a stacked bar. */
export interface Segment {
  letter: string;
  role: Role;
  value: number;
}

/** Parts side by side. What is there has at least one column; without colour each part is filled with its letter. */
export function stacked(screen: Screen, parts: readonly Segment[], width: number): string {
  const widths = share(
    parts.map((part) => part.value),
    width,
  );
  return parts.map((part, index) => segment(screen, part, widths[index] ?? 0)).join("");
}

function segment(screen: Screen, { letter, role, value }: Segment, width: number): string {
  if (width === 0 || value === 0) return "";
  if (role === "faint" || !screen.color) return screen.paint(role, letter.repeat(width));
  return screen.paint(role, width < 3 ? letter.padEnd(width) : ` ${letter}`.padEnd(width));
}

/** Whole columns in proportion, none for nothing, at least one for something, all used. */
function share(values: readonly number[], width: number): number[] {
  const total = values.reduce((sum, value) => sum + value, 0);
  if (total <= 0) return values.map(() => 0);
  const widths = values.map((value) =>
    value <= 0 ? 0 : Math.max(1, Math.round((value * width) / total)),
  );
  for (let over = sum(widths) - width; over !== 0; over = sum(widths) - width) {
    const widest = widths.indexOf(most(widths));
    widths[widest] = (widths[widest] ?? 0) - Math.sign(over);
  }
  return widths;
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

/** Puts a series into at most so many columns; a column holds a run of neighbours. */
export function buckets<T>(series: readonly T[], width: number): T[][] {
  const size = Math.max(1, series.length / width);
  const amount = Math.min(width, series.length);
  return Array.from({ length: amount }, (_, column) => {
    return series.slice(
      Math.floor(column * size),
      Math.max(Math.floor((column + 1) * size), Math.floor(column * size) + 1),
    );
  });
}

/** Rows of levels against a ceiling, the highest of each run; the top row first. */
export function sparkline(
  screen: Screen,
  series: readonly number[],
  { ceiling, width, height }: { ceiling: number; width: number; height: number },
): string[] {
  const levels = [...screen.sign("levels")];
  const peaks = buckets(series, width).map((run) => most(run));
  const filled = peaks.map((value) =>
    Math.round((value / Math.max(1, ceiling)) * height * levels.length),
  );
  return Array.from({ length: height }, (_, row) => {
    const below = (height - 1 - row) * levels.length;
    const sign = (units: number, column: number): string => {
      const least = below === 0 && (peaks[column] ?? 0) > 0 ? 1 : 0;
      const level = Math.min(levels.length, Math.max(least, units - below));
      return level <= 0 ? " " : (levels[level - 1] ?? "");
    };
    return filled.map(sign).join("");
  });
}

/** A row of letters below a series: what happened in each run; the last mark given wins. */
export function marks<T>(
  series: readonly T[],
  width: number,
  signs: ReadonlyArray<{ sign: string; when: (item: T) => boolean }>,
): string[] {
  return buckets(series, width).map((run) => {
    let found = " ";
    for (const { sign, when } of signs) if (run.some(when)) found = sign;
    return found;
  });
}

/** Two series over the same calls and a level line: what was sent (filled) below what it would have been (dots). */
export function chart(
  screen: Screen,
  {
    sent,
    unmanaged,
    level,
    height,
    width,
  }: { sent: number[]; unmanaged: number[]; level: number; height: number; width: number },
): string[] {
  const low = buckets(sent, width).map((run) => most(run));
  const high = buckets(unmanaged, width).map((run) => most(run));
  const peak = Math.max(1, most(low), most(high));
  // A session many times the window would press the window flat: the top then says how high it goes.
  const top = level > 0 ? Math.max(Math.min(peak, 3 * level), level * 1.1) : peak;
  const levels = [...screen.sign("levels")];
  const levelRow = Math.min(height - 1, Math.floor((level / top) * height));
  const rows: string[] = [];
  for (let row = height - 1; row >= 0; row -= 1) {
    const floor = (row * top) / height;
    const ceiling = ((row + 1) * top) / height;
    let line = "";
    for (const [column, value] of low.entries()) {
      const other = high[column] ?? 0;
      const fill = Math.floor(((value - floor) / (ceiling - floor)) * levels.length);
      if (value >= ceiling) line += screen.paint("sent", screen.sign("full"));
      else if (fill > 0) line += screen.paint("sent", levels[fill - 1] ?? "");
      else if (row === 0 && value > 0) line += screen.paint("sent", levels[0] ?? "");
      else if (row === height - 1 && other > top) line += screen.paint("faint", "^");
      else if (other > floor && (other <= ceiling || row === 0))
        line += screen.paint("faint", screen.sign("dot"));
      else if (row === levelRow && level > 0) line += screen.paint("edit", screen.sign("line"));
      else if (other > ceiling) line += screen.paint("faint", screen.sign("dot"));
      else line += " ";
    }
    const label =
      row === levelRow && level > 0
        ? short(level)
        : row === height - 1
          ? short(top)
          : row === 0
            ? "0"
            : "";
    rows.push(
      `${screen.paint("faint", label.padStart(6))} ${screen.paint("faint", screen.sign("axis"))}${line.trimEnd()}`,
    );
  }
  return rows;
}

/** First and last number below a chart of `width` columns. */
export function axis(screen: Screen, first: number, last: number, width: number): string {
  const end = count(last);
  const start = count(first);
  return screen.paint(
    "faint",
    start + end.padStart(Math.max(end.length + 1, width - start.length)),
  );
}
