/** `plimsoll inspect FILE`: what fills the window at one call, by kind and by message. */
import { axis, marks, type Segment, sparkline, stacked } from "./bar.js";
import { usage } from "./errors.js";
import { type Facts, facts, header } from "./header.js";
import type { Bucket, MessageRow, Played, ReplayCall, Session } from "./model.js";
import { type Given, whole } from "./options.js";
import type { Setting } from "./setting.js";
import type { Role, Screen } from "./style.js";
import { type Cell, type Column, table } from "./table.js";
import { count, fit, harmless, percent, plural } from "./text.js";

/** The report, the same as text and as JSON. */
export interface Inspection extends Facts {
  schema: "plimsoll.inspect/1";
  /** Which request, from 1. */
  call: number;
  window: {
    contextTokens: number;
    source: Setting["source"];
    used: number;
    reserve: number;
    free: number;
  };
  buckets: Bucket[];
  pressure: Array<{ call: number; used: number; event: ReplayCall["event"] }>;
  largest: MessageRow[];
}

export function inspect(
  file: string,
  session: Session,
  played: Played,
  { window, source }: Setting,
  given: Given,
): Inspection {
  const last = played.calls.length;
  if (last === 0) throw usage(`${file} holds no model call; there is no request to look at`);
  const call = whole("call", given.text("call"), 1, last) ?? last;
  const top = whole("top", given.text("top"), 0, 1_000_000) ?? 10;
  const chosen = played.calls[call - 1];
  const used = chosen?.used ?? 0;
  const rows = played.messages(chosen?.call);
  const buckets = played.composition(chosen?.call).filter((one) => one.tokens > 0 || one.sent > 0);
  return {
    schema: "plimsoll.inspect/1",
    ...facts(file, session, played.messages(played.calls[last - 1]?.call), last),
    call,
    window: {
      contextTokens: window.contextTokens,
      source,
      used,
      reserve: window.maxOutputTokens,
      free: window.contextTokens - window.maxOutputTokens - used,
    },
    buckets: [...buckets].sort((a, b) => b.sent - a.sent || b.tokens - a.tokens),
    pressure: played.calls.map((one, index) => ({
      call: index + 1,
      used: one.used,
      event: one.event,
    })),
    largest: [...rows].sort((a, b) => b.tokens - a.tokens || a.index - b.index).slice(0, top),
  };
}

export function inspectText(screen: Screen, report: Inspection): string[] {
  return [
    ...header(screen, report),
    "",
    ...windowLines(screen, report),
    "",
    ...bucketTable(screen, report),
    "",
    ...pressureLines(screen, report),
    ...(report.largest.length === 0 ? [] : ["", ...messageTable(screen, report)]),
  ];
}

function windowLines(screen: Screen, { window, buckets, call, calls }: Inspection): string[] {
  const { contextTokens, used, reserve, free, source } = window;
  const parts = [
    `used ${count(used)} (${percent(used, contextTokens)}%)`,
    `reserve ${count(reserve)}`,
    free < 0 ? `OVER by ${count(-free)}` : `free ${count(free)}`,
  ];
  const note =
    source === "assumed" ? "assumed; --window sets it" : source === "file" ? "from the file" : "";
  const head = `${screen.paint("strong", `Window ${count(contextTokens)}`)}${note === "" ? "" : screen.paint("faint", ` (${note})`)}`;
  const where = call === calls ? "at the last call" : `at call ${count(call)} of ${count(calls)}`;
  const segments = segmentsOf(screen, buckets, used, reserve, free);
  const sums = parts.join(screen.sign("between"));
  return [
    `${head}  ${screen.paint("faint", where)}`,
    screen.paint(free < 0 ? "bad" : "plain", sums),
    stacked(screen, segments, screen.width),
    ...legend(screen, segments),
  ];
}

/** Which part of the bar a bucket belongs to. */
const PARTS: ReadonlyArray<{ letter: string; role: Role; name: string; of: RegExp }> = [
  { letter: "S", role: "part-system", name: "system", of: /^system$/ },
  { letter: "D", role: "part-tools", name: "tool definitions", of: /^tools$/ },
  { letter: "H", role: "part-head", name: "head", of: /^head$/ },
  { letter: "U", role: "part-user", name: "user", of: /^user$/ },
  { letter: "A", role: "part-assistant", name: "assistant", of: /^assistant$/ },
  { letter: "T", role: "part-thinking", name: "thinking", of: /^thinking$/ },
  { letter: "C", role: "part-call", name: "tool calls", of: /^call / },
  { letter: "R", role: "part-result", name: "tool results", of: /^result / },
  { letter: "I", role: "part-image", name: "images", of: /^image$/ },
];

interface Named extends Segment {
  name: string;
}

function segmentsOf(
  screen: Screen,
  buckets: readonly Bucket[],
  used: number,
  reserve: number,
  free: number,
): Named[] {
  const parts: Named[] = PARTS.map(({ letter, role, name, of }) => {
    const value = buckets
      .filter((one) => of.test(one.bucket))
      .reduce((sum, one) => sum + one.sent, 0);
    return { letter, role, name, value };
  });
  const known = parts.reduce((sum, part) => sum + part.value, 0);
  return [
    ...parts,
    { letter: "O", role: "part-other", name: "other", value: Math.max(0, used - known) },
    { letter: screen.sign("free"), role: "faint", name: "free", value: Math.max(0, free) },
    { letter: screen.sign("reserve"), role: "faint", name: "reserve", value: reserve },
  ];
}

function legend(screen: Screen, segments: readonly Named[]): string[] {
  const lines: string[] = [];
  let line = "";
  let taken = 0;
  for (const { letter, role, name, value } of segments.filter((segment) => segment.value > 0)) {
    const text = `${name} ${count(value)}`;
    const width = text.length + letter.length + 3 + (screen.color && role !== "faint" ? 2 : 0);
    if (taken > 0 && taken + width > screen.width + 2) {
      lines.push(line.trimEnd());
      line = "";
      taken = 0;
    }
    const key =
      screen.color && role !== "faint"
        ? screen.paint(role, ` ${letter} `)
        : screen.paint(role, letter);
    line += `${key} ${screen.paint("plain", text)}  `;
    taken += width;
  }
  return [...lines, line.trimEnd()];
}

function bucketTable(screen: Screen, { buckets, window }: Inspection): string[] {
  const heads: Column[] = [
    { head: "WHAT FILLS IT", shrink: 14 },
    { head: "TOKENS", right: true },
    { head: "%", right: true },
    { head: "", bar: true, drop: 2 },
    { head: "BEFORE", right: true, drop: 1 },
    { head: "BLOCKS", right: true, drop: 3 },
    { head: "STATE", shrink: 12 },
  ];
  const most = Math.max(1, ...buckets.map((one) => one.sent));
  const row = (
    name: string,
    sent: number,
    before: number,
    blocks: number,
    state: string,
  ): Cell[] => [
    name,
    count(sent),
    percent(sent, window.used),
    sent / most,
    count(before),
    count(blocks),
    state,
  ];
  const rows = buckets.map((one) => row(one.bucket, one.sent, one.tokens, one.blocks, states(one)));
  const sum = (of: (one: Bucket) => number): number =>
    buckets.reduce((total, one) => total + of(one), 0);
  const rest = window.used - sum((one) => one.sent);
  if (rest !== 0) rows.push(row("not in a block", rest, 0, 0, ""));
  const before = sum((one) => one.tokens);
  const saved = before > window.used ? `${count(before - window.used)} fewer sent` : "";
  const total: Cell[] = [
    "total",
    count(window.used),
    percent(window.used, window.used),
    "",
    count(before),
    count(sum((one) => one.blocks)),
    saved,
  ];
  return table(screen, heads, rows, total);
}

function states({ kept, capped, stubbed, gone }: Bucket): string {
  const words = [
    [stubbed, "stubbed"],
    [capped, "capped"],
    [gone, "gone"],
    [kept, "kept"],
  ] as const;
  const said = words.filter(([amount]) => amount > 0);
  if (said.length === 1 && kept > 0) return "kept";
  return said.map(([amount, word]) => `${count(amount)} ${word}`).join(", ");
}

function pressureLines(screen: Screen, { pressure, window }: Inspection): string[] {
  const usable = window.contextTokens - window.reserve;
  const peak = pressure.reduce(
    (most, one) => (one.used > most.used ? one : most),
    pressure[0] ?? { call: 0, used: 0 },
  );
  const edits = pressure.filter((one) => one.event === "edit").length;
  const folds = pressure.filter((one) => one.event === "fold").length;
  const line = sparkline(
    screen,
    pressure.map((one) => one.used),
    usable,
    screen.width,
  );
  const signs = marks(pressure, screen.width, [
    { sign: "e", when: (one) => one.event === "edit" },
    { sign: "F", when: (one) => one.event === "fold" },
  ]);
  const told = `peak ${count(peak.used)} at call ${count(peak.call)}${screen.sign("between")}e ${plural(edits, "edit")}${screen.sign("between")}F ${plural(folds, "fold")}`;
  return [
    `${screen.paint("head", "PRESSURE BY CALL")}  ${screen.paint("plain", told)}`,
    screen.paint("sent", line),
    ...(edits + folds === 0
      ? []
      : [
          signs
            .map((sign) =>
              sign === " " ? sign : screen.paint(sign === "F" ? "fold" : "edit", sign),
            )
            .join("")
            .trimEnd(),
        ]),
    axis(screen, 1, pressure.length, [...line].length),
  ];
}

function messageTable(screen: Screen, { largest }: Inspection): string[] {
  const heads: Column[] = [
    { head: "LARGEST", right: true },
    { head: "TURN", right: true, drop: 2 },
    { head: "WHAT", shrink: 12 },
    { head: "TOKENS", right: true },
    { head: "SENT", right: true },
    { head: "STATE" },
    { head: "RULE", shrink: 10, drop: 1 },
  ];
  const rows = largest.map((one) => [
    `#${one.index}`,
    String(one.turn),
    what(one),
    count(one.tokens),
    count(one.sentTokens),
    one.state,
    one.state === "kept" && one.rule === "" ? "-" : one.rule,
  ]);
  return table(screen, heads, rows);
}

function what({ role, kind, tool }: MessageRow): string {
  const named = tool === undefined ? "" : ` ${tool}`;
  return fit(harmless(role === kind ? `${role}${named}` : `${kind}${named}`), 40);
}
