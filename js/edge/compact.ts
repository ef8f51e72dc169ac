/** The driver of summarizers in edge runtimes. */
import * as own from "../compact.js";
import wasm from "../compact.wasm?module";

export const drive: typeof own.drive = (given) => {
  own.compactions.from(() => wasm);
  return own.drive(given);
};
