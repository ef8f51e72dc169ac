/**
 * The public types. chars are UTF-16 code units (what `String.length` counts), tokens are estimates, times are
 * milliseconds since the epoch, shares are 0..1.
 */
import type {
  Bucket,
  BudgetCheck,
  CoreError,
  Edit,
  Estimate,
  Explanation,
  ListedMessage,
  Op,
  Violation,
  WindowReport,
} from "./generated.js";

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
};

/** Message shapes that are read, and edited in place. `auto` looks at the first messages. */
export type Format =
  | "auto"
  | "anthropic"
  | "openai-chat"
  | "openai-responses"
  | "gemini"
  | "ai-sdk"
  | "pi"
  | "langchain";

/** Whose rules the outgoing transcript must satisfy. */
export type Provider =
  | "anthropic"
  | "openai-chat"
  | "openai-responses"
  | "gemini"
  | "bedrock"
  | "mistral"
  | "deepseek"
  | "kimi";

/** Byte-pair profiles of tokenizer families, plain ratios of characters, or the host's own counter. */
export type Estimator =
  | "generic"
  | "o200k"
  | "cl100k"
  | "claude"
  | "gemini"
  | "gemma3"
  | "llama3"
  | "qwen"
  | "deepseek"
  | "mistral"
  | "chars/4"
  | "chars/2.1"
  | "cjk"
  | ((text: string) => number);

/** How much a model takes. */
export interface ContextWindow {
  /** The model's context window in tokens. 0 or unknown: no budget decision is taken. */
  contextTokens: number;
  /** Tokens held back for the answer; default 0. The usable window is `contextTokens - maxOutputTokens`. */
  maxOutputTokens?: number;
}

/** What went wrong, where, and what is allowed. */
export type ErrorInfo =
  | CoreError
  /** The store holds another revision. */
  | { code: "CONFLICT"; expected: number | null; found: number }
  /** Another process holds the lock of a record. */
  | { code: "LOCKED"; path: string; holder: string }
  /** The Wasm instance trapped in this call; the next call starts a new one. */
  | { code: "INSTANCE_LOST"; during: string };

/** A text that could be a system prompt, the provider's blocks, and definitions: exactly as the host sends them. */
export interface Parts {
  /** Text or the provider's own blocks. A change opens an epoch. */
  system?: string | PromptPlan | object | undefined;
  /** The provider's own definitions, counted as they are. A change opens an epoch. */
  tools?: readonly object[] | Readonly<Record<string, object>> | undefined;
  /** Tokens that will be sent besides and that we are not shown. */
  unseenTokens?: number | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The policy: a preset, or the knob behind our three. An option that the preset does not have is refused by name.
 *
 * `aceclaw`, `aiclaw`, `openclaw`, `context-budget` and `hermes` do as these systems describe themselves, with their
 * figures. What they protect at the end slides with every message, and with it an epoch may open at nearly every call.
 */
export interface PolicyOptions {
  /** Default `balanced`. */
  preset?:
    | "balanced"
    | "economy"
    | "retention"
    | "aceclaw"
    | "aiclaw"
    | "openclaw"
    | "context-budget"
    | "hermes";
  /** Ours only. Instead of a preset: economy 0, balanced 0.6, retention 1; from -0.6 (cheapest) to 1.3 (keeps most). */
  retention?: number;
  /** Share of the usable window above which something is done; ours: at which capacity is reached, 0.95. */
  trigger?: number;
  /** Share of the usable window that is aimed for; ours: of the trigger, 0.55. */
  target?: number;
  /** Ours only. Share of the window above which a result is cut before it is first sent. Default 0.12; 1 = never. */
  ingestCap?: number;
  /** An edit that waits for a better time, and gains fewer tokens, waits. Default 0; hermes 4,096. */
  minimumGainTokens?: number;
  /**
   * Protected messages are never edited and never folded; only a request that would not fit otherwise touches them, after
   * everything else. The first messages, those of the system not counted.
   */
  protectFirst?: number;
  /** The last messages. */
  protectLast?: number;
  /** The last turns. */
  protectTurns?: number;
  /** The last messages of at most so many tokens. */
  protectTokens?: number;
  /** Names or globs of tools whose calls and results are protected wherever they stand. */
  protectTools?: readonly string[];
  /** Theirs only. What starts a turn: a person's message, or every message with the user's role, also one that only carries results. */
  turn?: "user" | "user-role";
  /** Theirs only. UTF-16 code units that stay of a body that is cut. Default 200. */
  stubChars?: number;
  /** Theirs only. What comes after shortening, if it is not enough: a fold (the default), old bodies cut, or the oldest dropped. */
  strategy?: "summarize" | "truncate" | "discard";
  /** Ours only. Prices relative to one uncached input token, and the cache's lifetime. Default 0.1, 1.25, 5, five minutes. */
  economy?: { cacheRead: number; cacheWrite: number; output: number; cacheTtlMs: number };
}

export interface ContextManagerOptions<M> extends PolicyOptions {
  window: ContextWindow;
  /** Default `auto`: the messages show it. */
  format?: Format;
  /** Whose rules hold. Default: the format's own provider; Anthropic for pi, the AI SDK and LangChain. */
  provider?: Provider;
  /** Gemini: a call of the current turn whose signature is lost goes out with the documented sentinel. Default false. */
  signCalls?: boolean;
  /**
   * What a thinking block that is kept is bound to. `bound`: all that stands before it, so that behind an edit it goes, or
   * `Prepared.hints` has the provider drop it (newer Claude models refuse it otherwise). `free`: nothing. `none`: the model
   * takes none, and none is sent; only what a provider wants with its calls stays. Default: bound for Anthropic and Bedrock.
   */
  thinking?: "bound" | "free" | "none";
  /** Default `generic`. A function is asked once for each text of the history, when it is first passed. */
  estimator?: Estimator;
  /** Same key = same content. Default: the object itself, else its content. */
  key?: (message: M, index: number) => string;
  /** Builds a message of ours in the host's class. Default: a plain object of the format. The assistant's: where roles must
   *  alternate, two of the host's in one, or a neutral line. */
  create?: (made: {
    role: "user" | "assistant" | "tool";
    content: unknown;
    toolCallId?: string;
    toolName?: string;
  }) => M;
  /** One summarizer, or several tried in order. Without one, what a fold removes is carried by digest and hot set. */
  summarize?: Summarizer | readonly Summarizer[];
  summary?: SummaryOptions;
  /** In reports and errors. */
  id?: string;
  /** Milliseconds since the epoch. Default `Date.now`. */
  clock?: () => number;
  on?: (event: ContextEvent) => void;
}

/** What a compaction would do. Positions are those of the history that it was made for. */
export interface CompactionPlan {
  /** Stands for that history: on another the plan is refused (`STALE_PLAN`). */
  base: string;
  outcome: "none" | "prune" | "summarize" | "overflow";
  reason: string;
  /** First message that is kept as it is: what stands before it is replaced by the head, except `kept`. Never inside a tool group. */
  firstKept: number;
  /** Messages before it of which something stays, as [from, to). */
  kept: Array<[number, number]>;
  /** What goes, in runs that a summarizer can take. */
  chunks: Array<{ from: number; to: number; tokens: number }>;
  tokensBefore: number;
  tokensAfterEstimate: number;
  extracted: ExtractedContext;
  /** The core's own numbers of what goes. */
  gone?: Array<[number, number]>;
  /** Of an overflow: what cannot go. */
  floor?: Floor | null;
}

/** What no compaction can make smaller, in tokens, beside the window: why a request does not fit. */
export interface Floor {
  /** The system prompt, and what is sent besides and not shown to us. */
  systemTokens: number;
  toolTokens: number;
  pinnedTokens: number;
  /** The last request of the user and what came since. */
  lastTurnTokens: number;
  /** Held back for the answer. */
  reserveTokens: number;
  windowTokens: number;
}

export type ContextEvent = EpochEvent | CompactionEvent | CheckpointEvent | PressureEvent;

/**
 * A level of pressure that is newly reached, by a request or by what its provider counted: each once until a compaction, a higher one
 * instead of those below it.
 */
export type PressureEvent = {
  type: "pressure";
  from: Status["pressure"];
  to: Status["pressure"];
  pct: number;
};

/** A compaction begins, and how it ended. */
export type CompactionEvent =
  | { type: "compaction-start" }
  | { type: "compaction-end" | "compaction-failed"; outcome: CompactionOutcome };

/** A checkpoint was made, or could not be; the session goes on either way. */
export type CheckpointEvent =
  | { type: "checkpoint"; record: CheckpointRecord }
  | { type: "checkpoint-failed"; reason: string };

/**
 * Something other than the end of the request changed. State that a provider keeps of the conversation (OpenAI's
 * `previous_response_id` or `conversation`, a cache by handle) is of another conversation from now on: drop it.
 */
export type EpochEvent = {
  type: "epoch";
  epoch: number;
  /** edit, fold, parts (system or tools changed), or history (the host changed it). */
  reason: string;
  firstChanged: number;
  tokensBefore: number;
  tokensAfter: number;
  /** Tokens that the provider had cached and must read anew. */
  cachedTokensLost: number;
};

/** A request, and what is to be said about it. */
export interface Prepared<M> {
  messages: M[];
  /** For each message the index of the history message it is or edits; null = made by us. */
  source: ReadonlyArray<number | null>;
  /** False: even what may not go is over the usable window, by our estimate. */
  fits: boolean;
  /** What had to be repaired in the host's history. */
  repairs: Violation[];
  cacheBreakpoints: readonly number[];
  /** Changes only when something other than the end of the request changes. */
  epoch: number;
  /** First message that differs from the previous request; -1: system or tools; null: it only grew. */
  firstChanged: number | null;
  tokens: number;
  tokensSource: "usage+estimate" | "estimate";
  /** Edits that are new in this request. */
  edits: Edit[];
  /**
   * What room was made for this request, by the deepest step that was taken; null: none was needed. `pruned`: edits,
   * `discarded`: the oldest went, `truncated`: old bodies were cut or, with a `record`, a fold; `none`: a fold was wanted, and
   * why it was not carried out. Its positions are those of the history that was passed.
   */
  compaction: CompactionOutcome | null;
  hints: { body?: Record<string, unknown>; headers?: Record<string, string> };
}

/** A history pruned for one request. */
export interface PruneResult<M> {
  messages: M[];
  /** False: nothing was done, and `messages` are the host's own. */
  applied: boolean;
  /** Tokens of the request, system and tools counted in. */
  originalTokens: number;
  prunedTokens: number;
  edits: Edit[];
}

/** A history cut down to its share of a window. */
export interface ShareResult<M> {
  messages: M[];
  droppedMessagesList: M[];
  droppedChunks: number;
  droppedMessages: number;
  droppedTokens: number;
  keptTokens: number;
  budgetTokens: number;
}

/** How many turns the sessions of a channel keep. */
export type Channels = Readonly<
  Record<
    string,
    {
      /** For whatever has no limit of its own. */
      historyTurns?: number | undefined;
      /** For direct messages. */
      dmHistoryLimit?: number | undefined;
      /** For the direct messages of one user. */
      dms?: Readonly<Record<string, { historyLimit?: number | undefined }>> | undefined;
    }
  >
>;

/** How full the window is. */
export interface Status {
  used: number;
  usable: number;
  remaining: number;
  pct: number;
  pressure: "low" | "medium" | "high" | "critical";
  trend: "unknown" | "stable" | "rising" | "falling";
  source: "usage+estimate" | "estimate";
  peakTokens: number;
  compactions: number;
  tokensSaved: number;
  epoch: number;
  due: "edit" | "fold" | null;
  blocked: null | { reason: "cooldown" | "ineffective" | "running"; untilMs?: number };
  /** The last prompt for notes since room was last made, and whether a file in `memory/` was written since. */
  flush?: { threshold: number; acted: boolean };
}

/** A prompt for notes, for the end of a request. */
export interface FlushPrompt {
  /** Percent of the usable window that was newly crossed: 50, 75 or 90. */
  threshold: number;
  text: string;
}

/** A compaction that the file tells of. */
export interface CompactionRecord {
  type: "compaction";
  id: string;
  timestamp: string;
  summary: string;
  firstKeptEntryId: string | null;
  firstKeptIndex: number;
  kept: Array<[number, number]>;
  head: string;
  tokensBefore: number;
  tokensAfter: number;
  details: ExtractedContext;
  lost: string[];
  degraded: boolean;
  /** The summary was a checkpoint that stood ready; nobody was asked for it. */
  fromCheckpoint?: boolean;
}

/** A summary of the session that was made ahead, as GoClaw writes it. */
export interface Checkpoint {
  /** Two to four paragraphs. */
  summary: string;
  /** Tokens of the request that it was made after: an estimate, whatever a provider counted. */
  tokensAtCheckpoint: number;
  /** It tells of the messages before this one of the history. */
  messageCountAtCheckpoint: number;
  topics: string[];
  openQuestions: string[];
  keyDecisions: string[];
}

/** One line of JSONL: a checkpoint beside the messages. */
export interface CheckpointRecord {
  type: "checkpoint";
  /** Sorts as checkpoints came. */
  id: string;
  timestamp: string;
  checkpoint: Checkpoint;
}

/** When checkpoints are made; the figures are GoClaw's. */
export interface CheckpointOptions {
  /** Percents of the usable window; newly reached, each is one. Default 25, 50, 75. */
  thresholds?: readonly number[];
  /** And after so many turns of the user since the last. Default 15. */
  turns?: number;
  /** Under so many tokens of a request there is none. Default 10,000. */
  minimumTokens?: number;
}

export interface ExtractedContext {
  modifiedFiles: string[];
  readFiles: string[];
  commands: string[];
  errors: string[];
  identifiers: string[];
}

/** What a compaction came to. */
export interface CompactionOutcome {
  status: "none" | "pruned" | "summarized" | "truncated" | "discarded" | "failed";
  reason: string;
  tokensBefore: number;
  tokensAfter: number;
  reductionPct: number;
  record: CompactionRecord | null;
  extracted: ExtractedContext;
  /** Of a `failed` one that is an overflow: what cannot go. No summarizer was asked. */
  floor?: Floor | null;
  /** Calls of a summarizer; none where the fold is carried by digest and hot set. */
  attempts: Array<{
    kind: SummaryJob["kind"];
    summarizer: number;
    result:
      | "ok"
      | "empty"
      | "cut"
      | "refused"
      | "inflated"
      | "unverified"
      | "timeout"
      | "aborted"
      | "threw";
    detail?: string;
  }>;
}

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

/** What a session has come to so far. Not in a snapshot. */
export interface SessionMonitor {
  /** Tokens of the last requests, at most 32, each other than the one before. */
  samples: number[];
  /** All that was reported of requests. */
  inputTokens: number;
  outputTokens: number;
  /** Calls of the model whose usage was reported (`main_turn`; `continuation` after a compaction), of summarizers (`compaction_summary`), and what the host recorded. */
  requests: { total: number; bySource: Record<string, number> };
  /** Room that was made: `PRUNED`, `SUMMARIZED`, `TRUNCATED`, `DISCARDED`, and what the host recorded. */
  compactions: {
    total: number;
    byPhase: Record<string, number>;
    tokensSaved: number;
    last: { phase: string; at: number | null; tokensBefore: number; tokensAfter: number } | null;
  };
}

/**
 * What fills a window, why each part is in or out, and what would go next: one report, the same from a live session, a replay,
 * the CLI and an RPC. Percents are of 100, to four places.
 */
export interface InspectReport {
  schema: "context.inspect/1";
  sessionId: string;
  /** The system prompt: its UTF-16 code units, its tokens without the message around it, and their share of the window. */
  totalChars: number;
  estimatedTokens: number;
  contextWindowTokens: number;
  systemPromptSharePct: number;
  /** Of the plan that the system prompt was given as; null and empty where it was given as text. */
  requestFocus: RequestFocus | null;
  budget: PromptBudget | null;
  truncatedSectionKeys: string[];
  /** `estimatedTokens` of a section are by the session's own estimator. */
  sections: SectionReport[];
  /** used + reserve + free = contextWindowTokens. Something must go above `trigger`, and then down to `target`; null: no window is known. */
  window: WindowReport;
  /** What the request consists of, the largest first; together they are `window.used`. */
  buckets: Array<{
    /** As in `Bucket`; of a plan's prompt `rules`, `candidates`, `skills`, `learned`, `memory` and `core` instead of `system`. */
    bucket: string;
    /** As sent. `unseen`: what the provider counted beyond our estimates, below 0 where it counted less. */
    tokens: number;
    /** Share of what is used. */
    sharePct: number;
    /** What is left of it; of sections by their characters. */
    retainedPct: number;
  }>;
  /** Tokens are estimates, whatever the provider counted. */
  messages: ListedMessage[];
  status: Status;
  monitor: SessionMonitor;
  /** The newest are remembered, at most 32; what they say of the last alone. */
  compactions: CompactionRecord[];
  next: CompactionPlan;
  /** The text under the key that was asked for. */
  detail?: { key: string; content: string };
  /** The keys nearest to one that there is not. */
  nearestKeys?: string[];
}

/** A tool in plain JSON Schema: spread into `input_schema`, `function.parameters` or `jsonSchema()`. */
export interface AgentTool {
  name: string;
  description: string;
  parameters: { type: "object"; properties: Record<string, object>; required: string[] };
}

// ---------------------------------------------------------------------------------------- the system prompt

/** UTF-16 code units of a section, and of the whole prompt. */
export interface PromptBudget {
  maxPerTierChars: number;
  maxTotalChars: number;
}

/** A part of the system prompt. */
export interface Section {
  /** Its name: `base`, `memory:soul`, `rules:testing`. What lifts its priority goes by it. */
  key: string;
  /** Its text, with the line ends that part it from the next. */
  content: string;
  /** 0..100: what has less goes first. */
  priority: number;
  /** Cut only after everything else. */
  protected?: boolean;
  source?: string;
  scope?: "always-on" | "task-local";
  reason?: string;
  evidence?: string[];
  /** The same from request to request: what a prompt cache may count on. */
  stable?: boolean;
}

/** What became of a section. */
export interface SectionReport {
  key: string;
  sourceType: string;
  scopeType: string;
  inclusionReason: string;
  /** With what the request lifted it by. */
  priority: number;
  basePriority: number;
  protected: boolean;
  originalChars: number;
  finalChars: number;
  /** Of what is included, by the default profile. */
  estimatedTokens: number;
  /** Where it stands in the prompt; null: it does not. */
  offset: number | null;
  included: boolean;
  truncated: boolean;
  evidence: string[];
  /** The total budget from which on the total cuts nothing of it. */
  wholeFromTotalChars: number;
}

/** A prompt, and how it came to be. May be passed as `system`. */
export interface PromptPlan {
  prompt: string;
  totalChars: number;
  /** Of its start: so much stays the same whatever becomes of the sections that are not stable. */
  stablePrefixChars: number;
  /** Of that start: the same text, the same key. */
  stablePrefixKey: string;
  truncatedSectionKeys: string[];
  sections: SectionReport[];
  budget: PromptBudget;
  focus: RequestFocus | null;
}

/** What a request is about. */
export interface RequestFocus {
  querySummary: string;
  activeFilePaths: string[];
  activeSymbols: string[];
  planSignals: string[];
}

// ----------------------------------------------------------------------------------------------- candidates

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

// ---------------------------------------------------------------------------------------------------- memory

/** Whose memory a file is, from the agent's own core to the day's notes. */
export type MemoryTier =
  | "soul"
  | "policy"
  | "workspace"
  | "user"
  | "local"
  | "auto"
  | "markdown"
  | "journal";

export type ToolDefinition = { name: string; description?: string; parameters?: object };

/** The words around memories: of a language, or the host's own. */
export type Locale =
  | "en"
  | "vi"
  | "zh"
  | { memoryHeader: string; truncated: string; compressed: string; question: string };

/**
 * Where sessions are kept: load, and commit against the revision that was loaded. Every string is a key. Whether a store of yours does
 * what is meant here, `storeConformance` of `plimsoll/store/conformance` tells.
 */
export interface Store {
  /** A record whole, as one commit wrote it; null: there is none. */
  load(key: string): Promise<{ bytes: Uint8Array; revision: number } | null>;
  /**
   * The new revision, one more than `expected`, or null when the stored revision is no longer `expected` (null: nothing is stored), and
   * nothing has changed. A first revision is 1 or, where something was deleted, higher: no revision of a key comes again.
   */
  commit(key: string, bytes: Uint8Array, expected: number | null): Promise<number | null>;
  /** Of what is not there too. A commit against the deleted revision is refused. */
  delete(key: string): Promise<void>;
  /** Several processes may write to it. */
  readonly multiWriter: boolean;
}

/**
 * Writes a summary: any model of the host's, or none. Gets system text and prompt ready to be sent, as fenced data and without
 * secrets. Whatever it throws or gives is an attempt in the outcome, and never an error in the host's turn.
 *
 * @example
 * const summarize: Summarizer = async ({ system, prompt, maxOutputTokens }, { signal }) => {
 *   const answer = await client.complete({ system, prompt, maxTokens: maxOutputTokens, signal });
 *   return { text: answer.text, finishReason: answer.stopReason };
 * };
 */
export type Summarizer = (
  job: SummaryJob,
  control: SummaryControl,
) => Promise<string | SummaryResult>;

export interface SummaryControl {
  /** Aborted when the host aborts, when a deadline is over, and when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Tells that something comes: the deadline for silence starts anew. For answers that stream. */
  alive?: () => void;
}

/** One call to a summarizer. */
export interface SummaryJob {
  /** All at once, a part, parts into one, an update of the previous summary, or the beginning of a turn whose rest is kept. */
  kind: "whole" | "chunk" | "merge" | "update" | "turn-prefix";
  /** Rules of ours; nothing of the transcript. */
  system: string;
  /** The transcript as inert, fenced text, with the previous summary where it belongs to this call. */
  prompt: string;
  /** The same previous summary as in `prompt`, for a host that tells of it; not to be sent again. */
  previousSummary: string | null;
  maxOutputTokens: number;
  /** Of `system` and `prompt`. */
  inputTokens: number;
  /** From 1. */
  attempt: number;
  /** Headings without which the answer is not taken; none for a part. */
  requiredHeadings: string[];
}

export interface SummaryResult {
  text: string;
  /** The provider's own word is understood. */
  finishReason?: string | null | undefined;
  usage?: object | null | undefined;
}

/** How summaries are made. */
export interface SummaryOptions {
  /** A fold that drops fewer tokens goes without a summary; 0: every fold has one. Default by the preset. */
  minimumTokens?: number;
  /** Headings, caps and figures of a family: ours (default), or of AceClaw, AIClaw, OpenClaw, Hermes. */
  template?: "plimsoll" | "aceclaw" | "aiclaw" | "openclaw" | "hermes";
  /** What stands before a summary, instead of the template's words. */
  prefix?: string;
  /** Tokens that a summary may have. Default by template: a fifth of the input, 2,000 to 4,000; AceClaw 4,096; Hermes 2,000 to 10,000. */
  maxTokens?: number;
  /** The language of a summary, by name or code. Default: the user's, by the words of the messages. */
  language?: string;
  /** What the host would like to be kept, at most 4,000 characters; it goes as data. */
  instructions?: string;
  /**
   * Secrets of some hundred known forms are taken out of everything that goes out and comes in, and of the names and errors that heads, lists
   * and stubs tell of, with or without a summarizer; a function besides (for prompts and answers), `false` never.
   */
  redact?: ((text: string) => string) | boolean;
  /** The summarizer's window. Default: the manager's. Longer parts go in chunks. */
  contextTokens?: number;
  /** Two calls at once where there are chunks. Default false. */
  parallel?: boolean;
  /**
   * Summaries are made ahead, in the background, by `prepare`, each from the one before and what came since, so that a fold
   * finds one: a request that would not fit otherwise takes it at once if it is of half its tokens or more, with an extract of
   * what came since; a fold that can wait only asks for what it lacks. Default false: each costs a call.
   */
  checkpoints?: boolean | CheckpointOptions;
  /** Milliseconds that a call may be silent before it counts as failed. Default 120,000. */
  silenceMs?: number;
  /** Milliseconds that all calls of a compaction may take together. Default 600,000 (GoClaw's). */
  totalMs?: number;
}

/** How `compact` is called. */
export type CompactOptions = Parts & {
  /** Also below the trigger, and during a cool-down. */
  force?: boolean | undefined;
  /** What the summary should dwell on. */
  focus?: string | undefined;
  /** Carry out this one, or `STALE_PLAN`. */
  plan?: CompactionPlan | undefined;
};
