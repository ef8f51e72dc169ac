/** View of a session: the messages of the last request, built from the core's answer and the host's objects. */
import { edited, filled, isOfClass, valueAt } from "../core/edit.js";
import { invalid, type PlimsollError } from "../core/errors.js";
import type { ContextManagerOptions } from "../types.js";
import type { Answer, Item } from "./answer.js";

/** A new view as its difference from the last one: how many messages it has, and which of them differ from those at the same places. */
interface Carried<M> {
  length: number;
  changed: Array<{ at: number; item: Item; message: M; isPlain: boolean }>;
}

/** A message of the last request, and the numbers of the host's messages in it. */
export interface Shown<M> {
  message: M;
  numbers: number[];
  /** It is a synthetic message: of a fold, or of a repair. */
  isOurs: boolean;
  /** It is a copy of the host's, with edits. */
  isEdited: boolean;
}

/**
 * The messages of the last request, column by column: a turn looks at each of them once more, and a list is read in one go
 * where objects lie wherever they were made.
 */
export class View<M> {
  /** What the core said of each. */
  #items: Item[] = [];
  #messages: M[] = [];
  /** Of each the core's number of the host's message that it is or edits; null: ours. */
  #source: Array<number | null> = [];
  /** That message, as it was carried out; of one of ours nothing. */
  #hosts: Array<M | undefined> = [];
  /** What ours were made of, by their places. */
  readonly #copied = new Map<number, M[]>();
  /** Places of ours that are plain because `create` threw: they stay so as long as they are sent. */
  readonly #plain = new Set<number>();
  readonly #create: ContextManagerOptions<M>["create"];
  readonly #createFailed: (error: unknown) => void;
  /** How many messages the session had: since then more may have been handed over, for a request that was not made. */
  #of = 0;

  readonly #placeOf: (number: number) => number | null;

  constructor(
    create: ContextManagerOptions<M>["create"],
    createFailed: (error: unknown) => void,
    placeOf: (number: number) => number | null,
  ) {
    this.#create = create;
    this.#createFailed = createFailed;
    this.#placeOf = placeOf;
  }

  /** There was no request yet. */
  get isEmpty(): boolean {
    return this.#items.length === 0;
  }

  get of(): number {
    return this.#of;
  }

  get messages(): M[] {
    return this.#messages.slice();
  }

  /** For each message the core's number of the host's that it is or edits; null: ours. */
  get source(): Array<number | null> {
    return this.#source.slice();
  }

  /** Whether all the host's messages that are sent, whole or in part, are such. */
  sends(are: (index: number) => boolean): boolean {
    return this.#source.every((index, at) =>
      index === null ? indexesOf(this.#items[at] as Item).every(are) : are(index),
    );
  }

  /** The core's numbers of the host's messages that are sent with edits. */
  get edited(): number[] {
    return this.#items.flatMap((item) => ("index" in item && item.ops ? [item.index] : []));
  }

  get shown(): Shown<M>[] {
    return this.#items.map((_, at) => this.#shown(at));
  }

  get last(): Shown<M> | undefined {
    return this.isEmpty ? undefined : this.#shown(this.#items.length - 1);
  }

  clear(): void {
    this.#cut(0);
    this.#of = 0;
  }

  /**
   * Makes the view of this answer, from the host's objects as they are now; `take` then puts it in the place of the last one.
   * All that may call code of the host's is done here, so that a throw leaves the last view as it was.
   */
  carried(answer: Pick<Answer, "keep" | "items">, history: readonly M[]): Carried<M> {
    const changed: Carried<M>["changed"] = [];
    const add = (at: number, item: Item): void => {
      changed.push({ at, item, ...this.#carry(at, item, history) });
    };
    let at = 0;
    const stay = (messages: number): void => {
      for (const end = Math.min(at + messages, this.#items.length); at < end; at++) {
        const index = this.#source[at] as number | null;
        const isOther =
          index === null ? this.#isOther(at, history) : history[index] !== this.#hosts[at];
        if (isOther) add(at, this.#items[at] as Item);
      }
    };
    stay(answer.keep);
    for (const item of answer.items) {
      if (typeof item === "number") stay(item);
      else add(at++, item);
    }
    return { length: at, changed };
  }

  take({ length, changed }: Carried<M>, history: readonly M[]): void {
    this.#of = history.length;
    this.#cut(length);
    for (const { at, item, message, isPlain } of changed) {
      this.#put(at, item, message, history);
      if (isPlain) this.#plain.add(at);
      else this.#plain.delete(at);
    }
  }

  /** The host holds other objects now for what this one of ours was made of. */
  #isOther(at: number, history: readonly M[]): boolean {
    const hosts = this.#copied.get(at);
    return indexesOf(this.#items[at] as Item).some(
      (index, copy) => history[index] !== hosts?.[copy],
    );
  }

  #cut(length: number): void {
    for (const at of this.#copied.keys()) if (at >= length) this.#copied.delete(at);
    for (const at of this.#plain) if (at >= length) this.#plain.delete(at);
    for (const column of [this.#items, this.#messages, this.#source, this.#hosts]) {
      if (column.length > length) column.length = length;
    }
  }

  #put(at: number, item: Item, message: M, history: readonly M[]): void {
    this.#items[at] = item;
    this.#messages[at] = message;
    const isHosts = "index" in item;
    this.#source[at] = isHosts ? item.index : null;
    this.#hosts[at] = isHosts ? history[item.index] : undefined;
    if (isHosts || item.copies.length === 0) {
      this.#copied.delete(at);
    } else {
      this.#copied.set(
        at,
        indexesOf(item).map((index) => history[index] as M),
      );
    }
  }

  #carry(at: number, item: Item, history: readonly M[]): { message: M; isPlain: boolean } {
    if ("index" in item) {
      const host = history[item.index] as M;
      return { message: item.ops ? edited(host, item.ops) : host, isPlain: false };
    }
    const message = filled(item.make, item.copies, history);
    const made = item.ops ? edited(message, item.ops) : message;
    const { role, toolCallId, toolName } = item;
    const names = {
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(toolName === undefined ? {} : { toolName }),
    };
    const content = valueAt(made, item.content);
    const index = item.about === undefined ? null : this.#placeOf(item.about);
    const from = { at: item.at ?? null, index };
    // What was sent stays as it was: plain, if `create` threw then; as `create` made it, if it throws now.
    const isSent = (): boolean => JSON.stringify(item) === JSON.stringify(this.#items[at]);
    if (this.#plain.has(at) && isSent()) return { message: made as M, isPlain: true };
    try {
      const message = this.#create?.({ role, content, ...from, ...names }) ?? (made as M);
      if (typeof message !== "object" || "then" in (message as object))
        throw new TypeError("it returned no message");
      return { message, isPlain: false };
    } catch (error) {
      const sent = isSent();
      // A plain object among instances of a class is none that the host's model takes.
      if (!sent && history.some(isOfClass)) throw notMade(error);
      this.#createFailed(error);
      return sent
        ? { message: this.#messages[at] as M, isPlain: false }
        : { message: made as M, isPlain: true };
    }
  }

  #shown(at: number): Shown<M> {
    const item = this.#items[at] as Item;
    const isOurs = !("index" in item);
    const isEdited = !isOurs && item.ops !== undefined;
    return { message: this.#messages[at] as M, numbers: indexesOf(item), isOurs, isEdited };
  }
}

function notMade(cause: unknown): PlimsollError {
  const expected = "a function that builds a message of your class";
  const error = invalid("create", expected, `an error: ${String(cause)}`);
  error.cause = cause;
  return error;
}

/** The core's numbers of the host's messages in an item. */
export function indexesOf(item: Item): number[] {
  return "index" in item ? [item.index] : item.copies.map(({ index }) => index);
}
