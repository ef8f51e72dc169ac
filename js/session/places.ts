/**
 * Where the host's history holds the session's messages, if not one to one: it has taken our requests for its history, or has
 * forgotten the oldest messages.
 */

/** Where a later part of the known messages lies in the host's history, as the core has it. */
export type Alignment = [systems: number, front: number, from: number, to: number];

export class Places<M> {
  /** The host's history. */
  readonly messages: readonly M[];
  /** For each of them the core's number; null: a message of ours. */
  readonly #numbers: ReadonlyArray<number | null>;
  /** The place of each number that is held somewhere. */
  readonly #places: ReadonlyMap<number, number>;
  /** The host no longer holds the messages before this number, but for the system's in front. */
  readonly from: number;

  constructor(
    messages: readonly M[],
    numbers: ReadonlyArray<number | null>,
    places: ReadonlyMap<number, number>,
    from: number,
  ) {
    this.messages = messages;
    this.#numbers = numbers;
    this.#places = places;
    this.from = from;
  }

  /** Those of a history that holds a later part of the known messages. */
  static ofPart<M>([systems, front, from, to]: Alignment, messages: readonly M[]): Places<M> {
    const numberAt = (place: number): number | null => {
      if (place >= front) return from + place - front;
      return place < systems ? place : null;
    };
    const part = messages.slice(0, front + to - from);
    const numbers = part.map((_, place) => numberAt(place));
    const places = new Map<number, number>();
    for (const [place, number] of numbers.entries()) if (number !== null) places.set(number, place);
    return new Places(part, numbers, places, from);
  }

  /** How many of the session's messages the history holds. */
  get size(): number {
    return this.#places.size;
  }

  /** Each number that it holds, and its place. */
  get all(): Iterable<[number: number, place: number]> {
    return this.#places;
  }

  /** The place of a number; undefined: it is held nowhere. */
  placeOf(number: number): number | undefined {
    return this.#places.get(number);
  }

  /** The core's number of a place; null: it is one of ours. */
  numberOf(place: number): number | null {
    return this.#numbers[place] ?? null;
  }

  /** The history holds one of these numbers. */
  holdsAny(from: number, to: number): boolean {
    return [...this.#places.keys()].some((number) => number >= from && number < to);
  }

  /** The places of a run of numbers, as [from, to); none for what the host does not hold, or only in a message of ours. */
  runsOf(from: number, to: number): Array<[number, number]> {
    const runs: Array<[number, number]> = [];
    for (let number = from; number < to; number++) {
      const place = this.placeOf(number);
      if (place === undefined || this.numberOf(place) !== number) continue;
      const last = runs.at(-1);
      if (last?.[1] === place) last[1]++;
      else runs.push([place, place + 1]);
    }
    return runs;
  }

  /** With what follows in the history, numbered from `next` on. */
  extended(messages: readonly M[], next: number): Places<M> {
    const numbers = this.#numbers.slice();
    const places = new Map(this.#places);
    for (let number = next; numbers.length < messages.length; number++) {
      places.set(number, numbers.length);
      numbers.push(number);
    }
    return new Places(messages.slice(), numbers, places, this.from);
  }

  /** Without the history's last messages: the core does not have them yet. */
  without(missing: number): Places<M> {
    const count = this.messages.length - missing;
    const places = [...this.#places].filter(([, place]) => place < count);
    const [messages, numbers] = [this.messages.slice(0, count), this.#numbers.slice(0, count)];
    return new Places(messages, numbers, new Map(places), this.from);
  }
}
