// @ts-check
/** Plays the transcripts of the seeds that it is given, in a thread of its own, and tells what it found. */
import { parentPort, workerData } from "node:worker_threads";
import { loadPackage } from "../support/package.mjs";
import { history } from "./histories.mjs";
import { play } from "./play.mjs";

const { pairs } = workerData;
const { api } = await loadPackage();
const shown = 3;

parentPort?.on("message", ({ from, to }) => {
  if (from > to) process.exit();
  parentPort?.postMessage({ done: to - from + 1, counts: [...played(from, to)] });
});
parentPort?.postMessage({ ready: true });

/** @param {number} from @param {number} to @returns {Map<number, any>} by the number of the pair */
function played(from, to) {
  /** @type {Map<number, any>} */
  const counts = new Map();
  for (let seed = from; seed <= to; seed += 1) {
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
    if (!played.problem) continue;
    count.violations += 1;
    if (count.found.length < shown) count.found.push({ seed, ...played.problem });
  }
  return counts;
}
