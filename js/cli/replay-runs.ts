/** Runs of `plimsoll replay`: what is still to be played, and what has come of the rest, in whatever order it came. */
import { Exit, usage } from "./errors.js";
import type { Facts } from "./header.js";
import type { Failure, News, Opened, Task } from "./play-file.js";
import type { Progress } from "./progress.js";
import { type ReplayReport, type Run, replayReport } from "./replay.js";

export class Runs {
  readonly #files: readonly string[];
  readonly #progress: Progress;
  readonly #left: Task[];
  /** By file; `null` if it could not be opened, `undefined` until that is known. */
  readonly #opened: Array<Opened | null | undefined>;
  readonly #facts: Facts[] = [];
  /** By file, then by number. */
  readonly #runs: Run[][];
  readonly #failures: Array<Failure & { place: number }> = [];

  /** @param tasks in the order of the files */
  constructor(files: readonly string[], tasks: readonly Task[], progress: Progress) {
    this.#files = files;
    this.#progress = progress;
    this.#left = [...tasks];
    this.#opened = files.map(() => undefined);
    this.#runs = files.map(() => []);
  }

  /** The next task. Once the command has to fail, files are only opened: one that cannot be opened is reported first. */
  next(): Task | undefined {
    const task = this.#left.shift();
    const fails = this.#failures.length > 0 || this.#otherWindow() !== undefined;
    return task !== undefined && fails ? { ...task, to: task.from } : task;
  }

  /** Takes back a task of which nothing has come. */
  putBack(task: Task): void {
    this.#left.unshift(task);
  }

  take({ place, from, to }: Task, news: News): void {
    switch (news.kind) {
      case "opened":
        this.#opened[place] = news.opened;
        this.#progress.expect(to - from, news.opened.calls);
        return;
      case "advanced":
        this.#progress.advance(news.calls);
        return;
      case "played":
        (this.#runs[place] ?? [])[news.number] = news.run;
        if (news.facts !== undefined) this.#facts[place] = news.facts;
        this.#progress.finish();
        return;
      case "failed":
        if (news.failure.run === null) this.#opened[place] = null;
        this.#failures.push({ ...news.failure, place });
    }
  }

  /** How the command ends, once no run can change it any more. */
  get failure(): Exit | undefined {
    const unknown = this.#opened.indexOf(undefined);
    const unopened = this.#opened.indexOf(null);
    const isFirst = unopened >= 0 && (unknown < 0 || unopened < unknown);
    if (isFirst) return exitOf(this.#failures.find(({ place }) => place === unopened));
    return unknown < 0 ? this.#otherWindow() : undefined;
  }

  /** All runs in their order, however they were played. */
  report(): ReplayReport {
    const order = (one: Failure & { place: number }): number => one.place * 1e6 + (one.run ?? -1);
    const [failed] = [...this.#failures].sort((a, b) => order(a) - order(b));
    const failure = this.failure ?? exitOf(failed);
    const [first] = this.#opened;
    if (failure !== undefined || !first) throw failure ?? usage("FILE is missing");
    return replayReport(this.#facts, this.#runs.flat(), first.prices);
  }

  /** Sessions of different windows have no row in common. */
  #otherWindow(): Exit | undefined {
    const known = this.#opened.flatMap((one, place) => {
      return one ? { place, windows: JSON.stringify(one.windows) } : [];
    });
    const [first] = known;
    const other = known.find(({ windows }) => windows !== first?.windows);
    if (first === undefined || other === undefined) return undefined;
    const [one, two] = [this.#files[first.place], this.#files[other.place]];
    return usage(`--window is missing: ${one} and ${two} have different windows`);
  }
}

function exitOf(failure: Failure | undefined): Exit | undefined {
  return failure && new Exit(failure.code, failure.message);
}
