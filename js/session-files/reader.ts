/** Session files that come in pieces. */
import { onlyKnown } from "../core/arguments.js";
import { disposed, invalid, lost } from "../core/errors.js";
import { Handle } from "../core/handle.js";
import * as glue from "../glue/sessions_bg.js";
import type { OpenSession, ReadOptions } from "../types.js";
import { rewritten, sessionOf } from "./opened.js";
import { call, sessions } from "./wasm.js";

/** A longer piece goes to the core in several, so that it does not lie there a second time. */
const MOST_BYTES = 4 << 20;

/**
 * Reads a session file in pieces of any size, so that a program can show progress between them, stop, and never hold the whole file.
 * Each line is read when it is complete. A file that is one JSON value, instead of lines, is read by `end`.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`
 * @example
 * const reader = new SessionReader();
 * for await (const piece of createReadStream("session.jsonl")) {
 *   const { bytes } = reader.push(piece);
 *   showProgress(bytes / size);
 * }
 * const session = reader.end();
 */
export class SessionReader {
  readonly #leaf: string | undefined;
  #handle: Handle<glue.SessionReader>;
  #isOver = false;
  #bytes = 0;

  constructor(options: ReadOptions = {}) {
    const { leaf } = onlyKnown("options", options, ["leaf"]) as ReadOptions;
    this.#leaf = leaf;
    this.#handle = new Handle(
      () => call("SessionReader", () => new glue.SessionReader()),
      sessions,
    );
  }

  /**
   * Reads the next piece of the file: bytes, or a text that does not end in half a character.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT`, `DISPOSED`; `INSTANCE_LOST` if the file must be read from its start again.
   */
  push(piece: Uint8Array | string): {
    /** Lines that are complete; 0 if the file is one JSON value. */
    lines: number;
    /** Bytes that were read; of a text those of its UTF-8. */
    bytes: number;
  } {
    const reader = this.#standing("push");
    let lines = 0;
    for (const length of sent(piece)) {
      this.#bytes += length;
      lines = call("push", () => reader.push(length));
    }
    return { lines, bytes: this.#bytes };
  }

  /**
   * Returns the session, after the last piece. The reader is then disposed of.
   *
   * @throws {PlimsollError} `UNKNOWN_FORMAT`, `INVALID_ARGUMENT`, `TOO_LARGE`, `DISPOSED`, `INSTANCE_LOST`.
   */
  end(): OpenSession {
    return sessionOf(this.finished("end"));
  }

  /** Frees what was read. After `end` it does nothing. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#handle.free();
  }

  /** @internal */
  finished(during: string): Handle<glue.OpenSession> {
    const reader = this.#standing(during);
    try {
      const ended = new Handle(() => call(during, () => reader.end(this.#leaf)), sessions);
      return rewritten(ended);
    } finally {
      this[Symbol.dispose]();
    }
  }

  #standing(during: string): glue.SessionReader {
    if (this.#isOver) throw disposed(during, "reader");
    if (!this.#handle.isAlive)
      throw lost(during, new Error("the pieces before were in the instance: read the file again"));
    return this.#handle.value;
  }
}

/** Copies a piece into the input buffer, part by part; gives the length of each in bytes. */
function* sent(piece: Uint8Array | string): Generator<number> {
  // By tag, not `instanceof`: bytes may come from another realm (Node's Buffer under jest-environment-jsdom).
  const tag = Object.prototype.toString.call(piece);
  if (typeof piece !== "string" && tag !== "[object Uint8Array]") {
    throw invalid("bytes", "a string or a Uint8Array", piece);
  }
  for (let from = 0; from < piece.length; ) {
    let to = from + MOST_BYTES;
    if (typeof piece !== "string") {
      yield sessions.sendBytes(piece.subarray(from, to));
    } else {
      // Not between the halves of a character.
      if (/[\ud800-\udbff]/.test(piece[to - 1] ?? "")) to -= 1;
      yield sessions.send(piece.slice(from, to));
    }
    from = to;
  }
}
