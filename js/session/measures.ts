/**
 * Measures of messages, kept for as long as the message objects: what was measured once is not read again, whichever session
 * or function it is passed to.
 */
import { isContainedIn } from "../core/json.js";
import { call, core } from "../core/main.js";
import type * as glue from "../glue/plimsoll_bg.js";

/** A message's place in what the core wrote, and what the message held then. */
export interface Kept {
  bytes: Uint8Array;
  at: number;
  copy: unknown;
}

/** Messages whose measures share their words. Of more, all are passed where one is needed. */
const TOGETHER = 1024;

const measures = new WeakMap<object, Kept>();

/** The measure of a message that holds what it held when it was measured. */
export function keptOf(message: unknown): Kept | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const kept = measures.get(message);
  return kept && isContainedIn(kept.copy, message) ? kept : undefined;
}

/**
 * Keeps the measures of a session's messages, from one on, that are not kept yet. `copies`: what those held when they were
 * measured; a message without one is not kept.
 */
export function keepMeasures(
  manager: glue.Manager,
  messages: readonly unknown[],
  copies: readonly unknown[],
  first: number,
): void {
  const isWanted = (index: number): boolean =>
    copies[index] !== undefined && measures.get(messages[index] as object)?.copy !== copies[index];
  for (let from = first; from < messages.length; from++) {
    if (!isWanted(from)) continue;
    let to = from + 1;
    while (to < from + TOGETHER && isWanted(to)) to++;
    const bytes = call("request", () => manager.measures(from, to, 0));
    // The host counts by itself.
    if (!bytes) return;
    for (let index = from; index < to; index++) {
      const kept = { bytes, at: index - from, copy: copies[index] };
      measures.set(messages[index] as object, kept);
    }
    from = to - 1;
  }
}

/**
 * Appends a message by its measure, and with it those after it whose measures stand after its own. How many: 0 if its text is
 * needed; null if the core needs all messages again.
 *
 * @param known the measure of the message so many places further on, if it may be appended by that
 */
export function appendKnown(
  during: string,
  manager: glue.Manager,
  { bytes, at }: Kept,
  known: (places: number) => Kept | undefined,
): number | null {
  const isBehind = (places: number): boolean => {
    const next = known(places);
    return next?.bytes === bytes && next.at === at + places;
  };
  let count = 1;
  while (isBehind(count)) count++;
  const append = (): number | undefined =>
    manager.append_known(core.sendBytes(bytes), at, at + count);
  return call(during, append) ?? null;
}
