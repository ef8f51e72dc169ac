import { formatSpan } from "./clock.js";
import { MOVE_MINUTES } from "./pilot.js";
import { windows } from "./tide.js";
import { needsPilot, windLimit } from "./vessel.js";

/** Two days: who cannot be placed by then is turned away (rule 8). */
export const PATIENCE = 48 * 60;

/** Places vessels one after the other. Holds the port's state; the rules are in the modules it asks. */
export class Planner {
  #berths;
  #pilots;
  #weather;
  #log;

  constructor({ berths, pilots, weather, log }) {
    this.#berths = berths;
    this.#pilots = pilots;
    this.#weather = weather;
    this.#log = log;
  }

  /** A stay, or null with the reason in the log. */
  place(vessel) {
    this.#log.add(vessel.asks, "asks", vessel, "-", `${vessel.length} m, ${formatSpan(vessel.minutes)}`);
    const suitable = this.#berths.suitable(vessel);
    if (suitable.length === 0) return this.#refuse(vessel, vessel.hazard ? "no hazard berth long enough" : "no berth long enough");
    const reasons = new Map();
    for (const berth of suitable) {
      const stay = this.#tryBerth(vessel, berth, reasons);
      if (stay !== null) return this.#commit(vessel, berth, stay);
    }
    const worst = [...reasons].sort((a, b) => b[1] - a[1])[0];
    return this.#refuse(vessel, worst === undefined ? "no room" : worst[0]);
  }

  // Long, but it is the heart: walk the tide windows, wait for wind and a pilot, then check that she can also leave.
  #tryBerth(vessel, berth, reasons) {
    const note = (reason) => {
      reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
      return null;
    };
    const latest = vessel.asks + PATIENCE;
    const doors = windows(vessel.asks, latest, berth.depth, vessel.draught);
    if (doors.length === 0) return note("no tide");
    for (const door of doors) {
      for (let at = door.from; at + MOVE_MINUTES <= door.to; at += 30) {
        if (this.#weather.wind(at) > windLimit(vessel)) {
          note("wind");
          continue;
        }
        if (needsPilot(vessel) && this.#pilots.free(at) === null) {
          note("no pilot");
          continue;
        }
        const from = at + MOVE_MINUTES;
        const to = from + vessel.minutes;
        if (!this.#berths.isFree(berth.id, from, to)) {
          note("berth taken");
          continue;
        }
        const out = windows(to, to + PATIENCE, berth.depth, vessel.draught)[0];
        if (out === undefined) {
          note("no tide to leave");
          continue;
        }
        if (!this.#berths.isFree(berth.id, from, out.from + 1)) {
          note("berth taken");
          continue;
        }
        return { entry: at, from, to: Math.max(to, out.from) };
      }
    }
    return note("no window fits");
  }

  #commit(vessel, berth, stay) {
    this.#berths.take(berth.id, stay.from, stay.to, vessel);
    const inbound = this.#pilots.free(stay.entry);
    this.#pilots.assign(inbound, stay.entry, vessel);
    this.#log.add(stay.entry, "enters", vessel, berth.id, `pilot ${inbound}, waited ${formatSpan(stay.entry - vessel.asks)}`);
    this.#log.add(stay.from, "moored", vessel, berth.id, formatSpan(stay.to - stay.from));
    this.#log.add(stay.to, "leaves", vessel, berth.id);
    return { vessel, berth: berth.id, ...stay };
  }

  #refuse(vessel, reason) {
    this.#log.add(vessel.asks + PATIENCE, "refused", vessel, "-", reason);
    return null;
  }
}

// TODO: the outbound pilot is never assigned, although D8 says that moves have pilots.
export function compareStays(a, b) {
  return a.from - b.from || a.berth.localeCompare(b.berth);
}
