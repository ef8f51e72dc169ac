/** The parts of OpenClaw's plugin interface that the engine uses, as OpenClaw 2026.9 has them. Every member may be missing. */

/** A message of the host's transcript. */
export interface HostMessage {
  /** `user`, `assistant`, `toolResult`, or a kind of the host's own. */
  role: string;
  /** Text or blocks. */
  content?: unknown;
  /** When it was written, in epoch milliseconds. */
  timestamp?: unknown;
  /** Of a result: the call that it answers. */
  toolCallId?: unknown;
  /** Of an answer: tokens as the provider counted them. */
  usage?: object;
  /** Of an answer: why the model stopped. */
  stopReason?: unknown;
  /** Of a result: what the host shows its user. */
  details?: unknown;
}

/** Where the host keeps a session. */
export type SessionTarget = Record<string, unknown>;

/** Model and limits of a call. */
export interface RuntimeSettings {
  model?: { requested?: string | null; resolved?: string | null; provider?: string | null };
  limits?: { promptTokenBudget?: number | null; maxOutputTokens?: number | null };
}

/** A model call that the host makes for the engine. */
export interface Llm {
  complete(params: {
    messages: { role: "user"; content: string }[];
    systemPrompt: string;
    maxTokens: number;
    purpose: string;
    signal: AbortSignal;
    model?: string;
  }): Promise<{ text: string; stopReason?: string; usage?: object }>;
}

/** What the host lends a hook. */
export interface RuntimeContext {
  llm?: Llm;
  trigger?: string;
  modelContextWindow?: number;
  rewriteTranscriptEntries?: Rewrite;
}

/** Replaces messages of the host's transcript. */
export type Rewrite = (request: {
  replacements: { entryId: string; message: HostMessage }[];
}) => Promise<Rewritten>;

/** Result of a change of the host's transcript. */
export interface Rewritten {
  changed: boolean;
  bytesFreed: number;
  rewrittenEntries: number;
  reason?: string;
}

/** What every hook is called with. */
export interface HookCall {
  sessionId: string;
  sessionKey?: string;
  sessionTarget?: SessionTarget;
  runtimeSettings?: RuntimeSettings;
  runtimeContext?: RuntimeContext;
  abortSignal?: AbortSignal;
}

/** Call of `assemble`. */
export interface AssembleCall extends HookCall {
  messages: HostMessage[];
  tokenBudget?: number;
  availableTools?: Set<string>;
  model?: string;
  prompt?: string;
}

/** Result of `assemble`. */
export interface Assembled {
  messages: HostMessage[];
  estimatedTokens: number;
}

/** Call of `commitTurn`. */
export interface CommitCall extends HookCall {
  advancementKey: string;
  messages: HostMessage[];
}

/** Call of `compact`. */
export interface CompactCall extends HookCall {
  tokenBudget?: number;
  currentTokenCount?: number;
  customInstructions?: string;
}

/** Result of `compact`. */
export interface Compacted {
  ok: boolean;
  compacted: boolean;
  reason?: string;
  result?: { summary?: string; tokensBefore: number; tokensAfter: number };
}

/** Context of the engine's factory. */
export interface FactoryContext {
  config?: HostConfig;
  agentDir?: string;
  workspaceDir?: string;
}

/** Members of the host's configuration that name models. */
export interface HostConfig {
  models?: {
    providers?: Record<
      string,
      {
        api?: string;
        models?: { id?: string; api?: string; contextWindow?: number; maxTokens?: number }[];
      }
    >;
  };
}

/** Host's log. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
}

/** A page of the host's transcript. */
export type TranscriptPage =
  | {
      kind: "page";
      cursor: string;
      hasMore: boolean;
      entries: { entryId?: string; message?: HostMessage }[];
      /** Size of the next entry if not even that fits the page. */
      requiredBytes?: number;
    }
  | { kind: "missing" | "reset" | "unavailable"; reason?: string };

/** Reads the host's transcript page by page. */
export type ReadPage = (
  params: SessionTarget & { cursor?: string; maxBytes?: number },
) => Promise<TranscriptPage>;

/** An entry of the host's transcript, of any kind. */
export interface TranscriptEvent {
  /** `message`, `reset`, and others. */
  type?: string;
  id?: string;
  /** Of a message. */
  message?: { role?: unknown };
  /** Of a reset: the first message that it keeps. */
  firstKeptEntryId?: string;
}

/** A page of all entries, in the order in which they were written. */
export type EventPage =
  | {
      kind: "page";
      cursor: string;
      hasMore: boolean;
      events: { event: TranscriptEvent }[];
      /** Size of the next entry if not even that fits the page. */
      requiredBytes?: number;
    }
  | { kind: "missing" | "reset"; reason?: string };

/** Reads all entries of the host's transcript page by page. */
export type ReadEvents = (
  params: SessionTarget & { cursor?: string; maxBytes?: number },
) => Promise<EventPage>;
