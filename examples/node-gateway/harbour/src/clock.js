/** Minutes since the start of 2026, UTC. Everything in the port is counted in these. */
const START = Date.UTC(2026, 0, 1);

export const MINUTES_PER_DAY = 1440;

/** "2026-03-01T06:00Z" to minutes. Throws on anything else: a wrong time is worse than none. */
export function parseTime(text) {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)Z$/.exec(text);
  if (match === null) throw new Error(`not a time of the port: ${JSON.stringify(text)}`);
  const [, year, month, day, hour, minute] = match.map(Number);
  return Math.round((Date.UTC(year, month - 1, day, hour, minute) - START) / 60000);
}

export function formatTime(minutes) {
  return new Date(START + minutes * 60000).toISOString().slice(0, 16) + "Z";
}

/** "1d 04h", "07h 30m", "0m": for people, never parsed back. */
export function formatSpan(minutes) {
  if (minutes < 60) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 24) return `${String(hours).padStart(2, "0")}h ${String(minutes % 60).padStart(2, "0")}m`;
  return `${Math.floor(hours / 24)}d ${String(hours % 24).padStart(2, "0")}h`;
}

// TODO: daylight saving is ignored on purpose, but the pilots' rota is printed in local time elsewhere.
export function dayOf(minutes) {
  return Math.floor(minutes / MINUTES_PER_DAY);
}
