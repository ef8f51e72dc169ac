/** A series of calls as a picture: marks, a chart, its axis. */
import { buckets } from "../render/bar.js";
import { count, most, short } from "../render/numbers.js";
import type { Screen } from "../render/screen.js";

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
