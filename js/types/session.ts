/** Session files, and replays of sessions under a policy. */
import type { Bucket, ListedMessage } from "../generated.js";
import type { CompactionRecord } from "./compaction.js";
import type { ContextWindow, Estimator, Format, PolicyOptions, Provider } from "./options.js";
import type { InspectReport } from "./report.js";
import type { CheckpointRecord } from "./summary.js";
import type { AbortSignal } from "./web.js";

/** An agent's session, read from its file. */
export interface SessionFile {
  /** Name of the file format, such as `pi` or `claude-code`. */
  format: string;
  /** Format of `messages`. */
  messageFormat: Format;
  /** The history at the end of the session. */
  messages: unknown[];
  /** The system prompt, if the file has it. */
  system?: string;
  /** The tool definitions, if the file has them. */
  tools?: object[];
  /** The model's window, if the file has it. */
  window?: ContextWindow;
  /** The models that were called, in order of their first call. Empty if the file does not name them. */
  models?: Array<{
    /** As the file names it. */
    name: string;
    /** How many calls it answered. */
    calls: number;
  }>;
  /** One entry for each model call, in order. */
  calls: Array<{
    /** How many messages of the history came before its answer. */
    sent: number;
    /** When it was made, in epoch milliseconds. */
    at?: number;
    /** Tokens that the provider reported. */
    usage?: {
      /** Everything that was sent, cached or not. */
      inputTokens: number;
      /** Everything that was answered, including reasoning. */
      outputTokens: number;
      /** Part of `inputTokens` that was read from the prompt cache. */
      cacheReadTokens: number;
      /** Part of `inputTokens` that was written to the prompt cache. */
      cacheWriteTokens: number;
    };
  }>;
  /** Compactions recorded in the file. */
  compactions: FileCompaction[];
  /**
   * Checkpoints recorded in a pi or OpenClaw file after its last compaction. They count the messages of `resumeMessages(session)`. The
   * last one continues as `summary.checkpoints.last`.
   */
  checkpoints: CheckpointRecord[];
  /** How the session continues after the last compaction of a pi or OpenClaw file; see `resumeMessages`. */
  resume?: {
    /** The message that replaces the older ones. */
    head: object;
    /** The messages that are kept, as [from, to). */
    kept: Array<[number, number]>;
  };
  /** How much of the file was read: `lines = read + unknown + broken.length`. */
  receipt: {
    /** Lines of the file, without blank ones; elements, if the file is one JSON list. */
    lines: number;
    /** Lines that were read. */
    read: number;
    /** Lines of a kind that is not read. */
    unknown: number;
    /** Lines that could not be read. */
    broken: Array<{
      /** Number of the line, from 1. */
      line: number;
      /** What is wrong with it. */
      reason: string;
    }>;
  };
}

/** A compaction by the agent that wrote a session file. What the file does not tell is empty, or 0. */
export interface FileCompaction extends CompactionRecord {
  /** Number of messages before it. */
  at?: number;
  /** Number of calls before it: the call of this index is the first one after it. */
  call?: number;
  /** True if its summary is encrypted, so that only the provider can read it. */
  opaque?: boolean;
}

/** Options of `recordedView`. */
export interface RecordedOptions {
  /** The model's window. Default: that of the file, or one that holds the largest request. */
  window?: ContextWindow;
  /** How tokens are estimated. Default `generic`. */
  estimator?: Estimator;
}

/** One call of a session as its agent made it. */
export interface RecordedCall {
  /** Number of the call, from 0: its index in `Recorded.calls`. */
  call: number;
  /** Messages of the history before it. */
  sent: number;
  /** Index of the first message that was sent whole: those before it were compacted by the agent. */
  from: number;
  /** When it was made, in epoch milliseconds; `null` if the file does not tell. */
  at: number | null;
  /** Tokens of the request, as `source` has them. */
  used: number;
  /**
   * `provider`: the provider's own count. `calibrated`: an estimate, fitted to the provider's counts of other calls. `estimate`: an
   * estimate of what the file contains.
   */
  source: "provider" | "calibrated" | "estimate";
  /** The provider's count; `null` if the file has none. */
  usage: number | null;
  /** Estimate of what the file contains of the request. */
  estimate: number;
  /** The estimate, fitted to the provider's counts; `null` if the file has none. */
  calibrated: number | null;
  /** Tokens that were sent and are not in the file, such as system prompt and tools; 0 if the file has no counts. */
  unseen: number;
  /** `compaction` if the agent compacted before this call. */
  event: "compaction" | null;
}

/** A session as its agent sent it. Calls are numbered from 0, as in `calls`; the default is the last. */
export interface Recorded {
  /** Every request. */
  calls: RecordedCall[];
  /** How estimates were fitted to the provider's counts; `null` if the file has none. */
  calibration: {
    /** Tokens of the provider for one estimated token. */
    factor: number;
    /** Tokens that were sent at the last call and are not in the file; below 0 if the file contains more than was counted. */
    overhead: number;
    /** Median error of the fitted counts, as a share of the provider's. */
    errorP50: number;
    /** Their 90th percentile. */
    errorP90: number;
    /** Number of calls that the provider counted. */
    calls: number;
  } | null;
  /** The model's window. */
  window: Required<ContextWindow> & {
    /**
     * `given`: by the options. `file`: the session file has it. `usage`: the smallest usual window that contains the largest request.
     * `assumed`: 200,000.
     */
    source: "given" | "file" | "usage" | "assumed";
  };
  /** What a request consisted of, the largest part first. Tokens are the provider's, as far as they are known. */
  composition(call?: number): Bucket[];
  /** Every message of the history at a call; `summarized` and `dropped` are those that the agent had compacted. */
  messages(call?: number): ListedMessage[];
  /** Text of a message, as a report has it under `message:N`; empty if there is no such message. */
  text(index: number): string;
  /** The report of a call. `window.used` is `calls[call].used`, and the buckets add up to it. */
  report(
    call?: number,
    options?: {
      /** Section key, `system` or `message:N` whose text the report should include. */
      detailKey?: string;
    },
  ): InspectReport;
  /** Frees the memory that the view holds in the core. */
  [Symbol.dispose](): void;
}

/** Options of `replay`. `economy` sets the prices of the bill, with every preset. */
export type ReplayOptions = PolicyOptions & {
  /** The window to play the session in. */
  window: ContextWindow;
  /** Whose rules the requests must satisfy. Default: the format's own provider. */
  provider?: Provider;
  /** How tokens are estimated. Default `generic`. */
  estimator?: Estimator;
  /** Aborts the replay; it then throws `signal.reason`. */
  signal?: AbortSignal | undefined;
};

/** One request of a replay. */
export interface ReplayCall {
  /** Number of the call, from 0: its index in `Replay.calls`. */
  call: number;
  /** Tokens of the request. */
  used: number;
  /** Tokens of the whole history at this call. */
  unmanaged: number;
  /** Messages of the history that it saw. */
  sent: number;
  /** The epoch of the request. */
  epoch: number;
  /** What was done for it, or `null`. */
  event: "edit" | "fold" | null;
  /** Messages with an edit that is new in this request. */
  edits: number;
  /** Its price in uncached input tokens: cache reads, cache writes and plain input, each at its price. */
  bill: number;
  /** Rules of the provider that the request breaks. */
  violations: number;
  /** False if the request is larger than the usable window. */
  fits: boolean;
  /** When it was made, in epoch milliseconds. */
  at: number;
}

/** Sums over a replay. Recall figures are 0..1, or `null` if nothing was wanted. */
export interface ReplayTotals {
  /** Price of all requests in uncached input tokens. */
  bill: number;
  /** The same if everything were sent in every request, whatever the window. */
  unmanagedBill: number;
  /** Requests with new edits. */
  edits: number;
  /** Folds. */
  folds: number;
  /** Requests that changed something before their end. */
  epochs: number;
  /** Requests larger than the usable window. */
  overWindow: number;
  /** Rules of the provider that requests break. */
  violations: number;
  /** Tokens of the largest request. */
  peak: number;
  /** Of the earlier identifiers that the model wrote next, the share that its request still contained. */
  recall: number | null;
  /** The same, only for identifiers whose newest mention was more than 8,000 tokens back. */
  farRecall: number | null;
  /** The same, counting an identifier only if the newest result that contains it was sent whole. */
  contentRecall: number | null;
  /** Share of the user's text that was sent verbatim, by tokens; the mean over all requests. */
  userText: number | null;
}

/** A session played under a policy. Calls are numbered from 0, as in `calls`; the default is the last. */
export interface Replay {
  /** Every request. */
  calls: ReplayCall[];
  /** Their sums. */
  totals: ReplayTotals;
  /** What a request consists of, the largest part first. */
  composition(call?: number): Bucket[];
  /** Every message of the history at a call, and how much of it was sent. */
  messages(call?: number): ListedMessage[];
  /** Text of a message, as a report has it under `message:N`; empty if there is no such message. */
  text(index: number): string;
  /** The report of a call, the same as `ContextManager.inspect` gives. */
  report(
    call?: number,
    options?: {
      /** Section key, `system` or `message:N` whose text the report should include. */
      detailKey?: string;
    },
  ): InspectReport;
  /** Frees the memory that the replay holds in the core. */
  [Symbol.dispose](): void;
}
