/** The entry for workerd, which compiles no bytes: the runtime hands the module over. */

import { lazily } from "./loader.js";
import wasm from "./plimsoll.wasm";

lazily(() => wasm);

export * from "./api.js";
