/** The known name that a misspelt one probably means. */

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
