// @ts-check
/**
 * Whatever the history, the format and the provider: each request and each repair is what the strict provider takes,
 * and the laws hold (`laws.mjs`). A failure is shown with its seed and the smallest history that shows it.
 *
 * PLIMSOLL_HISTORIES   how many transcripts over all pairs; 1,000 by default, 10,000 with `--ci`, 1,000,000 with `--long`
 * PLIMSOLL_FIRST       the seed of the first of them; 1 by default. A long run can go in pieces: it prints how far all of it is
 *                      done, and where to go on
 * PLIMSOLL_THREADS     how many threads play; one for each core by default, at most 4
 * PLIMSOLL_PAIRS       a regular expression over the pairs, e.g. ^ai-sdk x gemini$
 * PLIMSOLL_SEED        only this transcript, in every chosen pair
 */
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { size, sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";
import { rendered } from "./additions.mjs";
import { history } from "./histories.mjs";
import { play } from "./play.mjs";
import { shrink } from "./shrink.mjs";
import { landed } from "./supported-pairs.mjs";

const { api, why } = await loadPackage();
const long = size === "long";
const histories = Number(
  process.env.PLIMSOLL_HISTORIES ?? sized({ short: 1_000, ci: 10_000, long: 1_000_000 }),
);
const first = Number(process.env.PLIMSOLL_FIRST ?? 1);
const last = first + histories - 1;
const only = new RegExp(process.env.PLIMSOLL_PAIRS ?? "");
const threads = Number(process.env.PLIMSOLL_THREADS ?? Math.min(4, availableParallelism()));
/** A thread plays so many neighbouring seeds before it asks for more: a run that ends early is done up to a seed. */
const piece = 500;
/** Progress is printed this often where a run is long, or did not start at the first seed. */
const sayEveryMs = long || first > 1 ? 30_000 : Number.POSITIVE_INFINITY;
/** The time of this many is printed, and what a million would take by it. */
const measured = 20_000;
const shrunk = 5;
/** Seeds whose histories once broke a law. By default each is played in a ninth of the pairs, else in all. */
const once = [
  13_756, 31_152, 42_751, 45_540, 69_900, 75_843, 101_048, 109_099, 123_751, 135_348, 160_601,
  277_374, 293_534, 358_562, 396_184, 396_989, 407_514, 455_859, 458_625, 487_861, 575_843, 618_298,
  632_939, 667_539, 674_784, 899_028, 979_969,
];

const chosen = api
  ? landed(api).filter(({ format, provider }) =>
      only.test(
        `generated transcripts of ${format} stay valid for ${provider} (${format} x ${provider})`,
      ),
    )
  : [];
const skip = api ? chosen.length === 0 && `skipped: no pair matches ${only}` : why;

test("every request and repair of generated histories keeps the laws", { skip }, async () => {
  const seed = Number(process.env.PLIMSOLL_SEED ?? 0);
  const rows = rowsOf(seed > 0 ? one(seed) : await many());
  print(rows);
  checkRows(rows);
});

const oneIn = sized({ short: 9, ci: 1, long: 1 });
for (const [number, seed] of once.entries())
  test(`the history of seed ${seed}, which once broke a law, breaks none`, { skip }, () =>
    checkRows(rowsOf(one(seed, (at) => (at + number) % oneIn === 0))),
  );

/** @param {Map<number, any>} counts by the pairs' places */
const rowsOf = (counts) => [...counts].map(([at, count]) => ({ pair: pairName(at), ...count }));

/** @param {any[]} rows */
function checkRows(rows) {
  const found = rows.flatMap((row) =>
    row.found.map((/** @type {any} */ own) => ({ pair: row.pair, ...own })),
  );
  for (const failure of found.slice(0, shrunk)) show(failure);
  for (const { pair, seed: at, law, message } of found.slice(shrunk))
    console.log(`${pair}, seed ${at}: ${law}: ${message.slice(0, 300)}`);
  const sum = rows.reduce((all, row) => all + row.violations, 0);
  assert.equal(
    sum,
    0,
    `${sum} transcripts break a law; PLIMSOLL_SEED and PLIMSOLL_PAIRS play one again`,
  );
}

/** One transcript in every chosen pair, or in some of them. @param {number} seed @param {(at: number) => boolean} [isIn] @returns {Map<number, any>} */
function one(seed, isIn = () => true) {
  const counts = new Map();
  for (const [at, pair] of chosen.entries()) {
    if (!isIn(at)) continue;
    const { problem, ...count } = play(api, pair, history(seed), seed);
    const found = problem ? [{ seed, ...problem }] : [];
    counts.set(at, { transcripts: 1, ...count, violations: found.length, found });
  }
  return counts;
}

/** @returns {Promise<Map<number, any>>} */
async function many() {
  const counts = new Map(
    chosen.map((_, at) => [
      at,
      {
        transcripts: 0,
        requests: 0,
        repairs: 0,
        edits: 0,
        folds: 0,
        violations: 0,
        found: /** @type {any[]} */ ([]),
      },
    ]),
  );
  const started = performance.now();
  const seconds = () => (performance.now() - started) / 1000;
  let [done, next, announced, timed] = [0, first, started, false];
  /** First seeds of the pieces that are being played. @type {Set<number>} */
  const open = new Set();
  const share = (/** @type {any} */ result) => {
    done += result.done;
    for (const [at, own] of result.counts) {
      const all = /** @type {any} */ (counts.get(at));
      for (const field of Object.keys(own)) {
        if (field === "found") all.found = [...all.found, ...own.found].slice(0, 3);
        else all[field] += own[field];
      }
      for (const { seed, law, message } of own.found)
        console.log(`${pairName(at)}, seed ${seed}: ${law}: ${message.slice(0, 300)}`);
    }
    if (!timed && done >= measured) {
      timed = true;
      const million = ((seconds() / done) * 1_000_000) / 60;
      console.log(
        `${done} transcripts in ${seconds().toFixed(0)} s: a million take ${million.toFixed(0)} minutes`,
      );
    }
    if (performance.now() - announced >= sayEveryMs && open.size > 0) {
      announced = performance.now();
      const upTo = Math.min(...open);
      const behind = upTo > first ? `seeds ${first} to ${upTo - 1} of ${last} are done` : "begun";
      console.log(
        `${behind} (${done} transcripts, ${seconds().toFixed(0)} s); ` +
          `to go on: PLIMSOLL_FIRST=${upTo} PLIMSOLL_HISTORIES=${last - upTo + 1}`,
      );
    }
  };
  const thread = () =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL("./worker.mjs", import.meta.url), {
        workerData: { pairs: chosen },
      });
      let from = 0;
      const more = () => {
        open.delete(from);
        from = next;
        next = Math.min(next + piece, last + 1);
        if (from < next) open.add(from);
        worker.postMessage({ from, to: next - 1 });
      };
      worker.on("message", (result) => {
        if (result.ready) return more();
        share(result);
        more();
      });
      worker.on("error", reject);
      worker.on("exit", resolve);
    });
  await Promise.all(Array.from({ length: threads }, thread));
  console.log(
    `seeds ${first} to ${last}: ${done} transcripts in ${seconds().toFixed(1)} s on ${threads} threads`,
  );
  assert.equal(done, histories, "a thread ended early");
  return counts;
}

/** @param {number} at */
const pairName = (at) => `${chosen[at]?.format} x ${chosen[at]?.provider}`;

/** @param {any[]} rows */
function print(rows) {
  const columns = ["transcripts", "requests", "repairs", "edits", "folds", "violations"];
  console.log(`${"pair".padEnd(36)}${columns.map((name) => name.padStart(12)).join("")}`);
  const line = (/** @type {string} */ name, /** @type {any} */ row) =>
    console.log(
      `${name.padEnd(36)}${columns.map((field) => String(row[field]).padStart(12)).join("")}`,
    );
  for (const row of rows) line(row.pair, row);
  const total = Object.fromEntries(
    columns.map((field) => [field, rows.reduce((sum, row) => sum + row[field], 0)]),
  );
  line("total", total);
}

/** @param {{ pair: string, seed: number, law: string, message: string }} failure */
function show({ pair, seed, law, message }) {
  const [format = "", provider = ""] = pair.split(" x ");
  const own = /** @type {any} */ ({ format, provider });
  const fails = (/** @type {any} */ candidate) =>
    play(api, own, candidate, seed).problem?.law === law;
  const original = history(seed);
  const small = fails(original) ? shrink(original, fails) : original;
  const problem = play(api, own, small, seed).problem;
  console.log(`\n${pair}, seed ${seed}, window ${small.window}: ${law}: ${message.slice(0, 600)}`);
  console.log(
    `shrunk to ${small.turns.length} of ${original.turns.length} turns: ${problem?.message.slice(0, 600)}`,
  );
  for (const [at, message] of rendered(small, format, provider, seed).entries()) {
    console.log(`  [${at}] ${JSON.stringify(message).slice(0, 500)}`);
  }
}
