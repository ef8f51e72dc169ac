import { Berths } from "./berth.js";
import { EventLog } from "./events.js";
import { Pilots } from "./pilot.js";
import { Rng } from "./rng.js";
import { Planner } from "./schedule.js";
import { KINDS } from "./vessel.js";
import { Weather } from "./weather.js";

const FIRST = ["Alba", "Brage", "Cygnus", "Dione", "Elin", "Freya", "Glaucus", "Hera", "Ida", "Jarl", "Kari", "Lyra"];
const LAST = ["of Vik", "Star", "Trader", "Bay", "North", "II", "III", "Spirit"];

/** Arrivals for some days: a vessel every one to five hours. */
export function arrivals(rng, days, start) {
  const list = [];
  let at = start;
  while (at < start + days * 1440) {
    const kind = rng.pick(KINDS);
    const length = { coaster: 80, bulk: 150, tanker: 120, container: 190, tug: 30 }[kind] + rng.between(-20, 40);
    list.push({
      name: `${rng.pick(FIRST)} ${rng.pick(LAST)}`,
      kind,
      length,
      draught: Math.round((2 + length / 26) * 10) / 10,
      gross: length * length,
      minutes: rng.between(2, 50) * 60,
      asks: at,
      hazard: kind === "tanker",
    });
    at += rng.between(60, 300);
  }
  return list;
}

export function simulate({ days, seed, berthFile }) {
  const rng = new Rng(seed);
  const start = 59 * 1440;
  const log = new EventLog();
  const berths = Berths.load(berthFile);
  const pilots = new Pilots(["Aune", "Berg", "Carlsen", "Dahl"]);
  const weather = new Weather(seed + 1, (59 + days + 7) * 24);
  const planner = new Planner({ berths, pilots, weather, log });
  const stays = arrivals(rng, days, start).map((vessel) => planner.place(vessel)).filter((stay) => stay !== null);
  return { log, stays, berths, start };
}
