/** The entry for edge runtimes that take a module by `?module`. */
import { core } from "./core.js";
import wasm from "./plimsoll.wasm?module";

core.from(() => wasm);

export * from "./api.js";
export { isContextOverflow } from "./edge/compact.js";
export * from "./edge/prompt.js";
export { readSession } from "./edge/sessions.js";
