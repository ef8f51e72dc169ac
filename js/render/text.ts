/** Text of a session on its way to a screen: escaped, measured in columns, cut to fit. */

/**
 * An emoji that is joined of two to four, or one character that a terminal obeys or does not show. No emoji of Unicode's list joins more: a
 * longer chain is drawn as wide as its parts.
 */
const UNSAFE =
  /(\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?(?:\u200d\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?){1,3})|[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;
const PLAIN = /^[ -~]*$/;
const MARKS = /^\p{M}*$/u;
/** Asks for the picture of a character that is usually shown as a sign. */
const AS_PICTURE = "\ufe0f";
/** Characters of two columns, by Unicode's East Asian Width, and pictures. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{17000}-\u{18cff}\u{1b000}-\u{1b2ff}\u{20000}-\u{3fffd}\p{Emoji_Presentation}]/u;

let segmenter: Intl.Segmenter | undefined;

const escaped = (char: string): string => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;

/** Control characters, escape sequences, direction marks and other invisible characters are written out, so that they do nothing. */
export function harmless(text: string): string {
  return text.replace(UNSAFE, (found, emoji) => emoji ?? escaped(found));
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

/** Columns that a text takes on a terminal. */
export function columns(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let sum = 0;
  for (const cluster of clusters(text)) sum += width(cluster);
  return sum;
}

/** At most so many columns; what is cut is marked. No character is cut in two. */
export function fit(text: string, most: number, mark = "…"): string {
  if (text.length <= most && PLAIN.test(text)) return text;
  const room = Math.max(0, most - columns(mark));
  let [taken, end, at] = [0, 0, 0];
  for (const cluster of clusters(text)) {
    taken += width(cluster);
    at += cluster.length;
    if (taken <= room) end = at;
    if (taken > most) return most > 0 ? text.slice(0, end) + mark : "";
  }
  return text;
}

/** The end of a text, in at most so many columns. */
export function fitEnd(text: string, most: number, mark = "…"): string {
  if (columns(text) <= most) return text;
  let room = most - columns(mark);
  let from = text.length;
  for (const cluster of [...clusters(text)].reverse()) {
    room -= width(cluster);
    if (room < 0) break;
    from -= cluster.length;
  }
  return most > 0 ? mark + text.slice(from) : "";
}

/** What a reader takes for one character each. */
function* clusters(text: string): Iterable<string> {
  segmenter ??= new Intl.Segmenter("en");
  for (const { segment } of segmenter.segment(text)) yield segment;
}

function width(cluster: string): number {
  if (PLAIN.test(cluster)) return cluster.length;
  if (MARKS.test(cluster)) return 0;
  return WIDE.test(cluster) || cluster.includes(AS_PICTURE) ? 2 : 1;
}
