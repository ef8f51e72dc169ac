/** The entry for workerd, which compiles no bytes: the runtime hands the module over. */
import wasm from "./plimsoll.wasm";
import { lazily } from "./loader.js";

lazily(() => wasm);

export * from "./api.js";
