/** The one error class, and the conversion of an error of the core into it. */
import type { ErrorInfo } from "../types.js";
import { nearest } from "./nearest.js";

/**
 * Error class of the package. Codes and messages are part of the public contract.
 *
 * @example
 * try {
 *   context.request(history);
 * } catch (error) {
 *   if (error instanceof PlimsollError && error.info.code === "TOO_LARGE") console.log(error.info.size, error.info.cap);
 *   else throw error;
 * }
 */
export class PlimsollError extends Error {
  /** Always `PlimsollError`. */
  override readonly name: string = "PlimsollError";
  /** What is wrong, where, and what is allowed. */
  readonly info: ErrorInfo;

  /** Made by the package; your own code only catches it. */
  constructor(info: ErrorInfo, message: string, options?: ErrorOptions) {
    super(message, options);
    this.info = info;
  }

  /** Stable code of the error, the same as `info.code`. */
  get code(): ErrorInfo["code"] {
    return this.info.code;
  }
}

/** An argument that is not of the form it must have. */
export function invalid(
  argument: string,
  expected: string,
  got: unknown,
  shown: string = kindOrValue(got),
): PlimsollError {
  const info = { code: "INVALID_ARGUMENT", argument, expected, got: shown } as const;
  return new PlimsollError(info, `${argument}: expected ${expected}, got ${shown}`);
}

/** The kind of a value, for an error that must not show the value: a key, or bytes that were passed as text. */
export function kindOf(value: unknown): string {
  if (isPromise(value)) return "a promise";
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && Symbol.iterator in value) return `a ${tagOf(value)}`;
  return `${typeof value === "object" ? "an" : "a"} ${typeof value}`;
}

/** A promise that somebody has not awaited. */
export function isPromise(value: unknown): boolean {
  return tagOf(value) === "Promise";
}

/** An object that says all in members of its own: no array, Map or Set, and no promise. */
export function hasMembers(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  return !(Symbol.iterator in value) && !isPromise(value);
}

/** The name of its class, such as `Map`. Not by `instanceof`: a value may come from another realm. */
function tagOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice("[object ".length, -1);
}

/** A value as an error shows it; of what has members its kind, since its text says less. */
function kindOrValue(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  return typeof value === "object" || typeof value === "function" ? kindOf(value) : String(value);
}

/** A value as `write` writes it; its kind, if it cannot be written. */
function written(value: unknown, write: (value: unknown) => string | undefined): string {
  try {
    return write(value) ?? String(value);
  } catch {
    return typeof value === "object" ? "an object" : String(value);
  }
}

/** An option that does not exist, at its path; `known` exist there. */
export function unknownOption(
  argument: string,
  known: readonly string[],
  got: unknown,
): PlimsollError {
  const shown = typeof got === "string" ? got : written(got, JSON.stringify);
  const path = argument.slice(0, argument.lastIndexOf(".") + 1);
  const near = nearest(argument.slice(path.length), known);
  const list = known.join(", ");
  const help = near === undefined ? `The options are ${list}.` : `Did you mean "${path}${near}"?`;
  const expected = `one of ${list}`;
  const info = { code: "INVALID_ARGUMENT", argument, expected, got: shown } as const;
  return new PlimsollError(info, `Unknown option "${argument}". ${help}`);
}

/** The store holds another revision, again and again. */
export function conflict(expected: number | null, found: number): PlimsollError {
  const message = `the store holds revision ${found}, not ${expected ?? "none"}: others write without pause`;
  return new PlimsollError({ code: "CONFLICT", expected, found }, message);
}

/** The call in which the instance trapped. */
export function lost(during: string, cause: unknown): PlimsollError {
  const message = `the Wasm instance was lost in ${during}; the next call starts a new one`;
  return new PlimsollError({ code: "INSTANCE_LOST", during }, message, { cause });
}

/** A call on what was disposed of. */
export function disposed(during: string, what: string): PlimsollError {
  const message = `${during}: the ${what} was disposed of; make a new one`;
  return new PlimsollError({ code: "DISPOSED", during }, message);
}

/** Runs work on one message. If the core finds that malformed, the error names its place in the host's history, not the core's number. */
export function withPlace<T>(place: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof PlimsollError) || error.info.code !== "MALFORMED_MESSAGE") throw error;
    const message = error.message.replace(/\d+/, String(place));
    throw new PlimsollError({ ...error.info, index: place }, message);
  }
}

/** An error of the core, from the JSON that it throws. */
export function fromCore(thrown: string): PlimsollError {
  type Thrown = { info: ErrorInfo; message: string; known?: string };
  const { info, message, known } = JSON.parse(thrown) as Thrown;
  if (info.code === "INVALID_ARGUMENT" && known)
    return unknownOption(info.argument, known.split(", "), info.got);
  return new PlimsollError(info, message);
}
