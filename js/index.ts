/**
 * The main entry: each Wasm is inside, and starts at the first call that needs it. The build makes `index.workerd.js` and `index.edge.js` of
 * it, which import each Wasm as a module; the same of each entry in `entry/`.
 */
import "./inline/core.js";

export * from "./api.js";
export {
  assemblePrompt,
  focusSection,
  matchRules,
  memoryTiers,
  promptBudget,
  requestFocus,
  trimToolDescriptions,
  truncateText,
} from "./inline/prompt.js";
