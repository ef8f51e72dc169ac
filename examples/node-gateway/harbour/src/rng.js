/** The only source of chance (D4): a 32 bit xorshift, the same on every machine. */
export class Rng {
  #state;

  constructor(seed = 1) {
    this.#state = seed >>> 0 || 1;
  }

  next() {
    let x = this.#state;
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    this.#state = x >>> 0;
    return this.#state / 4294967296;
  }

  between(low, high) {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick(list) {
    return list[Math.floor(this.next() * list.length)];
  }

  chance(share) {
    return this.next() < share;
  }
}
