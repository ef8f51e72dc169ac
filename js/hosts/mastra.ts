/** Mastra (npm's `@mastra/core`), whose prompts are those of the AI SDK: the calls of an agent's model through a `ContextManager`. */
import { isContextOverflow } from "../compaction/overflow.js";
import type { AbortSignal } from "../types/web.js";
import type { Parts, Prepared } from "../types.js";
import { idOfModel, nameOfModel, thinkingOf } from "./providers.js";
import { type HostSession, Session } from "./session.js";

/** A call of an agent's model. */
interface LlmRequest<P> {
  /** The messages that are about to be sent, the system's among them. */
  prompt: P;
  /** The model that is asked. */
  model?: unknown;
  /** The steps before it. */
  steps?: ReadonlyArray<Answered>;
  /** How often the call was sent again. */
  retryCount?: number;
  /** Aborts the run. */
  abortSignal?: AbortSignal | undefined;
}

/** An answer of the model. */
interface Answered {
  /** Tokens as the provider counted them. */
  usage?: unknown;
}

/** The messages of a call. */
interface Messages<P> {
  /** What is sent in place of the prompt. */
  prompt: P;
}

/** What becomes of a call that was refused. */
interface Retry {
  /** True if it is sent again. */
  retry: boolean;
}

/** A call that the provider refused. */
interface ApiError {
  /** What the provider answered. */
  error: unknown;
  /** Aborts the run. */
  abortSignal?: AbortSignal | undefined;
}

/** A request that was made. */
interface Made {
  /** The messages that Mastra was about to send. */
  prompt: readonly unknown[];
  /** What is sent in their place. */
  prepared: Prepared<unknown>;
  /** The number of steps before it. */
  at: number;
  /** True until it was refused as too long. */
  mayRetry: boolean;
}

/** A processor of Mastra: for `inputProcessors`, and for `errorProcessors`. */
export interface MastraProcessor {
  readonly id: "plimsoll";
  /** Puts the request's messages in the prompt's place. */
  processLLMRequest<P extends readonly unknown[]>(call: LlmRequest<P>): Promise<Messages<P>>;
  /** After an overflow, has the call sent again, once; the request is smaller then. */
  processAPIError(failed: ApiError): Promise<Retry>;
}

/**
 * Returns a processor for one conversation of a Mastra agent. Give it as input processor and as error processor.
 *
 * @param session options of a `ContextManager` (`format` is set; `provider` follows the model), or your own manager with `format: "ai-sdk"`
 * @param parts the tool definitions, which Mastra does not show a processor
 * @throws {PlimsollError} as `ContextManager`.
 * @example
 * const plimsoll = processor({ window: { contextTokens: 200_000 } }, { tools });
 * const agent = new Agent({ id, name, instructions, model, tools, inputProcessors: [plimsoll], errorProcessors: [plimsoll] });
 */
export function processor(session: HostSession, parts: Pick<Parts, "tools"> = {}): MastraProcessor {
  // A processor may change the prompt only, which has no place for hints.
  const own = new Session(session, { format: "ai-sdk", hasNoHints: true });
  let last: Made | undefined;
  return {
    id: "plimsoll",
    processLLMRequest: async ({ prompt, model, steps = [], retryCount = 0, abortSignal }) => {
      own.follow(nameOfModel(model), thinkingOf(idOfModel(model)));
      const before = last;
      last = undefined;
      // A call that is sent again comes with the steps that it came with before.
      const usage = before?.at === steps.length - 1 ? steps.at(-1)?.usage : undefined;
      if (usage) own.observe(usage as object, before?.prepared);
      const asked = { ...parts, signal: abortSignal };
      const prepared = await unlessAborted(own.context.prepare(prompt, asked), abortSignal);
      if (!prepared) return { prompt };
      // Other processors have calls sent again too, for reasons of their own.
      const mayRetry = retryCount === 0 || before?.mayRetry !== false;
      last = { prompt, prepared, at: steps.length, mayRetry };
      const { messages } = prepared.apply({});
      return { prompt: messages as unknown as typeof prompt };
    },
    processAPIError: async ({ error, abortSignal }) => {
      if (!last?.mayRetry || abortSignal?.aborted || !isContextOverflow(error))
        return { retry: false };
      // Mastra asks an input processor and an error processor, which are one here: it is one refusal.
      last.mayRetry = false;
      const smaller = own.context.recover(last.prompt, error, { ...parts, signal: abortSignal });
      return { retry: Boolean(await unlessAborted(smaller, abortSignal)) };
    },
  };
}

/** Nothing if the run was aborted: Mastra then asks no model and says so itself, unless a processor throws. */
async function unlessAborted<T>(
  made: Promise<T>,
  signal: AbortSignal | undefined,
): Promise<T | null> {
  try {
    return await made;
  } catch (error) {
    if (signal?.aborted) return null;
    throw error;
  }
}
