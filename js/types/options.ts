/** Options of a manager: messages and model, policy, and the parts of a request besides its messages. */
import type { ContextEvent } from "./event.js";
import type { PromptPlan } from "./prompt.js";
import type { Summarizer, SummaryOptions } from "./summary.js";
import type { AbortSignal } from "./web.js";

/** Shape of your messages. `auto` recognizes it by the first messages. Edited messages keep their shape. */
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

/** API that receives the request. Its rules decide what is repaired and what may be edited. */
export type Provider =
  | "anthropic"
  | "openai-chat"
  | "openai-responses"
  | "gemini"
  | "bedrock"
  | "mistral"
  | "deepseek"
  | "kimi";

/**
 * How tokens are estimated: by the profile of a tokenizer family, by a plain ratio of characters to tokens, or by your own function,
 * which returns the number of tokens of a text.
 */
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

/** Sizes of a model's context window. */
export interface ContextWindow {
  /** The model's context window in tokens. 0 if it is unknown: nothing is removed then to make room. */
  contextTokens: number;
  /** Tokens held back for the answer. Default 0. The usable window is `contextTokens - maxOutputTokens`. */
  maxOutputTokens?: number | undefined;
}

/** What you send besides the messages, exactly as you send it. */
export interface Parts {
  /** The system prompt: text, the provider's blocks, or the plan of `assemblePrompt`. A change opens an epoch. */
  system?: string | PromptPlan | object | undefined;
  /** The tool definitions in the provider's form. A change opens an epoch. */
  tools?: readonly object[] | Readonly<Record<string, object>> | undefined;
  /** Tokens that you send in addition and do not pass here. Default 0. */
  unseenTokens?: number | undefined;
  /**
   * True if the messages are a prefix and you append the rest yourself, such as the user's new message. No synthetic message is
   * then put at the end, not even a result for an open tool call. Count what you append in `unseenTokens`. Default false.
   */
  open?: boolean | undefined;
  /** Aborts the call; it then throws or rejects with `signal.reason`. */
  signal?: AbortSignal | undefined;
}

/**
 * How much to keep, and when to change earlier messages. Choose a preset, or set `retention` directly. An option that the
 * preset does not support throws `INVALID_ARGUMENT`.
 *
 * `economy`, `balanced` and `retention` also change earlier messages below the trigger, in batches, if keeping them costs
 * more than rewriting what follows: they shorten old results and fold history into a summary. Without a summarizer a fold
 * loses what a summary would have kept, so `balanced` then folds only at the trigger or while the prompt cache is cold,
 * and `retention` only at the trigger; `economy` folds all the same. `capacity` changes nothing below the trigger; above it,
 * it chooses what to remove as `balanced` does.
 *
 * `aceclaw`, `aiclaw`, `openclaw`, `goclaw`, `context-budget` and `hermes` follow the documented rules of these systems, with their
 * figures, and summarize under their headings (`summary.template`). They protect a sliding tail of messages, so that they may lose the prompt cache at nearly every call.
 */
export interface PolicyOptions {
  /** The policy. Default `balanced`. */
  preset?:
    | "balanced"
    | "economy"
    | "retention"
    | "capacity"
    | "aceclaw"
    | "aiclaw"
    | "openclaw"
    | "goclaw"
    | "context-budget"
    | "hermes"
    | undefined;
  /** Instead of `preset`: a number from -0.6 (cheapest) to 1.3 (keeps most). `economy` is 0, `balanced` 0.5, `retention` 1. */
  retention?: number | undefined;
  /**
   * What stays of a result that is cut, for `balanced`, `economy`, `retention` and `capacity`: `names`, the identifiers in it, or
   * `lines`, the lines in which identifiers stand that the agent has used, word for word. Lines stand in stubs in place of names, up to
   * 120 tokens and 10 % of the result, and in the head of a fold beside its names. With `lines`, snapshots hold them too. Default
   * `names`.
   */
  keep?: "names" | "lines" | undefined;
  /**
   * Share of the usable window above which room must be made, 0..1. Default 0.95 for `balanced`, `economy`, `retention` and
   * `capacity`; the first three also act earlier if that is cheaper. The presets of other systems have defaults of their own.
   * Tokens that only the provider counts, such as a system prompt that you do not pass, are content like any other.
   */
  trigger?: number | undefined;
  /**
   * The trigger in tokens, for models that get worse long before their window is full: room is made above this or above `trigger`,
   * whichever is less. Default none.
   */
  triggerTokens?: number | undefined;
  /**
   * Size to shrink to when room is made, as a share of the usable window, 0..1, below `trigger`. Default 0.55 of the trigger for
   * `balanced`, `economy`, `retention` and `capacity`, also where `triggerTokens` is the trigger. The presets of other systems have
   * defaults of their own.
   */
  target?: number | undefined;
  /**
   * Factor for estimates, from 1 to 3: they are multiplied by it before they are compared with the trigger and the window. Tokens
   * that a provider has counted (`observe`) are not, only what came after them. Default 1.
   */
  margin?: number | undefined;
  /** Name of the model, such as `claude-sonnet-4-5`. Chooses its thresholds among `models`. Default none. */
  model?: string | undefined;
  /**
   * Thresholds by model: `trigger`, `triggerTokens`, `target` and `margin`. Those under the longest key that `model` contains take
   * the place of the options of the same name. Default none.
   *
   * @example
   * { model: "gpt-5-mini", models: { "gpt-5": { trigger: 0.8 }, "gpt-5-mini": { triggerTokens: 100_000 } } }
   */
  models?: Readonly<Record<string, ModelThresholds>> | undefined;
  /**
   * A tool result larger than this share of `window.contextTokens` is cut before it is sent for the first time, 0..1. 1: never.
   * Default 0.12, `capacity` 1. Only for `balanced`, `economy`, `retention` and `capacity`.
   */
  ingestCap?: number | undefined;
  /** Skips optional edits that would save fewer tokens than this. Default 0; `hermes` 4,096. */
  minimumGainTokens?: number | undefined;
  /**
   * Number of first messages to protect, without system messages. Protected messages are edited or folded only if the request
   * does not fit otherwise, after everything else. Default 0; `aiclaw` 1, `context-budget` 5, `hermes` 3.
   */
  protectFirst?: number | undefined;
  /** Number of last messages to protect. Default 0; `aiclaw` 20, `goclaw` 20 and half of all, `context-budget` 15, `hermes` 8. */
  protectLast?: number | undefined;
  /** Number of last turns to protect. Default 0; `aceclaw` 5. */
  protectTurns?: number | undefined;
  /** Protects as many of the last messages as have at most this many tokens together. Default 0; `openclaw` 20,000. */
  protectTokens?: number | undefined;
  /** Names or globs of tools whose calls and results are protected anywhere in the history. Default none. */
  protectTools?: readonly string[] | undefined;
  /**
   * What starts a turn: `user`, a message from a person; `user-role`, any message with the role `user`, even if it only holds tool
   * results. Default `user`; `aceclaw` `user-role`. Only for the presets of other systems.
   */
  turn?: "user" | "user-role" | undefined;
  /** UTF-16 code units kept of a shortened body. Default 200. Only for the presets of other systems. */
  stubChars?: number | undefined;
  /**
   * The step after shortening, if that was not enough: `summarize` folds, `truncate` cuts old bodies, `discard` drops the oldest
   * messages. Default `summarize`. Only for the presets of other systems.
   */
  strategy?: "summarize" | "truncate" | "discard" | undefined;
  /**
   * Prices of your model, relative to one uncached input token. Set all four or none. Only for `balanced`, `economy`, `retention`
   * and `capacity`.
   */
  economy?:
    | {
        /** Price of a token read from the prompt cache. Default 0.1. */
        cacheRead: number;
        /** Price of a token written to the prompt cache. Default 1.25. */
        cacheWrite: number;
        /** Price of an output token. Default 5. */
        output: number;
        /** How long a cache entry lives after its last use, in milliseconds. Default 300,000 (five minutes). */
        cacheTtlMs: number;
      }
    | undefined;
}

/** What `PolicyOptions.models` holds for a model. */
export type ModelThresholds = Pick<
  PolicyOptions,
  "trigger" | "triggerTokens" | "target" | "margin"
>;

/** An option that a preset does not have is refused, with `INVALID_ARGUMENT` and by the compiler. */
export type PresetOptions =
  | {
      /** One of ours, which has no `turn`, `stubChars` and `strategy`. */
      preset?: "balanced" | "economy" | "retention" | "capacity" | undefined;
      /** Not of this preset. */
      turn?: undefined;
      /** Not of this preset. */
      stubChars?: undefined;
      /** Not of this preset. */
      strategy?: undefined;
    }
  | {
      /** Another system's, which has no `retention`, `ingestCap`, `keep` and `economy`. */
      preset: "aceclaw" | "aiclaw" | "openclaw" | "goclaw" | "context-budget" | "hermes";
      /** Not of this preset. */
      retention?: undefined;
      /** Not of this preset. */
      ingestCap?: undefined;
      /** Not of this preset. */
      keep?: undefined;
      /** Not of this preset. */
      economy?: undefined;
    };

/** Options of a `ContextManager`. Only `window` is required. */
export type ContextManagerOptions<M> = ManagerOptions<M> & PresetOptions;

/** Options of a `ContextManager`, whatever its preset. */
export interface ManagerOptions<M> extends PolicyOptions {
  /** The model's context window. */
  window: ContextWindow;
  /** Shape of your messages. Default `auto`. */
  format?: Format | undefined;
  /**
   * API that receives the request. Default: the format's own; `openai-responses` for `openai-agents`; `anthropic` for `pi`, `ai-sdk` and
   * `langchain`.
   */
  provider?: Provider | undefined;
  /**
   * Gemini only: sends a tool call of the current turn whose thought signature is lost with the documented placeholder signature, which
   * costs quality. Default false.
   */
  signCalls?: boolean | undefined;
  /**
   * Whether thinking blocks become void when earlier messages change, as newer Claude models have it, which then refuse them.
   * `bound`: they do. Plimsoll removes those after the first change; the newest must stay as it is, so that the provider is told
   * to drop it by `Prepared.hints`, which `Prepared.apply` and `applyHeaders` merge into what you send. `drop`: they do, and all
   * of them go, the newest too: no hint is ever needed. For hosts that cannot send hints, and models that take a tool call
   * without its thinking (Claude's adaptive thinking does). `free`: they do not. `none`: the model takes no thinking, and none
   * is sent; only what a provider wants with its calls stays. Default: `bound` for Anthropic and Bedrock, else `free`.
   */
  thinking?: "bound" | "drop" | "free" | "none" | undefined;
  /**
   * Default `generic`. A function is asked once for each text of the history, when it is first passed. If it throws, `generic`
   * counts that text, and the event `callback-failed` says so; an answer that is no number is `INVALID_ARGUMENT`.
   */
  estimator?: Estimator | undefined;
  /**
   * Tokens of an image, of whatever size, and of each page of a PDF (about 30 kB of it; at most 100 pages). A document that is text
   * counts as its text. Default 1,500. Hermes counts 1,600, pi 1,200.
   */
  imageTokens?: number | undefined;
  /**
   * Sends every history as it was passed: nothing is removed, shortened or repaired, and no summarizer is called. Sizes are counted all the
   * same. Default false.
   */
  noop?: boolean | undefined;
  /**
   * Returns a key for a message; messages with the same key count as unchanged. Default: the object itself, then its content. These are
   * also used if the function throws (event `callback-failed`). An asynchronous function is refused.
   */
  key?: ((message: M, index: number) => string) | undefined;
  /**
   * The history only grows at its end: a position always holds the same message, in this process and the next. A session that is
   * restored with its measures then reads no message again, also without `key`; only the first and the last measured one are compared.
   * Default false.
   */
  appendOnly?: boolean | undefined;
  /**
   * Tells that a message of the history is a summary: the head of an earlier process without its snapshot, or another system's. It is sent
   * unchanged until a fold; then the summarizer updates it, instead of keeping it verbatim beside a second summary. Asked once for each
   * message; an error counts as `false` (event `callback-failed`).
   *
   * @example
   * const context = new ContextManager({ window, isSummary: (message) => message.kind === "summary" });
   */
  isSummary?: ((message: M, index: number) => boolean) | undefined;
  /**
   * Builds a synthetic message, for messages that are instances of a class. Default: a plain object of the format. Messages of the
   * assistant are built if roles must alternate: two of yours joined into one, or a neutral line.
   *
   * If the function throws, or returns no object or a promise, a plain object of the format is sent (event `callback-failed`). If your messages are instances of a class, the
   * call throws `INVALID_ARGUMENT` instead, with your error as `cause`, and the next call tries again.
   */
  create?:
    | ((made: {
        /** Its role. */
        role: "user" | "assistant" | "tool";
        /** Its content, as the format has it. */
        content: unknown;
        /** Time of the first message that it replaces, in milliseconds since the epoch; `null` if that message has none. */
        at: number | null;
        /** Index of that message in the history you passed last; `null` if it is no longer in it. */
        index: number | null;
        /** For a tool result: id of the call. */
        toolCallId?: string;
        /** For a tool result: name of the tool. */
        toolName?: string;
      }) => M)
    | undefined;
  /** Your summarizer, or several that are tried in order. Without one, a fold keeps only a digest of what it removes. */
  summarize?: Summarizer | readonly Summarizer[] | undefined;
  /** How summaries are written. */
  summary?: SummaryOptions | undefined;
  /** Id of the session, for reports. Default empty. */
  id?: string | undefined;
  /**
   * Returns the time in milliseconds since the epoch. Default `Date.now`. A time that a `Date` cannot hold is `INVALID_ARGUMENT`. If the
   * function throws, its last time is used, or `Date.now()` if there is none (event `callback-failed`).
   */
  clock?: (() => number) | undefined;
  /**
   * Called with each event, after the change that it reports. If it throws, or returns a promise that rejects, the first error is printed
   * with `console.error`.
   */
  on?: ((event: ContextEvent) => void) | undefined;
}
