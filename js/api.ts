/** Everything public, for every entry. */
export { PlimsollError } from "./errors.js";
export { estimateTokens } from "./estimate.js";
export type {
  ContextWindow,
  ErrorInfo,
  Estimator,
  Format,
  Op,
  Provider,
  Violation,
} from "./types.js";
