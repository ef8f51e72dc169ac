// @ts-check
/**
 * A host whose code throws once: at the read or callback of a given number. Its messages are proxies all the way down, so
 * that every read of the package is one that may throw.
 */

/** Thrown by the host, and by nothing else. */
export class Fault extends Error {
  constructor(/** @type {string} */ kind) {
    super(`the host's ${kind}`);
  }
}

/** It is the host's throw, as it is or as the cause of an error of the package's. @param {any} error @returns {boolean} */
export const isFault = (error) =>
  error instanceof Fault || (error?.cause !== undefined && isFault(error.cause));

/** The file of the package that reads or calls: so that each of them gets its share of the throws. */
function place() {
  const [, file] = /\/dist\/([\w/-]+)\.js/.exec(new Error().stack ?? "") ?? [];
  return file ? ` in ${file}` : "";
}

/** Counts what the package calls of the host's, and throws at one of them. @param {number} at 0: never */
export function faults(at) {
  /** @type {string[]} */
  const kinds = [];
  let on = false;
  const tick = (/** @type {string} */ kind) => {
    if (!on) return;
    kinds.push(at === 0 ? `${kind}${place()}` : kind);
    if (kinds.length === at) throw new Fault(kind);
  };
  /** Counts only while `work` runs, and what it waits for. @template T @param {() => T | Promise<T>} work @returns {Promise<T>} */
  const during = async (work) => {
    on = true;
    try {
      return await work();
    } finally {
      on = false;
    }
  };
  /** @type {WeakMap<object, object>} */
  const raw = new WeakMap();
  const traps = (/** @type {WeakMap<object, object>} */ known) => ({
    get(/** @type {any} */ target, /** @type {string | symbol} */ key) {
      tick("getter");
      return wrapped(target[key], known);
    },
    ownKeys(/** @type {any} */ target) {
      tick("ownKeys");
      return Reflect.ownKeys(target);
    },
    has(/** @type {any} */ target, /** @type {string | symbol} */ key) {
      tick("has");
      return key in target;
    },
    getPrototypeOf(/** @type {any} */ target) {
      tick("getPrototypeOf");
      return Object.getPrototypeOf(target);
    },
  });
  /** @param {any} value @param {WeakMap<object, object>} known @returns {any} */
  const wrapped = (value, known) => {
    if (typeof value !== "object" || value === null || raw.has(value)) return value;
    const made = known.get(value) ?? new Proxy(value, traps(known));
    known.set(value, made);
    raw.set(made, value);
    return made;
  };
  /** Other objects each time it is called. @param {any[]} messages @returns {any[]} */
  const host = (messages) => {
    const known = new WeakMap();
    return messages.map((message) => wrapped(message, known));
  };
  return { kinds, tick, during, host };
}
