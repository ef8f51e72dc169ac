import { vesselFrom } from "./vessel.js";

/** Cells of one line. A quoted cell may hold commas and doubled quotes (D6). */
export function splitLine(line) {
  return line.split(",").map((cell) => cell.trim().replace(/^"(.*)"$/, "$1").replaceAll('""', '"'));
}

/** Vessels of a list; bad rows are reported with their line and do not stop the others. */
export function readManifest(text) {
  const lines = text.split(/\r?\n/);
  const head = splitLine(lines[0] ?? "");
  const vessels = [];
  const faults = [];
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line.trim() === "") continue;
    const cells = splitLine(line);
    if (cells.length !== head.length) {
      faults.push({ line: index + 1, reason: `${cells.length} cells, the head has ${head.length}` });
      continue;
    }
    const row = Object.fromEntries(head.map((name, column) => [name, cells[column]]));
    try {
      vessels.push(vesselFrom(row));
    } catch (error) {
      faults.push({ line: index + 1, reason: error.message });
    }
  }
  return { vessels, faults };
}

export function writeManifest(vessels) {
  const quote = (value) => (/[",]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
  const rows = vessels.map((v) => [quote(v.name), v.kind, v.length, v.draught, v.gross, v.minutes / 60].join(","));
  return ["name,kind,length,draught,gross,hours", ...rows].join("\n");
}
