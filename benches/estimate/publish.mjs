/** Prints the errors of estimates as tables, and writes them into the page of benchmarks. */
import { readFileSync, writeFileSync } from "node:fs";
import { between } from "../agents/report.mjs";

const table = (heads, rows) =>
  [heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
const mean = (numbers) => numbers.reduce((sum, it) => sum + it, 0) / numbers.length;

/** Prints the tables; `isKept`: writes them, and every figure, too. */
export function publish(results, tokenizers, isKept) {
  const size = (row, tokenizer, estimator) => row.errors[tokenizer][estimator].size;
  const all = (row, estimator) => mean(tokenizers.map((it) => size(row, it, estimator)));
  const cells = (row) => [
    ...tokenizers.map((it) => size(row, it, "own").toFixed(1)),
    all(row, "generic").toFixed(1),
    all(row, "chars/4").toFixed(1),
  ];
  const heads = [...tokenizers, "`generic`, all", "`chars/4`, all"];
  const groups = grouped(results);
  const average = (rows) => [
    ...tokenizers.map((it) => mean(rows.map((row) => size(row, it, "own"))).toFixed(1)),
    ...["generic", "chars/4"].map((it) => mean(rows.map((row) => all(row, it))).toFixed(1)),
  ];
  const bias = tokenizers.map((it) => mean(results.map((row) => row.errors[it].own.bias)));
  const worst = tokenizers.map((it) => {
    const [row] = results.toSorted((a, b) => size(b, it, "own") - size(a, it, "own"));
    return `${size(row, it, "own").toFixed(0)} (${row.name})`;
  });
  const summary = table(
    ["mean error, %", ...heads],
    [
      ...[...groups].map(([group, rows]) => [`${group} (${rows.length})`, ...average(rows)]),
      ["signed, all rows", ...bias.map((it) => it.toFixed(1)), "", ""],
      ["largest", ...worst, "", ""],
    ],
  );
  const each = [...groups].map(([group, rows]) =>
    table(
      [group, ...heads],
      rows.map((row) => [row.name, ...cells(row)]),
    ),
  );
  console.log(`\n${[summary, ...each].join("\n\n")}\n`);
  if (!isKept) return;
  const page = new URL("../../docs/benchmarks.md", import.meta.url);
  const [agent, files, ...languages] = each;
  const text = [
    summary,
    agent,
    files,
    `<details><summary>By language</summary>\n\n${languages.join("\n\n")}\n\n</details>`,
  ].join("\n\n");
  writeFileSync(page, between(readFileSync(page, "utf8"), "estimate", `\n${text}\n`));
  const rounded = (_, value) =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(3)) : value;
  const file = new URL("../results/estimate.json", import.meta.url);
  writeFileSync(file, `${JSON.stringify(results, rounded, 1)}\n`);
}

/** Rows by group; Node 20 has no `Map.groupBy`. */
function grouped(results) {
  const groups = new Map();
  for (const row of results) groups.set(row.group, [...(groups.get(row.group) ?? []), row]);
  return groups;
}
