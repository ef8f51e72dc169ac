/** The entry for edge runtimes that take a module by `?module`. */
import wasm from "./plimsoll.wasm?module";
import { lazily } from "./loader.js";

lazily(() => wasm);

export * from "./api.js";
