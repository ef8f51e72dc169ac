/** Chart of window use, call by call. */
import { sparkline } from "../render/bar.js";
import { count, most, plural } from "../render/numbers.js";
import type { Screen } from "../render/screen.js";
import type { ReplayCall } from "../types.js";
import { axis, marks } from "./chart.js";
import { heading } from "./header.js";
import type { WindowFigures } from "./window.js";

const SIGNS = [
  { sign: "e", role: "edit", word: "edit" },
  { sign: "F", role: "fold", word: "fold" },
] as const;

export function pressureLines(
  screen: Screen,
  calls: ReadonlyArray<Pick<ReplayCall, "used" | "event">>,
  { contextTokens, reserve }: WindowFigures,
): string[] {
  const used = calls.map((one) => one.used);
  const peak = most(used);
  const happened = SIGNS.map(({ sign, word }) => {
    return `${sign} ${plural(calls.filter((one) => one.event === word).length, word)}`;
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
