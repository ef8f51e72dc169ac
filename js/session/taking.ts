/** A history that is being taken: its messages as the core takes them. The host's functions are asked once of each. */
import { type Taken, takenMessage } from "../core/json.js";
import type { Asked, TakenUp } from "./known-messages.js";
import { type Kept, keptOf } from "./measures.js";
import type { Places } from "./places.js";

/** The session's messages, and where the host holds them if that is elsewhere. */
export interface Located<M> {
  session: readonly M[];
  passed: Places<M> | undefined;
}

/** A message as the core takes it. */
export interface Read extends Asked {
  taken: Taken;
  /** Where the host holds it. */
  place: number;
}

/** What a host without functions answers. */
const NOTHING: Asked = Object.freeze({ key: undefined, isSummary: false });

/** A function of the host's of a message and its place; undefined: it has none. */
type Host<M, T> = ((message: M, index: number) => T | undefined) | undefined;

export class Taking<M> implements TakenUp<M> {
  /** The session's messages. */
  messages: readonly M[];
  passed: Places<M> | undefined;
  /** So many of the first messages were appended by measures that are kept. */
  kept = 0;
  readonly #key: Host<M, string>;
  readonly #isSummary: Host<M, boolean>;
  #asked: Asked[] = [];
  /** Null: it has none. */
  #known: Array<Kept | null> = [];
  #read: Read[] = [];

  constructor({ session, passed }: Located<M>, key: Host<M, string>, isSummary: Host<M, boolean>) {
    this.messages = session;
    this.passed = passed;
    this.#key = key;
    this.#isSummary = isSummary;
  }

  /** The host holds the messages elsewhere than it seemed. */
  locate({ session, passed }: Located<M>): void {
    this.messages = session;
    this.passed = passed;
    this.#asked = [];
    this.#known = [];
    this.#read = [];
  }

  /** How many of the first messages the host no longer holds. */
  get from(): number {
    return this.passed?.from ?? 0;
  }

  placeOf(index: number): number {
    return this.passed?.placeOf(index) ?? index;
  }

  ask(index: number): Asked {
    const asked = this.#asked[index];
    if (asked) return asked;
    if (!this.#key && !this.#isSummary) return NOTHING;
    const message = this.messages[index] as M;
    const place = this.placeOf(index);
    const key = this.#key?.(message, place);
    const isSummary = this.#isSummary?.(message, place) === true;
    this.#asked[index] = { key, isSummary };
    return this.#asked[index];
  }

  /** The measure that a message is appended by, if it has one. A summary is looked at as a text. */
  known(index: number): Kept | undefined {
    let known = this.#known[index];
    if (known === undefined) {
      known = (!this.ask(index).isSummary && keptOf(this.messages[index])) || null;
      this.#known[index] = known;
    }
    return known ?? undefined;
  }

  /** Reads a message: not a second time if it was read ahead. */
  read(index: number): Read {
    return this.#read[index] ?? this.#readNow(index);
  }

  /** Reads messages from an index on, but for those that are missing and before `gone`; of one with a measure this is enough. */
  readAhead(from: number, gone: number): void {
    for (let index = from; index < this.messages.length; index++) {
      if (this.messages[index] === undefined && index < gone) continue;
      if (!this.known(index)) this.#read[index] = this.#readNow(index);
    }
  }

  #readNow(index: number): Read {
    const place = this.placeOf(index);
    const taken = takenMessage(this.messages[index], place);
    const { key, isSummary } = this.ask(index);
    return { taken, place, key, isSummary };
  }
}
