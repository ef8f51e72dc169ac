/** What a manager is told: of messages and model, of the policy, and of what goes out beside the messages. */
import type { ContextEvent } from "./event.js";
import type { PromptPlan } from "./prompt.js";
import type { Summarizer, SummaryOptions } from "./summary.js";

/** Message shapes that are read, and edited in place. `auto` looks at the first messages. */
export type Format =
  | "auto"
  | "anthropic"
  | "openai-chat"
  | "openai-responses"
  | "openai-agents"
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

/** A text that could be a system prompt, the provider's blocks, and definitions: exactly as the host sends them. */
export interface Parts {
  /** Text or the provider's own blocks. A change opens an epoch. */
  system?: string | PromptPlan | object | undefined;
  /** The provider's own definitions, counted as they are. A change opens an epoch. */
  tools?: readonly object[] | Readonly<Record<string, object>> | undefined;
  /** Tokens that will be sent besides and that we are not shown. */
  unseenTokens?: number | undefined;
  /**
   * True: the messages are a prefix, and you append the rest yourself, such as the user's new message. Nothing of ours is
   * put at its end: no line, no result for a call that is still open. Count what you append in `unseenTokens`. Default false.
   */
  open?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * How much to keep, and when to change earlier messages. Choose a preset, or set `retention` directly. An option that the
 * preset does not have is refused by name.
 *
 * `economy`, `balanced` and `retention` also change earlier messages below the trigger, in batches, if keeping them costs
 * more than rewriting what follows: they shorten old results and fold history into a summary. Without a summarizer a fold
 * loses what a summary would have kept, so `balanced` then folds only at the trigger or while the prompt cache is cold,
 * and `retention` only at the trigger; `economy` folds as before. `capacity` changes nothing below the trigger; above it,
 * it chooses what goes as `balanced` does.
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
    | "capacity"
    | "aceclaw"
    | "aiclaw"
    | "openclaw"
    | "context-budget"
    | "hermes";
  /** Ours only. Instead of a preset: economy 0, balanced 0.5, retention 1; from -0.6 (cheapest) to 1.3 (keeps most). */
  retention?: number;
  /** Share of the usable window above which room must be made; ours: 0.95. All of ours but `capacity` also act earlier. */
  trigger?: number;
  /** Share of the usable window that is aimed for; ours: of the trigger, 0.55. */
  target?: number;
  /** Ours only. Share of the window above which a result is cut before it is first sent. Default 0.12, capacity 1; 1 = never. */
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
  /** Whose rules hold. Default: the format's own provider; OpenAI's Responses for its Agents SDK, Anthropic for pi, the
   *  AI SDK and LangChain. */
  provider?: Provider;
  /** Gemini: a call of the current turn whose signature is lost goes out with the documented sentinel. Default false. */
  signCalls?: boolean;
  /**
   * What a thinking block that is kept is bound to. `bound`: all that stands before it, so that behind an edit it goes, or
   * `Prepared.hints` has the provider drop it (newer Claude models refuse it otherwise). `free`: nothing. `none`: the model
   * takes none, and none is sent; only what a provider wants with its calls stays. Default: bound for Anthropic and Bedrock.
   */
  thinking?: "bound" | "free" | "none";
  /**
   * Default `generic`. A function is asked once for each text of the history, when it is first passed. If it throws, `generic`
   * counts that text, and the event `callback-failed` says so; an answer that is no number is `INVALID_ARGUMENT`.
   */
  estimator?: Estimator;
  /** Same key = same content. Default: the object itself, else its content; so also if it throws (event `callback-failed`). */
  key?: (message: M, index: number) => string;
  /** Builds a message of ours in the host's class. Default: a plain object of the format. The assistant's: where roles must
   *  alternate, two of the host's in one, or a neutral line. If it throws, a plain object of the format is sent as long as that
   *  message is part of the request (event `callback-failed`). If your messages are instances of a class, no plain object can
   *  take its place: then the call throws `INVALID_ARGUMENT` with your error as `cause`, and the next call tries again. */
  create?: (made: {
    role: "user" | "assistant" | "tool";
    content: unknown;
    /** Time of the first message that it replaces, in milliseconds since the epoch; null if that message has none. */
    at: number | null;
    /** Index of that message in the history you passed last; null if it is no longer in it. */
    index: number | null;
    toolCallId?: string;
    toolName?: string;
  }) => M;
  /** One summarizer, or several tried in order. Without one, what a fold removes is carried by digest and hot set. */
  summarize?: Summarizer | readonly Summarizer[];
  summary?: SummaryOptions;
  /** In reports and errors. */
  id?: string;
  /**
   * Milliseconds since the epoch. Default `Date.now`. What is no time that a `Date` can hold is `INVALID_ARGUMENT`. If it throws,
   * the time that it gave last is used, before the first `Date.now()` (event `callback-failed`).
   */
  clock?: () => number;
  /** Called once what it reports is complete. What it throws breaks no call: the first error is printed with `console.error`. */
  on?: (event: ContextEvent) => void;
}
