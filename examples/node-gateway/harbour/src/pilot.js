/** Pilots and their hours: at most 8 in a row, then 10 of rest (rule 3). */
export const MOVE_MINUTES = 90;
const SHIFT = 8 * 60;
const REST = 10 * 60;

export class Pilots {
  #pilots;

  constructor(names) {
    this.#pilots = names.map((name) => ({ name, moves: [], shiftStart: null, busyUntil: 0 }));
  }

  /** Somebody who can do a move that starts then, or null. Least used first. */
  free(at) {
    const ready = this.#pilots.filter((pilot) => this.#ready(pilot, at));
    ready.sort((a, b) => a.moves.length - b.moves.length || a.name.localeCompare(b.name));
    return ready[0]?.name ?? null;
  }

  assign(name, at, vessel) {
    const pilot = this.#pilots.find((candidate) => candidate.name === name);
    if (pilot === undefined) throw new Error(`no pilot ${name}`);
    if (!this.#ready(pilot, at)) throw new Error(`${name} is not free at ${at}`);
    if (pilot.shiftStart === null || at - pilot.busyUntil >= REST) pilot.shiftStart = at;
    pilot.busyUntil = at + MOVE_MINUTES;
    pilot.moves.push({ at, vessel: vessel.name });
  }

  /** Earliest minute at or after `at` with somebody free, at half hour steps, or null within two days. */
  earliest(at) {
    for (let t = at; t <= at + 2880; t += 30) if (this.free(t) !== null) return t;
    return null;
  }

  movesOf(name) {
    return this.#pilots.find((pilot) => pilot.name === name)?.moves ?? [];
  }

  get names() {
    return this.#pilots.map((pilot) => pilot.name);
  }

  #ready(pilot, at) {
    if (at < pilot.busyUntil) return false;
    if (pilot.shiftStart === null) return true;
    if (at - pilot.busyUntil >= REST) return true;
    return at + MOVE_MINUTES - pilot.shiftStart <= SHIFT;
  }
}

// TODO: moves are recorded in order of planning, not of time; `free` trusts that planning goes forward.
export function rotaLine(name, moves) {
  return `${name.padEnd(12)} ${moves.length} moves`;
}
