/** The entry without the Wasm inside: `init` or `initSync` starts it, from `plimsoll/plimsoll.wasm`. */
import { lazily } from "./loader.js";

lazily(() => {
  throw new Error("plimsoll/slim: call `await init(source)` or `initSync(bytes)` first");
});

export * from "./api.js";
export { init, initSync, type Source, type SyncSource } from "./loader.js";
