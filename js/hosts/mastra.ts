/** Mastra (npm's `@mastra/core`), whose prompts are those of the AI SDK: the calls of an agent's model through a `ContextManager`. */
import { isContextOverflow } from "../compaction/overflow.js";
import type { Parts, Prepared } from "../types.js";
import { type HostSession, Session } from "./session.js";

/** A call of an agent's model. */
interface LlmRequest<P> {
  /** The messages that are about to be sent, the system's among them. */
  prompt: P;
  /** The model that is asked. */
  model?: unknown;
  /** The steps before it. */
  steps?: ReadonlyArray<Answered>;
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
  /** How often the call was sent again. */
  retryCount?: number;
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
  let last: { prompt: readonly unknown[]; prepared: Prepared<unknown>; at: number } | undefined;
  return {
    id: "plimsoll",
    processLLMRequest: async ({ prompt, model, steps = [] }) => {
      own.follow((Object(model) as { provider?: unknown }).provider);
      // A call that is sent again comes with the steps that it came with before.
      const usage = last?.at === steps.length - 1 ? steps.at(-1)?.usage : undefined;
      if (usage) own.observe(usage as object, last?.prepared);
      last = { prompt, prepared: await own.context.prepare(prompt, parts), at: steps.length };
      const { messages } = last.prepared.apply({});
      return { prompt: messages as unknown as typeof prompt };
    },
    processAPIError: async ({ error, retryCount = 0 }) => {
      if (!last || retryCount > 0 || !isContextOverflow(error)) return { retry: false };
      return { retry: (await own.context.recover(last.prompt, error, parts)) !== null };
    },
  };
}
