/** Figures as pictures: bars and sparklines. All are text, so that they can be found, copied and piped. */
import { most } from "./numbers.js";
import type { Role, Screen } from "./screen.js";

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
export function share(values: readonly number[], width: number): number[] {
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
