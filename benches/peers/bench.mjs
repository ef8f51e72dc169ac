/**
 * Speed beside other packages, on this machine, now: median of several runs, after a warm-up of each.
 * A ratio is theirs by ours; above 1 ours is faster. They count exactly, ours is an estimate.
 */
import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { estimateTokens } from "../../npm/dist/index.js";

const RUNS = 9;
const BYTES = 1_000_000;
const root = fileURLToPath(new URL("../..", import.meta.url));

/** About a megabyte of code: the project's own sources, over and over, ASCII only. */
function code() {
  const files = ["src", "xtask/src", "js"].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true })
      .filter((name) => /\.(rs|ts)$/.test(name) && !name.includes("node_modules"))
      .sort()
      .map((name) => readFileSync(join(root, folder, name), "utf8")),
  );
  const once = files.join("\n").replace(/[^\n -~]/g, "");
  return once.repeat(Math.ceil(BYTES / once.length)).slice(0, BYTES);
}

/** Median milliseconds of a run; what it gives is kept, so that it is not optimized away. */
function measure(run) {
  const times = [];
  let answer = 0;
  for (let index = -2; index < RUNS; index += 1) {
    globalThis.gc?.();
    const begun = performance.now();
    answer = run();
    if (index >= 0) times.push(performance.now() - begun);
  }
  return { answer, ms: times.sort((a, b) => a - b)[RUNS >> 1] };
}

const text = code();
const rows = [
  ["plimsoll estimateTokens, o200k", measure(() => estimateTokens(text, "o200k"))],
  ["plimsoll estimateTokens, generic", measure(() => estimateTokens(text))],
  ["plimsoll estimateTokens, chars/4", measure(() => estimateTokens(text, "chars/4"))],
  ["gpt-tokenizer countTokens, o200k", measure(() => countTokens(text))],
];
const [[, ours]] = rows;
const [, theirs] = rows.at(-1);

console.log(`Node ${process.version}, ${cpus()[0]?.model ?? "unknown processor"}`);
console.log(`${text.length} bytes of ASCII code, median of ${RUNS} runs\n`);
for (const [name, { ms, answer }] of rows) {
  const rate = text.length / 1000 / ms;
  console.log(
    `${name.padEnd(36)} ${ms.toFixed(2).padStart(8)} ms ${rate.toFixed(0).padStart(7)} MB/s ${answer} tokens`,
  );
}
const off = (100 * (ours.answer - theirs.answer)) / theirs.answer;
console.log(
  `\nratio to gpt-tokenizer: ${(theirs.ms / ours.ms).toFixed(1)}, off by ${off.toFixed(1)} %`,
);
