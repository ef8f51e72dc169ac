// @ts-check
/**
 * Sessions lived by a seeded scheduler (`simulated/run.mjs`): no message lost, none doubled, pins and the last request
 * verbatim, never more than two summarizer calls without progress, and no call that does not settle.
 *
 * PLIMSOLL_RUNS     how many; 200 by default, 1,000 with `--ci`, 1,000,000 with `--long`
 * PLIMSOLL_FIRST    the seed of the first; 1 by default
 * PLIMSOLL_STEPS    steps of a run; 200 by default
 * PLIMSOLL_THREADS  how many threads; one for each core by default, at most 4
 */
import assert from "node:assert/strict";
import { availableParallelism } from "node:os";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { size, sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const long = size === "long";
const runs = Number(process.env.PLIMSOLL_RUNS ?? sized({ short: 100, ci: 1_000, long: 1_000_000 }));
const first = Number(process.env.PLIMSOLL_FIRST ?? 1);
const steps = Number(process.env.PLIMSOLL_STEPS ?? 200);
const threads = Number(process.env.PLIMSOLL_THREADS ?? Math.min(4, availableParallelism()));
const piece = 20;
/** Seeds that found something once: of the default run too. */
const once = process.env.PLIMSOLL_FIRST || long ? [] : [4145, 5319, 5336, 20360];
const sayEveryMs = long ? 30_000 : Number.POSITIVE_INFINITY;

test("sessions that are compacted while messages arrive keep all laws", {
  skip: api ? false : why,
}, async () => {
  const started = performance.now();
  const all = runs + once.length;
  const last = first + runs - 1;
  let [next, done, announced] = [first, 0, started];
  /** @type {Record<string, number>} */
  const counts = {};
  /** @type {any[]} */
  const found = [];
  const thread = () =>
    new Promise((resolve, reject) => {
      const worker = new Worker(new URL("./simulated/worker.mjs", import.meta.url));
      const more = () => {
        const seed = once.pop();
        if (seed !== undefined) return worker.postMessage({ from: seed, to: seed, steps });
        const from = next;
        next = Math.min(next + piece, last + 1);
        worker.postMessage({ from, to: next - 1, steps });
      };
      worker.on("message", (result) => {
        if (result.ready) return more();
        done += result.done;
        for (const one of result.found) {
          found.push(one);
          const { seed, step, law, message } = one;
          console.log(`seed ${seed}, step ${step}: ${law}: ${message.slice(0, 400)}`);
        }
        for (const [name, value] of Object.entries(result.counts))
          counts[name] = (counts[name] ?? 0) + Number(value);
        if (performance.now() - announced > sayEveryMs) {
          announced = performance.now();
          console.log(`${done} of ${all} runs; to go on: PLIMSOLL_FIRST=${next - piece * threads}`);
        }
        more();
      });
      worker.on("error", reject);
      worker.on("exit", resolve);
    });
  await Promise.all(Array.from({ length: threads }, thread));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${done} runs of ${steps} steps in ${seconds} s: ${JSON.stringify(counts)}`);
  assert.equal(done, all, "a thread ended early");
  assert.equal(
    found.length,
    0,
    `${found.length} runs break a law; PLIMSOLL_FIRST and PLIMSOLL_RUNS=1 play one again`,
  );
  const kinds = ["summarized", "failed", "degraded", "aborted", "parked", "ahead"];
  for (const name of runs >= 100 ? kinds : [])
    assert.ok((counts[name] ?? 0) > 0, `no run came to be ${name}`);
});
