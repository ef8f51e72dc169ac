import { MINUTES_PER_DAY } from "./clock.js";

/** Cents for each gross ton and started day, by kind. */
const RATES = { coaster: 9, bulk: 11, tanker: 16, container: 14, tug: 0 };
const HAZARD_SURCHARGE_CENTS = 45000;
const FREE_MINUTES = 120;
const PILOT_CENTS = 38000;

/** Started days of 24 hours; under two hours is free (rule 6). */
export function chargedDays(minutes) {
  if (minutes < FREE_MINUTES) return 0;
  return Math.round(minutes / MINUTES_PER_DAY);
}

/** What a stay costs, in cents, line by line (D5: nothing divides money). */
export function charges(vessel, minutes, moves = 2) {
  const days = chargedDays(minutes);
  const lines = [{ what: `berth, ${days} days`, cents: days * vessel.gross * (RATES[vessel.kind] ?? 0) }];
  if (vessel.hazard) lines.push({ what: "dangerous goods", cents: HAZARD_SURCHARGE_CENTS });
  if (moves > 0) lines.push({ what: `pilotage, ${moves} moves`, cents: moves * PILOT_CENTS });
  return { lines, total: lines.reduce((sum, line) => sum + line.cents, 0) };
}

export function formatMoney(cents) {
  const sign = cents < 0 ? "-" : "";
  const whole = Math.floor(Math.abs(cents) / 100);
  return `${sign}${whole.toLocaleString("en-US")}.${String(Math.abs(cents) % 100).padStart(2, "0")}`;
}

// TODO: discounts for a third call in a month are paid by hand.
export function discount(cents, calls) {
  return calls >= 3 ? Math.floor((cents * 9) / 10) : cents;
}
