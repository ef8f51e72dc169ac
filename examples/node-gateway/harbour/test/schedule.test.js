import assert from "node:assert/strict";
import { test } from "node:test";
import { Berths } from "../src/berth.js";
import { EventLog } from "../src/events.js";
import { Pilots } from "../src/pilot.js";
import { Planner } from "../src/schedule.js";
import { simulate } from "../src/simulate.js";
import { Weather } from "../src/weather.js";

const vessel = (name, asks, hours = 12) => ({ name, kind: "coaster", length: 80, draught: 3, gross: 2000, minutes: hours * 60, asks, hazard: false });

function port(berths = [{ id: "N1", length: 90, depth: 6, hazard: false }]) {
  const log = new EventLog();
  return { log, planner: new Planner({ berths: new Berths(berths), pilots: new Pilots(["Aune", "Berg"]), weather: new Weather(3, 240), log }) };
}

test("two vessels do not lie at one berth", () => {
  const { planner } = port();
  const first = planner.place(vessel("A", 0));
  const second = planner.place(vessel("B", 60));
  assert.ok(second.from >= first.to);
});

test("a vessel that is too long is refused with the reason", () => {
  const { planner, log } = port();
  assert.equal(planner.place({ ...vessel("Long", 0), length: 300 }), null);
  assert.match(log.lines().at(-1), /no berth long enough/);
});

test("every move has a pilot (rule 3, D8)", () => {
  const { planner, log } = port();
  planner.place(vessel("A", 0));
  assert.match(log.lines().find((line) => line.includes("leaves")), /pilot/);
});

test("the same seed prints the same log (D4)", () => {
  const run = () => simulate({ days: 3, seed: 5, berthFile: new URL("../data/berths.json", import.meta.url) }).log.lines();
  assert.deepEqual(run(), run());
});
