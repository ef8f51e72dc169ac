/** Errors of providers and summarizers: recognizing a context overflow. */
import { invalid } from "../core/errors.js";
import { isPlainObject } from "../core/json.js";
import { call, send } from "../core/main.js";
import * as glue from "../glue/plimsoll_bg.js";

/**
 * Returns true for a provider's context-overflow error, as its SDK throws it or as text, and false for rate limits, quotas and every
 * other error. It reads messages, codes and statuses of the error, its causes and the response bodies in it.
 *
 * @example
 * try { await callModel(); } catch (error) { if (!isContextOverflow(error)) throw error; }
 */
export function isContextOverflow(error: unknown): boolean {
  const json = JSON.stringify(seen(error));
  return call("isContextOverflow", () => glue.overflows(send(json)));
}

/** Figures of an overflow that a host knows without the error. */
export interface Overflow {
  /** Tokens that the provider takes. */
  limit?: number | undefined;
  /** Tokens of the refused request, as the provider counted them. */
  inputTokens?: number | undefined;
}

/** A provider's overflow error, or figures; null for any other error. */
export function overflowOf(error: unknown): Overflow | null {
  if (!isFigures(error)) return isContextOverflow(error) ? {} : null;
  for (const name of ["limit", "inputTokens"] as const) {
    const value = error[name];
    if (value === undefined || (Number.isFinite(value) && value >= 1)) continue;
    throw invalid(name, "a number of tokens, at least 1", value);
  }
  return error;
}

/** A plain object with nothing but figures; one without any says that the request was too large, and no more. */
function isFigures(error: unknown): error is Overflow {
  if (!isPlainObject(error)) return false;
  return Object.keys(error).every((name) => name === "limit" || name === "inputTokens");
}

/** So much of an error is looked at. */
const SEEN = { objects: 500, levels: 6, items: 50, chars: 20_000 };

/** An error as plain values: also what an `Error` does not list, no getter that throws, no more than a little of what hangs on it. */
export function seen(error: unknown): unknown {
  let left = SEEN.objects;
  const plain = (value: unknown, levels: number): unknown => {
    if (typeof value === "string") return value.slice(0, SEEN.chars);
    if (typeof value === "number" || typeof value === "boolean") return value;
    if (typeof value !== "object" || value === null || levels === 0 || left <= 0) return null;
    left -= 1;
    if (Array.isArray(value))
      return value.slice(0, SEEN.items).map((item) => plain(item, levels - 1));
    const names = new Set(["message", "name", "cause", ...Object.keys(value)]);
    const out: [string, unknown][] = [];
    for (const name of [...names].slice(0, SEEN.items)) {
      out.push([name, plain((value as Record<string, unknown>)[name], levels - 1)]);
    }
    return Object.fromEntries(out);
  };
  try {
    return plain(error, SEEN.levels);
  } catch {
    return null;
  }
}
