/** Known names that a misspelt one probably means. */

/** The nearest name within two edits (one for names of up to four letters), or `undefined`. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const most = name.length <= 4 ? 1 : 2;
  let best: { one: string; edits: number } | undefined;
  for (const one of known) {
    const edits = editsBetween(name.toLowerCase(), one.toLowerCase());
    if (edits <= most && edits < (best?.edits ?? Infinity)) best = { one, edits };
  }
  return best?.one;
}

/** ` Did you mean "b"?`, or nothing if no name is near. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === undefined ? "" : ` Did you mean ${JSON.stringify(near)}?`;
}

/** Insertions, removals, replacements and swaps of neighbours that lead from one word to another (optimal string alignment). */
function editsBetween(from: string, to: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const next = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      let least = Math.min(
        (last[column] ?? 0) + 1,
        (next[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (isSame ? 0 : 1),
      );
      const isSwap = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwap && row > 1 && column > 1) {
        least = Math.min(least, (beforeLast[column - 2] ?? 0) + 1);
      }
      next.push(least);
    }
    [beforeLast, last] = [last, next];
  }
  return last[to.length] ?? 0;
}

/** Names that are offered, and characters of a name that are compared. */
const OFFERED = 3;
const COMPARED = 100;

/** The three known names that have most in common with a name, the nearest first: of two alike the shorter. */
export function closest(name: string, known: readonly string[]): string[] {
  const ranked = known.map((one) => ({ one, common: inCommon(one, name) }));
  ranked.sort((a, b) => b.common - a.common || a.one.length - b.one.length);
  return ranked.slice(0, OFFERED).map(({ one }) => one);
}

/** The length of the longest text that both have in order, with gaps (longest common subsequence). */
function inCommon(one: string, other: string): number {
  const [from, to] = [one, other].map((text) => text.slice(0, COMPARED).toLowerCase()) as [
    string,
    string,
  ];
  let last = Array.from({ length: to.length + 1 }, () => 0);
  for (const char of from) {
    const next = [0];
    for (let column = 1; column <= to.length; column++) {
      const isSame = char === to[column - 1];
      const both = isSame ? (last[column - 1] ?? 0) + 1 : 0;
      next.push(Math.max(both, last[column] ?? 0, next[column - 1] ?? 0));
    }
    last = next;
  }
  return last[to.length] ?? 0;
}
