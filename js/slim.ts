/** The entry without the Wasm files inside: `init` or `initSync` takes them, `plimsoll/plimsoll.wasm` and `plimsoll/sessions.wasm`. */
export * from "./api.js";
export { init, initSync, type Source, type SyncSource } from "./loader.js";
export { readSession } from "./session.js";
