/** Text of a session on its way to a terminal: made harmless, measured in columns, cut to fit. */

const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
const NOTHING = /^[\p{M}]$/u;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1f9ff}\u{20000}-\u{3fffd}]$/u;

const escaped = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;

/** Controls, escapes, direction marks and other invisible characters are written out, so that they do nothing. */
export function harmless(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The same line by line: lines stay lines, and tabs tabs. */
export function harmlessLines(text: string): string[] {
  if (text === "") return [];
  const line = (one: string): string => one.split("\t").map(harmless).join("\t");
  return text
    .replace(/\r?\n$/, "")
    .split(/\r?\n/)
    .map(line);
}

/** The same for a JSON document, in JSON's own notation: the text parses to the same value. */
export function harmlessJson(json: string): string {
  const unit = (of: string): string => `\\u${of.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return json.replace(/[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu, (char) => {
    return char.split("").map(unit).join("");
  });
}

/** A text as the source of a pattern that it alone matches. */
export function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/** Columns that a text takes on a terminal. */
export function columns(text: string): number {
  let count = 0;
  for (const char of text) count += NOTHING.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return count;
}

/** At most so many columns; what is cut is marked. */
export function fit(text: string, width: number, mark = "…"): string {
  if (columns(text) <= width) return text;
  const room = Math.max(0, width - columns(mark));
  let cut = "";
  let taken = 0;
  for (const char of text) {
    const next = columns(char);
    if (taken + next > room) break;
    cut += char;
    taken += next;
  }
  return width > 0 ? cut + mark : "";
}

/** 1234567 as 1,234,567, wherever the terminal stands. */
export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

/** A share as a percentage with one decimal, for columns that are compared. */
export function percent(part: number, whole: number): string {
  return whole > 0 ? ((100 * part) / whole).toFixed(1) : "0.0";
}

/** "1 call", "2 calls". */
export function plural(value: number, word: string): string {
  return `${count(value)} ${word}${value === 1 ? "" : "s"}`;
}

/** 812 as 812, 64,000 as 64k, 1,200,000 as 1.2m: for axes. */
export function short(value: number): string {
  if (value < 1000) return String(Math.round(value));
  if (value < 999_500) return `${Math.round(value / 1000)}k`;
  return `${Number((value / 1_000_000).toFixed(1))}m`;
}

/** The largest of any number of values, at least 0. `Math.max(...values)` gives up at some hundred thousand. */
export function most(values: readonly number[]): number {
  return values.reduce((highest, value) => Math.max(highest, value), 0);
}
