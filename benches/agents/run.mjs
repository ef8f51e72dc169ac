/**
 * Agents that react: scripted agents, which see nothing but the request, play the same tasks under ours and under other packages.
 *
 * node benches/agents/run.mjs [--side ID]... [--task NAME]... [--window TOKENS]... [--trust LEVEL]... [--rows]
 *                             [--model NAME --base-url URL]
 *
 * Without a choice it writes benches/results/agents.json, the tables of docs/benchmarks.md, and the plot beside it. With --model, a
 * model behind an OpenAI-compatible endpoint plays instead of the scripts; its key is in MODEL_KEY.
 */
import { parseArgs } from "node:util";
import { endpoint } from "./model.mjs";
import { playAll } from "./plan.mjs";
import { TOKENIZER } from "./provider.mjs";
import { publish } from "./publish.mjs";
import { tables } from "./report.mjs";
import { SIDES, versionOfSide } from "./sides/index.mjs";

const many = { type: "string", multiple: true };
const { values } = parseArgs({
  options: {
    side: many,
    task: many,
    window: many,
    trust: many,
    rows: { type: "boolean" },
    model: { type: "string" },
    "base-url": { type: "string" },
  },
});

const missing = SIDES.filter((it) => versionOfSide(it) === null);
for (const { label, package: name } of missing)
  console.log(`skipped: ${label}: ${name} is not installed`);
const wanted = SIDES.filter(
  (it) => !missing.includes(it) && (values.side ? values.side.includes(it.id) : !it.slow),
);
const levels = values.trust ?? (values.model ? ["middling"] : undefined);
const begun = performance.now();
const rows = await playAll({
  sides: wanted.map(({ id }) => id),
  names: values.task,
  windows: values.window?.map(Number),
  levels,
  model:
    values.model &&
    endpoint({ name: values.model, base: values["base-url"] ?? "", key: process.env.MODEL_KEY }),
  onRow: (row) => {
    if (values.rows || values.model)
      console.log(
        `${row.side} ${row.window} ${row.level} ${row.task}: ${row.solved ? "solved" : row.failure}, ${row.calls} calls, ${row.billed} billed, ${row.again} looks again, ${row.broken} rules broken`,
      );
  },
});
console.log(
  `\n${rows.length} runs in ${((performance.now() - begun) / 1_000).toFixed(0)} s; tokens by ${TOKENIZER}\n`,
);
console.log(tables(rows));

if (!values.side && !values.task && !values.window && !values.trust && !values.model) publish(rows);
