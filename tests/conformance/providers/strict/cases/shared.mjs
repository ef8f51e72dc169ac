// @ts-check
/** Helpers shared by the tables of cases. */

/** @typedef {import("../common.mjs").Rules} Rules */
/**
 * A request that is accepted and one that breaks `rule`, at `index` and `path` where they are given.
 * @typedef {{
 *   rule: string, name: string, good: any[], bad: any[],
 *   rules?: Rules, goodRules?: Rules, index?: number, path?: string,
 * }} Case
 */

export const lone = "cut \ud83d";
export const emoji = "whole \ud83d\ude00";
export const text = (/** @type {string} */ value, more = {}) => ({
  type: "text",
  text: value,
  ...more,
});
export const mark = { cache_control: { type: "ephemeral" } };

/** @param {any[]} good @param {Array<[string, any[]]>} bad @returns {Case[]} */
export function shapes(good, bad) {
  return bad.map(([name, messages]) => ({ rule: "shape", name, good, bad: messages }));
}

export function cyclic() {
  const own = /** @type {any} */ ({ a: {} });
  own.a.b = own;
  return own;
}

/** @param {any} value @param {Array<string | number>} [above] @returns {Array<Array<string | number>>} */
export function strings(value, above = []) {
  if (typeof value === "string") return [above];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) =>
    strings(below, [...above, Array.isArray(value) ? Number(key) : key]),
  );
}

/** @param {any[]} messages @param {Array<string | number>} pointer @param {unknown} value */
export function replaced(messages, pointer, value) {
  const copy = structuredClone(messages);
  const parent = pointer.slice(0, -1).reduce((/** @type {any} */ at, key) => at[key], copy);
  parent[/** @type {any} */ (pointer.at(-1))] = value;
  return copy;
}
