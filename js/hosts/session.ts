/** Session shared by the adapters: follows model changes and retries once after an overflow. */
import { isContextOverflow } from "../compaction/overflow.js";
import { objectOf } from "../core/arguments.js";
import { invalid } from "../core/errors.js";
import { ContextManager } from "../session/context.js";
import type { ContextManagerOptions, Format, Parts, Prepared, Provider } from "../types.js";
import { providerOf, thinkingWithoutHints } from "./providers.js";

/** A session: its options, or a `ContextManager` of yours with the format of the host, which you open and save. */
export type HostSession = ContextManager<unknown> | ContextManagerOptions<unknown>;

/** What an adapter knows of its host. */
export interface Host {
  /** The shape of its messages. */
  format: Format;
  /** True if it has no place for `Prepared.hints`: void thinking is then never sent. */
  hasNoHints?: boolean;
  /** Builds a synthetic message. */
  create?: NonNullable<ContextManagerOptions<unknown>["create"]>;
}

/** A call of the model: what it is asked with. */
interface Call {
  /** The host's messages. */
  messages: readonly unknown[];
  /** What is sent beside them. */
  parts: Parts;
  /** The request that was made of them. */
  prepared: Prepared<unknown> | undefined;
}

/** What becomes of thinking after an edit. */
type Thinking = NonNullable<ContextManagerOptions<unknown>["thinking"]>;

/** Without a provider the rules are Anthropic's. */
const UNKNOWN: Provider = "anthropic";

/** The manager of a session, which follows the provider as the models change. */
export class Session {
  readonly context: ContextManager<unknown>;
  /** The user did not choose the provider. */
  readonly #follows: boolean;
  /** The user did not choose what becomes of thinking. */
  readonly #mayDrop: boolean;
  /** Nor can the host send hints. */
  #drops: boolean;
  #provider: Provider | undefined;
  /** The model's `thinking`, set only if the user did not choose it. */
  #thinking: Thinking | undefined;

  constructor(session: HostSession, host: Host) {
    objectOf("session", session);
    const isOwn = !(session instanceof ContextManager);
    const { hasNoHints = false, ...fixed } = host;
    // Read in another format, results of the host's would be dropped as invalid.
    if (!isOwn && ![undefined, "auto", host.format].includes(session.format))
      throw invalid("session", `a manager with format: "${host.format}"`, session.format);
    this.#follows = isOwn && session.provider === undefined;
    this.#mayDrop = isOwn && session.thinking === undefined;
    this.#drops = this.#mayDrop && hasNoHints;
    this.#provider = isOwn ? session.provider : undefined;
    if (this.#drops) this.#thinking = thinkingWithoutHints(this.#provider ?? UNKNOWN);
    const thinking = this.#thinking && { thinking: this.#thinking };
    this.context = isOwn
      ? new ContextManager({ ...fixed, ...session, ...thinking, format: host.format })
      : session;
  }

  /**
   * The next request goes to a model of this name, or to a provider's. A name that says nothing changes nothing. `thinking`: what
   * becomes of the model's thinking, if the host knows; else the provider decides.
   */
  follow(name: unknown, thinking?: Thinking): void {
    const named = this.#follows ? providerOf(String(name ?? "")) : undefined;
    const provider = named ?? this.#provider;
    const wanted = this.#drops
      ? (thinking ?? thinkingWithoutHints(provider ?? UNKNOWN))
      : this.#thinking;
    if (provider === this.#provider && wanted === this.#thinking) return;
    [this.#provider, this.#thinking] = [provider, wanted];
    this.context.setModel({
      ...(provider && { provider }),
      ...(wanted && { thinking: wanted }),
    });
  }

  /** The host turns out to have no place for `Prepared.hints`. */
  losesHints(): void {
    if (this.#drops || !this.#mayDrop) return;
    this.#drops = true;
    this.follow(undefined);
  }

  /** Takes the usage of an answer. The answer has been paid for: no figure that cannot be taken costs it, nor a session that has ended. */
  observe(usage: object | undefined, of: Prepared<unknown> | undefined): void {
    try {
      this.context.observe(usage, of);
    } catch {
      // A session that has ended says so at the next request; without a usage, its figures stay estimates.
    }
  }

  /** Asks the model; once more, with a smaller request, if it refuses this one as too long. Returns which of them was answered. */
  async asked<R>(
    { messages, parts, prepared }: Call,
    ask: (smaller?: Prepared<unknown>) => PromiseLike<R>,
  ): Promise<[R, Prepared<unknown> | undefined]> {
    try {
      return [await ask(), prepared];
    } catch (error) {
      if (!isContextOverflow(error)) throw error;
      const smaller = await this.context.recover(messages, error, parts);
      if (!smaller) throw error;
      return [await ask(smaller), smaller];
    }
  }
}

/** Sessions that a host runs side by side, by its id for each. */
export class Sessions<S> {
  /** In the order of their last use. */
  readonly #sessions = new Map<string, S>();

  /** The session of this id: the one there is, or a new one. */
  of(id: string, open: () => S): S {
    const session = this.#sessions.get(id) ?? open();
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    const [oldest] = this.#sessions.keys();
    // It may be in use: it is let go, not disposed of.
    if (this.#sessions.size > MOST_SESSIONS && oldest !== undefined) this.#sessions.delete(oldest);
    return session;
  }
}

/** One that is asked for again after so many others starts over from its history. */
const MOST_SESSIONS = 100;
