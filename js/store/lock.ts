/**
 * Locks between processes, which no killed process leaves behind and which let no two in.
 *
 * A process, and each worker in it, has one file that says who it is; a lock is a hard link to it, made and removed by one call of the system
 * each.
 * Whoever finds the lock of a dead process takes it away; the right to do that is a lock too, under the dead one's name, so that nobody
 * takes away the next one's by mistake. A lock is only ever held for the time of a write: one of which nobody here can tell
 * whether its process lives counts as left behind after a minute, as of another machine or container, or where the system does not say when a
 * process began.
 */
import { randomUUID } from "node:crypto";
import { readlinkSync } from "node:fs";
import {
  link,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  unlink,
  writeFile,
} from "node:fs/promises";
import { hostname } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isMainThread } from "node:worker_threads";
import { PlimsollError } from "../core/errors.js";

/** Milliseconds after which a lock that another process does not release is an error. */
const PATIENCE_MS = 10_000;
/** Milliseconds after which one whose process nobody knows is taken away. */
const LEFT_MS = 60_000;

interface Owner {
  id: string;
  pid: number;
  /** When the process began, by the system's clock ticks: a pid comes again. Empty where the system does not tell. */
  began: string;
  /** Machine, and where pids mean something else in a container, that too. */
  host: string;
  /** Of a worker, which may end before its process: the system's number of its thread, and when that began. */
  thread?: { tid: string; began: string };
}

/** Runs `work` while nobody else holds `path`; gives what it gives. `still` throws if the lock was taken away meanwhile. */
export type Lock = <T>(
  path: string,
  work: (still: () => Promise<void>) => Promise<T>,
) => Promise<T>;

/** The file that says who this process is, by its folder: one for all stores that are there. */
const introductions = new Map<string, Promise<string>>();

/** Calls of this process that want a lock or have it. */
interface Calls {
  count: number;
  /** When one of them released it: time in which this process wrote is no time in which another one held the lock. */
  releasedAt: number;
}

/** By the path of the lock. */
const callsFor = new Map<string, Calls>();

/**
 * @param folder absolute path of the folder for the owners' files, on the same file system as the locks.
 * @param patience milliseconds for which another process may hold a lock.
 */
export function lockIn(folder: string, patience: number = PATIENCE_MS): Lock {
  const take = async (path: string, calls: Calls, isLast = false): Promise<string> => {
    const mine = introductions.get(folder) ?? introduced(folder);
    introductions.set(folder, mine);
    try {
      const own = await mine;
      await taken(own, path, calls, patience);
      return own;
    } catch (error) {
      if ((error as { code?: string }).code === "LOCKED") throw error;
      // Also where somebody has cleaned up: who this is is written once more.
      if (introductions.get(folder) === mine) introductions.delete(folder);
      if (isLast || (error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      return take(path, calls, true);
    }
  };
  return async (path, work) => {
    const calls = callsFor.get(path) ?? { count: 0, releasedAt: 0 };
    callsFor.set(path, calls);
    calls.count++;
    try {
      const own = await take(path, calls);
      const still = async (): Promise<void> => {
        const owner = await ownerOf(path);
        if (owner?.id !== basename(own)) throw locked(path, owner);
      };
      try {
        return await work(still);
      } finally {
        await still().then(
          () => unlink(path),
          () => undefined,
        );
        calls.releasedAt = Date.now();
      }
    } finally {
      if (--calls.count === 0) callsFor.delete(path);
    }
  };
}

/** Writes this process's file, and removes those of processes that are gone, with what they were about to write. */
async function introduced(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    if (!(await lives(await ownerOf(path), path))) await unlink(path).catch(missing);
  }
  const { pid } = process;
  const id = randomUUID().slice(-12);
  const thread = await ownThread();
  const owner: Owner = { id, pid, began: await beganAt(pid), host: await here(), ...thread };
  const path = join(folder, id);
  // On the disk before the first link to it: after a crash a lock must say whose it is.
  await writeFile(path, JSON.stringify(owner), { flush: true });
  return path;
}

async function taken(own: string, path: string, calls: Calls, patience: number): Promise<void> {
  let [since, holder] = [Date.now(), ""];
  for (let tries = 0; !(await linked(own, path)); tries++) {
    const owner = await ownerOf(path);
    if (owner && owner.id !== holder) [since, holder] = [Date.now(), owner.id];
    if (Date.now() - Math.max(since, calls.releasedAt) > patience) throw locked(path, owner);
    if (owner && !(await lives(owner, path))) {
      await freed(own, path, owner);
      continue;
    }
    // Not all at once, and not for long: it is held for a write.
    await sleep(Math.random() * Math.min(2 + tries, 20));
  }
}

/** Takes away the lock of a process that is gone, if it still is its. */
async function freed(own: string, path: string, gone: Owner): Promise<void> {
  const right = `${path}.${gone.id}`;
  if (!(await linked(own, right))) {
    const other = await ownerOf(right);
    // Whoever had the right may be gone as well.
    if (other && !(await lives(other, right))) await freed(own, right, other);
    else await sleep(1);
    return;
  }
  try {
    if ((await ownerOf(path))?.id === gone.id) await unlink(path);
  } finally {
    await unlink(right);
  }
}

async function linked(own: string, path: string): Promise<boolean> {
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function ownerOf(path: string): Promise<Owner | undefined> {
  const text = await readFile(path, "utf8").catch(missing);
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Owner);
  } catch {
    // Its process ended while it wrote who it is: it never held a lock.
    return undefined;
  }
}

/** Whether the process that has written `path`, or linked it, still runs. Where nobody can tell it does for a minute. */
async function lives(owner: Owner | undefined, path: string): Promise<boolean> {
  if (owner?.host === (await here())) {
    try {
      process.kill(owner.pid, 0);
    } catch (error) {
      // Any other error, such as EPERM, comes from a process that runs.
      if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
    }
    const began = await beganAt(owner.pid);
    // Without it another may have the number by now.
    if (began !== "" && owner.began !== "")
      return began === owner.began && !(await hasEnded(owner));
  }
  const found = await stat(path).catch(missing);
  return found !== undefined && Date.now() - found.ctimeMs < LEFT_MS;
}

async function here(): Promise<string> {
  const pids = await readlink("/proc/self/ns/pid").catch(() => "");
  return `${hostname()} ${pids}`.trim();
}

/**
 * The thread of this worker, by Linux's `/proc`; nothing in a process's main thread, and where the system does not tell. In Node only, where
 * a write that is under way ends before its worker's thread does: elsewhere one could still follow the removal of the lock.
 */
async function ownThread(): Promise<Pick<Owner, "thread">> {
  const isNode = !("bun" in process.versions || "deno" in process.versions);
  if (isMainThread || !isNode) return {};
  try {
    // Synchronously: what is awaited runs in another thread.
    const [pid, , tid = ""] = readlinkSync("/proc/thread-self").split("/");
    const began = pid === String(process.pid) ? await beganAt(`${pid}/task/${tid}`) : "";
    return began === "" ? {} : { thread: { tid, began } };
  } catch {
    return {};
  }
}

/** The worker has ended, and its process goes on. Whatever cannot be read counts as a worker that runs. */
async function hasEnded({ pid, thread }: Owner): Promise<boolean> {
  if (!thread) return false;
  const path = `${pid}/task/${thread.tid}`;
  const began = await beganAt(path);
  if (began !== "") return began !== thread.began;
  return stat(`/proc/${path}`).then(
    () => false,
    (error: NodeJS.ErrnoException) => error.code === "ENOENT",
  );
}

/** From Linux's `/proc`: the fields after a name that may hold anything. A process that has ended, and that nobody has asked for yet, is none. */
async function beganAt(pid: number | string): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" ? "ended" : (fields[19] ?? "");
}

function locked(path: string, owner: Owner | undefined): PlimsollError {
  const holder = owner ? `process ${owner.pid} on ${owner.host}` : "an unknown process";
  const message = `${path} is held by ${holder}`;
  return new PlimsollError({ code: "LOCKED", path, holder }, message);
}

/** There is no such file. */
export function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}
