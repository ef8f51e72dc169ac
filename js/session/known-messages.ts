/**
 * Messages that a snapshot or a store has the measures of: a restored session appends them by these, and does not read them.
 * A message is recognized by the host's key, by its place in a history that only grows, or else by its JSON. Messages of the last
 * group of calls and results may have grown since, so their JSON must be the same, too. What we sent with edits a host may store
 * under the key of the original, which is larger.
 */
import { Handle } from "../core/handle.js";
import { messageJson, sizeOf } from "../core/json.js";
import { call, core, send } from "../core/main.js";
import type * as glue from "../glue/plimsoll_bg.js";

/** What the host's functions answer of a message. */
export interface Asked {
  /** Undefined: it has none. */
  key: string | undefined;
  /** The host calls it a summary. */
  isSummary: boolean;
}

/** A history that is taken up. */
export interface TakenUp<M> {
  messages: readonly M[];
  /** Where the host holds a message. */
  placeOf(index: number): number;
  ask(index: number): Asked;
}

export class KnownMessages {
  readonly #handle: Handle<glue.KnownMessages>;
  readonly #count: number;
  /** The host's keys by the numbers of the measures. */
  readonly #keys: readonly SavedKey[];
  /** The other way round; undefined: not needed yet. */
  #numbers: Map<string, number> | undefined;
  /** Where the last group starts. */
  readonly #lastGroup: number;
  readonly #isAppendOnly: boolean;
  /** The history is the one that was measured, where it only grows; undefined: not looked at yet. */
  #isSame: boolean | undefined;

  constructor(known: glue.KnownMessages, isAppendOnly: boolean) {
    this.#handle = new Handle(() => known, core);
    this.#isAppendOnly = isAppendOnly;
    this.#count = call("restore", () => known.count());
    this.#lastGroup = call("restore", () => known.last_group());
    this.#keys = keysIn(call("restore", () => known.keys()));
  }

  /** The bytes that they were read from. */
  get bytes(): Uint8Array | undefined {
    return this.#handle.isAlive ? call("snapshot", () => this.#handle.value.bytes()) : undefined;
  }

  /**
   * Appends the message at `index`, and those after it that are known one after the other. How many; 0: its text is needed;
   * null: the core needs all messages again.
   */
  append<M>(manager: glue.Manager, taken: TakenUp<M>, index: number): number | null {
    if (!this.#handle.isAlive) return 0;
    const first = this.#numberOf(taken, index);
    if (first === undefined) return 0;
    let end = first + 1;
    const most = Math.min(this.#count, first + taken.messages.length - index);
    while (end < most && this.#numberOf(taken, index + end - first) === end) end++;
    return call("request", () => manager.append_from(this.#handle.value, first, end)) ?? null;
  }

  free(): void {
    this.#handle.free();
  }

  /** The number of a message's measure; undefined: it has none. */
  #numberOf<M>(taken: TakenUp<M>, index: number): number | undefined {
    if (taken.messages[index] === undefined) return undefined;
    const { key, isSummary } = taken.ask(index);
    // A summary is looked at as a text.
    if (isSummary) return undefined;
    if (key !== undefined && this.#keys.length > 0) {
      const number = this.#numberOfKey(key, index);
      if (number === undefined) return undefined;
      const isSure = number < this.#lastGroup && isOf(this.#keys[number], taken.messages[index]);
      return isSure || this.#isWritten(taken, index, number) ? number : undefined;
    }
    if (index >= this.#count) return undefined;
    if (this.#isAppendOnly) {
      // A history that was cut or written anew in spite of that is found out by its ends.
      this.#isSame ??= this.#isWritten(taken, 0) && this.#isWritten(taken, this.#count - 1);
      if (this.#isSame) return index;
    }
    return this.#isWritten(taken, index) ? index : undefined;
  }

  /** Most messages stand where they stood. */
  #numberOfKey(key: string, index: number): number | undefined {
    if (textOf(this.#keys[index]) === key) return index;
    this.#numbers ??= new Map(
      this.#keys.flatMap((it, number) => {
        const text = textOf(it);
        return text === undefined ? [] : [[text, number]];
      }),
    );
    return this.#numbers.get(key);
  }

  #isWritten<M>(taken: TakenUp<M>, index: number, number: number = index): boolean {
    const message = taken.messages[index];
    if (message === undefined) return false;
    const json = messageJson(message, taken.placeOf(index));
    return call("request", () => this.#handle.value.is_written(number, send(json)));
  }
}

/** A key of the host's as it is saved; in a list: not only the message that was measured may have it, but one of this size does. */
export type SavedKey = string | [key: string, size?: number] | null;

/** The key of a message that was sent with edits. */
export function keyOf(key: string, message: unknown): SavedKey {
  const size = trySizeOf(message);
  return Number.isNaN(size) ? [key] : [key, size];
}

/** The message with the key is the one that was measured. */
function isOf(key: SavedKey | undefined, message: unknown): boolean {
  return !Array.isArray(key) || key[1] === trySizeOf(message);
}

function trySizeOf(message: unknown): number {
  try {
    return sizeOf(message);
  } catch {
    return Number.NaN;
  }
}

function textOf(key: SavedKey | undefined): string | undefined {
  return (Array.isArray(key) ? key[0] : key) ?? undefined;
}

/** The keys in a list as JSON; none if no message has one, or in anything else, which somebody else has written. */
function keysIn(json: string): SavedKey[] {
  try {
    const keys: unknown = JSON.parse(json || "[]");
    const isText = (it: unknown): boolean => typeof it === "string";
    const isKey = (it: unknown): boolean =>
      it === null || isText(it) || (Array.isArray(it) && isText(it[0]));
    const hasKeys = Array.isArray(keys) && keys.every(isKey) && keys.some((it) => it !== null);
    return hasKeys ? keys : [];
  } catch {
    return [];
  }
}
