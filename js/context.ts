/** The context manager: knows the host's messages by identity, and carries out what the core decides. */
import { type Asked, Compactions } from "./compaction.js";
import { call, core, send } from "./core.js";
import { type Counter, counterOf, setParts } from "./count.js";
import { conflict, invalid } from "./errors.js";
import * as glue from "./glue/plimsoll_bg.js";
import { Handle } from "./handle.js";
import { History } from "./history.js";
import { question, type Told } from "./inspect.js";
import { argumentJson, messageJson } from "./json.js";
import { coreOptions } from "./options.js";
import { isContextOverflow } from "./overflow.js";
import type {
  AgentTool,
  Checkpoint,
  CompactionOutcome,
  CompactionPlan,
  CompactOptions,
  ContextManagerOptions,
  Explanation,
  ExtractedContext,
  FlushPrompt,
  InspectReport,
  Parts,
  Prepared,
  PressureEvent,
  Status,
  Store,
} from "./types.js";
import { type Answer, outcomeWithout, View } from "./view.js";

/** What `setModel` takes. */
type Model<M> = Partial<
  Pick<ContextManagerOptions<M>, "window" | "estimator" | "provider" | "thinking" | "economy">
>;
const MODEL = new Set(["window", "estimator", "provider", "thinking", "economy"]);

type PressureChange = Omit<PressureEvent, "type">;

/** A session's place in a store: revision and bytes that it goes on from, and those whose commit was not acknowledged. */
interface Place {
  readonly store: Store;
  readonly key: string;
  revision: number | null;
  base: Uint8Array;
  sent: Uint8Array | undefined;
}

/** Commits that are tried before a conflict is the host's. */
const TRIES = 8;
const NOTHING = new Uint8Array();

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
  #options: ContextManagerOptions<M>;
  #core: string;
  #handle: Handle<glue.Manager> | undefined;
  readonly #view: View<M>;
  #counter: Counter | undefined;
  /** What was estimated for a request, and its epoch in the core. */
  readonly #counted = new WeakMap<object, { epoch: number; estimate: number }>();
  readonly #history: History<M>;
  /** What to add to the core's epochs, and what was sent last, where an instance was lost or another's session was taken in. */
  #epochsBefore = 0;
  #lost: M[] = [];
  #epoch = 0;
  /** Where the session was opened. */
  #place: Place | undefined;
  /** One save after the other. */
  #saving: Promise<unknown> = Promise.resolve();
  /** What goes out beside the messages, as the core has it. */
  #beside: string | undefined;
  /** A call is under way: a getter of the host's must not start another. */
  #busy = false;
  readonly #compactions: Compactions<M>;

  constructor(options: ContextManagerOptions<M>) {
    this.#options = options;
    this.#core = coreOptions(options);
    this.#view = new View(options.create);
    this.#counter = counterOf(options.estimator);
    this.#history = new History(options.key, this.#counter);
    this.#compactions = new Compactions({
      history: this.#history,
      options: () => this.#options,
      now: () => this.#now(),
      manager: () => this.#manager(),
      take: (during, messages, parts) =>
        this.#alone(during, () => this.#take(during, messages, parts)),
      ask: (messages, parts, asks) => this.#ask("prepare", messages, parts, asks),
    });
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
    return (this.#ask("request", messages, parts, false) as Asked<T>).prepared;
  }

  /**
   * As `request`, with the host's summarizer: it is asked before a fold without which the request would not fit, and this
   * waits for it; where a fold is due and can wait, it is asked in the background, and a later request carries what it
   * came to. Never throws for a failing summarizer: then a fold carries digest and hot set.
   *
   * @throws as `request`; an aborted call rejects with its signal's reason.
   */
  async prepare<T extends M>(messages: readonly T[], parts: Parts = {}): Promise<Prepared<T>> {
    return (await this.#compactions.prepare(messages, parts)) as Prepared<T>;
  }

  /**
   * What `compact` would do, as data; nothing moves. With `force`, what it would do if forced.
   *
   * @throws {PlimsollError} as `request`.
   */
  plan(
    messages: readonly M[],
    parts: Parts & { force?: boolean | undefined } = {},
  ): CompactionPlan {
    const { force = false, signal, ...beside } = parts;
    signal?.throwIfAborted();
    return this.#compactions.plan(messages, beside, force);
  }

  /**
   * A compaction by hand; the next request sends what it came to. A second call joins the first. However it ends, a typed
   * outcome says so; messages that are appended meanwhile stay.
   *
   * @example
   * const outcome = await context.compact(history, { force: true, focus: "the failing tests" });
   *
   * @throws {PlimsollError} as `request`; `STALE_PLAN` for a plan of another history. An aborted call rejects with its
   * signal's reason, and nothing has changed.
   */
  async compact(messages: readonly M[], options: CompactOptions = {}): Promise<CompactionOutcome> {
    return this.#compactions.compact(messages, options);
  }

  /**
   * A smaller request after a provider's overflow error: the usable window is 0.9 of what was refused from then on, until
   * `setModel`. Null: the error is no overflow, it is the third in a row, or nothing smaller can be sent; then rethrow it.
   *
   * @throws as `prepare`.
   */
  async recover<T extends M>(
    messages: readonly T[],
    error: unknown,
    parts: Parts = {},
  ): Promise<Prepared<T> | null> {
    parts.signal?.throwIfAborted();
    if (!isContextOverflow(error)) return null;
    const manager = this.#manager();
    const times = call("recover", () => manager.refused());
    if (times === undefined) return null;
    const epoch = this.#epoch;
    const prepared =
      times === 1 ? await this.prepare(messages, parts) : this.request(messages, parts);
    return prepared.epoch === epoch ? null : prepared;
  }

  #now(): number {
    return this.#options.clock?.() ?? Date.now();
  }

  /** Hands over the history and what goes out beside it. */
  #take(during: string, messages: readonly M[], parts: Parts): glue.Manager {
    if (!Array.isArray(messages)) throw invalid("messages", "an array of messages", messages);
    const { system = null, tools = null, unseenTokens = null } = parts;
    const beside = argumentJson({ system, tools, unseenTokens }, "parts");
    const manager = this.#manager();
    this.#history.take(manager, messages, this.#view);
    if (beside !== this.#beside) setParts(during, manager, beside, this.#counter);
    this.#beside = beside;
    return manager;
  }

  #ask(during: string, messages: readonly M[], parts: Parts, asks: boolean): Asked<M> | null {
    return this.#alone(during, () => {
      const manager = this.#take("request", messages, parts);
      const now = this.#now();
      const answer = this.#decide(manager, now, asks);
      return answer && { prepared: this.#carryOut(answer), foldDue: answer.foldDue };
    });
  }

  #alone<T>(during: string, work: () => T): T {
    if (this.#busy) throw invalid(during, "no call from within a call", "a getter or callback");
    this.#busy = true;
    try {
      return work();
    } finally {
      this.#busy = false;
    }
  }

  /**
   * The usage of a call, as its provider or SDK gave it: Anthropic, OpenAI (both APIs), Gemini, Bedrock, Mistral, DeepSeek, Kimi, Ollama,
   * AI SDK, LangChain, pi, or ours, where `inputTokens` is all that was sent, cached or not. From then on sizes are told
   * as the provider counts, and the window is held by them.
   *
   * @param of the request it belongs to; default the last one. Null and unknown shapes are ignored.
   */
  observe(usage: object | null | undefined, of?: Prepared<unknown>): void {
    if (typeof usage !== "object" || usage === null) return;
    const counted = of && this.#counted.get(of);
    if (of && !counted) return;
    const json = argumentJson(usage, "usage");
    const manager = this.#manager();
    call("observe", () => manager.observe(send(json), counted?.epoch, counted?.estimate ?? 0));
    this.#tellPressure(manager);
  }

  /**
   * Tells the session of what it cannot see, for its report: calls of the model that others make (`source`: a planner, a fallback),
   * and compactions of the host's own, in whatever `phase`. Blank sources and numbers below 1 are ignored; a compaction has the
   * warnings of pressure begin anew.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT`.
   */
  record(
    what:
      | { source: string; requests?: number }
      | { phase: string | null; tokensBefore: number; tokensAfter: number },
  ): void {
    const json = argumentJson(what, "record");
    const manager = this.#manager();
    call("record", () => manager.record(send(json)));
  }

  /** A level of pressure that is newly reached. */
  #tellPressure(manager: glue.Manager): void {
    const { on } = this.#options;
    const told = on && call("pressure", () => manager.pressure());
    if (told) on({ type: "pressure", ...(JSON.parse(told) as PressureChange) });
  }

  /**
   * What changes with the model: window, estimator, provider, thinking, economy. What is given replaces what was; what was
   * decided stays where it can. Another estimator or provider measures the history again, and learns its figures anew.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT`; then nothing has changed.
   */
  setModel(model: Model<M>): void {
    if (typeof model !== "object" || model === null) {
      throw invalid("model", "an object with what changes", model);
    }
    for (const name of Object.keys(model)) {
      if (!MODEL.has(name))
        throw invalid(name, `one of ${[...MODEL].join(", ")}`, "no option of a model");
    }
    const options = { ...this.#options, ...model };
    const core = coreOptions(options);
    const manager = this.#manager();
    const again = call("setModel", () => manager.options(send(core)));
    this.#options = options;
    this.#core = core;
    this.#counter = counterOf(options.estimator);
    this.#beside = undefined;
    this.#history.counter = this.#counter;
    if (again) this.#history.again();
  }

  /** How full the window is, by the last request. */
  status(): Status {
    const manager = this.#manager();
    const now = this.#now();
    return this.#statusOf(JSON.parse(call("status", () => manager.status(now))) as Status);
  }

  /** With what the core does not know: what is under way, and epochs before its instance. */
  #statusOf(core: Status): Status {
    const blocked = this.#compactions.isRunning ? ({ reason: "running" } as const) : core.blocked;
    return { ...core, epoch: this.#epochsBefore + core.epoch, blocked };
  }

  /**
   * The report of the last request: window and buckets, the sections of the system prompt if it was given as a plan, every
   * message with its state and rule, the compactions, and what the next would do. Changes nothing. Texts are not in it,
   * but for what `detailKey` names: a section's key, `system`, or `message:N`. Where there is no such key, `nearestKeys` are
   * told.
   *
   * @example
   * const { window } = context.inspect(); // used + reserve + free = contextWindowTokens
   */
  inspect(options: { detailKey?: string } = {}): InspectReport {
    return this.#alone("inspect", () => {
      const manager = this.#manager();
      const history = this.#history;
      const ask = question({
        sessionId: this.#options.id,
        detailKey: options.detailKey,
        beside: this.#beside,
        next: argumentJson(this.#compactions.next(manager), "next"),
        messageAt: (place) => history.messages[history.numberOf(place) ?? -1],
      });
      const now = this.#now();
      const told = JSON.parse(call("inspect", () => manager.report(send(ask), now))) as Told;
      const messages = placed(told.messages, (number) => history.placeOf(number));
      return {
        ...told,
        messages: messages.map((one) => ({ ...one, group: history.placeFrom(one.group) })),
        status: this.#statusOf(told.status),
        compactions: told.compactions.flatMap((fold) => this.#compactions.recordOf(fold)),
      };
    });
  }

  /**
   * A prompt for notes before room is made, when the last request has newly crossed 50, 75 or 90 % of what is usable: each
   * once, until a compaction or until less than 25 % is used. The day in it is that of the clock, in UTC. Append it to the end of the request that goes out,
   * as text of the user's last message or a message of its own; in the system prompt it would cost the whole cache.
   *
   * Whether notes were written since, `status().flush` tells: a call that changes a file in `memory/`.
   *
   * @example
   * const prompt = context.flushPrompt();
   * if (prompt) messages.push({ role: "user", content: prompt.text });
   */
  flushPrompt(): FlushPrompt | null {
    const manager = this.#manager();
    const day = new Date(this.#now()).toISOString().slice(0, 10);
    return JSON.parse(
      call("flushPrompt", () => manager.flush_prompt(send(day))),
    ) as FlushPrompt | null;
  }

  /**
   * The summary of the session that was made ahead last (`summary.checkpoints`); null: none was, or the history is another.
   */
  checkpoint(): Checkpoint | null {
    return this.#compactions.checkpoints.last;
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
    const number = this.#history.numberOf(index);
    if (number === null) throw invalid("index", "a message of the host's, not one of ours", index);
    const told = JSON.parse(call("explain", () => manager.explain(number))) as Explanation;
    return { ...told, index, group: this.#history.placeFrom(told.group) };
  }

  /**
   * The session as bytes, for `restore`: records, view and clocks, never the body of a message: what became
   * of each message, and the lines that stand for what was cut.
   */
  snapshot(): Uint8Array {
    const manager = this.#manager();
    return call("snapshot", () => manager.snapshot());
  }

  /**
   * Goes on where `snapshot` was taken: given the same history, the next request is the same bytes as if nothing had
   * happened between. Of another history it keeps what stands before the first message that is another.
   *
   * @example
   * const woken = ContextManager.restore(bytes, { window: { contextTokens: 200_000 } });
   * const { messages } = woken.request(history);
   *
   * @throws {PlimsollError} `CORRUPT_STATE` for bytes that are no snapshot, or have changed.
   */
  static restore<M>(bytes: Uint8Array, options: ContextManagerOptions<M>): ContextManager<M> {
    const context = new ContextManager<M>(options);
    context.#wake(bytes);
    return context;
  }

  #wake(bytes: Uint8Array): void {
    if (!isBytes(bytes)) throw invalid("bytes", "a Uint8Array", typeof bytes);
    const manager = this.#manager();
    call("restore", () => manager.wake(core.sendBytes(bytes)));
    this.#restart();
  }

  /**
   * The session that a store holds under `key`, or a new one; `save` then commits to it.
   *
   * @throws {PlimsollError} `CORRUPT_STATE` for a record that does not verify; whatever the store throws.
   */
  static async open<M>(
    store: Store,
    key: string,
    options: ContextManagerOptions<M>,
  ): Promise<ContextManager<M>> {
    const held = await store.load(key);
    const context = new ContextManager<M>(options);
    if (held) context.#wake(held.bytes);
    const [revision, base] = [held?.revision ?? null, held?.bytes ?? NOTHING];
    context.#place = { store, key, revision, base, sent: undefined };
    return context;
  }

  /**
   * Commits the snapshot to the store that the session was opened from. Where another has committed meanwhile, theirs is taken in
   * and both are committed: pins, what was let go, usage and failures of both; of what was cut that of the side which has folded (theirs, if both
   * have), else of the one that is further. An acknowledgement that was lost is recognised, and nothing is committed twice.
   *
   * `rebased`: another's commit was taken in. If the session now goes on from theirs, messages have their places again with the next request, as
   * after `open`.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` without a store; `CONFLICT` after 8 tries; `CORRUPT_STATE` for a record that does not
   *   verify. What the store throws: then a later `save` finds out whether this one's commit was made.
   */
  async save(): Promise<{ revision: number; rebased: boolean }> {
    const place = this.#place;
    if (!place) throw invalid("save", "a session from `ContextManager.open`", "none");
    const saved = this.#saving.then(() => this.#commit(place));
    this.#saving = saved.catch(() => undefined);
    return saved;
  }

  async #commit(place: Place): Promise<{ revision: number; rebased: boolean }> {
    const { store, key } = place;
    let rebased = false;
    for (let tries = 0; tries < TRIES; tries++) {
      const bytes = this.snapshot();
      const before = place.sent;
      place.sent = bytes;
      // Nothing of ours was beside what was taken in.
      const isThere = rebased && isSame(bytes, place.base);
      const made = isThere ? place.revision : await store.commit(key, bytes, place.revision);
      if (made !== null) {
        settle(place, bytes, made);
        return { revision: made, rebased };
      }
      const held = await store.load(key);
      const [found, revision] = [held?.bytes ?? NOTHING, held?.revision ?? null];
      if (isSame(found, bytes)) {
        settle(place, bytes, revision);
        return { revision: revision as number, rebased };
      }
      const isOurs = before !== undefined && isSame(found, before);
      if (held && !isOurs) {
        this.#merge(found, place.base);
        rebased = true;
      }
      settle(place, found, revision);
    }
    throw conflict(null, place.revision ?? 0);
  }

  #merge(theirs: Uint8Array, base: Uint8Array): void {
    const both = new Uint8Array(theirs.length + base.length);
    both.set(theirs);
    both.set(base, theirs.length);
    const manager = this.#manager();
    if (!call("save", () => manager.merge(theirs.length, core.sendBytes(both)))) return;
    // The host goes on in an epoch of its own, whatever number it has in theirs.
    const now = this.#now();
    const { epoch } = JSON.parse(call("save", () => manager.status(now))) as Status;
    this.#epochsBefore = this.#epoch + 1 - epoch;
    this.#lost = this.#view.messages;
    this.#restart();
  }

  /**
   * Keeps a message, or a text, verbatim through every edit and fold. What was cut already comes back with the next epoch; a
   * text that stands in no message goes out in front of them from then on.
   *
   * @returns an id for `unpin`
   * @throws {PlimsollError} `INVALID_ARGUMENT` if the last history had no such message.
   */
  pin(what: { index: number } | { text: string }): string {
    const manager = this.#manager();
    const { text, index } = (what ?? {}) as { text?: unknown; index?: number };
    if (text !== undefined) {
      if (typeof text === "string" && text.trim() !== "") {
        return `p${this.#pinText(manager, text)}`;
      }
      throw invalid("text", "a text that is not blank", text);
    }
    const isPlace = index !== undefined && Number.isInteger(index) && index >= 0;
    const number = isPlace ? this.#history.numberOf(index) : null;
    if (number === null) throw invalid("index", "a message of the host's", index);
    return `p${call("pin", () => manager.pin(number))}`;
  }

  /** The newest message that holds the text holds the pin. */
  #pinText(manager: glue.Manager, text: string): number {
    const { messages } = this.#history;
    for (let number = messages.length - 1; number >= 0; number--) {
      const json = messageJson(messages[number], number);
      const piece = call("pin", () => {
        const length = send(json);
        return manager.find(number, length, send(json + text));
      });
      if (piece !== undefined) return call("pin", () => manager.pin(number, piece));
    }
    return call("pin", () => manager.pin_text(send(text)));
  }

  /** Lets a pin go. False: there is none of that id. */
  unpin(id: string): boolean {
    const number = /^p(\d{1,9})$/.exec(id)?.[1];
    if (number === undefined) return false;
    const manager = this.#manager();
    return call("unpin", () => manager.unpin(Number(number)));
  }

  /**
   * The original text of something that was cut, by the reference in its stub or its edit; null if there is none, or the
   * host has changed it since.
   */
  recall(ref: string): string | null {
    const manager = this.#manager();
    const found = call("recall", () => manager.referred(send(String(ref))));
    return found ? this.#recalled(manager, found[0] as number, found[1] as number) : null;
  }

  #recalled(manager: glue.Manager, number: number, block: number): string | null {
    const message = this.#history.messages[number];
    if (message === undefined) return null;
    const json = messageJson(message, number);
    return call("recall", () => manager.recalled(number, block, send(json))) ?? null;
  }

  /** Ready-made tools for the agent: context_status, context_compact, context_recall. */
  agentTools(): AgentTool[] {
    return JSON.parse(call("agentTools", () => glue.agent_tools())) as AgentTool[];
  }

  /**
   * Carries out a call of the agent's to one of `agentTools()`: text for the tool's result.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` for a tool of another name.
   */
  async callAgentTool(name: string, args: unknown): Promise<string> {
    const manager = this.#manager();
    const given = argumentJson([name, args ?? null], "args");
    const told = JSON.parse(call("callAgentTool", () => manager.call_agent_tool(send(given)))) as
      | { text: string }
      | { text: string; message: number; block: number };
    if (!("message" in told)) return told.text;
    return this.#recalled(manager, told.message, told.block) ?? told.text;
  }

  /** Work done so far by the instance that now holds the session. */
  counters(): Counters {
    const manager = this.#manager();
    return JSON.parse(call("counters", () => manager.counters())) as Counters;
  }

  [Symbol.dispose](): void {
    this.#compactions.stop();
    this.#handle?.free();
    this.#handle = undefined;
    this.#restart();
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
      this.#restart();
    }
    return this.#handle.value;
  }

  /** Nothing of what the core was told counts any more. */
  #restart(): void {
    this.#history.forget();
    this.#view.clear();
    this.#beside = undefined;
  }

  /** Null, if `asks`: a summarizer is to be asked first. */
  #decide(manager: glue.Manager, now: number, asks: boolean): Answer | null {
    const json = call("request", () => (asks ? manager.prepare(now) : manager.request(now)));
    if (json === undefined) return null;
    let step = JSON.parse(json) as Step;
    while ("need" in step) {
      for (const index of step.need) {
        const json = messageJson(this.#history.messages[index], index);
        call("request", () => manager.supply(index, send(json)));
      }
      step = JSON.parse(call("request", () => manager.resume())) as Step;
    }
    return step.done;
  }

  #carryOut(answer: Answer): Prepared<M> {
    const history = this.#history;
    this.#view.take(answer, history.messages);
    const placeOf = (number: number): number | null => history.placeOf(number);
    history.lastGroup = answer.lastGroup;
    const before = this.#epoch;
    this.#epoch = this.#epochsBefore + answer.epoch;
    if (this.#epoch !== before && answer.firstChanged !== null) this.#tell(answer);
    const { messages: sent } = this.#view;
    const lost = this.#lost;
    this.#lost = [];
    const prepared: Prepared<M> = {
      messages: sent,
      source: history.placesOf(this.#view.source),
      fits: answer.fits,
      repairs: placed(answer.repairs, placeOf),
      cacheBreakpoints: answer.cacheBreakpoints,
      epoch: this.#epoch,
      firstChanged: lost.length > 0 ? firstOther(lost, sent) : answer.firstChanged,
      tokens: answer.tokens,
      tokensSource: answer.source,
      edits: placed(answer.edits, placeOf),
      compaction: this.#compactionOf(answer),
      hints: (answer.hints ? JSON.parse(answer.hints) : {}) as Prepared<M>["hints"],
    };
    this.#counted.set(prepared, answer);
    this.#tellPressure(this.#manager());
    return prepared;
  }

  /** The fold of a request, or why there was none. */
  #compactionOf({ fold, outcome }: Answer): CompactionOutcome | null {
    if (!outcome) return null;
    const { status, reason, tokensBefore, tokensAfter } = outcome;
    if (!fold) return outcomeWithout(status, reason, tokensBefore, tokensAfter);
    // Without a summarizer each message is written once, and what went is not read again.
    const reads = fold.went.length > 0 && this.#options.summarize !== undefined;
    if (!reads) return this.#compactions.told({ ...fold, ...outcome });
    const manager = this.#manager();
    for (const number of fold.went) {
      const json = messageJson(this.#history.messages[number], number);
      call("request", () => manager.flat(number, send(json)));
    }
    const found = call("request", () => manager.extracted());
    const extracted = JSON.parse(found) as Omit<ExtractedContext, "identifiers">;
    return this.#compactions.told({ ...fold, ...outcome, extracted });
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

/** What is told of messages, by their places in the host's history; of one that it does not hold nothing is told. */
function placed<T extends { index: number }>(
  told: T[],
  placeOf: (number: number) => number | null,
): T[] {
  return told.flatMap((one) => {
    const index = placeOf(one.index);
    return index === null ? [] : [{ ...one, index }];
  });
}

/** By name: the bytes may come from another realm. */
function isBytes(bytes: unknown): bytes is Uint8Array {
  return Object.prototype.toString.call(bytes) === "[object Uint8Array]";
}

function settle(place: Place, base: Uint8Array, revision: number | null): void {
  place.base = base;
  place.revision = revision;
  place.sent = undefined;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at]);
}
