/**
 * The public types. chars are UTF-16 code units (what `String.length` counts), tokens are estimates, times are
 * milliseconds since the epoch, shares are 0..1.
 */
import type { CoreError } from "./generated.js";

export type {
  Bucket,
  BudgetCheck,
  Edit,
  Estimate,
  Explanation,
  ListedMessage,
  Op,
  Violation,
  WindowReport,
} from "./generated.js";
export type * from "./types/candidate.js";
export type * from "./types/compaction.js";
export type * from "./types/event.js";
export type * from "./types/options.js";
export type * from "./types/prompt.js";
export type * from "./types/report.js";
export type * from "./types/request.js";
export type * from "./types/session.js";
export type * from "./types/store.js";
export type * from "./types/summary.js";

/** What went wrong, where, and what is allowed. */
export type ErrorInfo =
  | CoreError
  /** The store holds another revision. */
  | { code: "CONFLICT"; expected: number | null; found: number }
  /** Another process holds the lock of a record. */
  | { code: "LOCKED"; path: string; holder: string }
  /** The Wasm instance trapped in this call; the next call starts a new one. */
  | { code: "INSTANCE_LOST"; during: string }
  /** The object was disposed of before this call, or while it was under way. */
  | { code: "DISPOSED"; during: string };
