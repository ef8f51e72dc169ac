/** The report of `plimsoll next` as text. */
import { RULES } from "../generated.js";
import { count, plural } from "../render/numbers.js";
import { type Role, type Screen, type Span, spans } from "../render/screen.js";
import { type Cell, type Column, table } from "../render/table.js";
import type { Explanation } from "../types.js";
import { header } from "./header.js";
import { filled, what } from "./inspect-text.js";
import type { NextMessage, NextReport } from "./next.js";
import { type Run, runsOf } from "./runs.js";

/** Lines of the table, unless every message is asked for. */
const LINES = 30;

/** Columns of the word that starts a line of the verdict. */
const LEAD = 6;

const STATE: Readonly<Record<Explanation["state"], { verb: string; role: Role }>> = {
  kept: { verb: "keep", role: "plain" },
  capped: { verb: "cap", role: "edit" },
  stubbed: { verb: "stub", role: "edit" },
  thinned: { verb: "thin", role: "edit" },
  summarized: { verb: "summarize", role: "fold" },
  dropped: { verb: "drop", role: "fold" },
};
const STATES = Object.keys(STATE) as Array<Explanation["state"]>;

export function nextText(
  screen: Screen,
  report: NextReport,
  every: boolean,
  top: number,
): string[] {
  const changed = report.history.filter((one) => one.state !== "kept");
  return [
    ...header(screen, report),
    "",
    ...filled(screen, report, [`request ${count(report.request.call)}`, report.preset]),
    "",
    ...verdict(screen, report),
    "",
    ...messageTable(screen, report.history, every),
    ...(changed.length === 0 ? [] : ["", ...why(screen, changed)]),
    ...(changed.length === 0 || top === 0 ? [] : ["", ...largest(screen, changed, top)]),
    "",
    ...screen.flow(spans("faint", ["A dry run: nothing was changed."])),
  ];
}

/** What becomes of the history, what of it is new, what is due. */
function verdict(screen: Screen, report: NextReport): string[] {
  const { request, window, changes, due, history } = report;
  const lead = (name: string): Span => ({ role: "head", text: name.padEnd(LEAD) });
  if (history.length === 0)
    return hanging(screen, lead("WOULD"), "send nothing: the session has no messages");
  const row = (name: string, groups: Span[][]): string[] => {
    const [first, ...more] = groups;
    return screen.flow([[lead(name), ...(first ?? [])], ...more]);
  };
  const all = STATES.filter((state) => changes[state].messages > 0).map((state): Span[] => {
    const { verb, role } = STATE[state];
    return [{ role, text: `${verb} ${count(changes[state].messages)}` }];
  });
  const of = spans("plain", [
    `of ${plural(history.length, "message")}`,
    ...(request.made > 0 ? [`add ${count(request.made)} of ours`] : []),
    `${count(request.unmanaged)} -> ${count(window.used)} tokens`,
  ]);
  const bad = [
    ...(request.fits ? [] : ["does NOT FIT: what may not go is over the window"]),
    ...(request.violations > 0 ? [plural(request.violations, "violation")] : []),
  ];
  return [
    ...row("WOULD", [...all, ...of, ...spans("bad", bad)]),
    ...row("NEW", newly(report)),
    ...row("DUE", [
      [
        due === null
          ? { role: "plain", text: "nothing" }
          : { role: due, text: `${due}: it would pay now; it waits for a summarizer` },
      ],
    ]),
    ...(report.nextEdit === null ? [] : hanging(screen, lead("EDIT"), expected(report.nextEdit))),
  ];
}

/** A label and its sentence, wrapped to the width of the screen and indented after the label. */
function hanging(screen: Screen, lead: Span, text: string): string[] {
  const words = spans("plain", text.split(" "));
  return screen
    .flow(words, " ", screen.width - LEAD)
    .map((line, at) => (at === 0 ? screen.paint(lead.role, lead.text) : " ".repeat(LEAD)) + line);
}

function expected({ tokens, reason }: NonNullable<NextReport["nextEdit"]>): string {
  return `the next at about ${count(tokens)} tokens, because ${reason}`;
}

function newly({ request, changes }: NextReport): Span[][] {
  const states = STATES.filter((state) => changes[state].newly > 0).map((state): Span[] => [
    { role: STATE[state].role, text: `${count(changes[state].newly)} ${state}` },
  ]);
  const event = request.event === null ? [] : spans(request.event, [request.event]);
  const cache = request.isNewEpoch
    ? "the prompt cache holds up to the first change"
    : "it grows at its end, and the prompt cache stays good";
  const all = [...event, ...states];
  return [...(all.length === 0 ? spans("plain", ["no change"]) : all), ...spans("plain", [cache])];
}

const columnsOf = (screen: Screen): readonly Column[] => [
  { head: "MESSAGE", right: true },
  { head: "TURN", right: true, drop: 3, spare: true },
  { head: "WHAT", shrink: 8, drop: 0 },
  { head: "TOKENS", right: true },
  { head: "NOW", right: true },
  // A count and a state: "234 dropped", and a sign for more.
  { head: "STATE", shrink: screen.width < 60 ? 8 : 13 },
  { head: "RULE", shrink: 8, drop: 2 },
  { head: "SINCE", drop: 1 },
];

function messageTable(screen: Screen, history: readonly NextMessage[], every: boolean): string[] {
  const runs = every
    ? history.map(
        (one): Run => ({ messages: [one], tokens: one.tokens, isNew: one.isNew, fates: new Set() }),
      )
    : runsOf(history, LINES);
  const lines = table(screen, columnsOf(screen), runs.map(line));
  const notes = [
    ...(runs.length === history.length
      ? []
      : [
          `${plural(history.length, "message")} in ${plural(runs.length, "line")}; --all lists each`,
        ]),
    ...(history.every((one) => one.state === "kept")
      ? []
      : ["since: the call from which on it is so"]),
  ];
  return [...lines, ...screen.flow(spans("faint", notes))];
}

function line({ messages }: Run): Cell[] {
  const [first] = messages;
  const last = messages.at(-1);
  if (first === undefined || last === undefined) return [];
  const changed = messages.filter((one) => one.state !== "kept");
  const sum = (of: (one: NextMessage) => number): number =>
    messages.reduce((total, one) => total + of(one), 0);
  return [
    first === last ? `#${first.index}` : `#${first.index}-${last.index}`,
    between(first.turn, last.turn),
    content(messages),
    count(sum((one) => one.tokens)),
    count(sum((one) => one.sentTokens)),
    stateOf(messages),
    tally(changed.map((one) => one.rule))
      .map(([rule]) => rule)
      .join(", ") || "-",
    since(changed),
  ];
}

/** One message by what it is; several by how many there are of each kind, the most first. */
function content(messages: readonly NextMessage[]): string {
  const [only, ...more] = messages;
  if (only === undefined || more.length === 0) return only === undefined ? "" : what(only);
  const kinds = tally(messages.map((one) => (one.tool === undefined ? one.role : what(one))));
  return kinds.map(([kind, amount]) => `${count(amount)} ${kind}`).join(", ");
}

function stateOf(messages: readonly NextMessage[]): Cell {
  const states = tally(messages.map((one) => one.state));
  const worst = STATES.filter((state) => states.some(([one]) => one === state)).at(-1) ?? "kept";
  const [only, ...more] = states;
  const text =
    only !== undefined && more.length === 0
      ? only[0]
      : states.map(([state, amount]) => `${count(amount)} ${state}`).join(", ");
  return { text, role: STATE[worst].role };
}

function since(changed: readonly NextMessage[]): Cell {
  if (changed.length === 0) return "-";
  const old = changed.filter((one) => !one.isNew).map((one) => one.since?.call ?? 0);
  const isNew = old.length < changed.length;
  if (old.length === 0) return { text: "now", role: "strong" };
  const calls = between(Math.min(...old), Math.max(...old));
  return isNew ? { text: `${calls}, now`, role: "strong" } : calls;
}

/** Rule by rule: how much it took, why, and what would bring it back. */
function why(screen: Screen, changed: readonly NextMessage[]): string[] {
  const rules = tally(changed.map((one) => one.rule));
  const lines = rules.flatMap(([rule, amount]) => {
    const mine = changed.filter((one) => one.rule === rule);
    const less = mine.reduce((total, one) => total + one.tokens - one.sentTokens, 0);
    const backs = [...new Set(mine.map((one) => one.restore))];
    const head: Span[] = [
      { role: "strong", text: rule },
      { role: "plain", text: `  ${plural(amount, "message")}, ${count(less)} tokens less` },
    ];
    return [
      ...screen.flow([head]),
      ...wrapped(screen, RULES[rule] ?? ""),
      ...backs.flatMap((back) => wrapped(screen, `brings it back: ${back}`)),
    ];
  });
  return [screen.paint("head", "WHY, AND WHAT WOULD BRING IT BACK"), ...lines];
}

/** The largest changes, each with what the rule went by. */
function largest(screen: Screen, changed: readonly NextMessage[], top: number): string[] {
  const gain = (one: NextMessage): number => one.tokens - one.sentTokens;
  const order = [...changed].sort((a, b) => gain(b) - gain(a) || a.index - b.index).slice(0, top);
  const lines = order.flatMap((one) => {
    const head: Span[] = [
      { role: "strong", text: `#${one.index} ${what(one)}` },
      { role: "plain", text: `  ${count(one.tokens)} -> ${count(one.sentTokens)} ` },
      { role: STATE[one.state].role, text: one.state },
      { role: "plain", text: ` by ${one.rule}` },
    ];
    return [...screen.flow([head]), ...evidence(screen, one)];
  });
  return [screen.paint("head", "LARGEST CHANGES"), ...lines];
}

/** What a rule went by: of which block is said where there are several kinds. */
function evidence(screen: Screen, { evidence: lines }: NextMessage): string[] {
  const kinds = new Set(lines.map((text) => text.split(": ")[0]));
  const bare = lines
    .map((text) => (kinds.size > 1 ? text : text.slice(text.indexOf(": ") + 2)))
    .map((text) => text.replace(/\d+/g, (digits) => count(Number(digits))));
  const between = screen.sign("between");
  return screen.flow(spans("faint", bare), between, screen.width - 2).map((text) => `  ${text}`);
}

/** A text over as many lines as it takes, set in. */
function wrapped(screen: Screen, text: string): string[] {
  const words = spans("faint", text.split(" ").filter(Boolean));
  return screen.flow(words, " ", screen.width - 2).map((one) => `  ${one}`);
}

function tally<T extends string>(words: readonly T[]): Array<[T, number]> {
  const counts = new Map<T, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]);
}

function between(first: number, last: number): string {
  return first === last ? String(first) : `${first}-${last}`;
}
