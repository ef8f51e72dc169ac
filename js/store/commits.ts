/** Commits of a session to the store that it was opened from. */
import { textOf } from "../core/arguments.js";
import { conflict, disposed, invalid, kindOf } from "../core/errors.js";
import type { Store } from "../types.js";
import { isBytes } from "./record.js";

/** Commits that are tried before a conflict is the host's. */
const TRIES = 8;
const NOTHING = new Uint8Array();

/** A record as a store holds it. */
type Stored = { bytes: Uint8Array; revision: number };

/**
 * What a store holds under a key. A store is a host's own code, and a wrong answer that was believed would lose commits.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT` for what is no store, no key, or no record.
 */
export async function load(store: Store, key: string): Promise<Stored | null> {
  if (typeof store?.load !== "function" || typeof store.commit !== "function") {
    throw invalid("store", "an object with `load` and `commit`", store);
  }
  // A store that takes any key would give all sessions without an id one record.
  const stored: unknown = await store.load(textOf("key", key));
  if (stored === null) return null;
  const { bytes, revision } = (stored ?? {}) as Partial<Stored>;
  if (isBytes(bytes) && isRevision(revision, 0)) return { bytes, revision };
  const got = stored === undefined ? stored : `bytes ${typeof bytes}, revision ${String(revision)}`;
  throw invalid("store.load", "null, or { bytes: Uint8Array, revision: 1 or more }", got);
}

/**
 * The measures that a store holds beside a record; null if it holds none, or cannot.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT` for what is no bytes.
 */
export async function loadMeasures(store: Store, key: string): Promise<Uint8Array | null> {
  const found: unknown = (await store.loadMeasures?.(key)) ?? null;
  if (found === null || isBytes(found)) return found;
  throw invalid("store.loadMeasures", "null, or a Uint8Array", found, kindOf(found));
}

/** The new revision; null if the store holds another than `expected`. */
async function commit(
  store: Store,
  key: string,
  bytes: Uint8Array,
  expected: number | null,
): Promise<number | null> {
  const made: unknown = await store.commit(key, bytes, expected);
  const least = expected ?? 0;
  if (made === null || isRevision(made, least)) return made;
  throw invalid("store.commit", `null after a conflict, or a whole number above ${least}`, made);
}

function isRevision(value: unknown, above: number): value is number {
  return Number.isSafeInteger(value) && (value as number) > above;
}

/** What is committed: a session as bytes, and how it takes in what another has committed. */
interface Committed {
  /** Base for a rebuild after the Wasm instance is lost. */
  base: Uint8Array;
  snapshot(): Uint8Array;
  /** What was measured of its messages; undefined: the host counts by itself. */
  measures(): Uint8Array | undefined;
  merge(theirs: Uint8Array, base: Uint8Array): void;
}

export class Commits {
  readonly #session: Committed;
  readonly #store: Store;
  readonly #key: string;
  /** Stored revision that the session builds on. */
  #revision: number | null;
  /** The seals of all whose commit was not acknowledged: whatever threw, the store may hold any of them. */
  readonly #sent = new Set<string>();
  /** Revision below our own that the store gave when the last `save` gave up. */
  #older: number | undefined;
  /** One after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #underWay = 0;
  #isOver = false;

  /** @param held what the session was woken from. */
  constructor(session: Committed, store: Store, key: string, stored: Stored | null) {
    this.#session = session;
    this.#store = store;
    this.#key = key;
    this.#revision = stored?.revision ?? null;
    session.base = stored?.bytes ?? NOTHING;
  }

  save({ measures = false }: { measures?: boolean } = {}): Promise<{
    revision: number;
    rebased: boolean;
  }> {
    if (measures && typeof this.#store.saveMeasures !== "function") {
      const expected = "a store with `saveMeasures`, for `save({ measures: true })`";
      throw invalid("store", expected, this.#store, "one without it");
    }
    // Its session is empty by now: it would take the stored one's place.
    if (this.#isOver) throw disposed("save", "session");
    this.#underWay += 1;
    const saved = this.#last.then(async () => {
      if (measures) await this.#saveMeasures();
      return this.#commit();
    });
    const ended = (): void => {
      this.#underWay -= 1;
    };
    // Also after a failure, so that the commits after it are still made.
    this.#last = saved.then(ended, ended);
    return saved;
  }

  /** Nothing is saved from now on. `stop` runs after the commits under way, or now if there are none. */
  end(stop: () => void): void {
    this.#isOver = true;
    if (this.#underWay === 0) stop();
    else void this.#last.then(stop);
  }

  /** Before the commit: whatever the store throws, nothing is committed then. */
  async #saveMeasures(): Promise<void> {
    const bytes = this.#session.measures();
    if (bytes) await this.#store.saveMeasures?.(this.#key, bytes);
  }

  async #commit(): Promise<{ revision: number; rebased: boolean }> {
    let rebased = false;
    let older: number | undefined;
    for (let tries = 0; tries < TRIES; tries++) {
      const bytes = this.#session.snapshot();
      this.#sent.add(sealOf(bytes));
      // Nothing of ours was beside what was taken in.
      const isThere = rebased && isSame(bytes, this.#session.base);
      const made = isThere
        ? this.#revision
        : await commit(this.#store, this.#key, bytes, this.#revision);
      if (made !== null) {
        this.#settle(bytes, made);
        return { revision: made, rebased };
      }
      const stored = await load(this.#store, this.#key);
      const [found, revision] = [stored?.bytes ?? NOTHING, stored?.revision ?? null];
      // What we have committed or merged already, from a replica that lags: as a base it would make our own last commit look like
      // another's, and ours since then would yield to it. A store that still gives it at the next save has lost commits, as in a failover.
      if (revision !== null && revision <= (this.#revision ?? 0) && revision !== this.#older) {
        older = revision;
        continue;
      }
      // This commit was made, and the answer to it was lost.
      if (isSame(found, bytes)) {
        this.#settle(bytes, revision);
        return { revision: revision as number, rebased };
      }
      // An earlier commit of ours whose answer was lost holds nothing to merge.
      if (stored && !this.#sent.has(sealOf(found))) {
        this.#session.merge(found, this.#session.base);
        rebased = true;
      }
      this.#settle(found, revision);
    }
    this.#older = older;
    throw conflict(null, this.#revision ?? 0);
  }

  #settle(base: Uint8Array, revision: number | null): void {
    this.#session.base = base;
    this.#revision = revision;
    this.#older = undefined;
    this.#sent.clear();
  }
}

/** What tells one snapshot from another: its size, and the hash that it ends with. So a long outage of a store costs no memory. */
function sealOf(bytes: Uint8Array): string {
  return `${bytes.length}:${bytes.subarray(-8)}`;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
