/// <reference lib="esnext.disposable" preserve="true" />
/** Workspace folder as sections of a system prompt, read once and again after changes. */
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
// Not the global ones: Deno's answer with a number, which cannot be told to let the program end.
import { clearInterval, setImmediate, setInterval } from "node:timers";
import { flagOf, onlyKnown } from "../core/arguments.js";
import { invalid } from "../core/errors.js";
import { wasm } from "../glue/prompt_text.js";
import { prompts, workspaceSections } from "../prompt/prompt.js";
import type { RequestFocus, Section } from "../types.js";
import { foldersOf, type Places, type Skipped, type Snapshot, take } from "./files.js";
import { Watcher } from "./watch.js";

export type { Skipped } from "./files.js";

/** The times that a `Date` can hold. */
const LATEST = 8.64e15;

/** Options of `Workspace.open`. */
export interface WorkspaceOptions {
  /** Seconds between two reads of all files, for changes that watchers miss (network disks, containers). 0: off. Default 60. */
  poll?: number | undefined;
  /** Watch the folders for changes. Default true. */
  watch?: boolean | undefined;
  /** Folder of the user, with files for all projects; `false`: none. Default `~/.aceclaw`. */
  home?: string | false | undefined;
  /**
   * Returns the time in epoch milliseconds; it decides which day's notes are read. Default `Date.now`. What it throws, each call that
   * asks for the time throws too; a time that a `Date` cannot hold is `INVALID_ARGUMENT`.
   */
  clock?: (() => number) | undefined;
}

/** How a workspace notices changes. */
export interface WorkspaceState {
  /** True if every folder is watched, so that changes are noticed at once. */
  watching: boolean;
  /** True if all files are read again from time to time. */
  polling: boolean;
  /** Why a folder cannot be watched; `undefined` if nothing prevents it. */
  watchFailure: string | undefined;
  /** How often the files were read with other contents than before. */
  churn: number;
}

/**
 * Reads the files of an agent's workspace as sections: `AGENTS.md`, `SOUL.md`, `TOOLS.md`, `IDENTITY.md`, `USER.md`, `HEARTBEAT.md`,
 * `BOOTSTRAP.md` and `MEMORY.md`, the notes of today and yesterday in `memory/`, and AceClaw's files and rules. What was read is
 * kept until a file changes or the day ends; without watching and polling, files are read at every call.
 *
 * Files of more than 4 MiB, files that are not regular, hold no text or cannot be read, and links that lead out of the workspace are left out;
 * `skipped` lists them. Links in the user's own folder may lead anywhere.
 *
 * @example
 * await using workspace = await Workspace.open(folder);
 * const plan = assemblePrompt(await workspace.sections(focus), { focus });
 */
export class Workspace {
  /** Absolute path of the folder. */
  readonly folder: string;
  readonly #places: Places;
  readonly #clock: () => number;
  #watcher: Watcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #snapshot: Snapshot | undefined;
  #day = "";
  #hash = "";
  #churn = -1;
  /** Raised by every change: what was read under an older number is not kept. */
  #changes = 0;

  private constructor(folder: string, options: WorkspaceOptions) {
    const {
      poll = 60,
      watch = true,
      home = join(homedir(), ".aceclaw"),
      clock,
    } = onlyKnown("options", options, ["poll", "watch", "home", "clock"]);
    if (!Number.isFinite(poll) || poll < 0) throw invalid("poll", "seconds, 0 or more", poll);
    // No path at all would be the folder in which the program runs.
    if (home !== false && (typeof home !== "string" || home === ""))
      throw invalid("home", "a path or false", home);
    this.folder = resolve(folder);
    this.#places = { root: this.folder, home: home === false ? undefined : home };
    this.#clock = clock ?? Date.now;
    if (clock !== undefined && typeof clock !== "function")
      throw invalid("clock", "a function", clock);
    if (flagOf("watch", watch)) {
      this.#watcher = new Watcher(foldersOf(this.#places), () => this.invalidate());
    }
    if (poll > 0) {
      this.#timer = setInterval(() => void this.#look(), poll * 1000);
      this.#timer.unref?.();
    }
  }

  /**
   * Opens a folder. A folder that does not exist yet has no sections until it is created.
   *
   * @param folder path of the folder
   * @throws {PlimsollError} `INVALID_ARGUMENT`; what `clock` throws. A file that cannot be read is no error; see `skipped`.
   */
  static async open(folder: string, options: WorkspaceOptions = {}): Promise<Workspace> {
    if (typeof folder !== "string" || folder === "") throw invalid("folder", "a path", folder);
    const found = await stat(folder).catch(() => undefined);
    if (found?.isDirectory() === false) throw invalid("folder", "the path of a folder", folder);
    const workspace = new Workspace(folder, options);
    try {
      await workspace.#current();
    } catch (error) {
      // Nobody else could stop its watchers and its timer.
      await workspace[Symbol.asyncDispose]();
      throw error;
    }
    return workspace;
  }

  /**
   * Returns the sections with the current contents of the files.
   *
   * @param focus what the request is about; adds the section `task-focus` and the rules for its files
   */
  async sections(
    focus?: RequestFocus,
    options: {
      /** Only the sections for a subagent: `AGENTS.md` and `TOOLS.md`. Default false. */
      subagent?: boolean | undefined;
    } = {},
  ): Promise<Section[]> {
    const { subagent } = onlyKnown("options", options, ["subagent"]);
    const isForSubagent = flagOf("subagent", subagent);
    const { files, rules } = await this.#current();
    prompts.from(wasm);
    return workspaceSections(files, rules, focus, isForSubagent);
  }

  /** Returns the files that were left out, and why. */
  async skipped(): Promise<Skipped[]> {
    return (await this.#current()).skipped;
  }

  /** How changes are noticed, and how many there were. */
  get state(): WorkspaceState {
    const watchFailure = this.#watcher?.failure;
    const watching = this.#watcher !== undefined && watchFailure === undefined;
    const churn = Math.max(0, this.#churn);
    return { watching, polling: this.#timer !== undefined, watchFailure, churn };
  }

  /** Forgets what was read; the next call reads the files again. */
  invalidate(): void {
    this.#changes += 1;
    this.#snapshot = undefined;
  }

  /** Stops watching and polling. From then on every call reads the files. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#watcher?.close();
    this.#watcher = undefined;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.invalidate();
  }

  async #current(): Promise<Snapshot> {
    // What the system already knows of changes is told first: between two of these it is asked for them.
    for (let turn = 0; turn < 2; turn += 1) await new Promise((done) => setImmediate(done));
    this.#watcher?.retry();
    const days = daysAt(this.#now());
    if (days.join() !== this.#day) this.invalidate();
    this.#day = days.join();
    const { watching, polling } = this.state;
    return this.#snapshot && (watching || polling) ? this.#snapshot : this.#read(days);
  }

  async #read(days: readonly string[]): Promise<Snapshot> {
    const changes = this.#changes;
    const snapshot = await take(this.#places, days);
    if (changes === this.#changes) this.#snapshot = snapshot;
    if (snapshot.hash !== this.#hash) this.#churn += 1;
    this.#hash = snapshot.hash;
    return snapshot;
  }

  /** Reads all again, and lets go what was kept if it is another. */
  async #look(): Promise<void> {
    const kept = this.#snapshot;
    if (!kept) return;
    try {
      const now = await take(this.#places, daysAt(this.#now()));
      if (this.#snapshot === kept && now.hash !== kept.hash) this.invalidate();
    } catch {
      // Nobody waits for a look. The next call reads all again, and throws what is still wrong then.
      this.invalidate();
    }
  }

  #now(): number {
    const now: unknown = this.#clock();
    if (typeof now === "number" && Math.abs(now) <= LATEST) return now;
    throw invalid("clock", "a function that gives milliseconds since 1970, as Date.now does", now);
  }
}

/** Today and yesterday in the place where this runs, as notes are named. */
function daysAt(time: number): string[] {
  const today = new Date(time);
  const yesterday = new Date(time);
  yesterday.setDate(today.getDate() - 1);
  const two = (number: number): string => String(number).padStart(2, "0");
  return [today, yesterday].map(
    (day) => `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`,
  );
}
