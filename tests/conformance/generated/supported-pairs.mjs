// @ts-check
/** The pairs that the package under test knows; the others are skipped with a line, and run by themselves once it does. */

import { pairs } from "../providers/pairs.mjs";
import { history, render } from "./histories.mjs";

/** @param {any} api @returns {Array<import("../providers/pairs.mjs").Pair>} */
export function landed(api) {
  let seed = 1;
  while (!history(seed).clean) seed += 1;
  /** @type {Map<string, string[]>} */
  const missing = new Map();
  const known = pairs.filter(({ format, provider }) => {
    const why = unknown(api, format, provider, render(history(seed), format, provider));
    if (why) missing.set(why, [...(missing.get(why) ?? []), provider]);
    return !why;
  });
  for (const [why, providers] of missing) console.log(`skipped: ${why}: ${providers.join(", ")}`);
  return known;
}

/** @param {any} api @param {string} format @param {string} provider @param {any[]} messages */
function unknown(api, format, provider, messages) {
  try {
    api.validate(messages, provider, { format });
    return "";
  } catch (error) {
    const { code, info } = /** @type {any} */ (error);
    const noFormat =
      code === "UNKNOWN_FORMAT" ||
      info?.argument === "format" ||
      /is built/.test(info?.expected ?? "");
    if (noFormat) return `the package does not read ${format} yet`;
    return info?.argument === "provider" ? `the package does not know a provider yet` : "";
  }
}
