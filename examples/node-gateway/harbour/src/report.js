import { formatSpan, formatTime } from "./clock.js";
import { charges, formatMoney } from "./tariff.js";

/** A plain table: columns as wide as their widest cell, numbers to the right. */
export function table(head, rows) {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => String(row[column]).length)));
  const cell = (value, column) => (typeof value === "number" ? String(value).padStart(widths[column]) : String(value).padEnd(widths[column]));
  return [head, ...rows].map((row) => row.map(cell).join("  ").trimEnd()).join("\n");
}

export function stayTable(stays) {
  const rows = stays.map((stay) => [
    stay.berth,
    stay.vessel.name,
    formatTime(stay.from),
    formatTime(stay.to),
    formatSpan(stay.to - stay.from),
    formatMoney(charges(stay.vessel, stay.to - stay.from).total),
  ]);
  return table(["berth", "vessel", "from", "to", "stay", "charge"], rows);
}

export function occupancyTable(berths, from, to) {
  const rows = berths.ids.map((id) => [id, berths.staysOf(id).length, `${Math.round(berths.occupancy(id, from, to) * 100)} %`]);
  return table(["berth", "stays", "taken"], rows);
}

export function summary(log, stays) {
  const waited = stays.map((stay) => stay.entry - stay.vessel.asks);
  const mean = waited.length === 0 ? 0 : Math.round(waited.reduce((sum, w) => sum + w, 0) / waited.length);
  return `${log.count("asks")} asked, ${stays.length} placed, ${log.count("refused")} refused, mean wait ${formatSpan(mean)}`;
}
