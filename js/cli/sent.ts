/** The texts of a session and of a request, as `plimsoll detail` shows them. */
import { replay } from "../entry/sessions.js";
import type { Prepared, SessionFile } from "../types.js";
import { managed } from "./managed.js";
import { attempt, type Source } from "./source.js";

/** Calls of a simulation, and when each was made. */
type Played = Parameters<typeof managed>[1];

/** The texts of the request of a call, from 1; `played` is the session with that call. */
export function sentAt({ file, session, options }: Source, played: Played, call: number): Sent {
  return attempt(file, () => {
    using manager = managed(session, played, options);
    for (let before = 0; before < call - 1; before += 1) manager.request(before);
    return new Sent(session, manager.request(call - 1));
  });
}

/** The texts of a request. */
export class Sent {
  /** Of messages of ours: a head, a line that mends. */
  readonly made: string[];
  readonly #own: Map<number | null, string>;

  constructor(session: SessionFile, { messages, source }: Prepared<unknown>) {
    const texts = textsOf(session, messages);
    this.made = texts.filter((_, place) => source[place] === null);
    this.#own = new Map(source.map((index, place) => [index, texts[place] ?? ""]));
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

/** What messages say. */
export function textsOf(session: SessionFile, messages: unknown[]): string[] {
  using read = replay({ ...session, messages, calls: [] }, { window: { contextTokens: 1 } });
  return messages.map((_, index) => read.text(index));
}
