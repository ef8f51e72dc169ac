/** The functions of every entry, without the Wasm files inside: `init` or `initSync` takes them, `plimsoll/plimsoll.wasm` and its neighbours `sessions`, `prompt`, `compact`, `candidates`. */
export * from "./api.js";
export { CandidateStore } from "./candidates/store.js";
export { init, initSync, type Source, type SyncSource } from "./core/loader.js";
export { historyLimitFromSessionKey, pruneHistoryForContextShare } from "./functions/prune.js";
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
} from "./prompt/prompt.js";
export { type RenderOptions, renderDetail, renderList, type ShownReport } from "./report/render.js";
export {
  createInspectHandler,
  type Inspected,
  type InspectedCalls,
  type InspectedSessions,
  type InspectResponse,
} from "./report/rpc.js";
export {
  readSession,
  recordedView,
  redact,
  redactSession,
  replay,
  SessionReader,
} from "./session-files/functions.js";
export { recordLine, resumeMessages } from "./session-files/records.js";
