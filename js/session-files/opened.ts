/** Sessions that were read: their messages stay in the core's memory, as JSON, and become objects when they are asked for. */
import { lost } from "../core/errors.js";
import type { Handle } from "../core/handle.js";
import type * as glue from "../glue/sessions_bg.js";
import type { OpenSession, SessionFile } from "../types.js";
import { call, send } from "./wasm.js";

/** Messages that are copied out of the core at once. */
const STEP = 1000;

/** Bytes of messages that are written again at once. */
const REWRITTEN = 1 << 14;

/**
 * Writes the messages again that JavaScript writes otherwise than the file. Tool arguments are counted as they are spelled, so that
 * figures are the same whether the core has the messages from the file or from the host.
 */
export function rewritten(handle: Handle<glue.OpenSession>): Handle<glue.OpenSession> {
  const { value } = handle;
  for (let isDone = false; !isDone; ) {
    const others = JSON.parse(call("readSession", () => value.others(REWRITTEN))) as unknown[];
    const text = JSON.stringify(others);
    isDone = call("readSession", () => value.rewrite(send(text)));
  }
  return handle;
}

/** Where the messages of a session are that has given none of them away. */
class Opened {
  readonly count: number;
  #handle: Handle<glue.OpenSession>;
  readonly #again: (() => Handle<glue.OpenSession>) | undefined;

  constructor(handle: Handle<glue.OpenSession>, again?: () => Handle<glue.OpenSession>) {
    this.#handle = handle;
    this.#again = again;
    this.count = call("readSession", () => handle.value.count());
  }

  /** The session in the core: read again if its instance was lost. */
  in(during: string): glue.OpenSession {
    if (!this.#handle.isAlive) {
      const again = this.#again?.();
      if (again?.value.count() !== this.count)
        throw lost(during, new Error("read the file again: its messages were in the instance"));
      this.#handle = again;
    }
    return this.#handle.value;
  }

  free(): void {
    this.#handle.free();
  }

  json(from: number, to: number): string {
    const opened = this.in("messages");
    return call("messages", () => opened.messages(from, to));
  }

  message(index: number): unknown {
    const isIndex = Number.isInteger(index) && index >= 0 && index < this.count;
    return isIndex ? (JSON.parse(this.json(index, index + 1)) as unknown[])[0] : undefined;
  }

  messages(): unknown[] {
    const all: unknown[] = [];
    for (let from = 0; from < this.count; from += STEP)
      all.push(...(JSON.parse(this.json(from, from + STEP)) as unknown[]));
    return all;
  }
}

/** Sessions whose property `messages` nobody has read or set yet. */
const untouched = new WeakMap<object, Opened>();

/** Where the messages of a session are, if they are only in the core. */
export function openedOf(session: SessionFile): Opened | undefined {
  return untouched.get(session);
}

/** Number of messages of a session. */
export function countOf(session: SessionFile): number {
  return openedOf(session)?.count ?? session.messages.length;
}

/** One message of a session; `undefined` if there is none at this index. */
export function messageOf(session: SessionFile, index: number): unknown {
  const opened = openedOf(session);
  return opened ? opened.message(index) : session.messages[index];
}

/** The messages of a session at these indexes; the others may be absent. */
export function someOf(session: SessionFile, indexes: Iterable<number>): unknown[] {
  const opened = openedOf(session);
  if (!opened) return session.messages;
  const some: unknown[] = new Array(opened.count);
  for (const index of indexes) some[index] ??= opened.message(index);
  return some;
}

/** The session as an object. `messages` makes all messages when it is first read, and is a plain property from then on. */
export function sessionOf(
  handle: Handle<glue.OpenSession>,
  again?: () => Handle<glue.OpenSession>,
): OpenSession {
  const opened = new Opened(handle, again);
  const session = JSON.parse(call("readSession", () => handle.value.head())) as OpenSession;
  const become = (value: unknown): void => {
    untouched.delete(session);
    Object.defineProperty(session, "messages", { value, writable: true, ...SEEN });
  };
  const get = (): unknown[] => {
    const all = opened.messages();
    become(all);
    return all;
  };
  // In the place of the core's empty list, so that the members keep their order.
  Object.defineProperty(session, "messages", { get, set: become, ...SEEN });
  const message = (index: number): unknown => messageOf(session, index);
  Object.defineProperty(session, "message", { value: message });
  Object.defineProperty(session, "messageCount", { get: () => countOf(session) });
  untouched.set(session, opened);
  return session;
}

const SEEN = { enumerable: true, configurable: true };
