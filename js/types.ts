/**
 * The public types. chars are UTF-16 code units (what `String.length` counts), tokens are estimates, times are
 * milliseconds since the epoch, shares are 0..1.
 */
import type { CoreError } from "./generated.js";

export type { Op, Violation } from "./generated.js";

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
  /** The Wasm instance trapped in this call; the next call starts a new one. */
  | { code: "INSTANCE_LOST"; during: string };
