/** The entry for edge runtimes that take a module by `?module`. */

import { lazily } from "./loader.js";
import wasm from "./plimsoll.wasm?module";

lazily(() => wasm);

export * from "./api.js";
