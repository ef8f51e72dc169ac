/// <reference lib="esnext.disposable" preserve="true" />
/** Everything public, for every entry. */
export { ContextManager, type Counters } from "./context.js";
export { PlimsollError } from "./errors.js";
export { estimateTokens } from "./estimate.js";
export { readSession, replay } from "./session.js";
export { estimateRequest, repair, validate } from "./transcript.js";
export type * from "./types.js";
