import { ContextManager } from "plimsoll";

/** A request that the client has to change or to send again, with its HTTP status. */
export class Refused extends Error {
  constructor(status, code, message, turns) {
    super(message);
    Object.assign(this, { status, code, turns });
  }
}
const conflict = (message, turns) => new Refused(409, "CONFLICT", message, turns);

/**
 * A session in a store: a record for each committed turn, `ID/turn/N`, and one for the decisions of its context manager, `ID/context`.
 *
 * A turn is committed by creating its record. The store creates a record once, so that of two gateways that answer turn N at the same
 * time one gets a conflict. The context is saved after the turn: a gateway that is killed in between loses decisions, which the
 * next one makes again, and no message.
 */
export class Session {
  /** The messages of all committed turns. */
  history = [];
  turns = 0;
  isBusy = false;
  #id;
  #store;

  constructor(id, store, context) {
    this.#id = id;
    this.#store = store;
    this.context = context;
  }

  static async open(id, { store, context: options }) {
    // Before the turns: gateways write the context after them, so the history will have every turn that this context knows.
    const context = await ContextManager.open(store, `${id}/context`, { ...options, id });
    return new Session(id, store, context);
  }

  /** Reads the turns that are not in memory yet: all of them at first, later those that other gateways have committed. */
  async catchUp() {
    const { turns: known, isBusy } = this;
    const found = [];
    // One look if there is nothing new, which is the usual case; larger batches the longer the session is.
    for (let batch = 1; ; batch = Math.min(2 * batch, 64)) {
      const numbers = Array.from({ length: batch }, (_, at) => known + found.length + at + 1);
      const records = await Promise.all(numbers.map((it) => this.#store.load(this.#turnKey(it))));
      const end = records.indexOf(null);
      found.push(...(end < 0 ? records : records.slice(0, end)));
      if (end >= 0) break;
    }
    // Another call may have been faster, or a turn has begun that must not see its history change.
    if (found.length === 0 || this.turns !== known || this.isBusy !== isBusy) return;
    for (const { bytes } of found) this.history.push(...JSON.parse(Buffer.from(bytes)).messages);
    this.turns += found.length;
    // Merges what the other gateway decided, such as a summary.
    if (known > 0) await this.save();
  }

  /** Reserves the session for one turn. @param {number} [expected] number of turns that the client knows of */
  async begin(expected) {
    if (this.isBusy) throw conflict("another turn is running; wait until it is done");
    this.isBusy = true;
    try {
      await this.catchUp();
      if (expected !== undefined && expected !== this.turns) {
        throw conflict(`the session has ${this.turns} turns, not ${expected}`, this.turns);
      }
    } catch (error) {
      this.isBusy = false;
      throw error;
    }
  }

  /** Makes a turn durable: all of its messages, or none. */
  async commit(messages) {
    const bytes = Buffer.from(JSON.stringify({ messages }));
    const revision = await this.#store.commit(this.#turnKey(this.turns + 1), bytes, null);
    if (revision === null) throw conflict("another gateway was faster; send the turn again");
    this.history.push(...messages);
    this.turns += 1;
    await this.save();
  }

  /** Saves what the context has decided. The turns are safe without it: what cannot be saved now is part of the next save. */
  async save() {
    await this.context.save().catch((error) => console.error(`session ${this.#id}:`, error));
  }

  #turnKey(number) {
    return `${this.#id}/turn/${number}`;
  }
}

/** The sessions that are open in this process, the least recently used first. The others are only in the store. */
export class Sessions {
  #open = new Map();
  #options;

  /** @param {{ store: object, context: object, limit: number }} options limit: how many stay open */
  constructor(options) {
    this.#options = options;
  }

  /** Opens a session for a piece of work, and keeps it open until the work is done. */
  async use(id, work) {
    const entry = this.#open.get(id) ?? { users: 0, session: Session.open(id, this.#options) };
    this.#open.delete(id);
    this.#open.set(id, entry);
    entry.users += 1;
    entry.session.catch(() => this.forget(id));
    try {
      return await work(await entry.session);
    } finally {
      entry.users -= 1;
      if (entry.users === 0 && this.#open.get(id) !== entry) close(entry);
      for (const [oldest, unused] of this.#open) {
        if (this.#open.size <= this.#options.limit) break;
        if (unused.users === 0) this.#open.delete(oldest) && close(unused);
      }
    }
  }

  /** The next request reads the session from the store. */
  forget(id) {
    this.#open.delete(id);
  }
}

function close({ session }) {
  session.then(({ context }) => context[Symbol.dispose]()).catch(() => {});
}
