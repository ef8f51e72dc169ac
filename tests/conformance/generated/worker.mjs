// @ts-check
/** Plays a share of the transcripts in a thread of its own, and tells what it found now and then. */
import { parentPort, workerData } from "node:worker_threads";
import { history } from "../generated.mjs";
import { loadPackage } from "../package.mjs";
import { play } from "./play.mjs";

const { pairs, from, to, step } = workerData;
const { api } = await loadPackage();
const shown = 3;

/** @type {Map<number, any>} */
let counts = new Map();
let done = 0;
let told = performance.now();
for (let seed = from; seed <= to; seed += step) {
  const at = seed % pairs.length;
  const count = counts.get(at) ?? {
    transcripts: 0,
    requests: 0,
    repairs: 0,
    edits: 0,
    folds: 0,
    violations: 0,
    found: [],
  };
  counts.set(at, count);
  const played = play(api, pairs[at], history(seed), seed);
  count.transcripts += 1;
  for (const field of ["requests", "repairs", "edits", "folds"])
    count[field] += /** @type {any} */ (played)[field];
  if (played.problem) {
    count.violations += 1;
    if (count.found.length < shown) count.found.push({ seed, ...played.problem });
  }
  done += 1;
  if (performance.now() - told < 2000) continue;
  told = performance.now();
  parentPort?.postMessage({ done, counts: [...counts] });
  counts = new Map();
  done = 0;
}
parentPort?.postMessage({ done, counts: [...counts] });
