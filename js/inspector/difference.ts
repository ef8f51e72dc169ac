/** Lines of two texts, side by side: what stayed, what went, what came. */

export interface Line {
  kind: "same" | "gone" | "new";
  text: string;
}

/** Most pairs of lines to compare one by one; above it the middle is shown as replaced. */
const MOST_PAIRS = 1_000_000;

export function difference(before: string, after: string): Line[] {
  const [a, b] = [before.split("\n"), after.split("\n")];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (
    end < a.length - start &&
    end < b.length - start &&
    a[a.length - 1 - end] === b[b.length - 1 - end]
  )
    end += 1;
  const same = (text: string): Line => ({ kind: "same", text });
  return [
    ...a.slice(0, start).map(same),
    ...middle(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...a.slice(a.length - end).map(same),
  ];
}

function middle(a: readonly string[], b: readonly string[]): Line[] {
  const gone = a.map((text): Line => ({ kind: "gone", text }));
  const fresh = b.map((text): Line => ({ kind: "new", text }));
  if (a.length === 0 || b.length === 0 || a.length * b.length > MOST_PAIRS)
    return [...gone, ...fresh];
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        a[i] === b[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i] ?? "" });
      i += 1;
      j += 1;
    } else if (
      j >= b.length ||
      (i < a.length && (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))
    ) {
      lines.push({ kind: "gone", text: a[i] ?? "" });
      i += 1;
    } else {
      lines.push({ kind: "new", text: b[j] ?? "" });
      j += 1;
    }
  }
  return lines;
}
