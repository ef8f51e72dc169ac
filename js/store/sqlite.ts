/** Store in an SQLite database, with the SQLite of the runtime (`node:sqlite`). */
import { invalid, PlimsollError } from "../core/errors.js";
import type { Store } from "../types.js";
import { copied, nameOf } from "./record.js";

/** What is used of `node:sqlite`. */
interface Statement {
  get(...values: unknown[]): Record<string, unknown> | undefined;
  run(...values: unknown[]): unknown;
}
interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}
interface Sqlite {
  DatabaseSync: new (path: string) => Database;
}

/** Milliseconds that one try blocks while another connection writes. SQLite does not queue writers, so a call tries again. */
const BUSY_MS = 100;
/** Milliseconds without a commit of others after which a call is rejected. */
const PATIENCE_MS = 30_000;

// FULL: in write-ahead mode, NORMAL may lose the last commits when the power fails. The trigger
// notes the revision of every deleted row, whoever deletes it.
const SCHEMA = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS plimsoll_sessions (key TEXT PRIMARY KEY, revision INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS plimsoll_deleted (id INTEGER PRIMARY KEY CHECK (id = 1), revision INTEGER NOT NULL) STRICT;
INSERT INTO plimsoll_deleted VALUES (1, 0) ON CONFLICT DO NOTHING;
CREATE TRIGGER IF NOT EXISTS plimsoll_delete AFTER DELETE ON plimsoll_sessions BEGIN
  UPDATE plimsoll_deleted SET revision = max(revision, old.revision);
END;
CREATE TABLE IF NOT EXISTS plimsoll_measures (key TEXT PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
CREATE TRIGGER IF NOT EXISTS plimsoll_delete_measures AFTER DELETE ON plimsoll_sessions BEGIN
  DELETE FROM plimsoll_measures WHERE key = old.key;
END;
COMMIT;
`;

/**
 * Creates a store in an SQLite database, in three tables whose names start with `plimsoll_`. Many processes of one machine may write. A
 * commit is one statement in write-ahead mode and is on disk before `commit` resolves. It waits for other writers as long as they commit.
 * `node:sqlite` is synchronous, so that a call blocks the event loop while it runs.
 *
 * @param path path of the database, which may have tables of your own; `":memory:"` creates one in memory
 * @throws {PlimsollError} `INVALID_ARGUMENT` for an empty path, or if the runtime has no `node:sqlite` (Node has it from 22.5, without a
 *   flag from 22.13; Deno from 2.2); `LOCKED` if a transaction of another process has kept the database locked for 30 seconds; other
 *   errors of SQLite.
 * @example
 * const store = sqliteStore("/var/lib/gateway/sessions.db");
 * const context = await ContextManager.open(store, sessionId, options);
 */
export function sqliteStore(path: string): Store &
  Disposable & {
    /** Closes the database. */
    close(): void;
  } {
  // Without a name SQLite makes a database that is gone when it is closed.
  if (typeof path !== "string" || path === "")
    throw invalid("path", "the path of a database", path);
  const { DatabaseSync } = sqlite();
  const database = new DatabaseSync(path);
  try {
    // First of all: the switch to write-ahead mode already waits for others.
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    prepared(database, path);
  } catch (error) {
    database.close();
    throw error;
  }
  const patient = patientWith(database, path);
  const load = database.prepare("SELECT revision, bytes FROM plimsoll_sessions WHERE key = ?");
  // `WHERE true`: without it SQLite takes `ON CONFLICT` for the condition of a join.
  const first = database.prepare(
    `INSERT INTO plimsoll_sessions SELECT ?, revision + 1, ? FROM plimsoll_deleted WHERE true
      ON CONFLICT DO NOTHING RETURNING revision`,
  );
  const next = database.prepare(
    `UPDATE plimsoll_sessions SET revision = revision + 1, bytes = ?
      WHERE key = ? AND revision = ? RETURNING revision`,
  );
  const remove = database.prepare("DELETE FROM plimsoll_sessions WHERE key = ?");
  const unmeasure = database.prepare("DELETE FROM plimsoll_measures WHERE key = ?");
  const measures = database.prepare("SELECT bytes FROM plimsoll_measures WHERE key = ?");
  const measure = database.prepare("INSERT OR REPLACE INTO plimsoll_measures VALUES (?, ?)");
  return {
    // A database in memory belongs to this connection alone.
    multiWriter: path !== ":memory:",
    load: async (key) => {
      const name = nameOf(key);
      const row = (await patient(() => load.get(name))) as
        | { revision: number; bytes: Uint8Array }
        | undefined;
      return row ? { bytes: copied(row.bytes), revision: row.revision } : null;
    },
    commit: async (key, bytes, expected) => {
      const name = nameOf(key);
      // The host may reuse its bytes while the call waits.
      const own = copied(bytes);
      const row = await patient(() =>
        expected === null ? first.get(name, own) : next.get(own, name, expected),
      );
      return (row?.revision as number | undefined) ?? null;
    },
    delete: async (key) => {
      const name = nameOf(key);
      await patient(() => {
        // The trigger deletes measures only with a record, which a session that was never committed has not.
        unmeasure.run(name);
        remove.run(name);
      });
    },
    loadMeasures: async (key) => {
      const name = nameOf(key);
      const row = (await patient(() => measures.get(name))) as { bytes: Uint8Array } | undefined;
      return row ? copied(row.bytes) : null;
    },
    saveMeasures: async (key, bytes) => {
      const [name, own] = [nameOf(key), copied(bytes)];
      await patient(() => measure.run(name, own));
    },
    close: () => database.close(),
    [Symbol.dispose]: () => database.close(),
  };
}

function sqlite(): Sqlite {
  const found = process.getBuiltinModule?.("node:sqlite") as Sqlite | undefined;
  if (found) return found;
  const expected = "a runtime with node:sqlite (Node 22.13 or newer, Deno 2.2 or newer)";
  throw invalid("sqliteStore", expected, `Node ${process.versions.node}`);
}

/** Tries again while others write, and lets the host's other work go on meanwhile. */
function patientWith(database: Database, path: string): <T>(work: () => T) => Promise<T> {
  // Another number whenever another connection has committed.
  const version = database.prepare("PRAGMA data_version");
  return async (work) => {
    let [since, seen]: [number, unknown] = [Date.now(), undefined];
    for (;;) {
      const done = unlessBusy(() => ({ value: work() }));
      if (done) return done.value;
      const now = unlessBusy(() => version.get()?.data_version);
      if (now !== seen) [since, seen] = [Date.now(), now];
      if (Date.now() - since > PATIENCE_MS) throw locked(path);
      // At random, so that two writers do not collide again and again.
      await new Promise((wake) => setTimeout(wake, Math.random() * 20));
    }
  };
}

/** What the work returns; `undefined` while another connection writes. */
function unlessBusy<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (/locked|busy/.test(String((error as Error | null)?.message))) return undefined;
    throw error;
  }
}

/** Processes that switch a new database over at once may be refused without a wait. */
function prepared(database: Database, path: string): void {
  const until = Date.now() + PATIENCE_MS;
  while (!unlessBusy(() => [database.exec(SCHEMA)])) {
    if (Date.now() > until) throw locked(path);
    // The store is opened synchronously, so that it cannot await.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5 + Math.random() * 20);
  }
}

function locked(path: string): PlimsollError {
  const holder = "an unknown process";
  return new PlimsollError({ code: "LOCKED", path, holder }, `${path} is held by ${holder}`);
}
