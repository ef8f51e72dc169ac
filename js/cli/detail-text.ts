/** `plimsoll detail KEY --raw`, `--sent` and `--diff` as text: the whole text under a key, and nothing around it. */
import { count } from "../render/numbers.js";
import type { Role, Screen } from "../render/screen.js";
import { harmlessLines } from "../render/text.js";
import type { InspectReport } from "../types.js";
import { note } from "./errors.js";
import { type Looked, shownAt } from "./list.js";

/** Lines around what differs. */
const AROUND = 3;

export function rawText(looked: Looked): string[] {
  noteView(looked);
  return harmlessLines(looked.report.detail?.content ?? "");
}

export function sentText(looked: Looked): string[] {
  const { report } = looked;
  noteView(looked);
  const sent = report.detail?.sent ?? null;
  if (sent === null) note(`nothing of it is sent: ${fate(report)}`);
  return harmlessLines(sent ?? "");
}

/** The text as it stands there and as it is sent, as `diff -u` shows two files. Of the same nothing is shown. */
export function diffText(screen: Screen, looked: Looked): string[] {
  const { report } = looked;
  noteView(looked);
  const { key = "", content = "", sent = null } = report.detail ?? {};
  if (sent === content) {
    note(`${key} is sent as it is`);
    return [];
  }
  const [before, after] = [harmlessLines(content), harmlessLines(sent ?? "")];
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const [from, more] = [Math.max(0, start - AROUND), Math.max(0, end - AROUND)];
  const shown = (role: Role, sign: string, lines: readonly string[]): string[] =>
    lines.map((line) => screen.paint(role, `${sign}${line.replaceAll("\t", "    ")}`));
  const range = ({ length }: readonly string[]): string =>
    length === 0 ? "0,0" : `${from + 1},${length - from - more}`;
  return [
    ...shown("head", "--- ", [key]),
    ...shown("head", "+++ ", [`${sent === null ? "nothing of it" : key}: ${fate(report)}`]),
    ...shown("head", "@@ ", [`-${range(before)} +${range(after)} @@`]),
    ...shown("plain", " ", before.slice(from, start)),
    ...shown("bad", "-", before.slice(start, before.length - end)),
    ...shown("good", "+", after.slice(start, after.length - end)),
    ...shown("plain", " ", before.slice(before.length - end, before.length - more)),
  ];
}

/** Says what is shown beside the output, which is the text alone. */
function noteView(looked: Looked): void {
  note(shownAt(looked).join(", "));
}

/** What became of the message. */
function fate({ detail, messages }: InspectReport): string {
  const one = messages.find(({ index }) => detail?.key === `message:${index}`);
  if (one === undefined) return "";
  const { state, rule, tokens, sentTokens } = one;
  return `${state} by ${rule}, ${count(tokens)} -> ${count(sentTokens)} tokens`;
}
