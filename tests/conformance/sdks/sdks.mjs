// @ts-check
/** The SDKs themselves, as judges: what they take is taken, what they refuse is not. A missing one is said and skipped. */

/** @param {string[]} names @returns {Promise<any[] | null>} the modules, or null with a line that says which is missing */
export async function load(...names) {
  try {
    return await Promise.all(names.map((name) => import(name)));
  } catch (cause) {
    if (/** @type {any} */ (cause)?.code !== "ERR_MODULE_NOT_FOUND") throw cause;
    console.log(`skipped: ${names[0]} is not installed`);
    return null;
  }
}

/** Pseudo-random choices, the same for the same seed. @param {number} seed */
export function dice(seed) {
  let state = (seed * 2_654_435_761) >>> 0;
  const next = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const below = (/** @type {number} */ n) => Math.floor(next() * n);
  const words = (/** @type {number} */ count) =>
    Array.from({ length: count }, () => `w${below(10_000)}`).join(" ");
  return { below, words, chance: (/** @type {number} */ share) => next() < share };
}

/** Every object in a value, for identity. @param {any} value @param {Set<object>} [seen] */
export function objects(value, seen = new Set()) {
  if (typeof value === "object" && value !== null && !seen.has(value)) {
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) objects(value[key], seen);
  }
  return seen;
}
