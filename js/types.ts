/**
 * The public types. Units: chars are UTF-16 code units (what `String.length` counts), tokens are estimates, times are
 * milliseconds since the Unix epoch, shares are 0..1.
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

/** Details of a `PlimsollError`: what is wrong, where, and what is allowed. A union on `code`. */
export type ErrorInfo =
  | CoreError
  | {
      /** The store holds a revision that others committed; `save` gave up after 8 tries. */
      code: "CONFLICT";
      /** The revision that the session was based on; `null` if there was none. */
      expected: number | null;
      /** The revision in the store. */
      found: number;
    }
  | {
      /** Another process holds the lock of a record, or has locked the database. */
      code: "LOCKED";
      /** Path of the lock file or of the database. */
      path: string;
      /** Who holds it: process and host, or `an unknown process`. */
      holder: string;
    }
  | {
      /** The Wasm instance trapped in this call; the next call starts a new one. */
      code: "INSTANCE_LOST";
      /** Name of the method or function. */
      during: string;
    }
  | {
      /** The object was disposed of before this call or while it ran. */
      code: "DISPOSED";
      /** Name of the method or function. */
      during: string;
    };
