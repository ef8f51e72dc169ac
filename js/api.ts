/// <reference lib="esnext.disposable" preserve="true" />
/** Public exports that are the same for every entry; each entry adds those with a Wasm file of their own. */
export { type BudgetStatus, ContextBudget, type ContextBudgetOptions } from "./budget.js";
export { compact } from "./compact-functions.js";
export { type ConfiguredOptions, type ConfiguredSystem, optionsFrom } from "./config.js";
export { ContextManager } from "./context.js";
export { PlimsollError } from "./errors.js";
export { estimateTokens } from "./estimate.js";
export { capOutput } from "./output.js";
export { isContextOverflow } from "./overflow.js";
export { applyRequest } from "./prepared.js";
export { limitTurns, pruneForRequest, tierHistory } from "./prune.js";
export { checkBudget, estimateRequest, repair, validate } from "./transcript.js";
export type * from "./types.js";
