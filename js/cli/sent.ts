/** The texts of a request, as `plimsoll detail` shows them. */
import type { Replay, SentMessages } from "../types.js";
import { attempt, type Source } from "./source.js";

/** The texts of the request of a call, from 1. */
export function sentAt({ file }: Source, played: Pick<Replay, "sent">, call: number): Sent {
  return attempt(file, () => new Sent(played.sent(call - 1)));
}

/** The texts of a request. */
export class Sent {
  /** Of messages of ours: a head, a line that mends. */
  readonly made: string[];
  readonly #own: Map<number | null, string>;

  constructor(sent: SentMessages) {
    const texts = sent.messages.map((_, place) => sent.text(place));
    this.made = texts.filter((_, place) => sent.source[place] === null);
    this.#own = new Map(sent.source.map((index, place) => [index, texts[place] ?? ""]));
  }

  /** What is sent of a message of the history; undefined: it is not there as a message of its own. */
  own(index: number): string | undefined {
    return this.#own.get(index);
  }

  /** People's words go on in the head of a fold. */
  carries(index: number, text: string): boolean {
    return !this.#own.has(index) && text !== "" && this.made.some((made) => made.includes(text));
  }
}
