/**
 * The table of runtimes: prints what a run has proved, and compares docs/runtimes.md with it.
 *
 *     node tests/support/table.mjs check|write CELLS SUITE...
 *
 * CELLS is what the cells of these suites told (`cells.mjs`). `check` compares, `write` renews the rows that were run whole.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HOSTS, ROWS } from "./matrix.mjs";
import { root } from "./project.mjs";

const PAGE = join(root, "docs/runtimes.md");
const BEGIN = "<!-- runtimes: `cargo xtask test --long --hosts` writes this table -->";
const END = "<!-- /runtimes -->";
const HEAD = ["| host | version | how | result | note |", "|---|---|---|---|---|"];
const LONG = "cargo xtask test --long --hosts";

const [mode, file, ...suites] = process.argv.slice(2);
const lines = existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean) : [];
const results = new Map(lines.map((line) => JSON.parse(line)).map((one) => [one.id, one]));
const page = readFileSync(PAGE, "utf8");
const [before, rest] = page.split(BEGIN);
const [table, after] = (rest ?? "").split(END);
if (after === undefined)
  throw new Error(`docs/runtimes.md has no table between ${BEGIN} and ${END}`);

/** What the page says of a row, whatever the version. */
const key = ({ host, cells, result, note }) =>
  JSON.stringify([HOSTS[host].name, Object.values(cells).join("; "), result, note]);
const written = new Map(
  table
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .slice(1)
    .map((line) => line.slice(2, -2).split(" | "))
    .map(([name, version, how, result, note]) => [
      JSON.stringify([name, how, result, note.trim()]),
      version.trim(),
    ]),
);

const rows = Object.values(ROWS).flat();
const ran = suites.flatMap((suite) => ROWS[suite]);
const problems = [];
const lasts = rows.map((row) => {
  const host = HOSTS[row.host];
  const isComplete = Object.keys(row.cells).every((id) => results.get(id)?.version);
  const renewed = mode === "write" && isComplete && host.version();
  const last = renewed || written.get(key(row));
  const what = `${host.name}, ${Object.values(row.cells).join("; ")}`;
  if (!last) {
    problems.push(`docs/runtimes.md has no run of this row: ${what}`);
  } else if (host.pinned && last !== host.version()) {
    problems.push(`docs/runtimes.md has ${last} where ${host.version()} is pinned: ${what}`);
  }
  return last;
});
const known = new Set(rows.map(key));
for (const row of written.keys()) {
  if (mode !== "write" && !known.has(row))
    problems.push(`docs/runtimes.md has a row of its own: ${row}`);
}

if (mode === "write") {
  const text = rows.flatMap((row, at) => {
    const how = Object.values(row.cells).join("; ");
    const line = [HOSTS[row.host].name, lasts[at], how, row.result, row.note];
    return lasts[at] ? [`| ${line.join(" | ")} |`] : [];
  });
  writeFileSync(PAGE, `${before}${BEGIN}\n${[...HEAD, ...text].join("\n")}\n${END}${after}`);
}

/** What this run has to say of a row: its cells, but for those that only the long run has. */
function outcome({ host, cells, long, result }) {
  const due = Object.keys(cells).filter((id) => process.env.PLIMSOLL_LONG || !long.includes(id));
  const ends = due.map((id) => results.get(id));
  const skipped = ends.find((end) => end?.skipped)?.skipped;
  const absent = due.filter((id) => !results.has(id));
  if (absent.length > 0) problems.push(`these did not run, or failed: ${absent.join(", ")}`);
  const end = ends.some((one) => !one) ? "FAILED" : skipped ? `skipped: ${skipped}` : result;
  const how = due.map((id) => cells[id].replaceAll("`", "")).join("; ");
  return [HOSTS[host].name, skipped ? "-" : HOSTS[host].version(), end, how];
}

/** Lines of cells in columns. */
function columns(cells) {
  const widths = [0, 1, 2].map((at) => Math.max(...cells.map((line) => line[at].length)));
  return cells.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "));
}

if (ran.length > 0) {
  const shown = ran.map(outcome).filter((line) => line[3] !== "");
  console.log(columns([["HOST", "VERSION", "RESULT", "HOW"], ...shown]).join("\n"));
}
if (problems.length > 0) {
  console.log(`${problems.join("\n")}\n\`${LONG}\` runs all, and writes the table`);
  process.exitCode = 1;
}
