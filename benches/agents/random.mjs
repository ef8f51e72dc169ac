/** Seeded choices: the same on every machine and for every side. */

/** FNV-1a over the UTF-16 units of a text, mixed once more, so that texts that differ at their end differ in every bit. */
export function hash(text) {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1)
    state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
  return (state ^ (state >>> 16)) >>> 0;
}

/** A number from 0 up to 1 that belongs to a text. */
export const share = (text) => hash(text) / 2 ** 32;

/** A generator of choices. */
export class Random {
  #seed;
  #count = 0;

  constructor(seed) {
    this.#seed = seed;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low, high) {
    this.#count += 1;
    return low + (hash(`${this.#seed}/${this.#count}`) % (high - low + 1));
  }

  pick(list) {
    return list[this.between(0, list.length - 1)];
  }

  /** The list in another order. */
  shuffled(list) {
    const rest = [...list];
    const out = [];
    while (rest.length > 0) out.push(...rest.splice(this.between(0, rest.length - 1), 1));
    return out;
  }
}
