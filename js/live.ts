/**
 * A session that goes on in the core, made anew where its instance was lost: handed what the host passes, asked for requests, whose
 * answers are carried out.
 */
import { type Asked, Compactions, type Session } from "./compaction.js";
import { call, core, send } from "./core.js";
import { type Counter, counterOf, setParts } from "./count.js";
import { invalid } from "./errors.js";
import * as glue from "./glue/plimsoll_bg.js";
import { Handle } from "./handle.js";
import { History } from "./history.js";
import { argumentJson, messageJson } from "./json.js";
import { coreOptions, own, owned } from "./options.js";
import { isBytes } from "./store/record.js";
import type {
  CompactionOutcome,
  ContextManagerOptions,
  ExtractedContext,
  Parts,
  Prepared,
  PressureEvent,
  Status,
} from "./types.js";
import { type Answer, outcomeWithout, View } from "./view.js";

type PressureChange = Omit<PressureEvent, "type">;

type Step = { need: number[] } | { done: Answer };

const NOTHING = new Uint8Array();

export class LiveSession<M> implements Session<M> {
  readonly history: History<M>;
  readonly compactions: Compactions<M>;
  #options: ContextManagerOptions<M>;
  #core: string;
  #handle: Handle<glue.Manager> | undefined;
  readonly #view: View<M>;
  #counter: Counter | undefined;
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
  /** A call is under way: a getter of the host's must not start another. */
  #busy = false;

  constructor(options: ContextManagerOptions<M>) {
    this.#core = coreOptions(options);
    this.#options = owned(options);
    const { create, estimator, key } = this.#options;
    this.#view = new View(create);
    this.#counter = counterOf(estimator);
    this.history = new History(key, this.#counter);
    this.compactions = new Compactions(this);
    this.manager();
  }

  options(): ContextManagerOptions<M> {
    return this.#options;
  }

  now(): number {
    return this.#options.clock?.() ?? Date.now();
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

  /** The session in the core; if the instance that held it was lost, as it was committed last, or a new one. */
  manager(): glue.Manager {
    if (!this.#handle?.isAlive) {
      const base = this.#handle ? this.base : NOTHING;
      this.#handle = new Handle(() =>
        call("ContextManager", () => new glue.Manager(send(this.#core))),
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
    const now = this.now();
    const { epoch } = JSON.parse(call("status", () => manager.status(now))) as Status;
    this.#epochsBefore = this.#epoch + 1 - epoch;
    this.#lost = this.#view.messages;
    this.#restart();
  }

  take(during: string, messages: readonly M[], parts: Parts): glue.Manager {
    return this.alone(during, () => this.#take(during, messages, parts));
  }

  ask(
    messages: readonly M[],
    parts: Parts,
    asks: boolean,
    during: string = "prepare",
  ): Asked<M> | null {
    return this.alone(during, () => {
      const manager = this.#take("request", messages, parts);
      const now = this.now();
      const answer = this.#decide(manager, now, asks);
      return answer && { prepared: this.#carryOut(answer), foldDue: answer.foldDue };
    });
  }

  /** Runs what may call a getter or callback of the host's, which must not call back. */
  alone<T>(during: string, work: () => T): T {
    if (this.#busy) throw invalid(during, "no call from within a call", "a getter or callback");
    this.#busy = true;
    try {
      return work();
    } finally {
      this.#busy = false;
    }
  }

  /** A level of pressure that is newly reached. */
  tellPressure(manager: glue.Manager): void {
    const { on } = this.#options;
    const told = on && call("pressure", () => manager.pressure());
    if (told) on({ type: "pressure", ...(JSON.parse(told) as PressureChange) });
  }

  /** Goes on under other options. */
  change(options: ContextManagerOptions<M>): void {
    const core = coreOptions(options);
    const manager = this.manager();
    const again = call("setModel", () => manager.options(send(core)));
    this.#options = owned(options);
    this.#core = core;
    this.#counter = counterOf(options.estimator);
    this.#beside = undefined;
    this.history.counter = this.#counter;
    if (again) this.history.again();
  }

  /** With what the core does not know: what is under way, and epochs before its instance. */
  statusOf(core: Status): Status {
    const blocked = this.compactions.isRunning ? ({ reason: "running" } as const) : core.blocked;
    return { ...core, epoch: this.#epochsBefore + core.epoch, blocked };
  }

  snapshot(): Uint8Array {
    const manager = this.manager();
    return call("snapshot", () => manager.snapshot());
  }

  /** Goes on from a snapshot. */
  wake(bytes: Uint8Array): void {
    if (!isBytes(bytes)) throw invalid("bytes", "a Uint8Array", typeof bytes);
    const manager = this.manager();
    call("restore", () => manager.wake(core.sendBytes(bytes)));
    this.#restart();
  }

  /** Takes in what another has committed, where both went on from `base`. */
  merge(theirs: Uint8Array, base: Uint8Array): void {
    const both = new Uint8Array(theirs.length + base.length);
    both.set(theirs);
    both.set(base, theirs.length);
    const manager = this.manager();
    if (call("save", () => manager.merge(theirs.length, core.sendBytes(both)))) this.#goOn(manager);
  }

  stop(): void {
    this.compactions.stop();
    this.#handle?.free();
    this.#handle = undefined;
    this.#restart();
  }

  /** Hands over the history and what goes out beside it. */
  #take(during: string, messages: readonly M[], parts: Parts): glue.Manager {
    if (!Array.isArray(messages)) throw invalid("messages", "an array of messages", messages);
    const { system = null, tools = null, unseenTokens = null, open = null } = own(parts);
    const beside = argumentJson({ system, tools, unseenTokens, open }, "parts");
    const manager = this.manager();
    this.history.take(manager, messages, this.#view);
    if (beside !== this.#beside) setParts(during, manager, beside, this.#counter);
    this.#beside = beside;
    return manager;
  }

  /** Nothing of what the core was told counts any more. */
  #restart(): void {
    this.history.forget();
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
        const json = messageJson(this.history.messages[index], index);
        call("request", () => manager.supply(index, send(json)));
      }
      step = JSON.parse(call("request", () => manager.resume())) as Step;
    }
    return step.done;
  }

  #carryOut(answer: Answer): Prepared<M> {
    const history = this.history;
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
    this.tellPressure(this.manager());
    return prepared;
  }

  /** The fold of a request, or why there was none. */
  #compactionOf({ fold, outcome }: Answer): CompactionOutcome | null {
    if (!outcome) return null;
    const { status, reason, tokensBefore, tokensAfter } = outcome;
    if (!fold) return outcomeWithout(status, reason, tokensBefore, tokensAfter);
    // Without a summarizer each message is written once, and what went is not read again.
    const reads = fold.went.length > 0 && this.#options.summarize !== undefined;
    if (!reads) return this.compactions.told({ ...fold, ...outcome });
    const manager = this.manager();
    for (const number of fold.went) {
      const json = messageJson(this.history.messages[number], number);
      call("request", () => manager.flat(number, send(json)));
    }
    const found = call("request", () => manager.extracted());
    const extracted = JSON.parse(found) as Omit<ExtractedContext, "identifiers">;
    return this.compactions.told({ ...fold, ...outcome, extracted });
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
export function placed<T extends { index: number }>(
  told: T[],
  placeOf: (number: number) => number | null,
): T[] {
  return told.flatMap((one) => {
    const index = placeOf(one.index);
    return index === null ? [] : [{ ...one, index }];
  });
}
