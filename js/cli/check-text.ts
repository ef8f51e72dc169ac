/** The report of `plimsoll check` as text. */
import { count, percent, plural } from "../render/numbers.js";
import { type Screen, spans } from "../render/screen.js";
import { type Cell, type Column, table } from "../render/table.js";
import type { Checked, CheckReport, Limit } from "./check.js";
import { header } from "./header.js";
import { absentLines } from "./parts.js";
import { where, windowLines } from "./window.js";

const COLUMNS: readonly Column[] = [
  { head: "LIMIT", shrink: 8 },
  { head: "MOST", right: true },
  { head: "MEASURED", right: true },
  { head: "", bar: true, drop: 3, spare: true },
  { head: "WHERE", shrink: 8, drop: 1 },
  { head: "STATE" },
];

/** @param isOne only one call of each session was checked */
export function checkText(screen: Screen, { ok, files }: CheckReport, isOne: boolean): string[] {
  const limits = files.flatMap((one) => one.limits);
  const over = limits.filter((one) => !one.ok).length;
  const title = `${plural(files.length, "session")}, ${plural(limits.length, "limit")}`;
  return [
    ...files.flatMap((one) => [...fileText(screen, one, isOne), ""]),
    ...screen.flow(
      spans(ok ? "good" : "bad", [`${title}: ${ok ? "all ok" : `${count(over)} OVER`}`]),
    ),
  ];
}

function fileText(screen: Screen, checked: Checked, isOne: boolean): string[] {
  return [
    ...header(screen, checked),
    "",
    ...windowLines(screen, checked.window, [where(checked.call, checked.calls)]),
    ...absentLines(screen, checked.absent),
    "",
    ...table(
      screen,
      COLUMNS,
      checked.limits.map((one) => row(one, isOne)),
    ),
  ];
}

const NAMES: Readonly<Record<string, string>> = {
  fits: "request fits",
  violations: "rules broken",
};

function row(one: Limit, isOne: boolean): Cell[] {
  const { limit, unit, most, measured, part, call, ok } = one;
  const shown = (value: number): string =>
    unit === "share" ? `${percent(value, 1)}%` : count(value);
  const found = part === undefined ? `call ${count(call)}` : (part ?? "no such part");
  return [
    part === undefined ? (NAMES[limit] ?? limit) : limit,
    shown(most),
    shown(measured),
    { share: most > 0 ? measured / most : 0, role: ok ? "sent" : "bad" },
    unit === "violations" && measured === 0 && !isOne ? "every call" : found,
    ok ? { text: "ok", role: "good" } : { text: "OVER", role: "bad" },
  ];
}
