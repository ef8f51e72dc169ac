/** Progress of a long command: one line on standard error, if that is a terminal, after the first second. */
import { count } from "../render/numbers.js";

const QUIET_MS = 1000;

/** Where the line goes: standard error. */
interface Terminal {
  isTTY?: boolean;
  write(text: string): unknown;
}

/** Work in parts, each of so many calls to a model. */
export class Progress implements Disposable {
  readonly #parts: readonly number[];
  readonly #out: Terminal;
  readonly #now: () => number;
  readonly #started: number;
  #done = 0;
  #isShown = false;

  /** @param parts calls of each part, in their order */
  constructor(
    parts: readonly number[],
    out: Terminal = process.stderr,
    now: () => number = Date.now,
  ) {
    this.#parts = parts;
    this.#out = out;
    this.#now = now;
    this.#started = now();
  }

  /** Does the next part. */
  next<T>(work: () => T): T {
    const result = work();
    this.#done += 1;
    const ms = this.#now() - this.#started;
    if (this.#out.isTTY && ms >= QUIET_MS && this.#done < this.#parts.length) {
      this.#isShown = true;
      this.#out.write(`\r${this.#line(ms)}\x1b[K`);
    }
    return result;
  }

  /** Takes the line away. */
  [Symbol.dispose](): void {
    if (this.#isShown) this.#out.write("\r\x1b[K");
  }

  #line(ms: number): string {
    const sum = (parts: readonly number[]): number => parts.reduce((all, one) => all + one, 0);
    const [done, all] = [sum(this.#parts.slice(0, this.#done)), sum(this.#parts)];
    const seconds = Math.ceil((ms * (all - done)) / Math.max(1, done) / 1000);
    const parts = `${count(this.#done)} of ${count(this.#parts.length)} runs`;
    return `plimsoll: ${parts}, ${count(done)} of ${count(all)} calls, about ${count(seconds)} s left`;
  }
}
