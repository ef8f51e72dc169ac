/** The first lines of every command: which file, what is in it, what could not be read. */
import type { MessageRow, Session } from "./model.js";
import type { Screen } from "./style.js";
import { count, fit, plural } from "./text.js";

export interface Facts {
  file: string;
  format: string;
  messages: number;
  turns: number;
  calls: number;
  receipt: Session["receipt"];
}

export function facts(
  file: string,
  session: Session,
  rows: readonly MessageRow[],
  calls: number,
): Facts {
  const turns = new Set(rows.map((row) => row.turn)).size;
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
  const between = screen.sign("between");
  const inside = [
    format,
    plural(messages, "message"),
    plural(turns, "turn"),
    plural(calls, "call"),
  ].join(between);
  const read = `read ${count(receipt.read)} of ${plural(receipt.lines, "line")}, ${count(receipt.unknown)} unknown, ${count(receipt.broken.length)} broken`;
  const together = `${inside}${between}${read}`;
  const lines = together.length <= screen.width ? [together] : [inside, read];
  const cut = (text: string): string => fit(text, screen.width, screen.sign("cut"));
  return [
    screen.paint("title", cut(file)),
    ...lines.map((line) => screen.paint("faint", cut(line))),
    ...receipt.broken
      .slice(0, 3)
      .map(({ line, reason }) => screen.paint("bad", cut(`broken: line ${line}: ${reason}`))),
    ...(receipt.broken.length > 3
      ? [screen.paint("bad", cut(`broken: ${plural(receipt.broken.length - 3, "more line")}`))]
      : []),
  ];
}
