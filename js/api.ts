/// <reference lib="esnext.disposable" preserve="true" />
/** Public exports that are the same for every entry; each entry adds those with a Wasm file of their own. */

export { isContextOverflow } from "./compaction/overflow.js";
export { PlimsollError } from "./core/errors.js";
export { compact } from "./functions/compact.js";
export { estimateTokens } from "./functions/estimate.js";
export { capOutput } from "./functions/output.js";
export { limitTurns, pruneForRequest, tierHistory } from "./functions/prune.js";
export { checkBudget, estimateRequest, repair, validate } from "./functions/transcript.js";
export { type BudgetStatus, ContextBudget, type ContextBudgetOptions } from "./session/budget.js";
export { type ConfiguredOptions, type ConfiguredSystem, optionsFrom } from "./session/config.js";
export { ContextManager } from "./session/context.js";
export { applyRequest } from "./session/prepared.js";
export type * from "./types.js";
