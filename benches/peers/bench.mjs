/**
 * Speed on this machine, now, and beside other packages where one does the same: median of several runs, after a
 * warm-up of each. A ratio is theirs by ours; above 1 ours is faster. They count exactly, ours is an estimate.
 */
import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { ContextManager, estimateTokens } from "../../npm/dist/index.node.js";
import { longSession, requests } from "../../tests/support/long.mjs";
import { bench as benchCalibration } from "./calibration.mjs";
import { bench as benchCandidates } from "./candidates.mjs";
import { bench as benchFiles } from "./files.mjs";
import { bench as benchKnown } from "./known.mjs";
import { bench as benchPrompt } from "./prompt.mjs";
import { publish } from "./publish.mjs";
import { bench as benchStart } from "./start.mjs";
import { bench as benchState } from "./state.mjs";
import { bench as benchTurn } from "./turn.mjs";

const RUNS = 15;
const WARM = 5;
const BYTES = 1_000_000;
/** Names of special tokens are text here: the project's own sources hold some. */
const PLAIN = { disallowedSpecial: new Set() };
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

/** The middle of some times. */
function median(times) {
  return times.sort((a, b) => a - b)[times.length >> 1];
}

/**
 * Median milliseconds of each run. They take turns, so that what else the machine does falls on all of them alike; what
 * they give is kept, so that nothing is optimized away. The third of a run makes what it takes, before the time.
 */
function measure(runs) {
  const results = runs.map(([name]) => ({ name, times: [], answer: 0, ms: 0 }));
  for (let round = -WARM; round < RUNS; round += 1) {
    runs.forEach(([, run, made], index) => {
      const input = made?.();
      globalThis.gc?.();
      const begun = performance.now();
      results[index].answer = run(input);
      if (round >= 0) results[index].times.push(performance.now() - begun);
    });
  }
  for (const result of results) result.ms = median(result.times);
  return results;
}

const text = code();
const rows = measure([
  ["plimsoll estimateTokens, o200k", () => estimateTokens(text, "o200k")],
  ["plimsoll estimateTokens, generic", () => estimateTokens(text)],
  ["plimsoll estimateTokens, chars/4", () => estimateTokens(text, "chars/4")],
  ["gpt-tokenizer countTokens, o200k", () => countTokens(text, PLAIN)],
]);
const ours = rows[0];
const theirs = rows.at(-1);

console.log(`Node ${process.version}, ${cpus()[0]?.model ?? "unknown processor"}`);
console.log(`${text.length} bytes of ASCII code, median of ${RUNS} runs\n`);
for (const { name, ms, answer } of rows) {
  const rate = text.length / 1000 / ms;
  console.log(
    `${name.padEnd(36)} ${ms.toFixed(2).padStart(8)} ms ${rate.toFixed(0).padStart(7)} MB/s ${answer} tokens`,
  );
}
const off = (100 * (ours.answer - theirs.answer)) / theirs.answer;
console.log(
  `\nratio to gpt-tokenizer: ${(theirs.ms / ours.ms).toFixed(1)}, off by ${off.toFixed(1)} %`,
);

const COLD = 841;
const PLACES = [
  [60, 160],
  [950, 1_050],
  [9_500, 10_500],
];

function manager() {
  let now = 1_700_000_000_000;
  return new ContextManager({
    window: { contextTokens: 200_000, maxOutputTokens: 8_192 },
    clock: () => {
      now += 20_000;
      return now;
    },
  });
}

/** Milliseconds of each request of a session, by the messages it had. */
function turns(messages) {
  const context = manager();
  return requests(messages).map((sent) => {
    const history = messages.slice(0, sent);
    const begun = performance.now();
    context.request(history);
    return { sent, ms: performance.now() - begun };
  });
}

const session = longSession(PLACES.at(-1)[1]);
turns(session.slice(0, 2_000)); // to warm up
const times = turns(session);
console.log("\nrequest(), a turn of a coding agent's session at 200,000 tokens\n");
for (const [from, to] of PLACES) {
  const stretch = times.filter(({ sent }) => sent >= from && sent < to).map(({ ms }) => ms);
  const longest = Math.max(...stretch);
  console.log(
    `messages ${`${from} to ${to}`.padEnd(16)} median ${median(stretch).toFixed(3)} ms, longest ${longest.toFixed(2)} ms, ${stretch.length} turns`,
  );
}
const history = session.slice(0, COLD);
const texts = history.map((message) => JSON.stringify(message));
const [cold, counted] = measure([
  // Of messages that no session has measured.
  [
    "first request",
    (messages) => manager().request(messages).tokens,
    () => structuredClone(history),
  ],
  ["count", () => texts.reduce((sum, text) => sum + countTokens(text, PLAIN), 0)],
]);
const bytes = texts.reduce((sum, text) => sum + text.length, 0);
console.log(
  `\nfirst request of ${COLD} messages (${(bytes / 1e6).toFixed(1)} MB): ${cold.ms.toFixed(1)} ms; gpt-tokenizer, counting their JSON and no more: ${counted.ms.toFixed(1)} ms; ratio ${(counted.ms / cold.ms).toFixed(1)}`,
);

const prompt = await benchPrompt(RUNS, median);
const start = benchStart(median);
const files = benchFiles(median);
const turn = await benchTurn();
const known = benchKnown(median);
benchCalibration();
await benchState(median);
await benchCandidates();
if (process.argv.includes("--publish")) {
  const estimate = rows.map(({ name, ms }) => ({ name, mbPerSecond: text.length / 1000 / ms }));
  const first = { messages: COLD, ms: cold.ms, gptTokenizerMs: counted.ms };
  publish({ turn, known, first, estimate, prompt, start, files });
}
