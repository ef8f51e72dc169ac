/** The context manager: knows the host's messages by identity, and carries out what the core decides. */
import { call, send } from "./core.js";
import { type Counter, counterOf, push, setParts } from "./count.js";
import { invalid } from "./errors.js";
import * as glue from "./glue/plimsoll_bg.js";
import { Handle } from "./handle.js";
import { argumentJson, messageJson } from "./json.js";
import { coreOptions } from "./options.js";
import type { ContextManagerOptions, Explanation, Parts, Prepared, Status } from "./types.js";
import { type Answer, compactionOf, View } from "./view.js";

type Step = { need: number[] } | { done: Answer };

/** The work done by a manager: what shows that turns stay flat. */
export interface Counters {
  bytesMeasured: number;
  blocksVisited: number;
  itemsWritten: number;
}

/**
 * Decides before each model call what of the history is sent. Holds one session; measures each message once.
 *
 * @example
 * const context = new ContextManager({ window: { contextTokens: 200_000, maxOutputTokens: 8_192 } });
 * const { messages } = context.request(history, { system, tools });
 */
export class ContextManager<M = unknown> {
  readonly #options: ContextManagerOptions<M>;
  readonly #core: string;
  #handle: Handle<glue.Manager> | undefined;
  #known: M[] = [];
  #keys: string[] = [];
  readonly #view: View<M>;
  readonly #counter: Counter | undefined;
  #lastGroup = 0;
  /** Epochs of instances that were lost, and what the last of them sent, until the session is built anew. */
  #epochsBefore = 0;
  #lost: M[] = [];
  #epoch = 0;
  /** A call is under way: a getter of the host's must not start another. */
  #busy = false;

  constructor(options: ContextManagerOptions<M>) {
    this.#options = options;
    this.#core = coreOptions(options);
    this.#view = new View(options.create);
    this.#counter = counterOf(options.estimator);
    this.#manager();
  }

  /**
   * What to send now: the host's messages as they are, edited copies, and messages of ours. Synchronous; never asks a
   * summarizer; never mutates. The same history and parts give the same request and move nothing.
   *
   * A message may not be changed once it was passed, except the last group while it grows.
   *
   * @throws {PlimsollError} `MALFORMED_MESSAGE` with index and path, `UNKNOWN_FORMAT`, `INVALID_ARGUMENT`, `TOO_LARGE`;
   * `INSTANCE_LOST` if the Wasm trapped: the next call builds the session anew.
   */
  request<T extends M>(messages: readonly T[], parts: Parts = {}): Prepared<T> {
    parts.signal?.throwIfAborted();
    if (this.#busy) throw invalid("request", "no call from within a call", "a getter or callback");
    this.#busy = true;
    try {
      return this.#request(messages, parts) as Prepared<T>;
    } finally {
      this.#busy = false;
    }
  }

  #request(messages: readonly M[], parts: Parts): Prepared<M> {
    if (!Array.isArray(messages)) throw invalid("messages", "an array of messages", messages);
    const { system = null, tools = null, unseenTokens = null } = parts;
    const beside = argumentJson({ system, tools, unseenTokens }, "parts");
    const manager = this.#manager();
    this.#take(manager, messages);
    setParts("request", manager, beside, this.#counter);
    const now = this.#options.clock?.() ?? Date.now();
    return this.#carryOut(this.#decide(manager, messages, now), messages, now);
  }

  /** How full the window is, by the last request. */
  status(): Status {
    const manager = this.#manager();
    const core = JSON.parse(call("status", () => manager.status())) as Omit<
      Status,
      "trend" | "source" | "blocked"
    >;
    const epoch = this.#epochsBefore + core.epoch;
    return { ...core, epoch, trend: "unknown", source: "estimate", blocked: null };
  }

  /**
   * Why a message of the history is sent as it is: rule, evidence, tokens, what would bring it back.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` if the last history had no such message.
   */
  explain(index: number): Explanation {
    if (!Number.isInteger(index) || index < 0)
      throw invalid("index", "a message's position", index);
    const manager = this.#manager();
    return JSON.parse(call("explain", () => manager.explain(index))) as Explanation;
  }

  /** Work done so far by the instance that now holds the session. */
  counters(): Counters {
    const manager = this.#manager();
    return JSON.parse(call("counters", () => manager.counters())) as Counters;
  }

  [Symbol.dispose](): void {
    this.#handle?.free();
    this.#handle = undefined;
    this.#known = [];
    this.#view.clear();
  }

  /** The session in the core; a new one without messages if the instance that held it was lost. */
  #manager(): glue.Manager {
    if (!this.#handle?.isAlive) {
      this.#handle = new Handle(() =>
        call("ContextManager", () => new glue.Manager(send(this.#core))),
      );
      if (!this.#view.isEmpty) {
        this.#epochsBefore = this.#epoch + 1;
        this.#lost = this.#view.messages;
      }
      this.#forget();
      this.#view.clear();
    }
    return this.#handle.value;
  }

  #forget(): void {
    this.#known = [];
    this.#keys = [];
    this.#lastGroup = 0;
  }

  /** Makes the core's history this one, from the first message that is another on. */
  #take(manager: glue.Manager, messages: readonly M[]): void {
    if (messages.length < this.#known.length || !this.#isContinued(manager, messages)) {
      call("request", () => manager.reset());
      this.#forget();
    }
    for (let index = this.#known.length; index < messages.length; index++) {
      const message = messages[index] as M;
      const json = messageJson(message, index);
      if (push("request", manager, json, this.#counter)) {
        this.#known[index] = message;
        if (this.#options.key) this.#keys[index] = this.#options.key(message, index);
      } else {
        // The format shows only now: what came before is read again.
        this.#forget();
        index = -1;
      }
    }
  }

  /** The known messages stand at the start of this history: those that are still sent, and the last group. */
  #isContinued(manager: glue.Manager, messages: readonly M[]): boolean {
    for (const index of this.#view.indexes) {
      if (index >= this.#lastGroup) continue;
      if (!this.#isSame(manager, messages, index)) return false;
    }
    for (let index = this.#lastGroup; index < this.#known.length; index++) {
      const json = messageJson(messages[index], index);
      if (!call("request", () => manager.same(index, send(json)))) return false;
      this.#known[index] = messages[index] as M;
    }
    return true;
  }

  /** By the object, else by the host's key, else by content. */
  #isSame(manager: glue.Manager, messages: readonly M[], index: number): boolean {
    const message = messages[index] as M;
    if (message === this.#known[index]) return true;
    const same = this.#options.key
      ? this.#options.key(message, index) === this.#keys[index]
      : call("request", () => manager.same(index, send(messageJson(message, index))));
    if (same) this.#known[index] = message;
    return same;
  }

  #decide(manager: glue.Manager, messages: readonly M[], now: number): Answer {
    let step = JSON.parse(call("request", () => manager.request(now))) as Step;
    while ("need" in step) {
      for (const index of step.need) {
        const json = messageJson(messages[index], index);
        call("request", () => manager.supply(index, send(json)));
      }
      step = JSON.parse(call("request", () => manager.resume())) as Step;
    }
    return step.done;
  }

  #carryOut(answer: Answer, messages: readonly M[], now: number): Prepared<M> {
    this.#view.take(answer, messages);
    this.#lastGroup = answer.lastGroup;
    const before = this.#epoch;
    this.#epoch = this.#epochsBefore + answer.epoch;
    if (this.#epoch !== before && answer.firstChanged !== null) this.#tell(answer);
    const { messages: sent } = this.#view;
    const lost = this.#lost;
    this.#lost = [];
    return {
      messages: sent,
      source: this.#view.source,
      fits: answer.fits,
      repairs: answer.repairs,
      cacheBreakpoints: [],
      epoch: this.#epoch,
      firstChanged: lost.length > 0 ? firstOther(lost, sent) : answer.firstChanged,
      tokens: answer.tokens,
      tokensSource: "estimate",
      edits: answer.edits,
      compaction: compactionOf(answer, now),
      hints: JSON.parse(answer.hints ?? "{}") as Prepared<M>["hints"],
    };
  }

  #tell(answer: Answer): void {
    this.#options.on?.({
      type: "epoch",
      epoch: this.#epoch,
      reason: answer.firstChanged === -1 ? "parts" : (answer.event ?? "history"),
      firstChanged: answer.firstChanged ?? 0,
      tokensBefore: answer.tokensBefore,
      tokensAfter: answer.tokens,
      cachedTokensLost: answer.cachedTokensLost,
    });
  }
}

/** Position of the first message that is not the same object; the end of `before` if all are. */
function firstOther<M>(before: readonly M[], now: readonly M[]): number {
  const at = before.findIndex((message, index) => message !== now[index]);
  return at < 0 ? before.length : at;
}
