/** Progress of a long command: one line on standard error, if that is a terminal, after the first second. */
import { count } from "../render/numbers.js";

const QUIET_MS = 1000;
const APART_MS = 100;

/** Where the line goes: standard error. */
interface Terminal {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Work in runs, each of some calls to a model. */
export class Progress implements Disposable {
  readonly #runs: number;
  readonly #out: Terminal;
  readonly #now: () => number;
  readonly #started: number;
  /** Runs whose calls are known, and their calls. */
  #known = { runs: 0, calls: 0 };
  #done = { runs: 0, calls: 0 };
  #shownAt: number | undefined;

  constructor(runs: number, out: Terminal = process.stderr, now: () => number = Date.now) {
    this.#runs = runs;
    this.#out = out;
    this.#now = now;
    this.#started = now();
  }

  /** So many runs have so many calls each. */
  expect(runs: number, calls: number): void {
    this.#known.runs += runs;
    this.#known.calls += runs * calls;
  }

  /** So many calls more are done. */
  advance(calls: number): void {
    this.#done.calls += calls;
    this.#show();
  }

  /** A run is done, with so many calls more. */
  finish(calls = 0): void {
    this.#done.runs += 1;
    this.advance(calls);
  }

  /** Takes the line away. */
  [Symbol.dispose](): void {
    if (this.#shownAt !== undefined) this.#out.write("\r\x1b[K");
  }

  #show(): void {
    const now = this.#now();
    const next = Math.max(this.#started + QUIET_MS, (this.#shownAt ?? 0) + APART_MS);
    if (!this.#out.isTTY || now < next || this.#done.runs >= this.#runs) return;
    this.#shownAt = now;
    this.#out.write(`\r${this.#line(now - this.#started)}\x1b[K`);
  }

  #line(ms: number): string {
    const { runs, calls } = this.#done;
    // A run whose calls are not known yet is taken to have as many as the others.
    const all = Math.round((this.#known.calls * this.#runs) / Math.max(1, this.#known.runs));
    const about = this.#known.runs < this.#runs ? "about " : "";
    const seconds = Math.ceil((ms * (all - calls)) / Math.max(1, calls) / 1000);
    return [
      `plimsoll: ${count(runs)} of ${count(this.#runs)} runs`,
      `${count(calls)} of ${about}${count(all)} calls`,
      `about ${count(seconds)} s left`,
    ].join(", ");
  }
}
