/** The first lines of every command: which file, what is in it, what could not be read. */
import { count, plural } from "../render/numbers.js";
import { type Screen, type Span, spans } from "../render/screen.js";
import { countOf } from "../session-files/opened.js";
import type { Replay, SessionFile } from "../types.js";
import type { Source } from "./source.js";
import { type Shows, shownText, showsOf, type View } from "./view.js";

export interface Facts {
  file: string;
  format: string;
  messages: number;
  turns: number;
  calls: number;
  receipt: SessionFile["receipt"];
  /** What the figures are, where a command has more than one view of a session. */
  view?: Shows;
}

/** Of a session in one of its views, and of what it shows at a call, from 1. */
export function viewFacts(
  source: Pick<Source, "file" | "session">,
  shown: View,
  call: number,
): Facts {
  return { ...facts(source, shown), view: showsOf(shown, call) };
}

/** Of a session that stands at its last call. */
export function facts(
  { file, session }: Pick<Source, "file" | "session">,
  played: Pick<Replay, "messages"> & { calls: readonly unknown[] },
): Facts {
  // What stands before the first user message belongs to no turn.
  const spoken = played.messages().filter(({ role }) => role === "user");
  return {
    file,
    format: session.format,
    messages: countOf(session),
    turns: new Set(spoken.map(({ turn }) => turn)).size,
    calls: played.calls.length,
    receipt: session.receipt,
  };
}

export function header(
  screen: Screen,
  { file, format, messages, turns, calls, receipt, view }: Facts,
): string[] {
  const { lines, read, unknown, broken, unreadable = [], attachments = 0 } = receipt;
  const inside = [
    format,
    plural(messages, "message"),
    plural(turns, "turn"),
    plural(calls, "call"),
  ];
  const understood = `read ${count(read)} of ${plural(lines, "line")}, ${count(unknown)} unknown, ${count(broken.length)} broken`;
  // The model was sent most of them: the figures are without them.
  const left = attachments > 0 ? [`${plural(attachments, "attachment")} left out`] : [];
  const bad = [
    ...firstOf(
      "line",
      broken.map(({ line, reason }) => `line ${line}: ${reason}`),
    ),
    ...firstOf(
      "message",
      unreadable.map(({ reason }) => reason),
    ),
  ];
  return [
    ...(view === undefined ? [] : screen.flow(spans("strong", shownText(view)), ", ")),
    ...screen.flow(spans("title", [file])),
    ...screen.flow(spans("faint", [...inside, understood, ...left])),
    ...bad.flatMap((text) => screen.flow(spans("bad", [text]))),
  ];
}

/** The first three entries, and how many more there are. */
function firstOf(noun: string, all: readonly string[]): string[] {
  const first = all.slice(0, 3).map((text) => `broken: ${text}`);
  const more = all.length - first.length;
  return more > 0 ? [...first, `broken: ${plural(more, `more ${noun}`)}`] : first;
}

/** The name of a part of the report, and what is said beside it. */
export function heading(screen: Screen, name: string, notes: readonly string[]): string[] {
  const [first, ...more] = spans("plain", notes);
  const head: Span[] = [{ role: "head", text: `${name}  ` }, ...(first ?? [])];
  return screen.flow([head, ...more]);
}
