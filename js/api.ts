/// <reference lib="esnext.disposable" preserve="true" />
/** What is public and the same for every entry; each adds what has a Wasm of its own. */
export { compact, planCompaction } from "./compacting.js";
export { ContextManager, type Counters } from "./context.js";
export { PlimsollError } from "./errors.js";
export { estimateTokens } from "./estimate.js";
export { capOutput } from "./output.js";
export { isContextOverflow } from "./overflow.js";
export { applyRequest } from "./prepared.js";
export {
  historyLimitFromSessionKey,
  limitTurns,
  pruneForRequest,
  pruneHistoryForContextShare,
  tierHistory,
} from "./prune.js";
export { recordLine, resumeMessages } from "./records.js";
export type { BudgetStatus, ContextBudgetOptions, RenderOptions, ShownReport } from "./render.js";
export { replay } from "./replay.js";
export {
  createInspectHandler,
  type Inspected,
  type InspectedSessions,
  type InspectResponse,
} from "./rpc.js";
export { checkBudget, estimateRequest, repair, validate } from "./transcript.js";
export type * from "./types.js";
