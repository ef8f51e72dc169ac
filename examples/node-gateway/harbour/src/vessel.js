import { parseTime } from "./clock.js";

export const KINDS = ["coaster", "bulk", "tanker", "container", "tug"];

/** A vessel from a row of the list; says every fault at once, so that one round trip to the agent is enough. */
export function vesselFrom(row) {
  const faults = [];
  const number = (field, low, high) => {
    const value = Number(row[field]);
    if (!Number.isFinite(value) || value < low || value > high) faults.push(`${field} must be ${low}..${high}, got ${JSON.stringify(row[field])}`);
    return value;
  };
  const vessel = {
    name: (row.name ?? "").trim(),
    kind: row.kind,
    length: number("length", 8, 400),
    draught: number("draught", 0.5, 22),
    gross: number("gross", 10, 250000),
    minutes: number("hours", 0.5, 400) * 60,
    asks: null,
    hazard: row.hazard === "yes",
  };
  if (vessel.name === "") faults.push("name is missing");
  if (!KINDS.includes(vessel.kind)) faults.push(`kind must be one of ${KINDS.join(", ")}, got ${JSON.stringify(row.kind)}`);
  try {
    vessel.asks = parseTime(row.asks);
  } catch (error) {
    faults.push(error.message);
  }
  if (faults.length > 0) throw new Error(`${vessel.name || "a vessel"}: ${faults.join("; ")}`);
  return vessel;
}

/** Wind limit in m/s (rule 4). */
export function windLimit(vessel) {
  return vessel.kind === "tanker" ? 11 : 14;
}

export function isDeep(vessel) {
  return vessel.draught > 8;
}

// FIXME: tugs are exempt from pilotage in real life; here they queue like everybody else.
export function needsPilot(_vessel) {
  return true;
}

export function describeVessel(vessel) {
  const mark = vessel.hazard ? " hazard" : "";
  return `${vessel.name} (${vessel.kind}, ${vessel.length} m, ${vessel.draught} m draught${mark})`;
}
