/** Arguments of the public functions: each reader checks one and throws `INVALID_ARGUMENT` with its path and what is allowed. */
import { hasMembers, invalid, unknownOption } from "./errors.js";

/**
 * Reads an object of options, of which only its own members count.
 *
 * @param argument name of the argument, for the error
 * @param known the options that there are; any other is refused
 */
export function onlyKnown<T extends object>(
  argument: string,
  value: T | undefined,
  known: readonly string[],
): T {
  if (value === undefined) return own({} as T);
  if (!hasMembers(value)) throw invalid(argument, "an object of options", value);
  const options = own(value);
  for (const [name, value] of Object.entries(options))
    if (!known.includes(name)) throw unknownOption(name, known, value);
  return options;
}

/** Copies an object's own members. Without a prototype, so that a polluted `Object.prototype` sets no option. */
export function own<T extends object>(value: T): T {
  return Object.assign(Object.create(null), value);
}

/** Reads an object with members. */
export function objectOf<T>(argument: string, value: T): T {
  if (hasMembers(value)) return value;
  throw invalid(argument, "an object", value);
}

/** Reads a text. */
export function textOf(argument: string, value: unknown): string {
  if (typeof value === "string") return value;
  throw invalid(argument, "a string", value);
}

/** Reads a flag; without a value it is false. */
export function flagOf(argument: string, value: unknown = false): boolean {
  if (typeof value === "boolean") return value;
  throw invalid(argument, "true or false", value);
}

/** Reads an array. */
export function listOf<T>(argument: string, value: readonly T[]): readonly T[] {
  if (Array.isArray(value)) return value;
  throw invalid(argument, "an array", value);
}

/** Throws the reason of a signal that was aborted; null is no signal, as in `fetch`. */
export function refuseAborted(argument: string, signal: AbortSignal | null | undefined): void {
  if (signal === undefined || signal === null) return;
  if (typeof signal.throwIfAborted !== "function") {
    throw invalid(argument, "an AbortSignal", signal);
  }
  signal.throwIfAborted();
}

/** Reads the messages of a history. */
export function messagesOf<M>(value: readonly M[]): readonly M[] {
  if (Array.isArray(value)) return value;
  throw invalid("messages", "an array of messages", value);
}

/** Reads an amount as UTF-16 code units, of which one unit has `charsPerUnit`; `Infinity` becomes the largest whole number. */
export function charsOf(argument: string, amount: number, charsPerUnit = 1): number {
  if (typeof amount !== "number" || !(amount >= 0)) throw invalid(argument, "0 or more", amount);
  if (typeof charsPerUnit !== "number" || !(charsPerUnit > 0)) {
    throw invalid("charsPerToken", "over 0", charsPerUnit);
  }
  return Math.min(Math.floor(amount * charsPerUnit), Number.MAX_SAFE_INTEGER);
}

/** Reads a share, 0..1, as thousandths: the core has no floats. */
export function shareOf(argument: string, value: number | undefined): number | undefined {
  if (value === undefined || (value >= 0 && value <= 1)) return value && Math.round(value * 1000);
  throw invalid(argument, "a share, 0 to 1", value);
}

/** Levels of an argument that are searched for NaN and Infinity: options nest less deep, and a cycle must end. */
const LEVELS = 8;

/** Refuses NaN and Infinity, also in members of `value` down to `levels`: JSON would turn them into `null`, which is no value at all. */
export function refuseNonFinite(argument: string, value: unknown, levels: number = LEVELS): void {
  if (typeof value === "number" && !Number.isFinite(value)) {
    throw invalid(argument, "a finite number", value);
  }
  if (value === null || typeof value !== "object" || levels === 0) return;
  for (const [name, member] of Object.entries(value)) {
    refuseNonFinite(`${argument}.${name}`, member, levels - 1);
  }
}
