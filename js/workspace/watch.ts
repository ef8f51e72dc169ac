/** Watches folders, also those that come later; says when one cannot be watched. */
import { type FSWatcher, statSync, watch } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { clearImmediate, clearTimeout, setImmediate, setTimeout } from "node:timers";

/** A folder, and which names of it tell of a change. */
export interface Watched {
  path: string;
  matters(name: string): boolean;
  /** Only watched for a folder in it that may come: it is no loss where that is there. */
  gate?: boolean;
}

/**
 * Milliseconds. A folder that was replaced is watched anew at once, and again after this time: Deno may close its watcher of the old
 * folder late, and then it closes the new one, too.
 */
const SETTLED = 100;

/**
 * Tells of every change that matters. A folder that is not there yet is looked for at each change of the one above it.
 * `fs.watch` and no package: seven folders, no recursion, and what it may miss the polling finds.
 */
export class Watcher {
  readonly #folders: readonly Watched[];
  readonly #changed: () => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #failure: string | undefined;
  /** Paths of folders that appeared, disappeared or were replaced. */
  readonly #replaced = new Set<string>();
  #starting: NodeJS.Immediate | undefined;
  #settling: NodeJS.Timeout | undefined;

  /** @param folders each after its parent */
  constructor(folders: readonly Watched[], changed: () => void) {
    this.#folders = folders;
    this.#changed = changed;
    this.#start();
  }

  /** Why something cannot be watched; nothing if a change of all that there is, or may come, is told. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Tries again what could not be watched. */
  retry(): void {
    if (this.#failure === undefined) return;
    this.#start();
    this.#changed();
  }

  close(): void {
    clearImmediate(this.#starting);
    clearTimeout(this.#settling);
    for (const path of [...this.#watchers.keys()]) this.#drop(path);
  }

  #start(): void {
    this.#failure = undefined;
    /** Watched, or awaited by one above. */
    const covered = new Set<string>();
    for (const folder of this.#folders) {
      const flaw = this.#watch(folder);
      const awaited = flaw?.code === "ENOENT" && covered.has(dirname(folder.path));
      if (!flaw || awaited) covered.add(folder.path);
      else if (!folder.gate) this.#failure ??= flaw.message;
    }
  }

  #watch(folder: Watched): NodeJS.ErrnoException | undefined {
    const { path } = folder;
    if (this.#watchers.has(path)) return undefined;
    try {
      // Deno tells only later, as an error, that there is nothing to watch.
      statSync(path);
      // A runtime may still report of a folder whose watcher was closed.
      const isOpen = (): boolean => this.#watchers.get(path) === watcher;
      const watcher = watch(path, { persistent: false }, (_, name) => {
        if (isOpen()) this.#report(folder, name);
      });
      // `persistent` says nothing to Deno.
      watcher.unref();
      watcher.on("error", (error) => {
        if (isOpen()) this.#lose(path, error);
      });
      this.#watchers.set(path, watcher);
      return undefined;
    } catch (error) {
      return error as NodeJS.ErrnoException;
    }
  }

  #report({ path, matters }: Watched, name: string | null): void {
    // Its own name: it was moved or removed, and another may stand in its place.
    const isItself = name === null || name === basename(path);
    if (!isItself && !matters(name)) return;
    const changed = isItself ? path : join(path, name);
    const replaced = this.#folders.filter(
      (folder) => folder.path === changed || folder.path.startsWith(changed + sep),
    );
    if (replaced.length > 0) {
      for (const folder of replaced) this.#replaced.add(folder.path);
      this.#watchReplaced();
      clearTimeout(this.#settling);
      this.#settling = setTimeout(() => {
        this.#watchReplaced();
        this.#replaced.clear();
      }, SETTLED).unref();
    }
    this.#changed();
  }

  /** Watches them anew, two turns later: Deno ignores a watcher of a path whose old watcher it has not closed yet. */
  #watchReplaced(): void {
    for (const path of this.#replaced) this.#drop(path);
    clearImmediate(this.#starting);
    this.#starting = setImmediate(() => {
      this.#starting = setImmediate(() => {
        this.#start();
        this.#changed();
      });
    });
  }

  /** Not tried again at once: what failed mostly fails again. */
  #lose(path: string, error: Error): void {
    this.#drop(path);
    this.#failure = error.message;
    this.#changed();
  }

  #drop(path: string): void {
    this.#watchers.get(path)?.close();
    this.#watchers.delete(path);
  }
}
