/** Chart of window use, call by call. */
import { sparkline } from "../render/bar.js";
import { count, most, plural } from "../render/numbers.js";
import type { Screen } from "../render/screen.js";
import { axis, marks } from "./chart.js";
import { heading } from "./header.js";
import type { ShownCall } from "./view.js";
import type { WindowFigures } from "./window.js";

const SIGNS = [
  { sign: "e", role: "edit", word: "edit" },
  { sign: "F", role: "fold", word: "fold" },
  { sign: "C", role: "fold", word: "compaction" },
] as const;

export function pressureLines(
  screen: Screen,
  calls: ReadonlyArray<Pick<ShownCall, "used" | "event">>,
  { contextTokens, reserve }: WindowFigures,
): string[] {
  const used = calls.map((one) => one.used);
  const peak = most(used);
  // A simulation has edits and folds, a recording its agent's compactions.
  const happened = SIGNS.flatMap(({ sign, word }) => {
    const times = calls.filter((one) => one.event === word).length;
    return times > 0 ? [`${sign} ${plural(times, word)}`] : [];
  });
  const row = marks(
    calls,
    screen.width,
    SIGNS.map(({ sign, word }) => ({ sign, when: (one) => one.event === word })),
  ).map((mark) => screen.paint(SIGNS.find(({ sign }) => sign === mark)?.role ?? "plain", mark));
  const notes = [`peak ${count(peak)} at call ${count(used.indexOf(peak) + 1)}`, ...happened];
  const width = Math.min(screen.width, used.length);
  return [
    ...heading(screen, "PRESSURE BY CALL", notes),
    ...sparkline(screen, used, { ceiling: contextTokens - reserve, width, height: 3 })
      .map((line) => screen.paint("sent", line.trimEnd()))
      .filter((line) => line !== ""),
    ...(calls.some((one) => one.event !== null) ? [row.join("").trimEnd()] : []),
    axis(screen, 1, used.length, width),
  ];
}
