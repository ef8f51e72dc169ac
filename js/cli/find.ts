/** `plimsoll find TEXT FILE`: where a text stands in a session, and whether a request still holds it. The figures. */
import { replay } from "../entry/sessions.js";
import type { Explanation, ListedMessage, SessionFile } from "../types.js";
import { usage } from "./errors.js";
import { type Facts, facts } from "./header.js";
import { goingOn } from "./next.js";
import { type Arguments, integer } from "./options.js";
import { type Sent, sentAt } from "./sent.js";
import { attempt, play, reportAt, type Source } from "./source.js";
import { literal } from "./text.js";
import { type WindowFigures, windowFigures } from "./window.js";

/** Where in a text: characters before it (UTF-16 code units), its line and column, from 1. */
export interface Position {
  offset: number;
  line: number;
  column: number;
}

/** The line around the first match. */
export interface Excerpt {
  before: string;
  match: string;
  after: string;
}

/** A text that holds what is looked for: a message, the system prompt, or the tool definitions. */
export interface Place extends Partial<Pick<ListedMessage, "index" | "tool" | "tokens">> {
  /** What `plimsoll detail` shows it under; the tool definitions have no key. */
  key: string | null;
  role: string;
  kind: string;
  /** The turn; null for what stands beside the messages. */
  turn: number | null;
  state: Explanation["state"];
  rule: string;
  /** How often it stands there, and how often of these times it is sent. */
  found: number;
  sent: number;
  /** The first of them. */
  positions: Position[];
  excerpt: Excerpt;
}

/** The report, the same as text and as JSON. */
export interface FindReport extends Facts {
  schema: "plimsoll.find/1";
  text: string;
  ignoreCase: boolean;
  preset: string;
  /** Which request, from 1. */
  call: number;
  window: WindowFigures;
  /** How often it stands in the session, and how often of these times the request still has it. */
  found: number;
  sent: number;
  /** How often messages of ours have it besides: a digest, a summary. */
  made: number;
  places: Place[];
}

/** Positions of one message that are told. */
const POSITIONS = 100;
/** Characters of a line that are shown on each side. */
const AROUND = 200;

export function find(source: Source, text: string, args: Arguments): FindReport {
  const { file, session, options } = source;
  if (text === "") throw usage("find: the text is empty");
  using before = play(source);
  const last = before.calls.length;
  const call = integer("call", args.text("call"), 1, last);
  // The next request has seen all of the session; that of a call, what came before it.
  const going = call === undefined ? goingOn(session) : session;
  const at = call ?? last + 1;
  using played = attempt(file, () => replay(going, options));
  const report = reportAt(source, played, at);
  const sent = sentAt(source, played, at);
  const needle = new RegExp(literal(text), args.has("ignore-case") ? "giu" : "gu");
  const places = [
    ...beside(session, needle),
    ...report.messages.flatMap((one) => placeOf(one, played.text(one.index), sent, needle)),
  ];
  const sum = (of: (one: Place) => number): number => places.reduce((all, one) => all + of(one), 0);
  const theirs = places.filter(({ index }) => index !== undefined && sent.own(index) === undefined);
  const carried = theirs.reduce((all, one) => all + one.sent, 0);
  const made = sent.made.reduce((all, text) => all + amount(text, needle), 0);
  return {
    schema: "plimsoll.find/1",
    ...facts(source, before),
    text,
    ignoreCase: args.has("ignore-case"),
    preset: options.preset ?? "balanced",
    call: at,
    window: windowFigures(report, source.setting),
    found: sum(({ found }) => found),
    sent: sum(({ sent }) => sent),
    made: Math.max(0, made - carried),
    places,
  };
}

/** A message that holds the text; none if it does not. */
function placeOf(one: ListedMessage, text: string, sent: Sent, needle: RegExp): Place[] {
  const seen = look(text, needle);
  if (seen === undefined) return [];
  const { index, tool, role, kind, turn, tokens, state, rule } = one;
  const place = { key: `message:${index}`, index, role, kind, turn, tokens, state, rule, ...seen };
  const still = sent.carries(index, text) ? seen.found : amount(sent.own(index) ?? "", needle);
  return [{ ...place, ...(tool === undefined ? {} : { tool }), sent: still }];
}

/** What goes out beside the messages goes out whole. */
function beside({ system, tools }: SessionFile, needle: RegExp): Place[] {
  const texts = [
    { key: "system", kind: "system", text: system ?? "" },
    { key: null, kind: "tools", text: tools === undefined ? "" : JSON.stringify(tools, null, 1) },
  ];
  return texts.flatMap(({ key, kind, text }): Place[] => {
    const seen = look(text, needle);
    if (seen === undefined) return [];
    const state = { state: "kept", rule: "keep" } as const;
    return [{ key, role: "system", kind, turn: null, ...state, ...seen, sent: seen.found }];
  });
}

function look(
  text: string,
  needle: RegExp,
): Pick<Place, "found" | "positions" | "excerpt"> | undefined {
  const positions: Position[] = [];
  let excerpt: Excerpt | undefined;
  let [found, line, start, end] = [0, 1, 0, text.indexOf("\n")];
  for (const { index, 0: match } of text.matchAll(needle)) {
    found += 1;
    if (positions.length >= POSITIONS) continue;
    while (end >= 0 && end < index) {
      [line, start] = [line + 1, end + 1];
      end = text.indexOf("\n", start);
    }
    positions.push({ offset: index, line, column: index - start + 1 });
    excerpt ??= around(text, index, match, start);
  }
  return excerpt && { found, positions, excerpt };
}

/** The line around a match; of a long one a part. */
function around(text: string, offset: number, match: string, start: number): Excerpt {
  const behind = offset + match.length;
  const end = text.indexOf("\n", behind);
  const before = text.slice(Math.max(start, offset - AROUND), offset);
  const after = text.slice(behind, Math.min(end < 0 ? text.length : end, behind + AROUND));
  // No half of a sign.
  return {
    before: before.replace(/^[\udc00-\udfff]/, ""),
    match,
    after: after.replace(/[\ud800-\udbff]$/, ""),
  };
}

function amount(text: string, needle: RegExp): number {
  let found = 0;
  for (const _ of text.matchAll(needle)) found += 1;
  return found;
}
