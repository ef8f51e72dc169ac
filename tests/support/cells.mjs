/** A cell of the matrix as a test, whose end is told to the table. */
import { appendFileSync } from "node:fs";
import { test } from "node:test";
import { HOSTS, ROWS } from "./matrix.mjs";
import { skip } from "./project.mjs";

/**
 * Runs a cell, unless it is left to `--long` or its host is not there.
 * @param {string} id as `matrix.mjs` has it
 * @param {() => unknown} work throws if the package does not run there
 * @param {keyof typeof HOSTS} [needs] another host without which it cannot run
 */
export function cell(id, work, needs) {
  const row = Object.values(ROWS)
    .flat()
    .find(({ cells }) => id in cells);
  if (!row) throw new Error(`${id} is not in the matrix`);
  if (row.long.includes(id) && !process.env.PLIMSOLL_LONG) return;
  const host = HOSTS[row.host];
  test(`${host.name}: ${row.cells[id]}`, async (t) => {
    const missing = host.missing() ?? (needs ? HOSTS[needs].missing() : null);
    if (missing) {
      print({ id, skipped: missing });
      return skip(t, missing);
    }
    await work();
    return print({ id, version: host.version() });
  });
}

/** @param {object} line */
function print(line) {
  if (process.env.PLIMSOLL_CELLS) {
    appendFileSync(process.env.PLIMSOLL_CELLS, `${JSON.stringify(line)}\n`);
  }
}
