/** The first lines of every command: which file, what is in it, what could not be read. */
import type { ListedMessage, SessionFile } from "../types.js";
import type { Setting } from "./setting.js";
import { type Screen, type Span, spans } from "./style.js";
import { count, plural } from "./text.js";

export interface Facts {
  file: string;
  format: string;
  messages: number;
  turns: number;
  calls: number;
  receipt: SessionFile["receipt"];
}

export function facts(
  file: string,
  session: SessionFile,
  rows: readonly ListedMessage[],
  calls: number,
): Facts {
  // What stands before the first user message belongs to no turn.
  const turns = new Set(rows.filter(({ role }) => role === "user").map(({ turn }) => turn)).size;
  return {
    file,
    format: session.format,
    messages: session.messages.length,
    turns,
    calls,
    receipt: session.receipt,
  };
}

export function header(
  screen: Screen,
  { file, format, messages, turns, calls, receipt }: Facts,
): string[] {
  const { lines, read, unknown, broken } = receipt;
  const inside = [
    format,
    plural(messages, "message"),
    plural(turns, "turn"),
    plural(calls, "call"),
  ];
  const understood = `read ${count(read)} of ${plural(lines, "line")}, ${count(unknown)} unknown, ${count(broken.length)} broken`;
  const first = broken.slice(0, 3).map(({ line, reason }) => `broken: line ${line}: ${reason}`);
  const more = broken.length - first.length;
  if (more > 0) first.push(`broken: ${plural(more, "more line")}`);
  return [
    ...screen.flow(spans("title", [file])),
    ...screen.flow(spans("faint", [...inside, understood])),
    ...first.flatMap((text) => screen.flow(spans("bad", [text]))),
  ];
}

/** The window, where its size comes from, and what is said of it. */
export function windowLine(
  screen: Screen,
  contextTokens: number,
  source: Setting["source"],
  said: readonly string[],
): string[] {
  const notes = { given: "", file: " (from the file)", assumed: " (assumed; --window sets it)" };
  const size: Span[] = [
    { role: "strong", text: `Window ${count(contextTokens)}` },
    { role: "faint", text: notes[source] },
  ];
  return screen.flow([size, ...spans("plain", said)]);
}

/** The name of a part of the report, and what is said beside it. */
export function heading(screen: Screen, name: string, said: readonly string[]): string[] {
  const [first, ...more] = spans("plain", said);
  const head: Span[] = [{ role: "head", text: `${name}  ` }, ...(first ?? [])];
  return screen.flow([head, ...more]);
}
