/** LangChain's agents (npm's `langchain`): each call of the model through a `ContextManager`, one for each thread. */
import { ContextManager } from "../session/context.js";
import type { ContextManagerOptions, Parts, Prepared } from "../types.js";
import { thinkingOf } from "./providers.js";
import { type HostSession, Session, Sessions } from "./session.js";

/** A session: its options, or a `ContextManager` of yours with `format: "langchain"`, which you open and save. */
export type LangChainSession = HostSession;

/** A call of the model. */
interface Call {
  /** The messages of the agent's state, which stay as they are. */
  messages: unknown[];
  /** The system prompt. */
  systemMessage?: unknown;
  /** The tools. */
  tools?: unknown;
  /** The model that is asked. */
  model?: unknown;
  /** What LangGraph knows of the run. */
  runtime?: unknown;
}

/** What a message is made with. */
type Made = Parameters<NonNullable<ContextManagerOptions<unknown>["create"]>>[0];

const TYPES = { user: "human", assistant: "ai", tool: "tool" } as const;

/** Builds messages in the classes that the host's own have. */
class Classes {
  /** The messages of the last call. */
  seen: readonly unknown[] = [];

  readonly create = ({ role, content, toolCallId, toolName }: Made): unknown => {
    const type = TYPES[role];
    const fields = {
      content,
      ...(role === "tool" && { tool_call_id: toolCallId, name: toolName }),
    };
    const like = this.seen.find((message) => typeOf(message) === type) as
      | { constructor: new (fields: object) => unknown }
      | undefined;
    // LangChain makes an instance of an object with a type.
    return like ? new like.constructor(fields) : { type, ...fields };
  };
}

/** What LangChain's own classes say; nothing for a plain object. */
const typeOf = (message: unknown): unknown =>
  (message as { getType?: () => unknown } | null)?.getType?.();

/** A thread of the agent: its session, and the classes of its messages. */
class Thread extends Session {
  readonly #classes: Classes;

  constructor(session: LangChainSession) {
    const classes = new Classes();
    super(session, { format: "langchain", hasNoHints: true, create: classes.create });
    this.#classes = classes;
  }

  /** A call with these messages follows. */
  sees(messages: readonly unknown[], model: unknown): void {
    this.#classes.seen = messages;
    this.follow(nameOf(model), thinkingOf(idOf(model)));
  }
}

/** What a chat model calls itself; one of `initChatModel` is known by what it was asked for. */
function nameOf(model: unknown): string {
  const { _llmType, _defaultConfig, useResponsesApi } = Object(model) as {
    _llmType?: () => unknown;
    _defaultConfig?: { model?: unknown; modelProvider?: unknown };
    useResponsesApi?: unknown;
  };
  const { modelProvider, model: asked } = _defaultConfig ?? {};
  const type = _llmType?.call(model);
  return [type, modelProvider, asked, useResponsesApi === true && "responses"].join(" ");
}

/** The id of the model that is asked. */
function idOf(chatModel: unknown): unknown {
  const { model, modelName, _defaultConfig } = Object(chatModel) as {
    model?: unknown;
    modelName?: unknown;
    _defaultConfig?: { model?: unknown };
  };
  return model ?? modelName ?? _defaultConfig?.model;
}

/**
 * Returns a middleware for `createAgent`: each call of the model gets a request that fits and is valid, with the prompt cache kept.
 * The agent's state keeps every message. Usage is taken from the answers. If the provider refuses a call as too long, a smaller
 * request is sent once.
 *
 * Each `thread_id` has a session of its own, so that one agent can serve many users, and so has an agent that runs inside another's
 * tool; a manager of yours is one session for all calls.
 *
 * @param session options of a `ContextManager` (`format` is set, synthetic messages are of LangChain's classes, `provider` follows the
 *   model), or your own manager
 * @throws {PlimsollError} as `ContextManager`.
 * @example
 * const agent = createAgent({ model, tools, middleware: [middleware({ window: { contextTokens: 200_000 } })] });
 */
export function middleware(session: LangChainSession): LangChainMiddleware {
  const threads = new Sessions<Thread>();
  const open = (): Thread => new Thread(session);
  // Wrong options throw here, not in the first call.
  threads.of("", open);
  return {
    name: "plimsoll",
    wrapModelCall: async (request, handler) => {
      const { messages, model } = request;
      const { signal, thread } = runOf(request);
      const one = threads.of(session instanceof ContextManager ? "" : thread, open);
      one.sees(messages, model);
      const parts = partsOf(request, signal);
      const prepared = await one.context.prepare(messages, parts);
      const ask = (made: Prepared<unknown> = prepared) =>
        Promise.resolve(handler({ ...request, messages: made.apply({}).messages }));
      const [answer, of] = await one.asked({ messages, parts, prepared }, ask);
      one.observe(usageOf(answer), of);
      return answer;
    },
  };
}

/** The signal of a run and its thread, of which an agent inside another has one of its own. */
function runOf({ runtime }: Call): { signal: AbortSignal | undefined; thread: string } {
  const { signal, configurable } = Object(runtime) as {
    signal?: AbortSignal;
    configurable?: { thread_id?: unknown; checkpoint_ns?: unknown };
  };
  const { thread_id = "", checkpoint_ns = "" } = configurable ?? {};
  // The last name is that of the call itself. A number says which run: an agent in a tool starts anew with each, others go on.
  const names = String(checkpoint_ns).split("|").slice(0, -1);
  const inside = names.map((name) => (name.startsWith("tools:") ? name : name.split(":")[0]));
  return { signal, thread: [thread_id, ...inside].join("|") };
}

const partsOf = ({ systemMessage, tools }: Call, signal: AbortSignal | undefined): Parts => ({
  system: (systemMessage as { content?: Parts["system"] } | undefined)?.content,
  tools: Array.isArray(tools) ? tools.map(toolOf) : undefined,
  signal,
});

/** What the model sees of a tool: an instance says nothing of it in JSON. Of a provider's own tool, all. */
function toolOf(tool: object): object {
  const { name, description, schema, invoke } = tool as Record<string, unknown>;
  if (typeof invoke !== "function") return tool;
  const seen = seenTools.get(tool) ?? { name, description, schema: jsonSchemaOf(schema) };
  seenTools.set(tool, seen);
  return seen;
}

const seenTools = new WeakMap<object, object>();

/** A JSON Schema, as it was passed or by the standard that libraries of schemas share; nothing of one that has no such form. */
function jsonSchemaOf(schema: unknown): unknown {
  const { "~standard": standard } = Object(schema) as { "~standard"?: StandardSchema };
  if (!standard) return schema;
  try {
    return standard.jsonSchema?.input({ target: "draft-07" });
  } catch {
    return undefined;
  }
}

/** The part of a schema that libraries share. */
interface StandardSchema {
  jsonSchema?: { input(options: { target: string }): unknown };
}

/** The usage of an answer; with a `responseFormat`, of the first of its messages. */
function usageOf(answer: unknown): object | undefined {
  const { usage_metadata: usage, messages } = Object(answer) as Answer;
  return usage ?? messages?.[0]?.usage_metadata;
}

interface Answer {
  usage_metadata?: object;
  messages?: ReadonlyArray<{ usage_metadata?: object }>;
}

/** A middleware as `createAgent` takes it. */
export interface LangChainMiddleware {
  /** Its name among the agent's middleware. */
  name: string;
  /** Asks the model with the request's messages, and once more with less after an overflow. */
  wrapModelCall<C extends Call, R>(
    request: C,
    handler: (request: C) => R | PromiseLike<R>,
  ): Promise<R>;
}
