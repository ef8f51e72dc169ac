/** A workspace folder as sections of a system prompt: read once, and again when something has changed. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { invalid } from "../errors.js";
import { workspaceSections } from "../prompt.js";
import type { RequestFocus, Section } from "../types.js";
import { foldersOf, matters, type Places, type Skipped, type Snapshot, take } from "./files.js";
import { Watcher } from "./watch.js";

export type { Skipped } from "./files.js";

export interface WorkspaceOptions {
  /** Seconds between two looks at the content of all files, for what watchers miss: network disks, containers. 0 = off. Default 60. */
  poll?: number;
  /** Watch the folders. Default true. */
  watch?: boolean;
  /** The user's own folder, with rules for all projects; false: none. Default `~/.aceclaw`. */
  home?: string | false;
  /** What the day is told by. */
  clock?: () => number;
}

const DAY = 24 * 60 * 60 * 1000;

/**
 * The files of an agent's workspace: `AGENTS`, `SOUL`, `TOOLS`, `IDENTITY`, `USER`, `HEARTBEAT`, `BOOTSTRAP` and `MEMORY.md`,
 * today's and yesterday's notes in `memory/`, AceClaw's files and rules. What was read is kept until a file changes, a day
 * ends, or, where nothing can watch or poll, not at all.
 *
 * @example
 * await using workspace = await Workspace.open(folder);
 * const plan = assemblePrompt(await workspace.sections(focus), { focus });
 */
export class Workspace {
  readonly folder: string;
  readonly #places: Places;
  readonly #clock: () => number;
  readonly #watcher: Watcher | undefined;
  readonly #timer: NodeJS.Timeout | undefined;
  #snapshot: Snapshot | undefined;
  #day = "";
  /** Raised by every change: what was read under an older number is not kept. */
  #changes = 0;

  private constructor(folder: string, options: WorkspaceOptions) {
    const { poll = 60, watch = true, home = join(homedir(), ".aceclaw"), clock } = options;
    if (!Number.isFinite(poll) || poll < 0) throw invalid("poll", "seconds, 0 or more", poll);
    this.folder = resolve(folder);
    this.#places = { root: this.folder, home: home === false ? undefined : home };
    this.#clock = clock ?? Date.now;
    if (watch) {
      this.#watcher = new Watcher(foldersOf(this.#places), (name) => {
        if (matters(name)) this.invalidate();
      });
    }
    if (poll > 0) {
      this.#timer = setInterval(() => void this.#look(), poll * 1000);
      this.#timer.unref?.();
    }
  }

  /**
   * @throws {PlimsollError} `INVALID_ARGUMENT` for an option; the system's error if the folder cannot be read at all is in `skipped`.
   */
  static async open(folder: string, options: WorkspaceOptions = {}): Promise<Workspace> {
    if (typeof folder !== "string") throw invalid("folder", "a path", folder);
    const workspace = new Workspace(folder, options);
    await workspace.#current();
    return workspace;
  }

  /** The sections of what the files hold now; rules only where the focus has files that they are about. */
  async sections(focus?: RequestFocus): Promise<Section[]> {
    const { files, rules } = await this.#current();
    return workspaceSections(files, rules, focus);
  }

  /** Files that were not taken, and why. */
  async skipped(): Promise<Skipped[]> {
    return (await this.#current()).skipped;
  }

  /** How changes are noticed; `watchFailure` says why the watching does not cover all. */
  get state(): { watching: boolean; polling: boolean; watchFailure: string | undefined } {
    const watchFailure = this.#watcher?.failure;
    const watching = this.#watcher !== undefined && watchFailure === undefined;
    return { watching, polling: this.#timer !== undefined, watchFailure };
  }

  /** Forgets what was read. */
  invalidate(): void {
    this.#changes += 1;
    this.#snapshot = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#watcher?.close();
    clearInterval(this.#timer);
    this.invalidate();
  }

  async #current(): Promise<Snapshot> {
    // What the system already knows of changes is told first.
    await new Promise((done) => setImmediate(done));
    const day = this.#dayAt(this.#clock());
    if (day !== this.#day) this.invalidate();
    const { watching, polling } = this.state;
    if (this.#snapshot && (watching || polling)) return this.#snapshot;
    this.#day = day;
    return this.#read();
  }

  async #read(): Promise<Snapshot> {
    const changes = this.#changes;
    const snapshot = await take(this.#places, this.#days());
    if (changes === this.#changes) this.#snapshot = snapshot;
    return snapshot;
  }

  /** Reads all again, and lets go what was kept if it is another. */
  async #look(): Promise<void> {
    const kept = this.#snapshot;
    if (!kept) return;
    const now = await take(this.#places, this.#days());
    if (this.#snapshot === kept && now.hash !== kept.hash) this.invalidate();
  }

  #days(): string[] {
    const now = this.#clock();
    return [this.#dayAt(now), this.#dayAt(now - DAY)];
  }

  /** The day of the place where this runs. */
  #dayAt(time: number): string {
    const date = new Date(time);
    const two = (number: number): string => String(number).padStart(2, "0");
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  }
}
