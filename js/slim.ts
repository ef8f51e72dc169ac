/** The functions of every entry, without the Wasm files inside: `init` or `initSync` takes them, `plimsoll/plimsoll.wasm` and its neighbours `sessions`, `prompt`, `compact`, `candidates`. */
export * from "./api.js";
export { CandidateStore } from "./candidates.js";
export { init, initSync, type Source, type SyncSource } from "./loader.js";
export {
  assemblePrompt,
  buildContext,
  compressText,
  focusSection,
  matchRules,
  memoryTiers,
  promptBudget,
  requestFocus,
  trimToolDescriptions,
  truncateText,
} from "./prompt.js";
export { historyLimitFromSessionKey, pruneHistoryForContextShare } from "./prune.js";
export { recordLine, resumeMessages } from "./records.js";
export { type RenderOptions, renderDetail, renderList, type ShownReport } from "./render.js";
export { replay } from "./replay.js";
export {
  createInspectHandler,
  type Inspected,
  type InspectedSessions,
  type InspectResponse,
} from "./rpc.js";
export { readSession } from "./session.js";
