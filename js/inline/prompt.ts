/** The system prompt by the Wasm inside the JavaScript: a bundle that assembles none leaves it out. */
import { wasm } from "../glue/prompt_text.js";
import * as own from "../prompt.js";

function here<A extends unknown[], R>(work: (...given: A) => R, given: A): R {
  own.prompts.from(wasm);
  return work(...given);
}

export const assemblePrompt: typeof own.assemblePrompt = (...given) =>
  here(own.assemblePrompt, given);
export const buildContext: typeof own.buildContext = (...given) => here(own.buildContext, given);
export const compressText: typeof own.compressText = (...given) => here(own.compressText, given);
export const focusSection: typeof own.focusSection = (...given) => here(own.focusSection, given);
export const matchRules: typeof own.matchRules = (...given) => here(own.matchRules, given);
export const memoryTiers: typeof own.memoryTiers = (...given) => here(own.memoryTiers, given);
export const promptBudget: typeof own.promptBudget = (...given) => here(own.promptBudget, given);
export const requestFocus: typeof own.requestFocus = (...given) => here(own.requestFocus, given);
export const trimToolDescriptions: typeof own.trimToolDescriptions = (...given) =>
  here(own.trimToolDescriptions, given);
export const truncateText: typeof own.truncateText = (...given) => here(own.truncateText, given);
