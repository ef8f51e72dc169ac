/** The entry without the Wasm files inside: `init` or `initSync` takes them, `plimsoll/plimsoll.wasm` and its neighbours `sessions`, `prompt`, `compact`, `candidates`, `inspect`. */
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
export { ContextBudget, renderDetail, renderList } from "./render.js";
export { readSession } from "./session.js";
