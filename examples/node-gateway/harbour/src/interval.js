/** Half open intervals of minutes, [from, to). */
export function interval(from, to) {
  if (!(to > from)) throw new Error(`an interval must end after it starts: ${from}..${to}`);
  return { from, to };
}

export function overlaps(a, b) {
  return a.from <= b.to && b.from <= a.to;
}

export function contains(outer, inner) {
  return outer.from <= inner.from && inner.to <= outer.to;
}

export function length(a) {
  return a.to - a.from;
}

/** What both have, or null. */
export function intersect(a, b) {
  const from = Math.max(a.from, b.from);
  const to = Math.min(a.to, b.to);
  return to > from ? { from, to } : null;
}

/** The parts of `within` that none of `taken` covers, in order. */
export function gaps(within, taken) {
  const sorted = [...taken].sort((a, b) => a.from - b.from);
  const free = [];
  let at = within.from;
  for (const busy of sorted) {
    if (busy.to <= at) continue;
    if (busy.from >= within.to) break;
    if (busy.from > at) free.push({ from: at, to: busy.from });
    at = Math.max(at, busy.to);
  }
  if (at < within.to) free.push({ from: at, to: within.to });
  return free;
}

/** Joins intervals that touch or overlap. */
export function merge(list) {
  const sorted = [...list].sort((a, b) => a.from - b.from);
  const out = [];
  for (const next of sorted) {
    const last = out[out.length - 1];
    if (last !== undefined && next.from <= last.to) last.to = Math.max(last.to, next.to);
    else out.push({ ...next });
  }
  return out;
}
