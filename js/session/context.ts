/** The context manager: knows the host's messages by identity, and carries out what the core decides. */
import { overflowOf } from "../compaction/overflow.js";
import { flagOf, onlyKnown, refuseAborted, textOf } from "../core/arguments.js";
import { invalid } from "../core/errors.js";
import { argumentJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import * as glue from "../glue/plimsoll_bg.js";
import { type CoreReport, question, withNearest } from "../report/inspect.js";
import { Commits, load, loadMeasures } from "../store/commits.js";
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
} from "../types.js";
import { LiveSession, placed } from "./live.js";
import { PARTS } from "./options.js";
import { pin, recalled, unpin } from "./pins.js";

/** Options of `setModel`. */
type Model<M> = Partial<
  Pick<
    ContextManagerOptions<M>,
    | "window"
    | "estimator"
    | "provider"
    | "thinking"
    | "economy"
    | "model"
    | "models"
    | "trigger"
    | "triggerTokens"
    | "target"
    | "margin"
  >
>;
const MODEL = [
  "window",
  "estimator",
  "provider",
  "thinking",
  "economy",
  "model",
  "models",
  "trigger",
  "triggerTokens",
  "target",
  "margin",
];

/** @internal Work done by a manager. */
export interface Counters {
  /** Bytes of message JSON that were measured. */
  bytesMeasured: number;
  /** Blocks that the policy looked at. */
  blocksVisited: number;
  /** Items of requests that were written. */
  itemsWritten: number;
}

/**
 * Decides before each model call which part of the history is sent. Holds one session and measures each message once.
 *
 * @example
 * const context = new ContextManager({ window: { contextTokens: 200_000, maxOutputTokens: 8_192 } });
 * const { messages } = context.request(history, { system, tools });
 */
export class ContextManager<M = unknown> {
  readonly #session: LiveSession<M>;
  /** Where the session was opened. */
  #commits: Commits | undefined;

  /**
   * @param options the window, and everything that differs from the defaults
   * @throws {PlimsollError} `INVALID_ARGUMENT` names the option and what is allowed.
   */
  constructor(options: ContextManagerOptions<M>) {
    this.#session = new LiveSession(options);
  }

  /**
   * Returns what to send now: your messages unchanged, edited copies of them, and synthetic messages. Never modifies your messages, and
   * never calls a summarizer (if one is configured and a fold is due, the event `summarizer-idle` says so once). The same
   * calls at the same times give the same requests.
   *
   * Do not change a message after you have passed it; only the last tool call with its results may still
   * grow.
   *
   * If a getter or proxy in your messages throws, this throws `MALFORMED_MESSAGE` with its error as `cause`. The next request is then
   * what this one would have been, and reports its edits and its compaction. A callback that throws (`estimator`, `key`, `create`, `clock`) does not break the request: the
   * event `callback-failed` says what was used instead.
   *
   * @throws {PlimsollError} `MALFORMED_MESSAGE` with index and path, `UNKNOWN_FORMAT`, `INVALID_ARGUMENT`, `TOO_LARGE` (more than 32 Mi
   *   characters of JSON in one message); `DISPOSED`; `INSTANCE_LOST` if the Wasm trapped: the next call rebuilds the session.
   */
  request<T extends M>(messages: readonly T[], parts: Parts = {}): Prepared<T> {
    this.#session.alive("request");
    const known = onlyKnown("parts", parts, PARTS);
    refuseAborted("parts.signal", known.signal);
    return this.#session.compactions.request(messages, known) as Prepared<T>;
  }

  /**
   * Makes a request as `request` does, and calls your summarizer. If the request cannot fit without a summary, `prepare` waits for
   * it. Otherwise the summary is written in the background and a later request uses it. If the summarizer fails, the fold is
   * made without a summary; `prepare` does not throw then.
   *
   * @example
   * const { messages } = await context.prepare(history, { system, tools });
   *
   * @throws {PlimsollError} as `request`; an aborted call rejects with its signal's reason.
   */
  async prepare<T extends M>(messages: readonly T[], parts: Parts = {}): Promise<Prepared<T>> {
    const { compactions } = this.#session.alive("prepare");
    const known = onlyKnown("parts", parts, PARTS);
    return (await compactions.prepare(messages, known)) as Prepared<T>;
  }

  /**
   * Returns what `compact` would do, and changes nothing. `compact` can carry the plan out (`CompactOptions.plan`).
   *
   * @throws {PlimsollError} as `request`.
   */
  plan(
    messages: readonly M[],
    parts: Parts & {
      /** Plan a compaction even below the trigger and during a cool-down. Default false. */
      force?: boolean | undefined;
    } = {},
  ): CompactionPlan {
    this.#session.alive("plan");
    const known = onlyKnown("parts", parts, [...PARTS, "force"]);
    const { force, signal, ...beside } = known;
    refuseAborted("parts.signal", signal);
    return this.#session.compactions.plans.plan(messages, beside, flagOf("parts.force", force));
  }

  /**
   * Compacts the history now; the next request sends the result. A second call joins the first one. The outcome says what was done, or
   * why nothing was. Messages that are appended meanwhile are kept. Pass `system` and `tools` as in `prepare`: what you leave out is
   * counted as nothing.
   *
   * @example
   * const outcome = await context.compact(history, { system, tools, force: true, focus: "the failing tests" });
   *
   * @throws {PlimsollError} as `request`; `STALE_PLAN` for a plan of another history; `INVALID_ARGUMENT`, once, if your summarizer cannot be
   * called for want of `plimsoll/compact.wasm` (entry `plimsoll/slim`): a later call folds without a summary. An aborted call rejects with its
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
   * @param parts `system`, `tools` and so on, as in `prepare`: what you leave out is counted as nothing
   * @returns `null` if the error is no overflow, is the third in a row, or nothing smaller can be sent; rethrow it then.
   *
   * @example
   * try {
   *   reply = await callModel(await context.prepare(history, { system, tools }));
   * } catch (error) {
   *   const smaller = await context.recover(history, error, { system, tools });
   *   if (smaller === null) throw error;
   *   reply = await callModel(smaller);
   * }
   *
   * @throws {PlimsollError} as `prepare`; `INVALID_ARGUMENT` for figures that are no numbers.
   */
  async recover<T extends M>(
    messages: readonly T[],
    error: unknown,
    parts: Parts = {},
  ): Promise<Prepared<T> | null> {
    this.#session.alive("recover");
    refuseAborted("parts.signal", onlyKnown("parts", parts, PARTS).signal);
    const overflow = overflowOf(error);
    if (!overflow) return null;
    const times = this.#session.refused(overflow);
    if (times === undefined) return null;
    const epoch = this.#session.epoch;
    // Only the first retry may wait for a summarizer.
    const prepared =
      times === 1 ? await this.prepare(messages, parts) : this.request(messages, parts);
    // In the same epoch nothing was removed: the provider would refuse the request again.
    return prepared.epoch === epoch ? null : prepared;
  }

  /**
   * Records the usage of a model call. From then on sizes and limits follow the provider's counts instead of estimates.
   *
   * @param usage the usage object as the provider or SDK returned it: Anthropic, OpenAI (both APIs), Gemini, Bedrock, Mistral, DeepSeek,
   *   Kimi, Ollama, AI SDK, LangChain, pi; or `{ inputTokens, outputTokens }`, where `inputTokens` is everything sent, cached or
   *   not. `null` and unknown shapes are ignored.
   * @param of the request that the usage belongs to, default the last one
   *
   * @example
   * const response = await client.messages.create({ model, max_tokens, messages });
   * context.observe(response.usage);
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` for a promise, such as the `usage` of a stream that was not awaited.
   */
  observe(usage: object | null | undefined, of?: Prepared<unknown>): void {
    this.#session.alive("observe");
    if (typeof usage !== "object" || usage === null) return;
    const counted = of && this.#session.counted(of);
    // A request of another session would calibrate this one wrongly.
    if (of && !counted) return;
    const json = argumentJson(usage, "usage");
    const manager = this.#session.opened("observe");
    call("observe", () => manager.observe(send(json), counted?.epoch, counted?.estimate ?? 0));
    for (const event of this.#session.pressure(manager)) this.#session.emit(event);
  }

  /**
   * Records something that the session cannot see, for its report (`inspect().monitor`): model calls that others make, or a compaction
   * of your own. After a compaction each pressure level can fire again. Blank sources and numbers below 1 are ignored.
   *
   * @example
   * context.note({ source: "planner", requests: 2 });
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT`.
   */
  note(
    what:
      | {
          /** Who called the model, such as `planner` or `fallback`. */
          source: string;
          /** Number of calls. Default 1. */
          requests?: number | undefined;
        }
      | {
          /** Your name for the kind of compaction; `UNKNOWN` is reported if it is `null` or blank. */
          phase: string | null;
          /** Tokens of the request before. */
          tokensBefore: number;
          /** Tokens of the request after. */
          tokensAfter: number;
        },
  ): void {
    this.#session.alive("note");
    const json = argumentJson(what, "note");
    const manager = this.#session.opened("note");
    call("note", () => manager.note(send(json)));
  }

  /**
   * Changes the options that depend on the model. Options that you leave out stay as they are, one that is `undefined` gets its
   * default, and earlier decisions are kept if possible. With another estimator or provider the history is measured again, and
   * observed usage is forgotten.
   *
   * @param model any of `model`, `models`, `window`, `estimator`, `provider`, `thinking`, `economy`, and the thresholds of this
   *   model: `trigger`, `triggerTokens`, `target` and `margin`
   * @throws {PlimsollError} `INVALID_ARGUMENT`; nothing has changed then.
   *
   * @example
   * context.setModel({ window: { contextTokens: 1_000_000, maxOutputTokens: 64_000 } });
   */
  setModel(model: Model<M>): void {
    this.#session.alive("setModel");
    const known = onlyKnown("model", model, MODEL);
    const changed = { ...this.#session.options(), ...known };
    this.#session.change(changed as ContextManagerOptions<M>);
  }

  /** Returns how full the window is, by the last request. */
  status(): Status {
    const now = this.#session.alive("status").now();
    const manager = this.#session.opened("status");
    return this.#session.statusOf(JSON.parse(call("status", () => manager.status(now))) as Status);
  }

  /**
   * Returns how full the window is by the last request, as a line such as `📚 Context: 45,231/131,072 (34%)`. A figure that no
   * provider has counted is marked: `~45,231`.
   *
   * @param form `short`: GoClaw's `[Context: 45k/131k tokens (34%)]`, or an empty string if the window is unknown. Default `full`.
   */
  statusLine(form: "full" | "short" = "full"): string {
    this.#session.alive("statusLine");
    const manager = this.#session.opened("statusLine");
    return call("statusLine", () => manager.status_line(form === "short"));
  }

  /**
   * Returns a hint for the model when the last request has newly reached 80, 85 or 100 % of the usable window, once each, else
   * `null`. Below 80 % they begin anew. Send it as the last message of the next request and do not keep it in the history; in the
   * system prompt it would cost the whole prompt cache.
   *
   * @example
   * const hint = context.hint(); // [Context: 81% of 131,072 tokens. It is filling: ask for less at a time, ...]
   */
  hint(): string | null {
    this.#session.alive("hint");
    const manager = this.#session.opened("hint");
    return call("hint", () => manager.hint()) ?? null;
  }

  /**
   * Returns the report of the last request: what fills the window, the sections of the system prompt (if it was passed as a plan), every
   * message with its state and rule, the compactions, and what the next one would do. Changes nothing. Contains no texts except
   * the one that `detailKey` asks for.
   *
   * @example
   * const { contextWindowTokens, window } = context.inspect(); // window.used + window.reserve + window.free = contextWindowTokens
   */
  inspect(
    options: {
      /**
       * Key of a text to include as `detail`: a section's key, `system`, or `message:N`. If there is no such key, the report lists
       * `nearestKeys` instead.
       */
      detailKey?: string | undefined;
    } = {},
  ): InspectReport {
    const { detailKey } = onlyKnown("options", options, ["detailKey"]);
    if (detailKey !== undefined) textOf("options.detailKey", detailKey);
    return this.#session.alone("inspect", () => {
      const now = this.#session.now();
      const manager = this.#session.manager();
      const history = this.#session.history;
      const ask = question({
        sessionId: this.#session.options().id,
        detailKey,
        beside: this.#session.beside,
        next: argumentJson(this.#session.compactions.plans.next(manager), "next"),
        messageAt: (place) => history.messages[history.numberOf(place) ?? -1],
      });
      const answer = call("inspect", () => manager.report(send(ask), now));
      const report = withNearest(JSON.parse(answer) as CoreReport, detailKey);
      const messages = placed(report.messages, (number) => history.placeOf(number));
      return {
        ...report,
        messages: messages.map((one) => ({ ...one, group: history.placeFrom(one.group) })),
        status: this.#session.statusOf(report.status),
        compactions: report.compactions.flatMap((fold) =>
          this.#session.compactions.plans.recordOf(fold),
        ),
      };
    });
  }

  /**
   * Returns a prompt that asks the agent to write its notes, or `null` if none is due. It is due once when the last request has crossed
   * 50, 75 or 90 % of the usable window; these start over after a compaction and when less than 25 % is used. The date in the
   * prompt is the day of the clock, in UTC.
   *
   * Make the request once more with the prompt as its last message. Do not put it into the system prompt, which would cost the whole
   * prompt cache, or into the history, where it would stay. `status().flush` shows whether the agent has written notes since.
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
   * Returns the last summary that was made ahead of time (`summary.checkpoints`), or `null` if there is none for this history.
   */
  checkpoint(): Checkpoint | null {
    return this.#session.alive("checkpoint").compactions.checkpoints.last;
  }

  /**
   * Returns why a message of the history is sent as it is: rule, evidence, tokens, and what would bring the original back.
   *
   * @param index position in the history that you passed last
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` if the last history had no such message.
   */
  explain(index: number): Explanation {
    if (!Number.isInteger(index) || index < 0)
      throw invalid("index", "a message's position", index);
    const manager = this.#session.opened("explain");
    const number = this.#session.history.numberOf(index);
    if (number === null) throw invalid("index", "a message of the host's, not one of ours", index);
    const explanation = JSON.parse(call("explain", () => manager.explain(number))) as Explanation;
    return { ...explanation, index, group: this.#session.history.placeFrom(explanation.group) };
  }

  /**
   * Returns the session as bytes, for `restore`: the decision for each message and the lines that replace removed text, but no
   * bodies of messages.
   *
   * @param options `measures`: also what was measured of each message, so that the restored session does not read them again. These
   *   are about 220 bytes a message, and hold the names, paths and numbers of its text, though no secrets that are known by
   *   their form. Default false.
   */
  snapshot(
    options: {
      /** Keep what was measured of each message. Default false. */
      measures?: boolean | undefined;
    } = {},
  ): Uint8Array {
    const { measures: kept } = onlyKnown("options", options, ["measures"]);
    const measures = flagOf("options.measures", kept);
    return this.#session.alive("snapshot").snapshot({ measures });
  }

  /**
   * Restores a session from the bytes of `snapshot`. With the same history, the next request has exactly the bytes that it would have
   * had without the restart. With another history, the decisions before the first different message are kept.
   *
   * @example
   * const restored = ContextManager.restore(bytes, { window: { contextTokens: 200_000 } });
   * const { messages } = restored.request(history);
   *
   * @throws {PlimsollError} `CORRUPT_STATE` if the bytes are not a snapshot or were changed.
   */
  static restore<M>(bytes: Uint8Array, options: ContextManagerOptions<M>): ContextManager<M> {
    const context = new ContextManager<M>(options);
    context.#session.wake(bytes);
    return context;
  }

  /**
   * Opens the session that a store holds under `key`, or a new one if there is none. `save` commits it to that store.
   *
   * @example
   * const context = await ContextManager.open(fileStore("sessions"), sessionId, { window: { contextTokens: 200_000 } });
   *
   * @throws {PlimsollError} `CORRUPT_STATE` for a record that does not verify; `INVALID_ARGUMENT` for a store that returns anything but
   *   `null` or a record; whatever the store throws.
   */
  static async open<M>(
    store: Store,
    key: string,
    options: ContextManagerOptions<M>,
  ): Promise<ContextManager<M>> {
    const stored = await load(store, key);
    const context = new ContextManager<M>(options);
    if (stored) {
      context.#session.wake(stored.bytes);
      const measures = await loadMeasures(store, key);
      if (measures) context.#session.expect(measures);
    }
    context.#commits = new Commits(context.#session, store, key, stored);
    return context;
  }

  /**
   * Commits the session to the store from which it was opened. If another process has committed meanwhile, both are merged: pins, usage
   * and failures of both; removed messages as on the side that has folded (theirs, if both have), else on the side that has gone
   * further. A lost acknowledgement is recognized, so that nothing is committed twice.
   *
   * @param options `measures`: save beside the record what was measured of the messages, before the commit, so that the next `open` does
   *   not read them again; see `snapshot`. Save them when a session is parked, not at each turn. Default false.
   *
   * @example
   * await context.save({ measures: true }); // before the process ends
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` without a store, for `measures` with a store that has no `saveMeasures`, or if the store answers
   *   a commit with anything but `null` or a higher revision; `CONFLICT` after 8 tries; `CORRUPT_STATE` for a record that does not
   *   verify. What the store throws: then a later `save` finds out whether this one's commit was made.
   */
  async save(
    options: {
      /** Save what was measured of each message. Default false. */
      measures?: boolean | undefined;
    } = {},
  ): Promise<{
    /** The revision that the store now holds. */
    revision: number;
    /** True if a commit of another process was merged in. Call `request` before you use positions of messages again. */
    rebased: boolean;
  }> {
    this.#session.alive("save");
    const commits = this.#commits;
    if (!commits)
      throw invalid("save", "a session from `ContextManager.open`", this, "one without a store");
    const { measures } = onlyKnown("options", options, ["measures"]);
    return commits.save({ measures: flagOf("options.measures", measures) });
  }

  /**
   * Keeps a message or a text verbatim through every edit and fold. A message that was already shortened is whole again from the
   * next epoch on. If the history you pass no longer has the message, its first 2,000 characters are sent before the messages, with
   * secrets removed (see `summary.redact`). A text that is in no message is sent before the messages from the next epoch on.
   *
   * @returns id for `unpin`
   * @throws {PlimsollError} `INVALID_ARGUMENT` if the last history had no such message.
   */
  pin(
    what:
      | {
          /** Position of a message in the history that you passed last. */
          index: number;
        }
      | {
          /** A text; if the history has it, the newest message with it is pinned. */
          text: string;
        },
  ): string {
    return pin(this.#session, what);
  }

  /** Removes a pin. Returns false if there is no pin with that id. */
  unpin(id: string): boolean {
    return unpin(this.#session.alive("unpin"), id);
  }

  /**
   * Returns the original text of something that was shortened, or `null` if the reference is unknown or the original was changed.
   *
   * @param ref the reference in its placeholder line, or `Edit.ref`
   * @throws {PlimsollError} `INVALID_ARGUMENT` if it is no string.
   */
  recall(ref: string): string | null {
    const manager = this.#session.alive("recall").manager();
    const asked = textOf("ref", ref);
    const found = call("recall", () => manager.referred(send(asked)));
    return found ? recalled(this.#session, found[0] as number, found[1] as number) : null;
  }

  /** Returns the definitions of three tools for the agent: `context_status`, `context_compact` and `context_recall`. */
  agentTools(): AgentTool[] {
    this.#session.alive("agentTools");
    return JSON.parse(call("agentTools", () => glue.agent_tools())) as AgentTool[];
  }

  /**
   * Runs a call of the agent to one of `agentTools()`, and resolves to the text for the tool result.
   *
   * @param name name of the tool
   * @param args its arguments, as an object or as JSON
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` for a tool of another name.
   */
  async callAgentTool(name: string, args: unknown): Promise<string> {
    this.#session.alive("callAgentTool");
    const callJson = argumentJson([name, args ?? null], "args");
    const manager = this.#session.opened("callAgentTool");
    const answer = JSON.parse(
      call("callAgentTool", () => manager.call_agent_tool(send(callJson))),
    ) as { text: string } | { text: string; message: number; block: number };
    if (!("message" in answer)) return answer.text;
    return recalled(this.#session, answer.message, answer.block) ?? answer.text;
  }

  /** @internal Format of the messages, as the options name it. */
  get format(): ContextManagerOptions<M>["format"] {
    return this.#session.options().format;
  }

  /** @internal Returns the work done so far, for tests and benchmarks. It starts over if the Wasm instance was lost. */
  counters(): Counters {
    const manager = this.#session.opened("counters");
    return JSON.parse(call("counters", () => manager.counters())) as Counters;
  }

  /**
   * Ends the session and frees its memory, after a running `save`. A running compaction rejects with `DISPOSED`, and later calls throw
   * it.
   */
  [Symbol.dispose](): void {
    this.#session.end();
    const stop = (): void => this.#session.stop();
    if (this.#commits) this.#commits.end(stop);
    else stop();
  }
}
