/** The entry without the Wasm inside: `init` or `initSync` starts it, from `plimsoll/plimsoll.wasm`. */
export * from "./api.js";
export { init, initSync, type Source, type SyncSource } from "./loader.js";
