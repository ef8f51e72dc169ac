/** The AI SDK (npm's `ai`): the messages of a step, and the calls of a model, through a `ContextManager`. */
import { isContextOverflow } from "../compaction/overflow.js";
import type { AbortSignal, ReadableStream } from "../types/web.js";
import type { Parts, Prepared } from "../types.js";
import { idOfModel, nameOfModel, thinkingOf } from "./providers.js";
import { type HostSession, Session } from "./session.js";

/** A session: its options, or a `ContextManager` of yours with `format: "ai-sdk"`, which you open and save. */
export type AiSdkSession = HostSession;

/** What the SDK tells of a step. */
interface Step<M> {
  /** The messages that it is about to send. */
  messages: M[];
  /** Its system prompt. */
  instructions?: unknown;
  /** Its system prompt, in the SDK before 7. */
  system?: unknown;
  /** The steps before it. */
  steps?: readonly Answered[];
  /** The model that is asked. */
  model?: unknown;
}

/** An answer of the model. */
interface Answered {
  /** Tokens as the provider counted them. */
  usage?: object | undefined;
}

/** Parameters of a model's call. */
interface Call {
  /** The system prompt and the messages. */
  prompt: unknown[];
  /** The tool definitions. */
  tools?: unknown;
  /** Aborts the call. */
  abortSignal?: AbortSignal | undefined;
  /** Options by provider: cache markers and hints go there. */
  providerOptions?: object | undefined;
}

/** A model that generates. */
interface Generates<P, R> {
  /** Asks the model. */
  doGenerate(params: P): PromiseLike<R>;
}

/** A model that streams. */
interface Streams<P, R> {
  /** Asks the model. */
  doStream(params: P): PromiseLike<R>;
}

/** A streamed answer. */
interface Streamed {
  /** Its parts; the one of type `finish` has the usage. */
  stream: ReadableStream;
}

/** The messages of a step. */
interface Messages<M> {
  /** What is sent, and what later steps go on with. */
  messages: M[];
}

const HOST = { format: "ai-sdk" } as const;

/** What the SDK tells a step of, in 6 and in later versions. */
const SINCE_6 = ["experimental_context", "runtimeContext"];

/**
 * Returns a `prepareStep` for `generateText`, `streamText` and agents: each step sends a request that fits and is valid, with the prompt
 * cache kept. One function serves one session; the messages that it returns carry forward to later steps, which is expected.
 *
 * @param session options of a `ContextManager` (`format` is set; `provider` follows the model), or your own manager
 * @param parts the tool definitions as the SDK takes them, which it does not tell a step
 * @throws {PlimsollError} as `ContextManager`.
 * @example
 * await generateText({ model, tools, messages, prepareStep: prepareStep({ window: { contextTokens: 200_000 }, summarize }, { tools }) });
 */
export function prepareStep(
  session: AiSdkSession,
  parts: Pick<Parts, "tools"> = {},
): <M>(step: Step<M>) => Promise<Messages<M>> {
  const own = new Session(session, HOST);
  let last: Prepared<unknown> | undefined;
  return async (step) => {
    const { messages, instructions, system = instructions, steps = [], model } = step;
    own.follow(nameOfModel(model), thinkingOf(idOfModel(model)));
    // The SDK before 6 takes no options of a provider from a step.
    if (!SINCE_6.some((member) => member in step)) own.losesHints();
    if (last) own.observe(steps.at(-1)?.usage, last);
    last = await own.context.prepare(messages, { ...parts, system: system as Parts["system"] });
    return last.apply({}) as { messages: typeof messages };
  };
}

/**
 * Returns a middleware for `wrapLanguageModel`: every call of the model goes through one session, generated or streamed. Usage is taken
 * from the answer. If the provider refuses a call as too long, also as the first part of a stream, a smaller request is sent once.
 *
 * @param session as for `prepareStep`
 * @throws {PlimsollError} as `ContextManager`.
 * @example
 * const model = wrapLanguageModel({ model: anthropic("claude-sonnet-4-5"), middleware: middleware({ window: { contextTokens: 200_000 } }) });
 */
export function middleware(session: AiSdkSession): AiSdkMiddleware {
  const own = new Session(session, HOST);
  /** The host's prompt and our request of each call that is under way. */
  const calls = new WeakMap<object, { prompt: readonly unknown[]; prepared: Prepared<unknown> }>();
  const sent = <P extends Call>(params: P, prompt: unknown[], prepared: Prepared<unknown>): P => {
    const { providerOptions } = params;
    const { messages, ...merged } = prepared.apply({ ...(providerOptions && { providerOptions }) });
    const call: P = { ...params, ...merged, prompt: messages };
    calls.set(call, { prompt, prepared });
    return call;
  };
  /** Asks, and once more with less if that was too long. */
  const asked = <P extends Call, R>(
    params: P,
    ask: () => PromiseLike<R>,
    again: (params: P) => PromiseLike<R>,
  ): Promise<[R, Prepared<unknown> | undefined]> => {
    const { prompt: messages = params.prompt, prepared } = calls.get(params) ?? {};
    return own.asked({ messages, parts: partsOf(params), prepared }, (smaller) =>
      smaller ? again(sent(params, [...messages], smaller)) : ask(),
    );
  };
  return {
    specificationVersion: "v4" as never,
    transformParams: async ({ params, model }) => {
      own.follow(nameOfModel(model), thinkingOf(idOfModel(model)));
      const prepared = await own.context.prepare(params.prompt, partsOf(params));
      return sent(params, params.prompt, prepared);
    },
    wrapGenerate: async ({ doGenerate, params, model }) => {
      const [result, of] = await asked(params, doGenerate, (call) => model.doGenerate(call));
      own.observe(result.usage, of);
      return result;
    },
    wrapStream: async ({ doStream, params, model }) => {
      const ask = () => begun(doStream());
      const [result, of] = await asked(params, ask, (call) => begun(model.doStream(call)));
      const seen = new TransformStream<StreamPart, StreamPart>({
        transform: (part, out) => {
          if (part.type === "finish") own.observe(part.usage, of);
          out.enqueue(part);
        },
      });
      return { ...result, stream: result.stream.pipeThrough(seen) };
    },
  };
}

/** Parts of a stream that may come before the answer. */
const BEFORE_ANSWER = ["stream-start", "response-metadata", "raw"];

/** Waits for the first part of a streamed answer. Some providers refuse a request in its stream: an overflow there is thrown, as others throw it. */
async function begun<R extends Streamed>(asked: PromiseLike<R>): Promise<R> {
  const result = await asked;
  const [ahead, stream] = result.stream.tee();
  const reader = ahead.getReader();
  for (;;) {
    const failed = (error: unknown) => ({ done: false, value: { type: "error", error } });
    const { done, value } = await reader.read().catch(failed);
    if (!done && BEFORE_ANSWER.includes(value.type)) continue;
    // Settles when the other stream has ended, too.
    reader.cancel().catch(() => {});
    if (done || value.type !== "error" || !isContextOverflow(value.error))
      return { ...result, stream };
    stream.cancel().catch(() => {});
    throw value.error;
  }
}

const partsOf = ({ tools, abortSignal }: Call): Parts => ({
  tools: tools as Parts["tools"],
  signal: abortSignal,
});

/** A part of a stream. */
interface StreamPart extends Answered {
  /** Its kind. */
  type: string;
}

/** A middleware as `wrapLanguageModel` takes it (specification v4; prompts of v2 and v3 have the same shape). */
export interface AiSdkMiddleware {
  /** `v4`. The type fits each version of the SDK: it allows only its own version, and takes the others all the same. */
  specificationVersion: never;
  /** Puts the request's messages in the prompt's place. */
  transformParams<P extends Call>(options: {
    /** Parameters of the call. */
    params: P;
    /** The model. */
    model?: unknown;
  }): Promise<P>;
  /** Takes the usage of an answer, and asks again after an overflow. */
  wrapGenerate<P extends Call, R extends Answered>(options: {
    /** Asks the model. */
    doGenerate: () => PromiseLike<R>;
    /** Parameters of the call. */
    params: P;
    /** The model. */
    model: Generates<P, R>;
  }): Promise<R>;
  /** The same of a streamed answer. */
  wrapStream<P extends Call, R extends Streamed>(options: {
    /** Asks the model. */
    doStream: () => PromiseLike<R>;
    /** Parameters of the call. */
    params: P;
    /** The model. */
    model: Streams<P, R>;
  }): Promise<R>;
}
