import { interval } from "./interval.js";

/** Three harmonics: amplitude in metres, period in minutes, phase in minutes. Not to sail by (D3). */
const HARMONICS = [
  { name: "M2", amplitude: 1.42, period: 745.2, phase: 112 },
  { name: "S2", amplitude: 0.47, period: 720, phase: 40 },
  { name: "K1", amplitude: 0.11, period: 1436, phase: 300 },
];

export const UNDER_KEEL = 0.6;

/** Height over chart datum in metres. */
export function height(minutes) {
  let sum = 2.1;
  for (const h of HARMONICS) sum += h.amplitude * Math.cos((2 * Math.PI * (minutes - h.phase)) / h.period);
  return sum;
}

/** Can a vessel of this draught cross the sill of this depth now? */
export function canCross(minutes, depth, draught) {
  return depth + height(minutes) - 2.1 > draught + UNDER_KEEL;
}

/** The windows within [from, to) in which she can cross, at ten minute steps. */
export function windows(from, to, depth, draught) {
  const found = [];
  let start = null;
  for (let at = from; at < to; at += 10) {
    const open = canCross(at, depth, draught);
    if (open && start === null) start = at;
    if (!open && start !== null) {
      found.push(interval(start, at));
      start = null;
    }
  }
  if (start !== null) found.push(interval(start, to));
  return found;
}

/** High and low waters, for the notice board. */
export function extremes(from, to) {
  const list = [];
  let previous = height(from - 10);
  let current = height(from);
  for (let at = from; at < to; at += 10) {
    const next = height(at + 10);
    if (current >= previous && current > next) list.push({ at, kind: "high", height: current });
    if (current <= previous && current < next) list.push({ at, kind: "low", height: current });
    previous = current;
    current = next;
  }
  return list;
}

// TODO: HARMONICS come from one month of readings; ask the survey office for a year.
export function describeTide(minutes) {
  const now = height(minutes);
  const later = height(minutes + 15);
  return `${now.toFixed(2)} m, ${later > now ? "rising" : "falling"}`;
}
