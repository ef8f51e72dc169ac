/** Candidates: what an agent might have learned. */

/** Where a candidate stands: observed; past the gates; in a prompt; cooling down; unseen for 90 days; refused by the host. */
export type CandidateState = "SHADOW" | "PROMOTED" | "IN_USE" | "DEMOTED" | "ARCHIVED" | "REJECTED";

/** Something that an agent might have learned. */
export interface CandidateObservation {
  kind: "ERROR_RECOVERY" | "PREFERENCE" | "WORKFLOW" | "ANTI_PATTERN" | "SKILL_SEED";
  /** The host's own sort: what is alike is looked for within one. */
  category: string;
  /** What was learned; at most 16,384 bytes. It goes into the prompt as it was first told, on one line. */
  content: string;
  /** The tool that it is about; default `general`. */
  toolTag?: string;
  tags?: string[];
  /** How sure it is, 0..1, to six places. */
  score: number;
  source: string;
  /** Whether the source may make the agent do things. What one may not says is never promoted but by `force`. */
  trusted: boolean;
  /** When, in whole milliseconds. */
  at: number;
  /** What was observed was itself an attempt, and ended so. */
  success?: boolean;
}

/** A candidate as it stands; `score` is the mean of its evidence, `source` and `at` are those of the last. */
export interface Candidate extends CandidateObservation {
  id: string;
  state: CandidateState;
  evidenceCount: number;
  successes: number;
  failures: number;
  firstSeen: number;
  lastSeen: number;
  /** It is not promoted before this time. */
  cooldownUntil: number | null;
  /** The newest fifty, the last one last. */
  sources: string[];
}

/** What came of a candidate that was acted on. */
export interface CandidateOutcome {
  /** The turn ended well, and was not cancelled. */
  success: boolean;
  /** It did harm: no promotion for a week. */
  severe?: boolean;
  /** The user, or what is known, says otherwise. */
  conflict?: boolean;
  /** It proved to be what is not to be done. */
  antiPattern?: boolean;
  at: number;
}

/** A change of state. `reason` is the host's, or the code where the store decided. */
export interface CandidateTransition {
  id: string;
  from: CandidateState;
  to: CandidateState;
  reason: string;
  code:
    | "PROMOTION_GATE_PASS"
    | "DEMOTION_REGRESSION"
    | "COOLDOWN_OVER"
    | "INJECTED"
    | "RETENTION"
    | "MANUAL_TRANSITION"
    | "MANUAL_FORCE"
    | "MANUAL_ROLLBACK";
  at: number;
}

/** AceClaw's gates: their defaults, and what they may be. Shares are 0..1. */
export interface CandidateGates {
  /** Pieces of evidence for a promotion. Default 2; 1 to 1,000,000. */
  minEvidence?: number;
  /** Attempts within the window for it. Default 2; 0 to 1,000,000. */
  minAttempts?: number;
  /** The least score. Default 0.75. */
  minScore?: number;
  /** The share of those attempts that may have failed. Default 0.2. */
  maxFailureRate?: number;
  /** Failures in a row, up to the last attempt. Default 3; 0 to 1,000,000. */
  maxConsecutiveFailures?: number;
  /** So long attempts count, conflicts and anti-patterns. Default 14 days; 1 ms to ten years. */
  rollingWindowMs?: number;
  /** So long a severe failure counts. Default 7 days; 0 to ten years. */
  severeFailureLookbackMs?: number;
  /** Attempts within the window before anything is demoted. Default 4; 1 to 1,000,000. */
  demotionMinAttempts?: number;
  /** Demoted from this share of failures on. Default 0.6. */
  demotionFailureRate?: number;
  /** Demoted from so many conflicts on. Default 2; 1 to 1,000,000. */
  correctionConflicts?: number;
  /** Not promoted so long after. Default 3 days; 0 to ten years. */
  demotionCooldownMs?: number;
}

/**
 * Who signs: a key of 32 bytes or more, copied once into the Wasm's memory, which every script of the process can read; or a
 * callback (WebCrypto with a key that cannot be read, a KMS) that gives the HMAC-SHA256 of the bytes. It is called once for each line.
 */
export type CandidateSigner =
  | { key: Uint8Array }
  | {
      hmac: (
        bytes: Uint8Array<ArrayBuffer>,
      ) => Uint8Array | ArrayBuffer | Promise<Uint8Array | ArrayBuffer>;
    };

export interface CandidateStoreOptions {
  sign: CandidateSigner;
  gates?: CandidateGates;
  /** Only these are promoted; default all. */
  categories?: readonly string[];
  /** Whose candidates these are, as a tenant's or an agent's name: a file that was signed for another is refused. */
  scope?: string;
}

/** What became of a file: how many candidates were taken, and each line that was not. */
export interface CandidatesLoaded {
  loaded: number;
  /** Lines from 1; one behind the last where lines are missing there. */
  rejected: Array<{ line: number; reason: string }>;
}
