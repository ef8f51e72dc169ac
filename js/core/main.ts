/** The main Wasm, `plimsoll.wasm`: sessions, functions over a history, estimates. */
import * as glue from "../glue/plimsoll_bg.js";
import { Instance } from "./instance.js";

export const core: Instance = new Instance("plimsoll", glue);

/** As `Instance.send`. */
export function send(text: string): number {
  return core.send(text);
}

/** As `Instance.sendAll`. */
export function sendAll(texts: readonly string[]): Uint32Array {
  return core.sendAll(texts);
}

/** As `Instance.call`. */
export function call<T>(during: string, work: () => T): T {
  return core.call(during, work);
}
