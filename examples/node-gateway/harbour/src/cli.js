import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { Berths } from "./berth.js";
import { EventLog } from "./events.js";
import { readManifest } from "./manifest.js";
import { Pilots } from "./pilot.js";
import { occupancyTable, stayTable, summary } from "./report.js";
import { compareStays, Planner } from "./schedule.js";
import { simulate } from "./simulate.js";
import { Weather } from "./weather.js";

const berthFile = new URL("../data/berths.json", import.meta.url);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { days: { type: "string", default: "7" }, seed: { type: "string", default: "7" }, table: { type: "boolean" } },
});

const [command, file] = positionals;
if (command === "simulate") {
  const days = Number(values.days);
  const { log, stays, berths, start } = simulate({ days, seed: Number(values.seed), berthFile });
  console.log(values.table ? stayTable(stays.sort(compareStays)) : log.lines().join("\n"));
  console.log(occupancyTable(berths, start, start + days * 1440));
  console.log(summary(log, stays));
} else if (command === "plan" && file !== undefined) {
  const { vessels, faults } = readManifest(readFileSync(file, "utf8"));
  for (const fault of faults) console.error(`line ${fault.line}: ${fault.reason}`);
  const log = new EventLog();
  const planner = new Planner({ berths: Berths.load(berthFile), pilots: new Pilots(["Aune", "Berg"]), weather: new Weather(3, 24 * 90), log });
  const stays = vessels.map((vessel) => planner.place(vessel)).filter((stay) => stay !== null);
  console.log(stayTable(stays.sort(compareStays)));
  console.log(summary(log, stays));
} else {
  console.error("usage: cli.js simulate [--days N] [--seed N] [--table] | plan FILE");
  process.exitCode = 2;
}
