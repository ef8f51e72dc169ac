/** Watches folders, also those that come later; says when one cannot be watched. */
import { type FSWatcher, watch } from "node:fs";
import { dirname } from "node:path";

/**
 * Tells of every change in the folders. A folder that is not there yet is looked for at each change of the one above it.
 * `fs.watch` and no package: five folders, no recursion, and what it may miss the polling finds.
 */
export class Watcher {
  readonly #folders: readonly string[];
  readonly #changed: (name: string | null) => void;
  readonly #watchers = new Map<string, FSWatcher>();
  #failed: string | undefined;

  constructor(folders: readonly string[], changed: (name: string | null) => void) {
    this.#folders = folders;
    this.#changed = changed;
    this.#start();
  }

  /** Why something that is there cannot be watched; nothing if all is. */
  get failure(): string | undefined {
    return this.#failed;
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  #start(): void {
    for (const folder of this.#folders) {
      if (this.#watchers.has(folder)) continue;
      try {
        const watcher = watch(folder, { persistent: false }, (_, name) => this.#tell(folder, name));
        watcher.on("error", (error) => this.#lose(folder, error));
        this.#watchers.set(folder, watcher);
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        // Not there yet: the folder above tells when it comes.
        const awaited = code === "ENOENT" && this.#folders.includes(dirname(folder));
        if (!awaited) this.#failed = message;
      }
    }
  }

  #tell(folder: string, name: string | null): void {
    // A folder that was removed and made again has another watcher.
    if (name !== null) {
      for (const inner of this.#folders) {
        if (inner !== folder && inner.startsWith(folder) && inner.includes(name)) this.#drop(inner);
      }
    }
    this.#start();
    this.#changed(name);
  }

  #lose(folder: string, error: Error): void {
    this.#failed = error.message;
    this.#drop(folder);
    this.#changed(null);
  }

  #drop(folder: string): void {
    this.#watchers.get(folder)?.close();
    this.#watchers.delete(folder);
  }
}
