/** Writes what a whole run gave: every row with the machine and the versions, the tables of the page, the plot. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { PRICES, TOKENIZER } from "./provider.mjs";
import { between, figures, plot, sidesIn, tables, windowsIn } from "./report.mjs";
import { SIDES, versionOfSide } from "./sides/index.mjs";

export function publish(rows) {
  const folder = new URL("../results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  const machine = {
    cpu: cpus()[0].model,
    cores: cpus().length,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
  };
  const versions = Object.fromEntries(
    SIDES.filter((it) => it.package).map((it) => [it.package, versionOfSide(it)]),
  );
  const summary = windowsIn(rows).flatMap((window) =>
    sidesIn(rows).map(({ id }) => figures(rows, id, window)),
  );
  // A row a line, so that a later run shows in a difference what changed.
  const lines = rows.map((row) => JSON.stringify(brief(row))).join(",\n");
  const head = { machine, tokenizer: TOKENIZER, prices: PRICES, versions, summary };
  const text = `${JSON.stringify(head, null, 1).slice(0, -2)},\n "rows": [\n${lines}\n]}\n`;
  writeFileSync(new URL("agents.json", folder), text);
  const page = new URL("../../docs/benchmarks.md", import.meta.url);
  const written = between(readFileSync(page, "utf8"), "agents", `\n${tables(rows)}\n`);
  writeFileSync(page, written);
  writeFileSync(new URL("../../docs/benchmarks-agents.svg", import.meta.url), plot(rows));
}

/** A run in a few figures; `--rows` prints them too. */
const brief = ({
  side,
  window,
  level,
  task,
  needed,
  solved,
  failure,
  calls,
  billed,
  again,
  broken,
}) => [side, window, level, task, solved || failure, { needed, calls, billed, again, broken }];
