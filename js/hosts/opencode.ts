/** opencode: a plugin that has each request made by a `ContextManager`. */
import { isContextOverflow } from "../compaction/overflow.js";
import { ContextManager } from "../session/context.js";
import type {
  CompactionRecord,
  ContextWindow,
  ManagerOptions,
  Prepared,
  PresetOptions,
} from "../types.js";
import {
  type Info,
  isAsked,
  isSummary,
  type Message,
  mapped,
  restored,
  type UiMessage,
} from "./opencode-messages.js";
import { bindsThinking, thinkingOf } from "./providers.js";
import { Session, Sessions } from "./session.js";

/** Options of a `ContextManager` without `format`, and with opencode's own model as its default `window`; or a manager of yours. */
export type OpencodeSession =
  | ContextManager<unknown>
  | (Omit<ManagerOptions<unknown>, "window"> &
      PresetOptions & {
        /** The model's context window. Default: the one that opencode knows. */
        window?: ContextWindow;
      });

/** What opencode hands a plugin, as far as this one uses it. */
export interface OpencodeInput {
  /** opencode's own client. */
  client: unknown;
}

/** The hooks of the plugin, as opencode calls them. */
export interface OpencodeHooks {
  /** Learns from a request that the provider has refused as too long. */
  event(input: {
    /** What has happened. */
    event: {
      /** Its kind. */
      type: string;
      /** What it is about. */
      properties: object;
    };
  }): Promise<void>;
  /** Puts the messages of the request in the place of the session's. */
  "experimental.chat.messages.transform"(
    input: object,
    output: {
      /** The messages, which are replaced in place. */
      messages: unknown[];
    },
  ): Promise<void>;
  /** Adds to what opencode's own compaction is asked. */
  "experimental.session.compacting"(
    input: {
      /** The session. */
      sessionID: string;
    },
    output: {
      /** What the model is told beside opencode's own prompt. */
      context: string[];
    },
  ): Promise<void>;
}

/** What opencode knows of a model. */
interface Known {
  limit?: { context?: number; output?: number };
  api?: { id?: unknown; npm?: unknown };
}

/** Through these packages opencode asks the API to drop the thinking that an edit made void. */
const DROPPING = ["@ai-sdk/anthropic", "@ai-sdk/google-vertex/anthropic", "@ai-sdk/amazon-bedrock"];

/** What becomes of the model's thinking; undefined: its provider decides. */
function thinkingIn(api: Known["api"]): "bound" | "free" | undefined {
  const isDropped = bindsThinking(api?.id) && DROPPING.includes(String(api?.npm));
  return isDropped ? "bound" : thinkingOf(api?.id);
}

interface Client {
  config: {
    providers(): Promise<{
      data?: { providers?: Array<{ id: string; models: Record<string, Known> }> };
    }>;
  };
}

/** What an event is about, as far as the plugin uses it. */
interface EventProperties {
  sessionID?: string;
  error?: unknown;
  info?: Info;
}

/** opencode never asks for a longer answer. */
const MOST_OUTPUT_TOKENS = 32_000;

/** A session of opencode's. */
class OpencodeManaged extends Session {
  /** The last request. */
  last: Prepared<UiMessage> | undefined;
  /** The messages that opencode had then: the answer is none of them. */
  known: ReadonlySet<string> = new Set();
  /** The messages of that request. */
  history: readonly UiMessage[] = [];
  /** Where the user speaks in them. */
  spoken: readonly number[] = [];
  /** The pins of the user's first words and of the last. */
  #first: string | undefined;
  #last: string | undefined;
  /** The last fold. */
  record: CompactionRecord | null = null;
  /** opencode compacts: the next messages are what it summarizes. */
  isCompacting = false;
  readonly #follows: boolean;
  #model = "";

  constructor(session: OpencodeSession) {
    const isOwn = !(session instanceof ContextManager);
    const window = { contextTokens: 0 };
    const isSummary = (message: unknown): boolean => (message as UiMessage).isSummary === true;
    super(isOwn ? { isSummary, ...session, window: session.window ?? window } : session, {
      format: "ai-sdk",
      hasNoHints: true,
    });
    this.#follows = isOwn && session.window === undefined;
  }

  /** A call of this model follows. */
  async turnsTo(client: Client, provider: string, model: string): Promise<void> {
    const name = `${provider} ${model}`;
    if (this.#model === name) return;
    const { data } = await client.config.providers();
    // opencode did not answer: the next call asks again.
    if (!data) return;
    this.#model = name;
    const known = data.providers?.find(({ id }) => id === provider)?.models[model];
    this.follow(`${provider} ${known?.api?.npm}`, thinkingIn(known?.api));
    const { context = 0, output = 0 } = known?.limit ?? {};
    if (!this.#follows || context === 0) return;
    const maxOutputTokens = Math.min(output, MOST_OUTPUT_TOKENS);
    this.context.setModel({ window: { contextTokens: context, maxOutputTokens } });
  }

  /** Keeps the user's first and last words, which opencode's summary may not have. A new last message takes the pin of the one before. */
  keepsWords(): void {
    const [first, last] = [this.spoken[0], this.spoken.at(-1)];
    if (first === undefined || last === undefined) return;
    this.#first ??= this.context.pin({ index: first });
    if (this.#last !== undefined && this.#last !== this.#first) this.context.unpin(this.#last);
    this.#last = this.context.pin({ index: last });
  }

  /** Takes the usage of the answer to the last request. A revert leads back to older ones, and a summary answers a request of opencode's own. */
  hears(messages: readonly Message[]): void {
    const answer = messages.findLast(({ info }) => info.role === "assistant");
    const isAnswer = answer && !isSummary(answer) && !this.known.has(answer.info.id);
    this.known = new Set(messages.map(({ info }) => info.id));
    const { tokens } = answer?.info ?? {};
    if (!isAnswer || !tokens || !this.last || tokens.output === 0) return;
    const { input, output, reasoning = 0, cache = {} } = tokens;
    const inputTokens = input + (cache.read ?? 0) + (cache.write ?? 0);
    this.observe({ inputTokens, outputTokens: output + reasoning }, this.last);
  }
}

/**
 * Returns a plugin of opencode: each call of the model gets a request that fits and is valid, with the prompt cache kept. The session
 * keeps every message.
 *
 * @param session options of a `ContextManager` (`format` is set; `provider` and `window` follow opencode's model), or your own manager
 * @throws {PlimsollError} as `ContextManager`, in the first call.
 * @example
 * // .opencode/plugin/plimsoll.ts
 * import { plugin } from "plimsoll/opencode";
 * export const Plimsoll = plugin();
 */
export function plugin(
  session: OpencodeSession = {},
): (input: OpencodeInput) => Promise<OpencodeHooks> {
  return async ({ client }) => {
    const sessions = new Sessions<OpencodeManaged>();
    const of = (id: string): OpencodeManaged => sessions.of(id, () => new OpencodeManaged(session));
    return {
      event: async ({ event: { type, properties } }) => {
        const { sessionID, error, info } = properties as EventProperties;
        // opencode has read what it summarizes, in which the hook may have found no session.
        if (type === "message.updated" && info?.summary === true)
          of(info.sessionID).isCompacting = false;
        if (type !== "session.error" || !sessionID || !isContextOverflow(error)) return;
        const own = of(sessionID);
        if (own.history.length > 0) await own.context.recover(own.history, error);
      },
      "experimental.chat.messages.transform": async (_, output) => {
        const messages = output.messages as Message[];
        const user = messages.findLast(({ info }) => info.role === "user")?.info;
        if (!user) return;
        const own = of(user.sessionID);
        if (own.isCompacting) {
          own.isCompacting = false;
          return;
        }
        const { providerID = "", modelID = "" } = user.model ?? {};
        await own.turnsTo(client as Client, providerID, modelID);
        own.hears(messages);
        const history = mapped(messages);
        own.history = history.map(({ ui }) => ui);
        own.spoken = history.flatMap(({ message }, at) => (isAsked(message) ? [at] : []));
        const prepared = await own.context.prepare(own.history);
        own.last = prepared;
        own.record = prepared.compaction?.record ?? own.record;
        output.messages.splice(0, messages.length, ...restored(prepared, history, user));
      },
      "experimental.session.compacting": async ({ sessionID }, output) => {
        const own = of(sessionID);
        own.isCompacting = true;
        own.keepsWords();
        if (own.record) output.context.push(own.record.head);
      },
    };
  };
}
