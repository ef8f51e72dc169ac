/** Store in a folder, one file for each session, for the processes of one machine. Node, Deno, Bun. */
import { createHash, randomUUID } from "node:crypto";
import { open, readFile, rename, unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { invalid } from "../core/errors.js";
import type { Store } from "../types.js";
import { type Lock, lockIn, missing } from "./lock.js";
import { copied, corrupt, nameOf } from "./record.js";

/** What a record starts with: its version, revision, length and hash. */
const HEAD = /^plimsoll-record 1 (\d{1,15}) (\d{1,15}) ([0-9a-f]{64})\n/;
/** More than the longest head, which has 115 bytes. */
const HEAD_BYTES = 128;
/** The folder of what belongs to processes, and not to sessions. */
const OWNERS = ".owners";

interface Record {
  bytes: Uint8Array;
  revision: number;
}

/**
 * Creates a store in a folder; the folder is made with the first commit. Many processes of one machine may write. A record is replaced as a
 * whole, by a rename under a lock, and is on disk before `commit` resolves. If a process is killed, the record is either the old or the
 * new one.
 *
 * Do not share the folder between machines or containers: whether a process elsewhere is alive cannot be seen, so that its lock counts
 * as abandoned only after a minute.
 *
 * @param path path of the folder
 * @throws {PlimsollError} `CORRUPT_STATE` for a record that was changed; `LOCKED` if another process does not release a lock within ten seconds; errors of
 *   the file system.
 * @example
 * const store = fileStore("/var/lib/gateway/sessions");
 * const context = await ContextManager.open(store, sessionId, options);
 */
export function fileStore(path: string): Store & Disposable {
  if (typeof path !== "string" || path === "") {
    throw invalid("folder", "the path of a folder", path);
  }
  // The same one wherever the process goes later.
  const folder = resolve(path);
  const lock = lockIn(join(folder, OWNERS));
  const placeOf = (key: string): string => join(folder, fileOf(key));
  const measuresOf = (key: string): string => `${placeOf(key)}.measures`;
  const deleted = join(folder, ".deleted");
  return {
    multiWriter: true,
    load: async (key) => {
      const place = placeOf(key);
      return read(place, key);
    },
    commit: async (key, bytes, expected) => {
      const place = placeOf(key);
      // Copied before the first wait, since the host may reuse its bytes.
      const record = encoded(key, bytes);
      return lock(`${place}.lock`, async (still) => {
        const found = await read(place, key);
        if ((found?.revision ?? null) !== expected) return null;
        const revision = (found?.revision ?? (await numberIn(deleted))) + 1;
        await replace(folder, place, record(revision), still);
        return revision;
      });
    },
    delete: async (key) => {
      const place = placeOf(key);
      await lock(`${place}.lock`, async (still) => {
        await unlink(measuresOf(key)).catch(missing);
        // Without a check of its hash: a record that was changed can be deleted, too.
        const found = revisionIn(await readFile(place).catch(missing));
        if (found === undefined) return;
        // Before the record is removed: after a crash between the two, its revision must not come
        // again.
        await raise(lock, folder, deleted, found);
        await still();
        await unlink(place);
        await settle(folder);
      });
    },
    loadMeasures: async (key) => {
      const bytes = await readFile(measuresOf(key)).catch(missing);
      return bytes ? copied(bytes) : null;
    },
    saveMeasures: async (key, bytes) => {
      const own = copied(bytes);
      await lock(`${placeOf(key)}.lock`, (still) => replace(folder, measuresOf(key), own, still));
    },
    // Nothing is open between two calls.
    [Symbol.dispose]: () => {},
  };
}

/** A name for every key, whatever the file system makes of case, length and signs: the start of the key, and a hash of all. */
function fileOf(key: string): string {
  const name = nameOf(key);
  const start = name.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  return `${start.slice(0, 40)}.${createHash("sha256").update(name).digest("hex")}`;
}

/** The hash is of key and revision too: a file in another's place does not verify. */
function hashOf(key: string, revision: number, bytes: Uint8Array): string {
  const head = `${revision} ${bytes.length} ${nameOf(key)}\n`;
  return createHash("sha256").update(head).update(bytes).digest("hex");
}

function encoded(key: string, bytes: Uint8Array): (revision: number) => Uint8Array {
  const own = copied(bytes);
  return (revision) => {
    const hash = hashOf(key, revision, own);
    return Buffer.concat([
      Buffer.from(`plimsoll-record 1 ${revision} ${own.length} ${hash}\n`),
      own,
    ]);
  };
}

/** None: there is no file. 0: it does not tell. */
function revisionIn(content: Buffer | undefined): number | undefined {
  return content && Number(HEAD.exec(content.toString("latin1", 0, HEAD_BYTES))?.[1] ?? 0);
}

async function read(place: string, key: string): Promise<Record | null> {
  const content = await readFile(place).catch(missing);
  if (!content) return null;
  const head = HEAD.exec(content.toString("latin1", 0, HEAD_BYTES));
  if (!head) throw corrupt(place, "it does not start as a record does");
  const bytes = copied(content.subarray(head[0].length));
  const revision = Number(head[1]);
  if (bytes.length !== Number(head[2])) throw corrupt(place, "it is cut, or something follows it");
  if (hashOf(key, revision, bytes) !== head[3]) throw corrupt(place, "its bytes have changed");
  return { bytes, revision };
}

/**
 * The file is new or old, never between: written beside it, put on the disk, renamed, and the folder put on the disk. Each writes in a file of
 * its own: one whose lock was taken away, and that wakes up, still writes. What a killed one leaves goes with its owner's file.
 */
async function replace(
  folder: string,
  place: string,
  content: Uint8Array,
  still: () => Promise<void>,
): Promise<void> {
  const beside = join(folder, OWNERS, `${randomUUID()}.new`);
  try {
    const file = await open(beside, "wx");
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await still();
    await rename(beside, place);
  } catch (error) {
    await unlink(beside).catch(() => undefined);
    throw error;
  }
  await settle(folder);
}

/** A rename is for good once the folder is on the disk. Windows has no such thing. */
async function settle(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The highest revision that was deleted of any key: no revision of a key comes again. */
async function numberIn(deleted: string): Promise<number> {
  const text = (await readFile(deleted, "utf8").catch(missing)) ?? "0";
  if (!/^\d{1,15}$/.test(text)) throw corrupt(deleted, "it holds no revision");
  return Number(text);
}

async function raise(lock: Lock, folder: string, deleted: string, revision: number): Promise<void> {
  await lock(`${deleted}.lock`, async (still) => {
    if (revision > (await numberIn(deleted))) {
      await replace(folder, deleted, Buffer.from(String(revision)), still);
    }
  });
}
