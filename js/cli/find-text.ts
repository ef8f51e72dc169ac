/** The report of `plimsoll find` as text. */
import { count, plural } from "../render/numbers.js";
import { type Role, type Screen, type Span, spans } from "../render/screen.js";
import { type Cell, type Column, table } from "../render/table.js";
import { columns, fit, fitEnd } from "../render/text.js";
import type { Excerpt, FindReport, Place } from "./find.js";
import { header } from "./header.js";
import { what } from "./inspect-text.js";
import { where, windowLines } from "./window.js";

const COLUMNS: readonly Column[] = [
  { head: "MESSAGE", right: true },
  { head: "TURN", right: true, drop: 2 },
  { head: "WHAT", shrink: 6 },
  { head: "AT", drop: 1 },
  { head: "TIMES", right: true, drop: 0 },
  { head: "SENT" },
  { head: "STATE" },
  { head: "RULE", shrink: 8, drop: 2 },
];

export function findText(screen: Screen, report: FindReport, top: number): string[] {
  const { call, calls, places } = report;
  const isNext = call > calls;
  const shown = places.slice(0, top);
  const [head = "", ...rows] = table(screen, COLUMNS, shown.map(row));
  return [
    ...header(screen, report),
    "",
    ...windowLines(screen, report.window, [
      isNext ? "at the next call" : where(call, calls),
      report.preset,
    ]),
    "",
    ...verdict(screen, report, isNext ? "the next request" : `request ${count(call)}`),
    ...(shown.length === 0 ? [] : ["", head]),
    ...shown.flatMap((one, at) => [rows[at] ?? "", excerpt(screen, one.excerpt)]),
    ...(shown.length < places.length
      ? screen.flow(
          spans("faint", [
            `${plural(places.length - shown.length, "message")} not listed; --top ${places.length} lists all`,
          ]),
        )
      : []),
  ];
}

function verdict(
  screen: Screen,
  { text, found, sent, made, places, ignoreCase }: FindReport,
  request: string,
): string[] {
  const quoted: Span = { role: "strong", text: `"${text}"` };
  if (found === 0) {
    const hint = ignoreCase ? [] : ["-i: capital letters and small ones are the same"];
    const ours = made > 0 ? [`messages of ours have it ${plural(made, "time")}`] : hint;
    return screen.flow([
      [quoted, { role: "bad", text: " stands nowhere" }],
      ...spans("faint", ours),
    ]);
  }
  const role: Role = sent > 0 ? "good" : made > 0 ? "edit" : "bad";
  return screen.flow([
    [
      quoted,
      { role: "plain", text: ` ${plural(found, "time")} in ${plural(places.length, "place")}` },
    ],
    [{ role, text: `${request} has ${sent === found ? "all of them" : count(sent)}` }],
    ...(made > 0 ? spans("plain", [`messages of ours ${count(made)} more`]) : []),
  ]);
}

function row(one: Place): Cell[] {
  const { index, turn, found, sent, state, rule, positions, kind, role } = one;
  const first = positions[0];
  const isSent: Cell =
    sent === 0
      ? { text: "no", role: "bad" }
      : { text: sent >= found ? "yes" : `${count(sent)} of ${count(found)}`, role: "good" };
  return [
    index === undefined ? "-" : `#${index}`,
    turn === null ? "-" : String(turn),
    index === undefined ? kind : what({ ...one, role, kind }),
    `${first?.line ?? 1}:${first?.column ?? 1}`,
    count(found),
    isSent,
    state,
    rule,
  ];
}

/** The line around the first match, the match in its middle where it is long. */
function excerpt(screen: Screen, { before, match, after }: Excerpt): string {
  const room = screen.width - 4;
  const cut = screen.sign("cut");
  const found = screen.fit(match, room);
  const rest = room - columns(found);
  const [left, right] = [screen.safe(before.trimStart()), screen.safe(after.trimEnd())];
  const front = Math.max(Math.floor(rest / 2), rest - columns(right));
  const shown = fitEnd(left, Math.min(front, rest), cut);
  return [
    "    ",
    screen.paint("faint", shown),
    screen.paint("strong", found),
    screen.paint("faint", fit(right, rest - columns(shown), cut)),
  ].join("");
}
