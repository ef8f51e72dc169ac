/** Candidates: things an agent may have learned. */

/**
 * State of a candidate. `SHADOW`: observed. `PROMOTED`: passed the gates. `IN_USE`: in a prompt. `DEMOTED`: cooling down. `ARCHIVED`: not
 * observed for 90 days. `REJECTED`: rejected by you.
 */
export type CandidateState = "SHADOW" | "PROMOTED" | "IN_USE" | "DEMOTED" | "ARCHIVED" | "REJECTED";

/** An observation of something the agent may have learned. */
export interface CandidateObservation {
  /** What it is. Only observations of the same kind can support the same candidate. */
  kind: "ERROR_RECOVERY" | "PREFERENCE" | "WORKFLOW" | "ANTI_PATTERN" | "SKILL_SEED";
  /** Your own category. Only observations of the same category can support the same candidate. */
  category: string;
  /** What was learned, at most 16,384 bytes. The first observation's text goes into the prompt, on one line. */
  content: string;
  /** The tool that it is about. Default `general`. */
  toolTag?: string;
  /** Tags; shared tags make observations more similar. */
  tags?: string[];
  /** Confidence, 0..1, to six places. */
  score: number;
  /** Who observed it: a session, a user, a tool. */
  source: string;
  /** Whether the source may influence the agent. Untrusted observations are never promoted, except with `force`. */
  trusted: boolean;
  /** When, in epoch milliseconds (an integer). */
  at: number;
  /** If the observation was itself an attempt: whether it succeeded. */
  success?: boolean;
}

/** A candidate. `score` is the mean of its evidence; `source` and `at` are those of the last observation. */
export interface Candidate extends CandidateObservation {
  /** Its id. */
  id: string;
  /** Its state. */
  state: CandidateState;
  /** Observations that support it. */
  evidenceCount: number;
  /** Attempts that succeeded. */
  successes: number;
  /** Attempts that failed. */
  failures: number;
  /** Time of the first observation, in epoch milliseconds. */
  firstSeen: number;
  /** Time of the last observation or outcome, in epoch milliseconds. */
  lastSeen: number;
  /** It is not promoted before this time (epoch milliseconds), or `null`. */
  cooldownUntil: number | null;
  /** The newest 50 sources, oldest first. */
  sources: string[];
}

/** Outcome of a turn in which a candidate was used. */
export interface CandidateOutcome {
  /** True if the turn succeeded and was not cancelled. */
  success: boolean;
  /** True if it did harm: no promotion for a week. */
  severe?: boolean;
  /** True if the user or a known fact contradicts it. */
  conflict?: boolean;
  /** True if it turned out to be an anti-pattern. */
  antiPattern?: boolean;
  /** When, in epoch milliseconds. */
  at: number;
}

/** A change of state. */
export interface CandidateTransition {
  /** The candidate. */
  id: string;
  /** The state before. */
  from: CandidateState;
  /** The state after. */
  to: CandidateState;
  /** The reason you passed, or `code` if the store decided. */
  reason: string;
  /** What kind of change it was. */
  code:
    | "PROMOTION_GATE_PASS"
    | "DEMOTION_REGRESSION"
    | "COOLDOWN_OVER"
    | "INJECTED"
    | "RETENTION"
    | "MANUAL_TRANSITION"
    | "MANUAL_FORCE"
    | "MANUAL_ROLLBACK";
  /** When, in epoch milliseconds. */
  at: number;
}

/** The gates, with AceClaw's defaults and the allowed range. Shares are 0..1. */
export interface CandidateGates {
  /** Observations needed for a promotion. Default 2; 1 to 1,000,000. */
  minEvidence?: number | undefined;
  /** Attempts within the rolling window needed for a promotion. Default 2; 0 to 1,000,000. */
  minAttempts?: number | undefined;
  /** Lowest score for a promotion. Default 0.75. */
  minScore?: number | undefined;
  /** Highest share of failed attempts for a promotion. Default 0.2. */
  maxFailureRate?: number | undefined;
  /** Most consecutive failures, up to the last attempt, for a promotion. Default 3; 0 to 1,000,000. */
  maxConsecutiveFailures?: number | undefined;
  /** How long attempts, conflicts and anti-patterns count, in milliseconds. Default 14 days; 1 ms to ten years. */
  rollingWindowMs?: number | undefined;
  /** How long a severe failure prevents a promotion, in milliseconds. Default 7 days; 0 to ten years. */
  severeFailureLookbackMs?: number | undefined;
  /** Attempts within the rolling window needed for a demotion. Default 4; 1 to 1,000,000. */
  demotionMinAttempts?: number | undefined;
  /** Share of failed attempts that demotes. Default 0.6. */
  demotionFailureRate?: number | undefined;
  /** Number of conflicts that demotes. Default 2; 1 to 1,000,000. */
  correctionConflicts?: number | undefined;
  /** How long a demoted candidate cools down, in milliseconds. Default 3 days; 0 to ten years. */
  demotionCooldownMs?: number | undefined;
}

/**
 * How lines are signed. `key`: at least 32 bytes, copied once into the Wasm's memory, which every script of the process can read.
 * `hmac`: a callback that returns the HMAC-SHA256 of the bytes (WebCrypto with a key that cannot be exported, a KMS), called once for
 * each line.
 */
export type CandidateSigner =
  | {
      /** The key, at least 32 bytes. */
      key: Uint8Array;
    }
  | {
      /** Returns the HMAC-SHA256 of the bytes. */
      hmac: (
        bytes: Uint8Array<ArrayBuffer>,
      ) => Uint8Array | ArrayBuffer | Promise<Uint8Array | ArrayBuffer>;
    };

/** Options of `CandidateStore`. */
export interface CandidateStoreOptions {
  /** How lines are signed. */
  sign: CandidateSigner;
  /** Changed gates. */
  gates?: CandidateGates | undefined;
  /** Categories that may be promoted. Default: all. */
  categories?: readonly string[] | undefined;
  /** Owner of the candidates, such as a tenant or an agent. A file that was signed for another scope is refused. */
  scope?: string | undefined;
}

/** Result of loading a file. */
export interface CandidatesLoaded {
  /** Candidates that were loaded. */
  loaded: number;
  /** Lines that were left out, numbered from 1. If lines are missing at the end, the number after the last line. */
  rejected: Array<{
    /** Number of the line, from 1. */
    line: number;
    /** Why it was left out. */
    reason: string;
  }>;
}
