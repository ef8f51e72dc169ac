// @ts-check
/**
 * Whatever the history, the format and the provider: each request and each repair is what the strict provider takes,
 * and the laws hold (`generated/laws.mjs`). A failure is shown with its seed and the smallest history that shows it.
 *
 * PLIMSOLL_HISTORIES   how many transcripts over all pairs; 10,000 by default, 1,000,000 with `--long`
 * PLIMSOLL_PAIRS       a regular expression over the pairs, e.g. ^ai-sdk x gemini$
 * PLIMSOLL_SEED        only this transcript, in every chosen pair
 */
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { play } from "./generated/play.mjs";
import { shrink } from "./generated/shrink.mjs";
import { history, render } from "./generated.mjs";
import { landed } from "./landed.mjs";
import { loadPackage } from "./package.mjs";

const { api, why } = await loadPackage();
const long = process.env.PLIMSOLL_LONG === "1";
const histories = Number(process.env.PLIMSOLL_HISTORIES ?? (long ? 1_000_000 : 10_000));
const only = new RegExp(process.env.PLIMSOLL_PAIRS ?? "");
const threads = Math.min(4, availableParallelism());
/** The time of this many is printed, and what a million would take by it. */
const measured = 20_000;
const shrunk = 5;

const chosen = api
  ? landed(api).filter(({ format, provider }) => only.test(`${format} x ${provider}`))
  : [];
const skip = api ? chosen.length === 0 : why;

test("every request and repair of a generated history", { skip }, async () => {
  const seed = Number(process.env.PLIMSOLL_SEED ?? 0);
  const counts = seed > 0 ? one(seed) : await many();
  const rows = chosen.map(({ format, provider }, at) => ({
    pair: `${format} x ${provider}`,
    ...counts.get(at),
  }));
  print(rows);
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
});

/** One transcript in every chosen pair, here. @param {number} seed @returns {Map<number, any>} */
function one(seed) {
  return new Map(
    chosen.map((pair, at) => {
      const { problem, ...counts } = play(api, pair, history(seed), seed);
      const found = problem ? [{ seed, ...problem }] : [];
      return [at, { transcripts: 1, ...counts, violations: found.length, found }];
    }),
  );
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
  let [done, said, timed] = [0, 0, false];
  const share = (/** @type {any} */ told) => {
    done += told.done;
    for (const [at, own] of told.counts) {
      const all = /** @type {any} */ (counts.get(at));
      for (const field of Object.keys(own)) {
        if (field === "found") all.found = [...all.found, ...own.found].slice(0, 3);
        else all[field] += own[field];
      }
    }
    if (!timed && done >= measured) {
      timed = true;
      const million = ((seconds() / done) * 1_000_000) / 60;
      console.log(
        `${done} transcripts in ${seconds().toFixed(0)} s: a million take ${million.toFixed(0)} minutes`,
      );
    }
    if (long && done - said >= histories / 50) {
      said = done;
      console.log(`${done} of ${histories} transcripts, ${seconds().toFixed(0)} s`);
    }
  };
  await Promise.all(
    Array.from({ length: threads }, (_, at) => {
      const worker = new Worker(new URL("./generated/worker.mjs", import.meta.url), {
        workerData: { pairs: chosen, from: at + 1, to: histories, step: threads },
      });
      return new Promise((resolve, reject) => {
        worker.on("message", share);
        worker.on("error", reject);
        worker.on("exit", resolve);
      });
    }),
  );
  console.log(`${done} transcripts in ${seconds().toFixed(1)} s on ${threads} threads`);
  assert.equal(done, histories, "a thread ended early");
  return counts;
}

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
  const whole = history(seed);
  const small = fails(whole) ? shrink(whole, fails) : whole;
  const problem = play(api, own, small, seed).problem;
  console.log(`\n${pair}, seed ${seed}, window ${small.window}: ${law}: ${message.slice(0, 600)}`);
  console.log(
    `shrunk to ${small.turns.length} of ${whole.turns.length} turns: ${problem?.message.slice(0, 600)}`,
  );
  for (const [at, rendered] of render(small, format, provider).entries()) {
    console.log(`  [${at}] ${JSON.stringify(rendered).slice(0, 500)}`);
  }
}
