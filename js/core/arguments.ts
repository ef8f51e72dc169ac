/** Options by name: a name that a function does not know is refused. */
import { invalid, unknownOption } from "./errors.js";

/** Members of `Parts`. */
export const PARTS = ["system", "tools", "unseenTokens", "open", "signal"] as const;

/** The argument as an object of options that are all known; undefined: none of them. */
export function onlyKnown<T extends object>(
  what: string,
  value: T | undefined,
  known: readonly string[],
): T {
  if (value === undefined) return own({} as T);
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw invalid(what, "an object of options", value);
  }
  const options = own(value);
  for (const [name, value] of Object.entries(options))
    if (!known.includes(name)) throw unknownOption(name, known, value);
  return options;
}

/** What was given by itself: whatever others have put into `Object.prototype` is no option. */
export function own<T extends object>(value: T): T {
  return Object.assign(Object.create(null), value);
}
