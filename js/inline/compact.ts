/** The driver of summarizers by the Wasm inside the JavaScript: a bundle without summarizers leaves it out. */
import * as own from "../compact.js";
import { wasm } from "../glue/compact_text.js";

const ready = (): typeof own => {
  own.compactions.from(wasm);
  return own;
};

export const drive: typeof own.drive = (given) => ready().drive(given);
export const checkpointDue: typeof own.checkpointDue = (given) => ready().checkpointDue(given);
export const checkpointTaken: typeof own.checkpointTaken = (given) =>
  ready().checkpointTaken(given);
