/** Selection of the calls to list if there are too many for a screen. */
import type { ReplayCall } from "../types.js";

export type Sampled = Pick<ReplayCall, "violations" | "event">;

/** First and last, then some of what went wrong, of folds, of edits and of the rest: at most so many, in order. */
export function sample(calls: ReadonlyArray<Sampled>, most = 18): number[] {
  const chosen = new Set<number>(calls.length === 0 ? [] : [0, calls.length - 1]);
  const add = (wanted: (one: Sampled) => boolean, limit: number): void => {
    const found = calls.flatMap((one, at) => (wanted(one) && !chosen.has(at) ? [at] : []));
    const room = Math.max(0, Math.min(found.length, limit - chosen.size));
    for (let i = 0; i < room; i += 1) {
      chosen.add(found[Math.floor(((i + 0.5) * found.length) / room)] ?? 0);
    }
  };
  add((one) => one.violations > 0, 6);
  add((one) => one.event === "fold", 10);
  add((one) => one.event === "edit", 14);
  add(() => true, most);
  return [...chosen].sort((a, b) => a - b);
}
