/** The system prompt by the Wasm inside the JavaScript: a bundle that assembles none leaves it out. */
import { wasm } from "../glue/prompt_text.js";
import * as own from "../prompt/prompt.js";

function here<A extends unknown[], R>(work: (...args: A) => R, args: A): R {
  own.prompts.from(wasm);
  return work(...args);
}

export const assemblePrompt: typeof own.assemblePrompt = (...args) =>
  here(own.assemblePrompt, args);
export const buildContext: typeof own.buildContext = (...args) => here(own.buildContext, args);
export const compressText: typeof own.compressText = (...args) => here(own.compressText, args);
export const focusSection: typeof own.focusSection = (...args) => here(own.focusSection, args);
export const matchRules: typeof own.matchRules = (...args) => here(own.matchRules, args);
export const memoryTiers: typeof own.memoryTiers = (...args) => here(own.memoryTiers, args);
export const promptBudget: typeof own.promptBudget = (...args) => here(own.promptBudget, args);
export const requestFocus: typeof own.requestFocus = (...args) => here(own.requestFocus, args);
export const trimToolDescriptions: typeof own.trimToolDescriptions = (...args) =>
  here(own.trimToolDescriptions, args);
export const truncateText: typeof own.truncateText = (...args) => here(own.truncateText, args);
