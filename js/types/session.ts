/** Session files, and replays of sessions under a policy. */
import type { Bucket, Explanation, ListedMessage } from "../generated.js";
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
  /** The tool definitions, if the file has them. One with a lone surrogate or more than 127 levels is left out: no provider accepts it. */
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
    /**
     * Messages that are not of the format: they stand in the history, and no request sends them. Known after `recordedView` or
     * `replay`; absent if there are none.
     */
    unreadable?: Array<{
      /** Index of the message. */
      index: number;
      /** Index of the message, the member that is wrong, and what is expected there. */
      reason: string;
    }>;
    /** Where the conversation was read from, backwards: the value of `leaf` that reads the same. Absent if the file has no branches. */
    leaf?: string;
    /** What `leaf` may be, oldest first: ends of branches, or indexes of runs. Empty if the file has no branches. */
    branches?: string[];
    /** What the file does not contain. */
    absent?: Array<"system" | "tools" | "window">;
    /** How many lines of each kind there are, and how many attachments of each type were left out: `attachment/file`. */
    kinds?: Record<string, number>;
    /** Lines that are not UTF-8; they were read with U+FFFD in place of each bad sequence. */
    lossy?: number;
    /** Lines of subagents, left out. */
    sidechain?: number;
    /** Lines of branches that the conversation left, and of messages that it took back, left out. */
    deadEnds?: number;
    /** Lines that repeat an earlier one, left out. */
    repeated?: number;
    /** Attachments of the conversation (files, reminders, lists of skills), left out of the messages. */
    attachments?: number;
    /** Lines whose parent the file does not contain: the line before them stands in for it. */
    bridged?: number;
  };
}

/** Options of `readSession` and `SessionReader`. */
export interface ReadOptions {
  /**
   * Id of the entry at which the branch to read ends (pi, Claude Code, Qwen Code), or index of a run or sample in a file with several.
   * Default: the newest branch, the first run.
   */
  leaf?: string | undefined;
}

/** A session that was read. Its messages are made of their JSON when `messages` is first read. */
export interface OpenSession extends SessionFile {
  /** Number of messages. */
  readonly messageCount: number;
  /** Returns one message without making the others; `undefined` if there is none at this index. */
  message(index: number): unknown;
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

/** What `redactSession` takes out. */
export interface RedactOptions {
  /** Secrets that are known by their form. Default true. */
  secrets?: boolean | undefined;
  /** Names of users in paths. Default true. */
  paths?: boolean | undefined;
  /**
   * `full`: texts stay. `stubs`: of each text the first 60 characters stay; of the rest each letter becomes an `x`, each digit a `0`.
   * `numbers`: all letters and digits do. Default `full`.
   */
  texts?: "full" | "stubs" | "numbers" | undefined;
}

/**
 * Form of what was taken out: a `token` by its prefix, a `signed-token`, a `private-key`, the `credentials` of an address, a value that
 * is `labelled` by a word like `password`, or the name of a `user` in a path.
 */
export type RedactionKind =
  | "token"
  | "signed-token"
  | "private-key"
  | "credentials"
  | "labelled"
  | "user";

/** A text without secrets. */
export interface RedactedText {
  /** The text; each secret is replaced by `[redacted]`. */
  text: string;
  /** What was taken out. */
  hits: Array<{
    /** Its form. */
    kind: RedactionKind;
    /** Where it started in the original, in UTF-16 code units. */
    at: number;
    /** Its length, in UTF-16 code units. */
    length: number;
  }>;
}

/** A session without secrets. */
export interface RedactedSession {
  /** The copy. */
  session: SessionFile;
  /** What was taken out, in order of the session. */
  hits: Array<{
    /** Where it stood: `message:N`, `compaction:N`, or a member of the session, such as `system`. */
    place: string;
    /** Its form. */
    kind: RedactionKind;
    /** Its length, in UTF-16 code units. */
    length: number;
  }>;
}

/** Options of `recordedView`. */
export interface RecordedOptions {
  /** The model's window. Default: that of the file, or one that holds the largest request. */
  window?: ContextWindow | undefined;
  /** How tokens are estimated. Default `generic`. */
  estimator?: Estimator | undefined;
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

/** A message that a call sent otherwise than the call before it. */
export interface MessageChange {
  /** Its index in the history. */
  index: number;
  /** Number of the call. */
  call: number;
  /** How it is sent from this call on; see `Explanation.state`. */
  state: Explanation["state"];
  /** Tokens as it is sent from this call on. */
  sentTokens: number;
  /** Name of the rule that changed it. */
  rule: string;
}

/** Tokens of all requests by kind of content, for a chart over the calls. */
export interface Layers {
  /** Names of the buckets, as in `Bucket.bucket`. */
  names: string[];
  /** Sent tokens: those of bucket `b` at call `c` are `tokens[c * names.length + b]`. */
  tokens: Uint32Array;
}

/** Every message of the history at a call, in columns; a message's index is its place in each. */
export interface MessageTable {
  /** Tokens of the originals. */
  tokens: Uint32Array;
  /** Tokens as they are sent. */
  sent: Uint32Array;
  /** Places in `states`. */
  state: Uint32Array;
  /** Numbers of the turns. */
  turn: Uint32Array;
  /** Places in `buckets`. */
  bucket: Uint32Array;
  /** Names of the states; see `Explanation.state`. */
  states: Array<Explanation["state"]>;
  /** Names of the buckets, as in `Bucket.bucket`. */
  buckets: string[];
}

/** Options of a search. */
export interface FindOptions {
  /** True to find small and capital letters alike. Default false. */
  ignoreCase?: boolean | undefined;
  /** Most hits, over all messages. Default 10,000. */
  limit?: number | undefined;
}

/** A message that contains the text of a search. */
export interface FoundMessage {
  /** Its index in the history. */
  index: number;
  /** Where the hits start in `text(index)`, in UTF-16 code units. */
  at: number[];
  /** The line of the first hit; of a long line the part around the hit. */
  excerpt: string;
}

/** What a replay and a recorded view show of a session. Calls are numbered from 0, as in `calls`; the default is the last. */
export interface SessionViews {
  /** What a request consists of, the largest part first. */
  composition(call?: number): Bucket[];
  /** Every message of the history at a call, and how much of it was sent. */
  messages(call?: number): ListedMessage[];
  /** The same in columns, for long histories. */
  table(call?: number): MessageTable;
  /** Tokens of every request by kind of content. */
  layers(): Layers;
  /** Messages that calls `from` to `to` (included) sent otherwise than the call before each of them. Default: all calls. */
  changes(from?: number, to?: number): MessageChange[];
  /** The messages whose `text(index)` contains a text. */
  find(text: string, options?: FindOptions): FoundMessage[];
  /** Text of a message, as a report has it under `message:N`; empty if there is no such message. */
  text(index: number): string;
  /**
   * The report of a call, the same as `ContextManager.inspect` gives. `window.used` is `calls[call].used`, and the buckets add up to
   * it.
   */
  report(
    call?: number,
    options?: {
      /** Section key, `system` or `message:N` whose text the report should include. */
      detailKey?: string | undefined;
    },
  ): InspectReport;
  /** Frees the memory that it holds in the core. */
  [Symbol.dispose](): void;
}

/**
 * A session as its agent sent it. Tokens are the provider's, as far as they are known. Messages that are `summarized` or `dropped` are
 * those that the agent had compacted.
 */
export interface Recorded extends SessionViews {
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
}

/** Options of `replay`. `economy` sets the prices of the bill, with every preset. */
export type ReplayOptions = PolicyOptions & {
  /** The window to play the session in. */
  window: ContextWindow;
  /** Whose rules the requests must satisfy. Default: the format's own provider. */
  provider?: Provider | undefined;
  /** How tokens are estimated. Default `generic`. */
  estimator?: Estimator | undefined;
  /**
   * Tokens that every request contains and the file does not, such as a system prompt. Default `usage`: what the provider's counts in
   * the file tell of them; 0 if it has none.
   */
  unseenTokens?: number | "usage" | undefined;
  /**
   * Whether tokens are the provider's: estimates are multiplied by a factor that is fitted to the provider's counts in the file. Default
   * true; without counts it changes nothing.
   */
  calibrate?: boolean | undefined;
  /**
   * Plays the session as if a summarizer answered each time that one would be asked, with a summary of so many tokens, or as many as there
   * is room for. What it costs is part of the bill: what it reads as uncached input, and its output. `file`: as many as the middle one of
   * the summaries in the file, and no summarizer if it has none. Default 0: there is no summarizer.
   */
  summaryTokens?: number | "file" | undefined;
  /** How many calls to play at once; `Replay.advance` plays the rest. Default: all. */
  calls?: number | undefined;
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
  /**
   * Its price in uncached input tokens: cache reads, cache writes and plain input, each at its price; and what the summaries cost that were
   * made for it.
   */
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
  /** Summaries that a summarizer was asked for; 0 without `summaryTokens`. */
  summaries: number;
  /** What they cost in uncached input tokens: part of `bill`. */
  summaryBill: number;
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
  /** Tool calls of the model that name an identifier seen before, which its request contained nowhere. */
  blindCalls: number;
  /** Tool calls equal to an earlier one whose result its request no longer contained in full. */
  refetches: number;
}

/** What the policy did at a call. */
export interface ReplayEvent {
  /** Number of the call. */
  call: number;
  /** `edit`: it shortened or left out messages. `fold`: it replaced the older messages by one. */
  event: "edit" | "fold";
  /** Tokens of the request without it. */
  before: number;
  /** Tokens of the request. */
  after: number;
  /** The messages that it changed. */
  changes: MessageChange[];
  /** What a fold replaced, and by what; `null` for an edit. */
  record: CompactionRecord | null;
}

/** The messages of a request. */
export interface SentMessages {
  /** The messages, in the format of the session. */
  messages: unknown[];
  /** For each message its index in the history; `null` if it is synthetic. */
  source: Array<number | null>;
  /** For each message, true if it is an edited copy. */
  edited: boolean[];
  /** Text of a message, by its place in `messages`; empty if there is no such place. */
  text(place: number): string;
}

/** A session played under a policy. */
export interface Replay extends SessionViews {
  /** Every request that was played. */
  calls: ReplayCall[];
  /** Their sums. */
  totals: ReplayTotals;
  /** What tokens are: estimates by a factor, and tokens that the file does not contain; `null` if they are plain estimates. */
  calibration: {
    /** Tokens of the provider for one estimated token. */
    factor: number;
    /** Tokens of every request that are not in the file. */
    unseenTokens: number;
  } | null;
  /** Tokens of each summary, unless there is room for less; 0: there is no summarizer. */
  summaryTokens: number;
  /**
   * Plays up to this many calls more, after `ReplayOptions.calls` stopped it; `calls` and `totals` then include them.
   */
  advance(calls: number): {
    /** True if all calls have been played. */
    done: boolean;
    /** How many have been played. */
    call: number;
  };
  /** What the policy did, in order of the calls. */
  events(): ReplayEvent[];
  /** Why a message is sent as it is at a call, the same as `ContextManager.explain` gives. */
  explain(index: number, call?: number): Explanation;
  /** The messages of a request. */
  sent(call?: number): SentMessages;
  /** The request that would follow the last one, with all messages of the file. All calls must have been played. */
  next(options?: {
    /** How long after the last call it is made, in milliseconds: after a pause, a prompt cache may have expired. Default 0. */
    idleMs?: number | undefined;
  }): {
    /** Its report. */
    report: InspectReport;
    /** The messages that it would send otherwise than the last call. */
    changes: MessageChange[];
  };
}
