/** The main Wasm, which everything but reading session files runs in. */
import * as glue from "../glue/plimsoll_bg.js";
import { Seam } from "./instance.js";

export const core: Seam = new Seam("plimsoll", glue);

/** As `Seam.send`. */
export function send(text: string): number {
  return core.send(text);
}

/** As `Seam.call`. */
export function call<T>(during: string, work: () => T): T {
  return core.call(during, work);
}
