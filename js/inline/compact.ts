/** The driver of summarizers by the Wasm inside the JavaScript: a bundle without summarizers leaves it out. */
import * as own from "../compaction/driver.js";
import { wasm } from "../glue/compact_text.js";

const ready = (): typeof own => {
  own.compactions.from(wasm);
  return own;
};

export const drive: typeof own.drive = (job) => ready().drive(job);
export const checkpointDue: typeof own.checkpointDue = (job) => ready().checkpointDue(job);
export const checkpointTaken: typeof own.checkpointTaken = (job) => ready().checkpointTaken(job);
