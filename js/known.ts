/** Options by name: a name that a function does not know is refused. */
import { invalid, unknownOption } from "./errors.js";

/** Members of `Parts`. */
export const PARTS = ["system", "tools", "unseenTokens", "open", "signal"] as const;

/** The argument as an object of options that are all known; undefined: none of them. */
export function onlyKnown<T extends object>(
  what: string,
  given: T | undefined,
  known: readonly string[],
): T {
  if (given === undefined) return own({} as T);
  if (given === null || typeof given !== "object" || Array.isArray(given)) {
    throw invalid(what, "an object of options", given);
  }
  const options = own(given);
  for (const [name, value] of Object.entries(options))
    if (!known.includes(name)) throw unknownOption(name, known, value);
  return options;
}

/** What was given by itself: whatever others have put into `Object.prototype` is no option. */
export function own<T extends object>(given: T): T {
  return Object.assign(Object.create(null), given);
}
