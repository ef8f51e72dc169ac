/// <reference lib="esnext.disposable" preserve="true" />
/** A workspace folder as sections of a system prompt: read once, and again when something has changed. */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
// Not the global ones: Deno's answer with a number, which cannot be told to let the program end.
import { clearInterval, setImmediate, setInterval } from "node:timers";
import { invalid } from "../errors.js";
import { wasm } from "../glue/prompt_text.js";
import { prompts, workspaceSections } from "../prompt.js";
import type { RequestFocus, Section } from "../types.js";
import { foldersOf, type Places, type Skipped, type Snapshot, take } from "./files.js";
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

/** How changes are noticed. */
export interface WorkspaceState {
  /** Every change that the system tells of is noticed at once. */
  watching: boolean;
  /** All files are looked at now and then. */
  polling: boolean;
  /** Why not all can be watched. */
  watchFailure: string | undefined;
  /** How often another content than before was read. */
  churn: number;
}

/**
 * The files of an agent's workspace: `AGENTS`, `SOUL`, `TOOLS`, `IDENTITY`, `USER`, `HEARTBEAT`, `BOOTSTRAP` and `MEMORY.md`,
 * today's and yesterday's notes in `memory/`, AceClaw's files and rules. What was read is kept until a file changes or the day
 * ends; where nothing watches or polls it is not kept at all. Skipped are files of more than 4 MB, what is no regular file or cannot be
 * read, and links that lead out of the workspace; `skipped` lists them. Links in the user's own
 * folder may lead anywhere.
 *
 * @example
 * await using workspace = await Workspace.open(folder);
 * const plan = assemblePrompt(await workspace.sections(focus), { focus });
 */
export class Workspace {
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
    const { poll = 60, watch = true, home = join(homedir(), ".aceclaw"), clock } = options;
    if (!Number.isFinite(poll) || poll < 0) throw invalid("poll", "seconds, 0 or more", poll);
    if (home !== false && typeof home !== "string") throw invalid("home", "a path or false", home);
    this.folder = resolve(folder);
    this.#places = { root: this.folder, home: home === false ? undefined : home };
    this.#clock = clock ?? Date.now;
    if (watch) {
      this.#watcher = new Watcher(foldersOf(this.#places), () => this.invalidate());
    }
    if (poll > 0) {
      this.#timer = setInterval(() => void this.#look(), poll * 1000);
      this.#timer.unref?.();
    }
  }

  /**
   * Opens a folder; one that is not there yet has no sections until it comes.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT`. What cannot be read is no error: `skipped` tells of it.
   */
  static async open(folder: string, options: WorkspaceOptions = {}): Promise<Workspace> {
    if (typeof folder !== "string") throw invalid("folder", "a path", folder);
    const workspace = new Workspace(folder, options);
    await workspace.#current();
    return workspace;
  }

  /**
   * The sections of what the files hold now; rules only where the focus has files that they are about.
   *
   * @param options `subagent`: only what an agent that works for another is shown, `AGENTS.md` and `TOOLS.md`.
   */
  async sections(focus?: RequestFocus, options: { subagent?: boolean } = {}): Promise<Section[]> {
    const { files, rules } = await this.#current();
    prompts.from(wasm);
    return workspaceSections(files, rules, focus, options.subagent === true);
  }

  /** Files that were not taken, and why. */
  async skipped(): Promise<Skipped[]> {
    return (await this.#current()).skipped;
  }

  /** How changes are noticed, and how often there was one. */
  get state(): WorkspaceState {
    const watchFailure = this.#watcher?.failure;
    const watching = this.#watcher !== undefined && watchFailure === undefined;
    const churn = Math.max(0, this.#churn);
    return { watching, polling: this.#timer !== undefined, watchFailure, churn };
  }

  /** Forgets what was read. */
  invalidate(): void {
    this.#changes += 1;
    this.#snapshot = undefined;
  }

  /** Stops watching and polling; from now on every call reads the files. */
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
    const days = daysAt(this.#clock());
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
    const now = await take(this.#places, daysAt(this.#clock()));
    if (this.#snapshot === kept && now.hash !== kept.hash) this.invalidate();
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
