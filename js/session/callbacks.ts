/** Callbacks of the host that throw: each kind is reported once, since a broken one is called again and again. */
import type { CallbackFailedEvent } from "../types.js";

type Callback = CallbackFailedEvent["callback"];

/** What is used instead of the answer that did not come. */
const INSTEAD: Record<Callback, string> = {
  estimator: "The generic estimate counts the text instead.",
  key: "The message is recognized by its content instead.",
  isSummary: "The message is sent like any other.",
  create: "A plain object of the format is sent instead.",
  clock: "The last known time is used instead.",
};

export class Callbacks {
  readonly #seen = new Set<string>();
  #events: CallbackFailedEvent[] = [];

  /** Notes what a callback threw. */
  failed(callback: Callback, error: unknown): void {
    if (!this.#isFirst(callback)) return;
    const reason = `"${callback}" threw: ${messageOf(error)}. ${INSTEAD[callback]}`;
    this.#events.push({ type: "callback-failed", callback, error, reason });
  }

  /** The listener itself threw: no event can say so. An uncaught exception or rejection would end a Node process, so the error is printed. */
  listenerFailed(error: unknown): void {
    if (this.#isFirst("on"))
      console.error('plimsoll: "on" threw. Further errors are not shown.', error);
  }

  /** The events that were not taken yet. */
  take(): CallbackFailedEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  #isFirst(callback: string): boolean {
    const isFirst = !this.#seen.has(callback);
    this.#seen.add(callback);
    return isFirst;
  }
}

function messageOf(error: unknown): string {
  try {
    return String((error as Error | null)?.message ?? error);
  } catch {
    return "something that has no text";
  }
}
