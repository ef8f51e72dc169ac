/** The driver of summarizers in workerd. */
import * as own from "../compact.js";
import wasm from "../compact.wasm";

export const drive: typeof own.drive = (given) => {
  own.compactions.from(() => wasm);
  return own.drive(given);
};
