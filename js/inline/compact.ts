/** The driver of summarizers by the Wasm inside the JavaScript: a bundle without summarizers leaves it out. */
import * as own from "../compact.js";
import * as inlined from "../glue/compact_text.js";
import { unpacked } from "../inline.js";

export const drive: typeof own.drive = (given) => {
  own.compactions.from(() => unpacked(inlined));
  return own.drive(given);
};
