/** pi (npm's `@earendil-works/pi-coding-agent`): an extension that has each request made by a `ContextManager`. */
import { ContextManager } from "../session/context.js";
import type {
  CompactionRecord,
  ContextWindow,
  ManagerOptions,
  Parts,
  Prepared,
  PresetOptions,
} from "../types.js";
import { Session, Sessions } from "./session.js";

/** Options of a `ContextManager` without `format`, and with pi's own model as its default `window`; or a manager of yours. */
export type PiSession =
  | ContextManager<unknown>
  | (Omit<ManagerOptions<unknown>, "window"> &
      PresetOptions & {
        /** The model's context window. Default: the one that pi knows, without what pi leaves for the answer. */
        window?: ContextWindow;
      });

/** pi's model. */
interface Model {
  /** Who serves it. */
  provider: string;
  /** The API that it speaks. */
  api: string;
  /** The size of its context window in tokens. */
  contextWindow: number;
  /** The most tokens of an answer. */
  maxTokens: number;
  /** What the API takes for it. */
  compat?: {
    /** Its thinking has no budget: it decides by itself how much it thinks. */
    forceAdaptiveThinking?: boolean;
    /** pi changes its effort within a conversation, and asks the API to drop thinking that an edit made void. */
    supportsMidConvoEffort?: boolean;
  };
}

/** What pi tells a handler beside the event. */
interface PiContext {
  /** The model that is asked. */
  model: unknown;
  /** Aborts the turn. */
  signal: AbortSignal | undefined;
  /** The session. */
  sessionManager: {
    /** Its id. */
    getSessionId(): string;
    /** What of it goes to the model, by entry. */
    buildSessionProjection(): {
      /** The entries, in order. */
      entries: ReadonlyArray<{
        /** The entry of the session file. */
        sourceEntry: {
          /** Its id. */
          id: string;
        };
        /** Its messages. */
        messages: readonly unknown[];
      }>;
    };
  };
  /** The system prompt. */
  getSystemPrompt(): string;
}

/** pi is about to ask the model. */
interface ContextEvent {
  /** The messages, without system messages. */
  messages: unknown[];
}

/** The model has answered. */
interface TurnEndEvent {
  /** Its answer. */
  message: unknown;
}

/** pi is about to compact. */
interface CompactEvent {
  /** Why. */
  reason: string;
  /** What the user asked the summary to be about. */
  customInstructions?: string | undefined;
  /** What pi would do. */
  preparation: {
    /** Tokens of the session. */
    tokensBefore: number;
  };
  /** Aborts the compaction. */
  signal: AbortSignal;
}

/** The messages of a request. */
interface Messages {
  /** What is sent. */
  messages: unknown[];
}

/** What becomes of pi's compaction. */
interface Compacted {
  /** True if there is none. */
  cancel?: boolean;
  /** The compaction that takes the place of pi's own. */
  compaction?: {
    /** What takes the place of the older messages. */
    summary: string;
    /** The first entry that is kept. */
    firstKeptEntryId: string;
    /** Tokens of the session before. */
    tokensBefore: number;
    /** What the agent did in what was removed. */
    details?: unknown;
  };
}

/** pi's `ExtensionAPI`, as far as the extension uses it; its own types say which events there are. */
export interface PiExtensionApi {
  /** Handles an event. */
  on(event: never, handler: never): unknown;
  /** Names of the tools that the model may call. */
  getActiveTools(): string[];
  /** All tools. */
  getAllTools(): Array<{
    /** Its name. */
    name: string;
    /** What it is for. */
    description: string;
    /** The schema of its arguments. */
    parameters: unknown;
  }>;
}

/** The same with the events that are handled. */
interface Api extends Omit<PiExtensionApi, "on"> {
  on(
    event: "context",
    handler: (event: ContextEvent, context: PiContext) => Promise<Messages>,
  ): unknown;
  on(event: "turn_end", handler: (event: TurnEndEvent, context: PiContext) => void): unknown;
  on(
    event: "session_before_compact",
    handler: (event: CompactEvent, context: PiContext) => Promise<Compacted | undefined>,
  ): unknown;
}

/** pi sets `max_tokens` to what is left beside the request and these. A request that leaves nothing gets an answer of one token. */
const PI_SAFETY_TOKENS = 4_096;
/** What pi leaves for an answer before it compacts by itself. */
const PI_RESERVE_TOKENS = 16_384;

/** The window of pi's model; unknown without one. */
function windowOf(model: unknown): ContextWindow {
  const { contextWindow = 0, maxTokens = 0 } = Object(model) as Partial<Model>;
  const answer = Math.min(maxTokens, PI_RESERVE_TOKENS) + PI_SAFETY_TOKENS;
  return {
    contextTokens: contextWindow,
    maxOutputTokens: Math.min(answer, Math.floor(contextWindow / 2)),
  };
}

/**
 * What becomes of the thinking of Claude, as pi calls it; undefined: another API. Only newer models bind it to earlier messages. Of these pi
 * has some drop what an edit made void; the others take a call without its thinking. Older models, which think with a budget, do not.
 */
function thinkingIn(model: unknown): "bound" | "drop" | "free" | undefined {
  const { api, compat = {} } = Object(model) as Partial<Model>;
  if (api !== "anthropic-messages") return undefined;
  if (compat.supportsMidConvoEffort) return "bound";
  return compat.forceAdaptiveThinking ? "drop" : "free";
}

/** A session of pi's. */
class PiManaged extends Session {
  /** The last request. */
  last: Prepared<unknown> | undefined;
  /** The window follows the model: its size, as it was set last. */
  #window: string | undefined;

  constructor(session: PiSession, model: unknown) {
    const isOwn = !(session instanceof ContextManager);
    const follows = isOwn && session.window === undefined;
    const window = windowOf(model);
    const isSummary = (message: unknown): boolean => summaryIn(message) !== undefined;
    super(isOwn ? { isSummary, ...session, window: session.window ?? window } : session, {
      format: "pi",
      hasNoHints: true,
    });
    this.#window = follows ? JSON.stringify(window) : undefined;
  }

  /** A call of this model follows. */
  turnsTo(model: unknown): void {
    const { provider, api } = Object(model) as Partial<Model>;
    this.follow(`${provider} ${api}`, thinkingIn(model));
    const window = windowOf(model);
    const now = JSON.stringify(window);
    if (this.#window === undefined || this.#window === now) return;
    this.#window = now;
    this.context.setModel({ window });
  }
}

const roleOf = (message: unknown): unknown => (Object(message) as { role?: unknown }).role;

/** The compaction after which pi asks again. It removes nothing: the next request is smaller by itself. */
const NOTHING = "Nothing was removed: all messages follow.";

/** pi's summary of older messages; what stands for nothing is none. */
const summaryIn = (message: unknown): string | undefined => {
  const { role, summary } = Object(message) as { role?: unknown; summary?: unknown };
  return role === "compactionSummary" ? String(summary) : undefined;
};

/**
 * Returns an extension of pi: each call of the model gets a request that fits and is valid, with the prompt cache kept. The session file
 * keeps every message. pi no longer compacts by itself as the window fills; after `/compact`, or after an overflow that the provider
 * reports, the session goes on from a compaction of ours.
 *
 * @param session options of a `ContextManager` (`format` is set; `provider` and `window` follow pi's model), or your own manager
 * @throws {PlimsollError} as `ContextManager`, in the first call.
 * @example
 * // ~/.pi/agent/extensions/plimsoll/index.ts
 * import { extension } from "plimsoll/pi";
 * export default extension();
 */
export function extension(session: PiSession = {}): (pi: PiExtensionApi) => void {
  return (pi) => {
    const api = pi as unknown as Api;
    const sessions = new Sessions<PiManaged>();
    const of = ({ sessionManager, model }: PiContext): PiManaged => {
      const own = sessions.of(sessionManager.getSessionId(), () => new PiManaged(session, model));
      own.turnsTo(model);
      return own;
    };
    const partsOf = (context: PiContext): Parts => {
      const active = new Set(api.getActiveTools());
      const tools = api.getAllTools().filter(({ name }) => active.has(name));
      return {
        system: context.getSystemPrompt(),
        tools: tools.map(({ name, description, parameters }) => ({
          name,
          description,
          parameters,
        })),
        signal: context.signal,
      };
    };

    api.on("context", async ({ messages }, context) => {
      const own = of(context);
      const history = messages.filter((message) => summaryIn(message) !== NOTHING).flatMap(apart);
      own.last = await own.context.prepare(history, partsOf(context));
      return { messages: own.last.messages };
    });

    api.on("turn_end", ({ message }, context) => {
      const own = of(context);
      const { usage, stopReason } = Object(message) as { usage?: object; stopReason?: unknown };
      if (stopReason !== "error" && stopReason !== "aborted") own.observe(usage, own.last);
    });

    api.on("session_before_compact", async (event, context) => {
      const own = of(context);
      const { reason, signal, customInstructions: focus } = event;
      // What is sent fits, whatever the file has come to.
      if (reason === "threshold" && own.last?.fits !== false) return { cancel: true };
      const { tokensBefore } = event.preparation;
      const session = projected(context);
      const entries = session.flatMap(({ id, message }) =>
        apart(message).map((part) => ({ id, message: part })),
      );
      const messages = entries.map(({ message }) => message);
      const parts = { ...partsOf(context), signal };
      if (reason === "overflow") {
        const smaller = await own.context.recover(messages, {}, parts);
        return smaller ? { compaction: { ...unchanged(session), tokensBefore } } : undefined;
      }
      const options = { ...parts, focus, force: true };
      const { record } = await own.context.compact(messages, options);
      const firstKeptEntryId = entries[record?.firstKeptIndex ?? 0]?.id;
      // Without a fold of ours, pi makes its own summary.
      if (!record || !firstKeptEntryId || firstKeptEntryId === entries[0]?.id) return undefined;
      const summary = summaryOf(record, messages);
      return { compaction: { summary, firstKeptEntryId, tokensBefore, details: record.details } };
    });
  };
}

/** A message that goes to the model, and its entry. */
interface Sent {
  /** The id of the entry. */
  id: string;
  /** The message. */
  message: unknown;
}

function projected({ sessionManager }: PiContext): Sent[] {
  const { entries } = sessionManager.buildSessionProjection();
  return entries.flatMap(({ sourceEntry: { id }, messages }) =>
    messages.filter(isSent).map((message) => ({ id, message })),
  );
}

/** pi hands system messages to nobody. */
const isSent = (message: unknown): boolean =>
  roleOf(message) !== "system" && summaryIn(message) !== NOTHING;

/** A compaction that keeps every message, and what an earlier one has put in the place of others. */
function unchanged(session: readonly Sent[]): { summary: string; firstKeptEntryId: string } {
  const before = summaryIn(session[0]?.message);
  const [first = "", second = first] = session.map(({ id }) => id);
  return before === undefined
    ? { summary: NOTHING, firstKeptEntryId: first }
    : { summary: before, firstKeptEntryId: second };
}

/** The text that takes the place of what pi forgets: our own, and the user's words in it, which a request of ours would keep. */
function summaryOf({ head, kept }: CompactionRecord, messages: readonly unknown[]): string {
  const words = kept
    .flatMap(([from, to]) => messages.slice(from, to))
    .filter((message) => roleOf(message) === "user")
    .map((message) => textOf((message as { content?: unknown }).content));
  return words.length === 0 ? head : `${head}${WORDS}${words.join("\n\n")}`;
}

const WORDS = "\n\nThe user's own words:\n\n";

/** The user's words in a compaction of ours are the user's again: no later summary takes their place. */
function apart(message: unknown): unknown[] {
  const summary = summaryIn(message);
  const [head = "", ...words] = summary?.split(WORDS) ?? [];
  if (words.length === 0) return [message];
  const { timestamp } = message as { timestamp?: unknown };
  const own = { role: "user", content: words.join("\n\n"), timestamp };
  return [{ ...Object(message), summary: head }, own];
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return String(content ?? "");
  const texts = content.map((block) => (Object(block) as { text?: unknown }).text);
  return texts.filter((text) => typeof text === "string").join("\n");
}
