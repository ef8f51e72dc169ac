/** Helpers shared by the stores: keys as file names, and copies of bytes. */
import { textOf } from "../core/arguments.js";
import { PlimsollError } from "../core/errors.js";

/**
 * A key as well-formed text, another for every other key: UTF-8 has no lone surrogates, and would make all of them one. What
 * has them, or could be mistaken for such a name, goes as JSON.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT` for what is no string.
 */
export function nameOf(key: unknown): string {
  const name = textOf("key", key);
  return name.startsWith('"') || /\p{Surrogate}/u.test(name) ? JSON.stringify(name) : name;
}

/** A copy that stays as it is whatever becomes of the original, and of a pool that it may lie in. */
export function copied(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}

/** By name: the bytes may come from another realm. */
export function isBytes(bytes: unknown): bytes is Uint8Array {
  return Object.prototype.toString.call(bytes) === "[object Uint8Array]";
}

/** A record that is not as it was written. */
export function corrupt(what: string, reason: string): PlimsollError {
  const info = { code: "CORRUPT_STATE", what, reason } as const;
  return new PlimsollError(info, `${what} does not verify: ${reason}`);
}
