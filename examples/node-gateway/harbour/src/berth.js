import { readFileSync } from "node:fs";
import { gaps, interval, overlaps } from "./interval.js";

/** Berths with their stays. Nothing outside this file writes to `stays`. */
export class Berths {
  #berths;

  constructor(list) {
    this.#berths = list.map((berth) => ({ ...berth, stays: [] })).sort((a, b) => a.length - b.length || a.id.localeCompare(b.id));
  }

  static load(path) {
    return new Berths(JSON.parse(readFileSync(path, "utf8")));
  }

  get ids() {
    return this.#berths.map((berth) => berth.id);
  }

  /** Smallest first (D1). */
  suitable(vessel) {
    return this.#berths.filter((berth) => berth.length >= vessel.length && (!vessel.hazard || berth.hazard));
  }

  isFree(id, from, to) {
    const wanted = interval(from, to);
    return !this.#find(id).stays.some((stay) => overlaps(stay, wanted));
  }

  /** Free stretches of at least `minutes`. */
  free(id, from, to, minutes) {
    return gaps(interval(from, to), this.#find(id).stays).filter((gap) => gap.to - gap.from >= minutes);
  }

  take(id, from, to, vessel) {
    if (!this.isFree(id, from, to)) throw new Error(`berth ${id} is not free then`);
    this.#find(id).stays.push({ from, to, vessel: vessel.name });
  }

  release(id, name) {
    const berth = this.#find(id);
    berth.stays = berth.stays.filter((stay) => stay.vessel !== name);
  }

  staysOf(id) {
    return [...this.#find(id).stays].sort((a, b) => a.from - b.from);
  }

  /** Share of [from, to) in which the berth is taken. */
  occupancy(id, from, to) {
    const free = gaps(interval(from, to), this.#find(id).stays).reduce((sum, gap) => sum + gap.to - gap.from, 0);
    return 1 - free / (to - from);
  }

  #find(id) {
    const berth = this.#berths.find((candidate) => candidate.id === id);
    if (berth === undefined) throw new Error(`no berth ${id}; there are ${this.ids.join(", ")}`);
    return berth;
  }
}
