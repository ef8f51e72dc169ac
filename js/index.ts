/** The main entry: the Wasm is inside, and starts at the first call. */
import { inlined } from "./inline.js";
import { lazily } from "./loader.js";

lazily(inlined);

export * from "./api.js";
