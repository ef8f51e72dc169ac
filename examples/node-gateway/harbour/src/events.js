import { formatTime } from "./clock.js";

/** The event log, the only output that others read (D7): time, event, vessel, berth, detail. */
export class EventLog {
  #events = [];

  add(at, event, vessel, berth = "-", detail = "") {
    this.#events.push({ at, event, vessel: vessel.name, berth, detail });
  }

  /** In order of time; events of the same minute in order of writing. */
  sorted() {
    return this.#events.map((entry, order) => ({ ...entry, order })).sort((a, b) => a.at - b.at || a.order - b.order);
  }

  lines() {
    return this.sorted().map((e) => `${formatTime(e.at)}  ${e.event.padEnd(8)} ${e.vessel.padEnd(18)} ${e.berth.padEnd(3)} ${e.detail}`.trimEnd());
  }

  count(event) {
    return this.#events.filter((entry) => entry.event === event).length;
  }
}

// TODO: the log has no version line; a reader cannot tell an old file from a new one.
export function parseLogLine(line) {
  const match = /^(\S+) {2}(\S+) +(.+?) {2,}(\S+) ?(.*)$/.exec(line);
  return match === null ? null : { time: match[1], event: match[2], vessel: match[3], berth: match[4], detail: match[5] };
}
