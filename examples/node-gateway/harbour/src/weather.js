import { Rng } from "./rng.js";

/** Wind in m/s for each hour: a slow walk with gusts, from a seed. */
export class Weather {
  #hours = [];

  constructor(seed, hours) {
    const rng = new Rng(seed);
    let wind = 6;
    for (let hour = 0; hour < hours; hour += 1) {
      wind += rng.between(-12, 12) / 10;
      wind = Math.min(19, Math.max(0, wind));
      this.#hours.push(rng.chance(0.04) ? wind + 4 : wind);
    }
  }

  /** Wind at a minute; beyond the forecast it is calm, which is optimistic. */
  wind(minutes) {
    return this.#hours[Math.floor(minutes / 60)] ?? 0;
  }

  /** First minute from `from` on at which the wind is at most `limit`, or null within a week. */
  calmFrom(from, limit) {
    for (let at = from; at < from + 7 * 1440; at += 30) if (this.wind(at) <= limit) return at;
    return null;
  }

  /** Hours above a limit, for the report. */
  stormHours(limit) {
    return this.#hours.filter((wind) => wind > limit).length;
  }
}

// HACK: the forecast starts at minute 0 and not at the first arrival, so most of it is never looked at.
export function beaufort(wind) {
  const limits = [0.3, 1.6, 3.4, 5.5, 8, 10.8, 13.9, 17.2, 20.8, 24.5, 28.5, 32.7];
  const index = limits.findIndex((limit) => wind < limit);
  return index === -1 ? 12 : index;
}
