/** Session files, and sessions played under a policy. */
import type { Bucket, ListedMessage } from "../generated.js";
import type { CompactionRecord } from "./compaction.js";
import type { ContextWindow, Estimator, Format, PolicyOptions, Provider } from "./options.js";
import type { InspectReport } from "./report.js";

/** An agent's session as its file tells it. */
export interface SessionFile {
  format: string;
  messageFormat: Format;
  messages: unknown[];
  system?: string;
  tools?: object[];
  window?: ContextWindow;
  /** One for each model call: the messages it saw, when, and what was reported. */
  calls: Array<{
    sent: number;
    at?: number;
    usage?: {
      inputTokens: number;
      outputTokens: number;
      cacheReadTokens: number;
      cacheWriteTokens: number;
    };
  }>;
  compactions: CompactionRecord[];
  /** After the last compaction of a pi or OpenClaw file: what stands for the rest, and the messages kept, as [from, to). */
  resume?: { head: object; kept: Array<[number, number]> };
  receipt: {
    lines: number;
    read: number;
    unknown: number;
    broken: Array<{ line: number; reason: string }>;
  };
}

/** In a replay `economy` may stand beside every preset: the bill counts with it. */
export type ReplayOptions = PolicyOptions & {
  window: ContextWindow;
  provider?: Provider;
  estimator?: Estimator;
  signal?: AbortSignal | undefined;
};

export interface ReplayCall {
  call: number;
  /** Tokens of the request. */
  used: number;
  /** Tokens of the whole history at this call. */
  unmanaged: number;
  /** Messages of the history that it saw. */
  sent: number;
  epoch: number;
  event: "edit" | "fold" | null;
  /** Messages that were newly edited. */
  edits: number;
  /** Its price in base input tokens. */
  bill: number;
  /** Rules of the provider that the request breaks. */
  violations: number;
  fits: boolean;
  at: number;
}

export interface ReplayTotals {
  bill: number;
  /** Without management, the window aside. */
  unmanagedBill: number;
  edits: number;
  folds: number;
  /** Requests that changed something before their end. */
  epochs: number;
  overWindow: number;
  violations: number;
  peak: number;
  /** Share of the identifiers that the model wrote next and that the request still showed; null: none was wanted. */
  recall: number | null;
  /** The same where the newest mention lay more than 8,000 tokens back. */
  farRecall: number | null;
  /** The same where the newest result that holds it was still sent. */
  contentRecall: number | null;
  /** Of what people wrote before a request, the share of tokens that it held verbatim: the mean over all requests. */
  userText: number | null;
}

/** A session played under a policy. */
export interface Replay {
  calls: ReplayCall[];
  totals: ReplayTotals;
  /** What a request held, the largest first; default the last. */
  composition(call?: number): Bucket[];
  /** Every message of the history at a call; default the last. */
  messages(call?: number): ListedMessage[];
  /** What a message of the session says, as a report has it under `message:N`; nothing where there is none. */
  text(index: number): string;
  /** The same report as `ContextManager.inspect`, of a call; default the last. */
  report(call?: number, options?: { detailKey?: string }): InspectReport;
  [Symbol.dispose](): void;
}
