/** The one seam: text into the core's memory, calls with their errors translated. */
import { TextEncoder } from "./coders.js";
import { fromCore, lost } from "./errors.js";
import * as glue from "./glue/plimsoll_bg.js";
import { lose, memory } from "./loader.js";

const encoder = new TextEncoder();

/**
 * Writes text into the core's input buffer and gives its length in bytes, for the call that follows. Takes one byte a
 * character at first and more only where the text needs it, so that a long ASCII text is not tripled.
 */
export function send(text: string): number {
  let written = 0;
  let read = 0;
  for (const bytesPerChar of [1, 1.5, 3]) {
    const rest = read === 0 ? text : text.slice(read);
    const room = Math.ceil(rest.length * bytesPerChar);
    const at = (glue.input(written + room) >>> 0) + written;
    const target = new Uint8Array((memory() as WebAssembly.Memory).buffer, at, room);
    const step = encoder.encodeInto(rest, target);
    written += step.written;
    read += step.read;
    if (read >= text.length) break;
  }
  return written;
}

/** Writes bytes into the core's input buffer and gives their number. */
export function sendBytes(bytes: Uint8Array): number {
  const at = glue.input(bytes.length) >>> 0;
  new Uint8Array((memory() as WebAssembly.Memory).buffer, at, bytes.length).set(bytes);
  return bytes.length;
}

/**
 * Calls into the core. An error of the core comes out as a `PlimsollError`; a trap costs the instance and comes out as
 * `INSTANCE_LOST`. `work` does nothing but `send` and call the glue: whatever it throws is taken for the core's.
 */
export function call<T>(during: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (typeof error === "string") throw fromCore(error);
    throw isTrap(error) && lose() ? lost(during, error) : error;
  }
}

/** A trap, or a stack that ran out half way through the core. By name: the error may come from another realm. */
function isTrap(error: unknown): boolean {
  const name = (error as Error | null)?.name;
  return name === "RuntimeError" || name === "RangeError" || name === "InternalError";
}
