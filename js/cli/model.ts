/**
 * What the commands take from the package. Described here by shape, so that a command can be read, and tried, without the core.
 */

/** A session file that was read. */
export interface Session {
  format: string;
  messages: readonly unknown[];
  window?: { contextTokens: number; maxOutputTokens?: number };
  receipt: {
    lines: number;
    read: number;
    unknown: number;
    broken: ReadonlyArray<{ line: number; reason: string }>;
  };
}

/** One request of the replay. Tokens, except `bill`, which is in uncached input tokens. */
export interface ReplayCall {
  call: number;
  at?: number;
  /** The request as it was sent. */
  used: number;
  /** The messages that the call saw. */
  sent: number;
  unmanaged: number;
  epoch: number;
  event: "edit" | "fold" | null;
  edits: number;
  violations: number;
  bill: number;
}

/** The whole replay in figures. `edits` counts edited messages, each time anew. Recall is 0..1, or null where nothing was there to recall. */
export interface ReplayTotals {
  bill: number;
  unmanagedBill: number;
  recall: number | null;
  farRecall: number | null;
  contentRecall: number | null;
  edits: number;
  folds: number;
  overWindow: number;
  violations: number;
  peak: number;
  summaryTokens: number;
}

/** What one kind of content weighs in a request, before and as sent, and how many blocks are in which state. */
export interface Bucket {
  bucket: string;
  blocks: number;
  tokens: number;
  sent: number;
  kept: number;
  capped: number;
  stubbed: number;
  gone: number;
}

/** One message of a request. */
export interface MessageRow {
  index: number;
  role: string;
  kind: string;
  tool?: string;
  tokens: number;
  sentTokens: number;
  state: string;
  rule: string;
  turn: number;
}

/** A session played call by call. Without a call, the last one is meant. */
export interface Played {
  calls: readonly ReplayCall[];
  totals: ReplayTotals;
  composition(call?: number): readonly Bucket[];
  messages(call?: number): readonly MessageRow[];
  [Symbol.dispose](): void;
}
