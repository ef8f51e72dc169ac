// @ts-check
/** Doubling: the steps of a piece of work at n, 2n and 4n. Linear work takes about twice as many each time, quadratic work four times. */
import assert from "node:assert/strict";
import { countSteps } from "./count-steps.mjs";

/** The most that a doubling may cost. Linear work with lists that grow by doubling stays under 2.1. */
const MOST = 2.3;
/** Work that grows less does not depend on the size. */
const LEAST_RATIO = 1.5;
/** Fewer steps are noise: what a request costs by itself and, in JavaScript, once for a message that is large. */
const LEAST = { wasm: 2_000, script: 20_000 };

/**
 * @typedef {object} Doubling
 * @property {string} name
 * @property {number} size the first of three sizes
 * @property {(size: number) => () => unknown} ready prepares the work of a size; only the work is counted
 * @property {boolean} [mayStop] true: the work may have an end that longer inputs do not change
 * @property {number} [most] another bound, for a reason that stands beside it
 */

/**
 * Work that at most doubles when its input doubles, in the core and in JavaScript. All that is over the bound is named.
 * @param {Doubling[]} doublings
 */
export async function checkDoublings(doublings) {
  const faults = [];
  for (const doubling of doublings) faults.push(...(await faultsOf(doubling)));
  assert.deepEqual(faults, []);
}

/** @param {Doubling} doubling */
async function faultsOf({ name, size, ready, mayStop, most = MOST }) {
  /** @type {Record<"wasm" | "script", number>[]} */
  const counts = [];
  // The first time starts what is needed, and V8 compiles functions whose blocks it counts from then on.
  await ready(size)();
  for (const factor of [1, 2, 4]) counts.push(await countSteps(ready(size * factor)));
  const ratios = (/** @type {"wasm" | "script"} */ where) =>
    [1, 2].map((at) => {
      const [less, more] = [counts[at - 1]?.[where] ?? 0, counts[at]?.[where] ?? 0];
      return more < LEAST[where] ? 1 : more / less;
    });
  const [wasm, script] = [ratios("wasm"), ratios("script")];
  const line = `${name}: ${shown(wasm)} in the core, ${shown(script)} in JavaScript`;
  console.log(`doubling ${line}`);
  const largest = Math.max(...wasm, ...script);
  if (largest > most) return [`${line}: more than ${most}`];
  return largest > LEAST_RATIO || mayStop
    ? []
    : [`${line}: the size decides nothing, nothing is shown`];
}

/** @param {number[]} ratios */
const shown = (ratios) => ratios.map((ratio) => ratio.toFixed(2)).join(" and ");
