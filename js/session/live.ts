/**
 * A session that goes on in the core, made anew where its instance was lost: handed what the host passes, asked for requests, whose
 * answers are carried out.
 */
import { Compactions } from "../compaction/compactions.js";
import { type Lists, nothingFound, outcomeWithout } from "../compaction/outcome.js";
import type { Overflow } from "../compaction/overflow.js";
import type { Asked, SessionAccess } from "../compaction/session-access.js";
import { messagesOf, own } from "../core/arguments.js";
import { disposed, invalid, isPromise, kindOf } from "../core/errors.js";
import { Handle } from "../core/handle.js";
import { argumentJson, copied, isContainedIn, messageJson } from "../core/json.js";
import { call, core, send } from "../core/main.js";
import * as glue from "../glue/plimsoll_bg.js";
import { isBytes } from "../store/record.js";
import type {
  CompactionOutcome,
  ContextEvent,
  ContextManagerOptions,
  Parts,
  Prepared,
  PressureEvent,
  Status,
} from "../types.js";
import { type Answer, withUnreported } from "./answer.js";
import { Callbacks } from "./callbacks.js";
import { type Counter, counterOf, setParts } from "./counter.js";
import { History, type Of } from "./history.js";
import { KnownMessages } from "./known-messages.js";
import { coreOptions, owned, partsOf, withSummary } from "./options.js";
import { type Fields, ready } from "./prepared.js";
import { View } from "./view.js";

type PressureChange = Omit<PressureEvent, "type">;

type Step = { need: number[] } | { done: Answer };

const NOTHING = new Uint8Array();
/** Members of system and tools that are compared: as many as writing them costs more than a look at each. */
const MOST_COMPARED = 20_000;
const UNRESERVED =
  "nothing is kept free for the answer; set window.maxOutputTokens to the max_tokens that you send, or cut that with capOutput()";
/** The times that a `Date` can hold. */
const LATEST = 8.64e15;

export class LiveSession<M> implements SessionAccess<M> {
  readonly history: History<M>;
  readonly compactions: Compactions<M>;
  #options: ContextManagerOptions<M>;
  #core: string;
  #handle: Handle<glue.Manager> | undefined;
  readonly #view: View<M>;
  #counter: Counter | undefined;
  readonly #callbacks = new Callbacks();
  #lastTime: number | undefined;
  /** What was estimated for a request, and its epoch in the core. */
  readonly #counted = new WeakMap<object, { epoch: number; estimate: number }>();
  /** What to add to the core's epochs, and what was sent last, where an instance was lost or another's session was taken in. */
  #epochsBefore = 0;
  #lost: M[] = [];
  #epoch = 0;
  /** As it was committed last. */
  base: Uint8Array = NOTHING;
  /** What goes out beside the messages, as the core has it. */
  #beside: string | undefined;
  /** A copy of the same, which shares its texts: comparing with it is cheaper than writing JSON. Undefined if it is not plain. */
  #besideCopy: unknown;
  /** The core's decision that could not be carried out yet, because code of the host's threw. */
  #unreported: Answer | undefined;
  /** How often in a row a provider has refused, as the core counted it for a request that was not made yet. */
  #refused: number | undefined;
  /** A call is under way: a getter of the host's must not start another. */
  #busy = false;
  #isOver = false;
  /** The host knows that nothing is kept free for the answer. */
  #isReserveKnown = false;
  #isStopped = false;

  constructor(options: ContextManagerOptions<M>) {
    this.#core = coreOptions(options);
    this.#options = owned(options);
    const { create, estimator, key, isSummary } = this.#options;
    this.#view = new View(
      create,
      (error) => this.#callbacks.failed("create", error),
      (number) => this.history.placeOf(number),
    );
    this.#counter = this.#counterOf(estimator);
    this.history = new History(
      key && this.#guarded("key", key),
      this.#counter,
      isSummary && this.#guarded("isSummary", isSummary),
    );
    this.compactions = new Compactions(this);
    const ofPreset = call("ContextManager", () => this.manager().summary_of_preset());
    this.#options = withSummary(this.#options, JSON.parse(ofPreset));
  }

  options(): ContextManagerOptions<M> {
    return this.#options;
  }

  #counterOf(estimator: ContextManagerOptions<M>["estimator"]): Counter | undefined {
    return counterOf(estimator, (error) => this.#callbacks.failed("estimator", error));
  }

  /** The host's function; undefined for a message for which it throws. */
  #guarded<T>(name: "key" | "isSummary", of: Of<M, T>): Of<M, T | undefined> {
    return (message, index) => {
      let answer: T;
      try {
        answer = of(message, index);
      } catch (error) {
        this.#callbacks.failed(name, error);
        return undefined;
      }
      if (isPromise(answer)) throw invalid(name, "a function that is not asynchronous", answer);
      return answer;
    };
  }

  /** Read before anything moves: it may be the host's clock. If that throws, the time that it gave last. */
  now(): number {
    const now = this.#time();
    if (typeof now === "number" && Math.abs(now) <= LATEST) {
      this.#lastTime = now;
      return now;
    }
    throw invalid("clock", "a function that gives milliseconds since 1970, as Date.now does", now);
  }

  #time(): unknown {
    try {
      return this.#options.clock?.() ?? Date.now();
    } catch (error) {
      this.#callbacks.failed("clock", error);
      if (!this.#busy) this.#emitFailures();
      return this.#lastTime ?? Date.now();
    }
  }

  /** Calls the host's listener. What it throws, or rejects with if it is asynchronous, breaks no call. */
  emit(event: ContextEvent): void {
    try {
      const answer = this.#options.on?.(event) as PromiseLike<unknown> | undefined;
      // Nobody awaits it: without this, its rejection would end a Node process.
      answer?.then?.(undefined, (error) => this.#callbacks.listenerFailed(error));
    } catch (error) {
      this.#callbacks.listenerFailed(error);
    }
  }

  /** The listener may ask the session: it is called when no call is under way. */
  #emitFailures(): void {
    for (const event of this.#callbacks.take()) this.emit(event);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The session, unless it was disposed of. */
  alive(during: string): this {
    if (this.#isOver) throw disposed(during, "session");
    return this;
  }

  /** Of the last request. */
  get epoch(): number {
    return this.#epoch;
  }

  /** JSON of what goes out beside the messages, if the core has it. */
  get beside(): string | undefined {
    return this.#beside;
  }

  /** What was estimated for a request, and its epoch in the core; nothing of one that is another session's. */
  counted(of: Prepared<unknown>): { epoch: number; estimate: number } | undefined {
    return this.#counted.get(of);
  }

  /** The same session in the core, for a call of the host's. */
  opened(during: string): glue.Manager {
    return this.alive(during).manager();
  }

  /** The session in the core; if the instance that held it was lost, as it was committed last, or a new one. */
  manager(): glue.Manager {
    if (this.#isStopped && !this.#busy) throw disposed("session", "session");
    if (!this.#handle?.isAlive) {
      const base = this.#handle ? this.base : NOTHING;
      this.#handle = new Handle(
        () => call("ContextManager", () => new glue.Manager(send(this.#core))),
        core,
      );
      const manager = this.#handle.value;
      // What cannot be woken must not cost every call.
      this.base = NOTHING;
      if (base.length > 0) call("restore", () => manager.wake(core.sendBytes(base)));
      this.base = base;
      if (this.#view.isEmpty) this.#restart();
      else this.#goOn(manager);
    }
    return this.#handle.value;
  }

  /** The host goes on in an epoch of its own, whatever number it has in the core. */
  #goOn(manager: glue.Manager): void {
    const { epoch } = JSON.parse(call("status", () => manager.status(0))) as Status;
    this.#epochsBefore = this.#epoch + 1 - epoch;
    this.#lost = this.#view.messages;
    this.#restart();
  }

  ask(
    messages: readonly M[],
    parts: Parts,
    asks: boolean,
    during: string = "prepare",
  ): Asked<M> | null {
    const events: ContextEvent[] = [];
    const asked = this.alone(during, () => {
      const now = this.now();
      const manager = this.take("request", messages, parts);
      const answer = this.#decide(manager, now, asks);
      if (!answer) return null;
      const prepared = this.#carryOut(manager, answer, events);
      return { prepared, foldDue: answer.foldDue, now };
    });
    for (const event of events) this.emit(event);
    return asked;
  }

  /** Runs what may call a getter or callback of the host's, which must not call back. Disposed of in it, the session ends after it. */
  alone<T>(during: string, work: () => T): T {
    this.alive(during);
    if (this.#busy)
      throw invalid(during, "no call from within a call", this, "a call of a getter or callback");
    this.#busy = true;
    try {
      return work();
    } finally {
      this.#busy = false;
      if (this.#isStopped) this.stop();
      this.#emitFailures();
    }
  }

  /** Notes that a provider refused the last request: how often in a row; once for each request that follows. */
  refused({ limit = 0, inputTokens = 0 }: Overflow): number | undefined {
    const manager = this.opened("recover");
    this.#refused ??= call("recover", () => manager.refused(limit, inputTokens));
    return this.#refused;
  }

  /** Returns the pressure level if it is new; with the first one also a warning if no room is reserved for the answer. */
  pressure(manager: glue.Manager): ContextEvent[] {
    const { on, window } = this.#options;
    const reached = on && call("pressure", () => manager.pressure());
    if (!reached) return [];
    const pressure: PressureEvent = {
      type: "pressure",
      ...(JSON.parse(reached) as PressureChange),
    };
    if (this.#isReserveKnown || window.maxOutputTokens !== undefined) return [pressure];
    this.#isReserveKnown = true;
    return [pressure, { type: "output-unreserved", reason: UNRESERVED }];
  }

  /** Goes on under other options. */
  change(options: ContextManagerOptions<M>): void {
    const core = coreOptions(options);
    const ours = owned(options);
    const manager = this.opened("setModel");
    const before = this.#options.estimator;
    // The core knows neither of two functions: that they are not the same has to be said.
    const recounts = typeof before === "function" && before !== ours.estimator;
    const again = call("setModel", () => manager.options(send(core), recounts));
    this.#options = ours;
    this.#core = core;
    this.#counter = this.#counterOf(ours.estimator);
    this.#beside = undefined;
    this.history.counter = this.#counter;
    if (again) this.history.again();
  }

  /** With what the core does not know: what is under way, and epochs before its instance. */
  statusOf(core: Status): Status {
    const blocked = this.compactions.isRunning ? ({ reason: "running" } as const) : core.blocked;
    return { ...core, epoch: this.#epochsBefore + core.epoch, blocked };
  }

  snapshot({ measures = false }: { measures?: boolean } = {}): Uint8Array {
    const manager = this.manager();
    const measured = measures ? this.history.measures(manager, this.#view) : undefined;
    if (!measured) return call("snapshot", () => manager.snapshot());
    return call("snapshot", () => manager.snapshot_with(core.sendBytes(measured)));
  }

  /** Goes on from a snapshot, and its measures if it has any. */
  wake(bytes: Uint8Array): void {
    if (!isBytes(bytes)) throw invalid("bytes", "a Uint8Array", bytes, kindOf(bytes));
    const manager = this.manager();
    const known = call("restore", () => manager.wake(core.sendBytes(bytes)));
    this.#restart();
    this.#expect(known);
  }

  /** What was measured of the messages, for `expect`; undefined: the host counts by itself. */
  measures(): Uint8Array | undefined {
    return this.history.measures(this.manager(), this.#view);
  }

  /** Takes the messages up by what was measured of them. Other bytes are ignored. */
  expect(measures: Uint8Array): void {
    this.#expect(call("restore", () => glue.KnownMessages.read(core.sendBytes(measures))));
  }

  #expect(known: glue.KnownMessages | undefined): void {
    if (!known) return;
    this.history.earlier = new KnownMessages(known, this.#options.appendOnly === true);
  }

  /** Takes in what another has committed, where both went on from `base`. */
  merge(theirs: Uint8Array, base: Uint8Array): void {
    // In one piece, since the core has one buffer for what is passed to it.
    const both = new Uint8Array(theirs.length + base.length);
    both.set(theirs);
    both.set(base, theirs.length);
    const manager = this.manager();
    if (call("save", () => manager.merge(theirs.length, core.sendBytes(both)))) this.#goOn(manager);
  }

  /** No call of the host's is taken any more; one that is under way may end first. */
  end(): void {
    this.#isOver = true;
    this.compactions.stop();
  }

  /** Gives the session in the core up, unless a call still needs it: then that call does it. */
  stop(): void {
    this.#isStopped = true;
    if (this.#busy) return;
    this.#handle?.free();
    this.#handle = undefined;
    this.#restart();
  }

  /** Hands over the history and what goes out beside it: for a call that is `alone`. */
  take(during: string, messages: readonly M[], parts: Parts): glue.Manager {
    messagesOf(messages);
    // Own members only: a polluted `Object.prototype` must not set them.
    const values = partsOf(own(parts));
    const isKnown = isContainedIn(this.#besideCopy, values);
    const json = isKnown ? undefined : argumentJson(values, "parts");
    const manager = this.manager();
    this.history.take(manager, messages, this.#view);
    // The core may have been started again since: then it has nothing.
    if (isKnown && this.#beside !== undefined) return manager;
    const beside = json ?? argumentJson(values, "parts");
    if (beside !== this.#beside) setParts(during, manager, beside, this.#counter);
    this.#beside = beside;
    this.#besideCopy = copied(values, MOST_COMPARED);
    return manager;
  }

  /** Nothing of what the core was told counts any more. */
  #restart(): void {
    this.history.forget();
    this.#view.clear();
    this.#beside = undefined;
    this.#unreported = undefined;
    this.#refused = undefined;
  }

  /** Null, if `asks`: a summarizer is to be asked first. */
  #decide(manager: glue.Manager, now: number, asks: boolean): Answer | null {
    // The core takes its last answer for sent, but this side could not carry it out.
    if (this.#unreported) call("request", () => manager.resend_all());
    const json = call("request", () => (asks ? manager.prepare(now) : manager.request(now)));
    if (json === undefined) return null;
    let step = JSON.parse(json) as Step;
    while ("need" in step) {
      for (const index of step.need) {
        const json = messageJson(this.history.messages[index], index);
        call("request", () => manager.supply(index, send(json)));
      }
      step = JSON.parse(call("request", () => manager.resume())) as Step;
    }
    return step.done;
  }

  /**
   * The request of an answer. First all that may call code of the host's, then what moves on this side: after a throw the
   * next request carries the same decision out, and reports it.
   */
  #carryOut(manager: glue.Manager, decided: Answer, events: ContextEvent[]): Prepared<M> {
    const answer = withUnreported(this.#unreported, decided);
    this.#unreported = answer;
    const history = this.history;
    const carried = this.#view.carried(decided, history.messages);
    const lastGroup = history.copied(decided.lastGroup);
    const compaction = this.#compactionOf(manager, answer);
    this.#view.take(carried, history.messages);
    history.lastGroup = lastGroup;
    [this.#unreported, this.#refused] = [undefined, undefined];
    const before = this.#epoch;
    this.#epoch = this.#epochsBefore + answer.epoch;
    if (this.#epoch !== before && answer.firstChanged !== null) events.push(this.#opened(answer));
    const placeOf = (number: number): number | null => history.placeOf(number);
    const { messages: sent } = this.#view;
    const lost = this.#lost;
    this.#lost = [];
    const fields: Fields<M> = {
      messages: sent,
      source: history.placesOf(this.#view.source),
      fits: answer.fits,
      why: answer.why,
      repairs: placed(answer.repairs, placeOf),
      cacheBreakpoints: answer.cacheBreakpoints,
      epoch: this.#epoch,
      firstChanged: lost.length > 0 ? firstOther(lost, sent) : answer.firstChanged,
      tokens: answer.tokens,
      tokensSource: answer.source,
      forgotten: history.forgotten,
      edits: placed(answer.edits, placeOf),
      compaction: compaction(),
      hints: (answer.hints ? JSON.parse(answer.hints) : {}) as Prepared<M>["hints"],
      systemNote: answer.systemNote,
    };
    const prepared = ready(fields, answer);
    history.release(this.#view, manager);
    this.#counted.set(prepared, answer);
    events.push(...this.pressure(manager));
    return prepared;
  }

  /** Compaction outcome of a request, or null. Read now; calling the returned function reports it. */
  #compactionOf(manager: glue.Manager, { fold, outcome }: Answer): () => CompactionOutcome | null {
    if (!outcome) return () => null;
    const { status, reason, tokensBefore, tokensAfter, identifiers } = outcome;
    const unread = this.history.available(outcome.unread);
    // All that may call code of the host's comes first.
    const texts = unread.map((number) => messageJson(this.history.messages[number], number));
    for (const [at, number] of unread.entries()) {
      call("request", () => manager.extract(number, send(texts[at] as string)));
    }
    const lists: Lists =
      texts.length === 0
        ? (fold?.extracted ?? nothingFound())
        : JSON.parse(call("request", () => manager.extracted()));
    if (fold) return () => this.compactions.outcomeFor({ ...outcome, ...fold, extracted: lists });
    const extracted = { ...lists, identifiers };
    return () => outcomeWithout(status, reason, tokensBefore, tokensAfter, extracted);
  }

  #opened(answer: Answer): ContextEvent {
    return {
      type: "epoch",
      epoch: this.#epoch,
      reason: answer.firstChanged === -1 ? "parts" : (answer.event ?? "history"),
      firstChanged: answer.firstChanged ?? 0,
      tokensBefore: answer.tokensBefore,
      tokensAfter: answer.tokens,
      cachedTokensLost: answer.cachedTokensLost,
    };
  }
}

/** Position of the first message that is not the same object; the end of `before` if all are. */
function firstOther<M>(before: readonly M[], now: readonly M[]): number {
  const at = before.findIndex((message, index) => message !== now[index]);
  return at < 0 ? before.length : at;
}

/** The items with their positions in the host's history; those of messages that it no longer has are left out. */
export function placed<T extends { index: number }>(
  items: T[],
  placeOf: (number: number) => number | null,
): T[] {
  // Mostly the host's history is the session.
  if (items.every(({ index }) => placeOf(index) === index)) return items;
  return items.flatMap((one) => {
    const index = placeOf(one.index);
    return index === null ? [] : [{ ...one, index }];
  });
}
