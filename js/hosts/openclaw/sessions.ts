/** The sessions that are live. Engines come and go with each turn, so that these outlive them. */
import { ContextManager } from "../../session/context.js";
import type { Store } from "../../types.js";
import type { HostMessage } from "./host.js";
import { Session, type Shared } from "./session.js";

/** Sessions of the host's own, such as a memory flush, that begin with another's history and are never committed. */
const PRIVATE = "internal-session-effects-";
export const isPrivate = (id: string): boolean => id.startsWith(PRIVATE);

export class Sessions {
  readonly #live = new Map<string, Session>();
  readonly #opening = new Map<string, Promise<Session>>();
  readonly #shared: Shared;
  readonly #store: Store;
  readonly #most: number;
  readonly #report: (what: string, error: unknown) => void;

  /**
   * @param most sessions that are live at once; of others, the one that was used longest ago is saved and disposed
   * @param report hears of what failed, which stops no session
   */
  constructor(
    shared: Shared,
    store: Store,
    most: number,
    report: (what: string, error: unknown) => void,
  ) {
    this.#shared = shared;
    this.#store = store;
    this.#most = most;
    this.#report = report;
  }

  /** Works with a session, which stays live meanwhile. */
  async use<T>(
    id: string,
    work: (session: Session) => T | Promise<T>,
    messages: readonly HostMessage[] = [],
  ): Promise<T> {
    const session = await this.#session(id, messages);
    session.busy += 1;
    session.uses += 1;
    try {
      return await work(session);
    } finally {
      session.busy -= 1;
      await this.#rest();
    }
  }

  /** Gives a session that was reset a new manager: earlier decisions and pins belong to the conversation before. */
  async renew(session: Session): Promise<void> {
    // The former one may be at work, and is not disposed.
    await this.#load(session);
    session.renew();
  }

  /** A live session, by its id or its key: of those with a key, the newest that is not the host's own. */
  find(id: string | undefined, key?: string): Session | undefined {
    const live = id === undefined ? undefined : this.#live.get(id);
    if (live || key === undefined) return live;
    return [...this.#live.values()].reverse().find((one) => one.key === key && !isPrivate(one.id));
  }

  async #session(id: string, messages: readonly HostMessage[]): Promise<Session> {
    const live = this.#live.get(id);
    if (live) {
      // The newest is last.
      this.#live.delete(id);
      this.#live.set(id, live);
      return live;
    }
    let opening = this.#opening.get(id);
    if (!opening) {
      opening = this.#open(id, messages).finally(() => this.#opening.delete(id));
      this.#opening.set(id, opening);
    }
    return opening;
  }

  async #open(id: string, messages: readonly HostMessage[]): Promise<Session> {
    const session = new Session(id, this.#shared);
    const parent = isPrivate(id) ? this.#parentOf(messages) : undefined;
    if (parent) {
      session.fork(parent);
    } else if (isPrivate(id)) {
      session.context = new ContextManager(this.#shared.options(session));
      session.isRead = true;
    } else {
      await this.#load(session);
    }
    this.#live.set(id, session);
    return session;
  }

  async #load(session: Session): Promise<void> {
    const options = this.#shared.options(session);
    try {
      const { id, resets } = session;
      const key = resets.newest === undefined ? id : `${id} ${resets.newest}`;
      session.context = await ContextManager.open(this.#store, key, options);
      session.isStored = true;
    } catch (error) {
      // Its record stays as it is, for whoever wants to look at it.
      this.#report(`session ${session.id} begins anew and is not saved`, error);
      session.context = new ContextManager(options);
      session.isStored = false;
    }
  }

  /** The session whose history these messages begin with, the newest first. */
  #parentOf(messages: readonly HostMessage[]): Session | undefined {
    const sessions = [...this.#live.values()].filter(({ id }) => !isPrivate(id)).reverse();
    return sessions.find(({ transcript }) => messages.some((message) => transcript.has(message)));
  }

  /** Saves and disposes of the sessions over the limit. */
  async #rest(): Promise<void> {
    while (this.#live.size > this.#most) {
      const idle = [...this.#live.values()].filter(({ busy }) => busy === 0);
      // During a turn the host passes only our last request and no history, from which a session's file could not go on.
      const session = idle.find((one) => isPrivate(one.id) || !one.isInTurn) ?? idle[0];
      if (!session) return;
      const { id, uses } = session;
      try {
        await session.save();
      } catch (error) {
        this.#report(`session ${id} was not saved`, error);
      }
      // Whoever wants it while it is saved keeps it live.
      if (session.uses !== uses || this.#live.get(id) !== session) continue;
      this.#live.delete(id);
      session.context[Symbol.dispose]();
    }
  }
}
