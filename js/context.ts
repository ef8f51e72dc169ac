/** The context manager: knows the host's messages by identity, and carries out what the core decides. */
import { Commits, load } from "./commits.js";
import { call, send } from "./core.js";
import { invalid } from "./errors.js";
import * as glue from "./glue/plimsoll_bg.js";
import { question, type Told } from "./inspect.js";
import { argumentJson } from "./json.js";
import { onlyKnown, PARTS } from "./known.js";
import { LiveSession, placed } from "./live.js";
import { overflowOf } from "./overflow.js";
import { pin, recalled, unpin } from "./pins.js";
import type {
  AgentTool,
  Checkpoint,
  CompactionOutcome,
  CompactionPlan,
  CompactOptions,
  ContextManagerOptions,
  Explanation,
  FlushPrompt,
  InspectReport,
  Parts,
  Prepared,
  Status,
  Store,
} from "./types.js";

/** What `setModel` takes. */
type Model<M> = Partial<
  Pick<ContextManagerOptions<M>, "window" | "estimator" | "provider" | "thinking" | "economy">
>;
const MODEL = ["window", "estimator", "provider", "thinking", "economy"];

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
  readonly #session: LiveSession<M>;
  /** Where the session was opened. */
  #commits: Commits | undefined;

  constructor(options: ContextManagerOptions<M>) {
    this.#session = new LiveSession(options);
  }

  /**
   * What to send now: the host's messages as they are, edited copies, and messages of ours. Synchronous; never mutates; never
   * calls a summarizer (if one is configured and a fold is due, the event `summarizer-idle` says so once). The same history and parts give the same request and move nothing.
   *
   * A message may not be changed once it was passed, except the last group while it grows.
   *
   * What a getter or proxy in your messages throws is thrown. The next request is then what this one would have been, and reports
   * its edits and its compaction. A callback that throws (`estimator`, `key`, `create`, `clock`) does not break the request: the
   * event `callback-failed` says what was used instead.
   *
   * @throws {PlimsollError} `MALFORMED_MESSAGE` with index and path, `UNKNOWN_FORMAT`, `INVALID_ARGUMENT`, `TOO_LARGE` (more than 32 Mi characters of JSON in one message); `DISPOSED`;
   * `INSTANCE_LOST` if the Wasm trapped: the next call builds the session anew.
   */
  request<T extends M>(messages: readonly T[], parts: Parts = {}): Prepared<T> {
    this.#session.alive("request");
    const known = onlyKnown("parts", parts, PARTS);
    known.signal?.throwIfAborted();
    return this.#session.compactions.request(messages, known) as Prepared<T>;
  }

  /**
   * As `request`, with the host's summarizer: it is asked before a fold without which the request would not fit, and this
   * waits for it; where a fold is due and can wait, it is asked in the background, and a later request carries what it
   * came to. Never throws for a failing summarizer: then a fold carries digest and hot set.
   *
   * @throws as `request`; an aborted call rejects with its signal's reason.
   */
  async prepare<T extends M>(messages: readonly T[], parts: Parts = {}): Promise<Prepared<T>> {
    const { compactions } = this.#session.alive("prepare");
    const known = onlyKnown("parts", parts, PARTS);
    return (await compactions.prepare(messages, known)) as Prepared<T>;
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
    this.#session.alive("plan");
    const known = onlyKnown("parts", parts, [...PARTS, "force"]);
    const { force = false, signal, ...beside } = known;
    signal?.throwIfAborted();
    return this.#session.compactions.plan(messages, beside, force);
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
    const { compactions } = this.#session.alive("compact");
    const known = onlyKnown("options", options, [...PARTS, "force", "focus", "plan"]);
    return compactions.compact(messages, known);
  }

  /**
   * Makes a smaller request after a provider's overflow error. The usable window becomes 0.9 of the refused request. It grows
   * by 10 % each time the provider counts a request (`observe`) of at least half of the trigger that then holds; a size that
   * is refused twice is not tried again until `setModel`. `status().usable` is the limit in force.
   *
   * @param error the provider's error; or, if you know only that the request was too large, an object with `limit` (tokens that
   *   the provider takes) and `inputTokens` (its count of the request), both optional.
   * @returns null if the error is no overflow, it is the third in a row, or nothing smaller can be sent; then rethrow it.
   *
   * @example
   * const smaller = await context.recover(history, { limit: 32_000 });
   *
   * @throws {PlimsollError} as `prepare`; `INVALID_ARGUMENT` for figures that are no numbers.
   */
  async recover<T extends M>(
    messages: readonly T[],
    error: unknown,
    parts: Parts = {},
  ): Promise<Prepared<T> | null> {
    this.#session.alive("recover");
    onlyKnown("parts", parts, PARTS).signal?.throwIfAborted();
    const overflow = overflowOf(error);
    if (!overflow) return null;
    const times = this.#session.refused(overflow);
    if (times === undefined) return null;
    const epoch = this.#session.epoch;
    const prepared =
      times === 1 ? await this.prepare(messages, parts) : this.request(messages, parts);
    return prepared.epoch === epoch ? null : prepared;
  }

  /**
   * The usage of a call, as its provider or SDK gave it: Anthropic, OpenAI (both APIs), Gemini, Bedrock, Mistral, DeepSeek, Kimi, Ollama,
   * AI SDK, LangChain, pi, or ours, where `inputTokens` is all that was sent, cached or not. From then on sizes are told
   * as the provider counts, and the window is held by them.
   *
   * @param of the request it belongs to; default the last one. Null and unknown shapes are ignored.
   */
  observe(usage: object | null | undefined, of?: Prepared<unknown>): void {
    this.#session.alive("observe");
    if (typeof usage !== "object" || usage === null) return;
    const counted = of && this.#session.counted(of);
    if (of && !counted) return;
    const json = argumentJson(usage, "usage");
    const manager = this.#session.opened("observe");
    call("observe", () => manager.observe(send(json), counted?.epoch, counted?.estimate ?? 0));
    const pressure = this.#session.pressure(manager);
    if (pressure) this.#session.emit(pressure);
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
    this.#session.alive("record");
    const json = argumentJson(what, "record");
    const manager = this.#session.opened("record");
    call("record", () => manager.record(send(json)));
  }

  /**
   * What changes with the model: window, estimator, provider, thinking, economy. What is given replaces what was; what was
   * decided stays where it can. Another estimator or provider measures the history again, and learns its figures anew.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT`; then nothing has changed.
   */
  setModel(model: Model<M>): void {
    this.#session.alive("setModel");
    const known = onlyKnown("model", model, MODEL);
    this.#session.change({ ...this.#session.options(), ...known });
  }

  /** How full the window is, by the last request. */
  status(): Status {
    const now = this.#session.alive("status").now();
    const manager = this.#session.opened("status");
    return this.#session.statusOf(JSON.parse(call("status", () => manager.status(now))) as Status);
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
    return this.#session.alone("inspect", () => {
      const now = this.#session.now();
      const manager = this.#session.manager();
      const history = this.#session.history;
      const ask = question({
        sessionId: this.#session.options().id,
        detailKey: options.detailKey,
        beside: this.#session.beside,
        next: argumentJson(this.#session.compactions.next(manager), "next"),
        messageAt: (place) => history.messages[history.numberOf(place) ?? -1],
      });
      const told = JSON.parse(call("inspect", () => manager.report(send(ask), now))) as Told;
      const messages = placed(told.messages, (number) => history.placeOf(number));
      return {
        ...told,
        messages: messages.map((one) => ({ ...one, group: history.placeFrom(one.group) })),
        status: this.#session.statusOf(told.status),
        compactions: told.compactions.flatMap((fold) => this.#session.compactions.recordOf(fold)),
      };
    });
  }

  /**
   * A prompt for notes before room is made, when the last request has newly crossed 50, 75 or 90 % of what is usable: each
   * once, until a compaction or until less than 25 % is used. The day in it is that of the clock, in UTC. It belongs at the end of the
   * request that goes out: ask once more with it, and it stands where the provider lets it. In the system prompt it would cost the
   * whole cache, in the history it would stay.
   *
   * Whether notes were written since, `status().flush` tells: a call that changes a file in `memory/`.
   *
   * @example
   * const prompt = context.flushPrompt();
   * if (prompt) prepared = context.request([...history, { role: "user", content: prompt.text }], parts);
   */
  flushPrompt(): FlushPrompt | null {
    const day = new Date(this.#session.alive("flushPrompt").now()).toISOString().slice(0, 10);
    const manager = this.#session.opened("flushPrompt");
    return JSON.parse(
      call("flushPrompt", () => manager.flush_prompt(send(day))),
    ) as FlushPrompt | null;
  }

  /**
   * The summary of the session that was made ahead last (`summary.checkpoints`); null: none was, or the history is another.
   */
  checkpoint(): Checkpoint | null {
    return this.#session.alive("checkpoint").compactions.checkpoints.last;
  }

  /**
   * Why a message of the history is sent as it is: rule, evidence, tokens, what would bring it back.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` if the last history had no such message.
   */
  explain(index: number): Explanation {
    if (!Number.isInteger(index) || index < 0)
      throw invalid("index", "a message's position", index);
    const manager = this.#session.opened("explain");
    const number = this.#session.history.numberOf(index);
    if (number === null) throw invalid("index", "a message of the host's, not one of ours", index);
    const told = JSON.parse(call("explain", () => manager.explain(number))) as Explanation;
    return { ...told, index, group: this.#session.history.placeFrom(told.group) };
  }

  /**
   * The session as bytes, for `restore`: records, view and clocks, never the body of a message: what became
   * of each message, and the lines that stand for what was cut.
   */
  snapshot(): Uint8Array {
    return this.#session.alive("snapshot").snapshot();
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
    context.#session.wake(bytes);
    return context;
  }

  /**
   * The session that a store holds under `key`, or a new one; `save` then commits to it.
   *
   * @throws {PlimsollError} `CORRUPT_STATE` for a record that does not verify; `INVALID_ARGUMENT` for a store that answers anything but
   *   `null` or a record; whatever the store throws.
   */
  static async open<M>(
    store: Store,
    key: string,
    options: ContextManagerOptions<M>,
  ): Promise<ContextManager<M>> {
    const held = await load(store, key);
    const context = new ContextManager<M>(options);
    if (held) context.#session.wake(held.bytes);
    context.#commits = new Commits(context.#session, store, key, held);
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
   * @throws {PlimsollError} `INVALID_ARGUMENT` without a store, or if the store answers a commit with anything but `null` or a higher
   *   revision; `CONFLICT` after 8 tries; `CORRUPT_STATE` for a record that does not
   *   verify. What the store throws: then a later `save` finds out whether this one's commit was made.
   */
  async save(): Promise<{ revision: number; rebased: boolean }> {
    this.#session.alive("save");
    const commits = this.#commits;
    if (!commits) throw invalid("save", "a session from `ContextManager.open`", "none");
    return commits.save();
  }

  /**
   * Keeps a message, or a text, verbatim through every edit and fold. A message that was cut already comes back with the next
   * epoch. A pin outlives its message: while the history you pass does not hold it, the pinned text goes out in front of the
   * messages. Of a message, its first 2,000 characters are kept for that, with secrets redacted (see `summary.redact`).
   * A text that is in no message goes out in front from the next epoch on.
   *
   * @returns an id for `unpin`
   * @throws {PlimsollError} `INVALID_ARGUMENT` if the last history had no such message.
   */
  pin(what: { index: number } | { text: string }): string {
    return pin(this.#session, what);
  }

  /** Lets a pin go. False: there is none of that id. */
  unpin(id: string): boolean {
    return unpin(this.#session.alive("unpin"), id);
  }

  /**
   * The original text of something that was cut, by the reference in its stub or its edit; null if there is none, or the
   * host has changed it since.
   */
  recall(ref: string): string | null {
    const manager = this.#session.alive("recall").manager();
    const asked = String(ref);
    const found = call("recall", () => manager.referred(send(asked)));
    return found ? recalled(this.#session, found[0] as number, found[1] as number) : null;
  }

  /** Ready-made tools for the agent: context_status, context_compact, context_recall. */
  agentTools(): AgentTool[] {
    this.#session.alive("agentTools");
    return JSON.parse(call("agentTools", () => glue.agent_tools())) as AgentTool[];
  }

  /**
   * Carries out a call of the agent's to one of `agentTools()`: text for the tool's result.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` for a tool of another name.
   */
  async callAgentTool(name: string, args: unknown): Promise<string> {
    this.#session.alive("callAgentTool");
    const given = argumentJson([name, args ?? null], "args");
    const manager = this.#session.opened("callAgentTool");
    const told = JSON.parse(call("callAgentTool", () => manager.call_agent_tool(send(given)))) as
      | { text: string }
      | { text: string; message: number; block: number };
    if (!("message" in told)) return told.text;
    return recalled(this.#session, told.message, told.block) ?? told.text;
  }

  /** Work done so far by the instance that now holds the session. */
  counters(): Counters {
    const manager = this.#session.opened("counters");
    return JSON.parse(call("counters", () => manager.counters())) as Counters;
  }

  /**
   * Ends the session, after a `save` that is under way. A compaction that is under way rejects with `DISPOSED`; so does every later
   * call.
   */
  [Symbol.dispose](): void {
    this.#session.end();
    const stop = (): void => this.#session.stop();
    if (this.#commits) this.#commits.end(stop);
    else stop();
  }
}
