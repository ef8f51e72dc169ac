/** The functions over session files that need their Wasm. */
export { readSession } from "./read.js";
export { SessionReader } from "./reader.js";
export { recordedView } from "./recorded.js";
export { redact, redactSession } from "./redact.js";
export { replay } from "./replay.js";
export { sessions } from "./wasm.js";
