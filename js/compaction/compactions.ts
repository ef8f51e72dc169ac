/** Asynchronous part of compaction: one at a time for each session. The core decides whether to compact and how. */
import { own } from "../core/arguments.js";
import { disposed, PlimsollError } from "../core/errors.js";
import { argumentJson, messageJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import type * as glue from "../glue/plimsoll_bg.js";
import type { History } from "../session/history.js";
import { summarizersOf } from "../session/options.js";
import {
  type Lists,
  nothingFound,
  outcomeOf,
  outcomeWithout,
  type Sized,
  WITHOUT_SUMMARY,
} from "../session/view.js";
import type {
  CompactionOutcome,
  CompactionPlan,
  CompactionRecord,
  CompactOptions,
  ContextEvent,
  ContextManagerOptions,
  Parts,
  Prepared,
} from "../types.js";
import { Checkpoints } from "./checkpoints.js";
import { type Blocked, deferral } from "./deferral.js";
import { driver } from "./lazy-driver.js";

/** What a compaction needs of its session. */
export interface Session<M> {
  readonly history: History<M>;
  options(): ContextManagerOptions<M>;
  now(): number;
  manager(): glue.Manager;
  readonly isOver: boolean;
  /** Runs what may call code of the host's. */
  alone<T>(during: string, work: () => T): T;
  /** Calls the host's listener. */
  emit(event: ContextEvent): void;
  /** Hands over the history and what goes out beside it, in a call that is `alone`. */
  take(during: string, messages: readonly M[], parts: Parts): glue.Manager;
  /** The request, and whether a fold is due; null, if `asks`: a summarizer is to be asked first. */
  ask(messages: readonly M[], parts: Parts, asks: boolean, during?: string): Asked<M> | null;
}
export interface Asked<M> {
  prepared: Prepared<M>;
  foldDue: boolean;
  /** When it was asked for. */
  now: number;
}

/** A plan as the core tells it: positions are its own numbers. */
interface CorePlan {
  plan: Omit<CompactionPlan, "extracted">;
  /** How many there were. */
  messages: number;
  go: number[];
  droppedTokens: number;
  room: number;
  summaryWanted: boolean;
  /** Where no summarizer helps an extract may stand in. */
  degrades: boolean;
  previousSummary: string | null;
  /** What the job engine keeps of checkpoints, and the folds that have been. */
  checkpoints: object | null;
  folds: number;
  /** The request waits for it. */
  waits: boolean;
  splitTurn: number | null;
  pins: string[];
  identifiers: string[];
  blocked: Blocked | null;
}

/** What became of a job: its summary, and what the guard is told. */
interface Result {
  summary: string | null;
  degraded: boolean;
  reason: string;
  lost: string[];
  attempts: CompactionOutcome["attempts"];
  failure: string;
  fromCheckpoint: boolean;
  /** The engine that asks summarizers did not load, or failed itself. */
  isBroken?: boolean;
}

/** A compaction under way, and how many wait for it; one that nobody waits for and that is not the session's own is given up. */
interface Running {
  promise: Promise<CompactionOutcome>;
  controller: AbortController;
  waiting: number;
  /** The core has committed or refused it: an abort has no effect any more. */
  isOver: () => boolean;
}

export class Compactions<M> {
  readonly #session: Session<M>;
  readonly checkpoints: Checkpoints<M>;
  #running: Running | undefined;
  /** Carried out; no request has told of it. */
  #unreported: CompactionOutcome | undefined;
  /** A mistake of the host's that keeps its summarizer from being asked was thrown once. */
  #hasThrown = false;
  /** The host has called what asks its summarizer, or was told that `request` does not. */
  #isIdleKnown = false;

  constructor(session: Session<M>) {
    this.#session = session;
    this.checkpoints = new Checkpoints(session);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Gives up what is under way. */
  stop(): void {
    void this.checkpoints.stop();
    this.#running?.controller.abort(new DOMException("the session was disposed of", "AbortError"));
  }

  plan(messages: readonly M[], parts: Parts, force: boolean): CompactionPlan {
    const session = this.#session;
    return session.alone("plan", () => this.next(session.take("plan", messages, parts), force));
  }

  /** The same of the messages that the core has. */
  next(manager: glue.Manager, force = false): CompactionPlan {
    const corePlan = this.#planned("plan", manager, force, undefined, this.#session.now());
    const { lists } = this.#read("plan", manager, corePlan);
    const extracted = { ...lists, identifiers: corePlan.identifiers };
    const { firstKept, kept, chunks } = corePlan.plan;
    const placed = chunks.flatMap(({ from, to, tokens }) =>
      this.#ranges([[from, to]]).map(([from, to]) => ({ from, to, tokens })),
    );
    return {
      ...corePlan.plan,
      firstKept: this.#session.history.placeFrom(firstKept),
      kept: this.#ranges(kept),
      chunks: placed,
      extracted,
    };
  }

  /** Asks nobody. If a summarizer was configured and would have been asked, one event says that it never is by `request`. */
  request(messages: readonly M[], parts: Parts): Prepared<M> {
    const session = this.#session;
    const { prepared, foldDue } = session.ask(messages, parts, false, "request") as Asked<M>;
    if (summarizersOf(session.options()).length === 0) return prepared;
    const { compaction } = prepared;
    const isFolded = compaction?.record?.summary === "";
    if (compaction?.reason === WITHOUT_SUMMARY)
      compaction.reason += ": request() never calls the summarizer";
    if (this.#isIdleKnown || !(foldDue || isFolded)) return prepared;
    this.#isIdleKnown = true;
    const reason =
      "request() never calls your summarizer; use prepare() instead, or call compact() first";
    session.emit({ type: "summarizer-idle", reason });
    return prepared;
  }

  /** A request whose fold was to have a summary says why it has none; an event too, if no attempt and no pause did. */
  #explained({ prepared, now }: Asked<M>, why: string | undefined): Prepared<M> {
    const { compaction } = prepared;
    if (compaction?.reason !== WITHOUT_SUMMARY) return prepared;
    const status = call("prepare", () => this.#session.manager().status(now));
    const { blocked } = JSON.parse(status) as { blocked: Blocked | null };
    const known = why ?? (blocked ? deferral(blocked).reason : undefined);
    const reason = `${WITHOUT_SUMMARY}: ${known ?? "even with one it would not make the request fit"}`;
    const outcome = { ...compaction, reason };
    if (known === undefined) this.#session.emit({ type: "compaction-failed", outcome });
    // Not a copy, which would have no methods.
    prepared.compaction = outcome;
    return prepared;
  }

  /** A second call joins the first. An aborted one rejects with its signal's reason; the work stops when all have. */
  async compact(messages: readonly M[], options: CompactOptions): Promise<CompactionOutcome> {
    const { signal } = options;
    signal?.throwIfAborted();
    this.#isIdleKnown = true;
    return this.#wait(this.#running ?? this.#start(messages, options, true), signal);
  }

  async prepare(messages: readonly M[], parts: Parts): Promise<Prepared<M>> {
    parts.signal?.throwIfAborted();
    this.#isIdleKnown = true;
    const session = this.#session;
    let asked = session.ask(messages, parts, true);
    let why: string | undefined;
    // One that was under way may not be enough; then one of our own.
    for (let tries = 0; asked === null && tries < 2; tries++) {
      parts.signal?.throwIfAborted();
      try {
        const running = this.#running ?? this.#start(messages, parts);
        const isRefused = running.isOver();
        const { record, reason, status } = await this.#wait(running, parts.signal);
        if (!record) why = reason;
        // Refused before anyone was asked: a second plan of the same history says the same.
        if (isRefused && status === "failed") break;
      } catch (error) {
        parts.signal?.throwIfAborted();
        why = String((error as Error)?.message ?? error);
        // The host's turn goes on without it; if the messages themselves are at fault, the request says so.
      }
      asked = session.ask(messages, parts, true);
    }
    asked ??= session.ask(messages, parts, false);
    const { foldDue, now } = asked as Asked<M>;
    const prepared = this.#explained(asked as Asked<M>, why);
    if (this.#running || session.isOver) return prepared;
    if (foldDue) return this.#behind(messages, parts, { prepared, foldDue, now });
    this.checkpoints.behind();
    return prepared;
  }

  /** A fold is due and the request fits: nothing waits for it. */
  #behind(messages: readonly M[], parts: Parts, { prepared, now }: Asked<M>): Prepared<M> {
    const manager = this.#session.manager();
    if (call("prepare", () => manager.may_summarize(now))) {
      const { signal: _, ...beside } = parts;
      // Once more after a throw: a getter that fails once is no reason for a request that stays too large.
      for (let tries = 0; tries < 2 && !this.#running; tries++) {
        try {
          const running = this.#start(messages, beside);
          running.waiting += 1;
          running.promise.catch(() => undefined);
          break;
        } catch {
          // The request is there already: the next call tells what is wrong.
        }
      }
      return prepared;
    }
    // One request tells of one thing.
    if (prepared.compaction) return prepared;
    const warning = call("prepare", () => manager.warning(now));
    if (warning === undefined) return prepared;
    const deferred = deferral(JSON.parse(warning) as Blocked);
    this.#session.emit({ type: "compaction-deferred", ...deferred });
    prepared.compaction = outcomeWithout("none", deferred.reason, prepared.tokens);
    return prepared;
  }

  /** Outcome to report for a request with this fold: that of the compaction, if one made it. */
  outcomeFor(fold: Sized): CompactionOutcome {
    const unreported = this.#unreported;
    this.#unreported = undefined;
    const outcome = unreported?.record?.id === fold.id ? unreported : outcomeOf(fold);
    return this.#placed(outcome);
  }

  /** `isByHand`: the host waits for it alone, and can be told of a mistake of its own. */
  #start(messages: readonly M[], options: CompactOptions, isByHand = false): Running {
    const { force = false, focus, plan, signal: _, ...parts } = own(options);
    const session = this.#session;
    const controller = new AbortController();
    const asked = force || plan !== undefined;
    const { corePlan, settled, flat, lists } = session.alone("compact", () => {
      const planJson = plan && argumentJson(plan, "plan");
      const now = session.now();
      const manager = session.take("compact", messages, parts);
      const corePlan = this.#planned("compact", manager, force, planJson, now);
      const settled = this.#without(manager, corePlan, asked);
      return {
        corePlan,
        settled,
        ...(settled ? NOTHING_READ : this.#read("compact", manager, corePlan)),
      };
    });
    let over = settled !== undefined;
    const isOver = () => over;
    if (settled) {
      if (settled.status === "failed")
        session.emit({ type: "compaction-failed", outcome: settled });
      return { promise: Promise.resolve(settled), controller, waiting: 0, isOver };
    }
    const strikes = this.checkpoints.stop();
    session.emit({ type: "compaction-start" });
    let isBroken = false;
    const work = async (): Promise<CompactionOutcome> => {
      const result = corePlan.summaryWanted
        ? await this.#job(corePlan, flat, { focus, strikes, isByHand }, controller.signal)
        : NO_SUMMARY;
      isBroken = result.isBroken === true;
      controller.signal.throwIfAborted();
      // Another's session was taken in meanwhile: what the plan stands on comes again.
      if (session.history.messages.length === 0) {
        session.alone("compact", () => session.take("compact", messages, parts));
      }
      const outcome = this.#commit(corePlan, result, lists, plan !== undefined);
      over = true;
      return outcome;
    };
    const promise = this.#ended(work(), () => isBroken);
    const running: Running = { promise, controller, waiting: 0, isOver };
    this.#running = running;
    const forget = (): void => {
      if (this.#running === running) this.#running = undefined;
    };
    running.promise.then(forget, forget);
    return running;
  }

  async #ended(
    work: Promise<CompactionOutcome>,
    isBroken: () => boolean,
  ): Promise<CompactionOutcome> {
    let outcome: CompactionOutcome;
    try {
      outcome = await work;
    } catch (error) {
      const why = this.#session.isOver ? disposed("compact", "session") : error;
      const outcome = outcomeWithout("failed", String((why as Error)?.message ?? why), 0);
      this.#session.emit({ type: "compaction-failed", outcome });
      throw why;
    }
    const hasFailed = outcome.status === "failed" || isBroken();
    const type = hasFailed ? "compaction-failed" : "compaction-end";
    this.#session.emit({ type, outcome });
    return outcome;
  }

  async #wait(running: Running, signal: AbortSignal | undefined): Promise<CompactionOutcome> {
    running.waiting += 1;
    if (!signal) return running.promise;
    let abort = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      abort = () => {
        if (running.isOver()) return;
        running.waiting -= 1;
        if (running.waiting === 0) running.controller.abort(signal.reason);
        reject(signal.reason);
      };
    });
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await Promise.race([aborted, running.promise]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** The outcome of a plan that folds nothing, or may not be carried out now. */
  #without(
    manager: glue.Manager,
    corePlan: CorePlan,
    asked: boolean,
  ): CompactionOutcome | undefined {
    const { outcome, reason, tokensBefore, tokensAfterEstimate } = corePlan.plan;
    if (outcome === "none") return outcomeWithout("none", reason, tokensBefore);
    if (outcome === "overflow") {
      return {
        ...outcomeWithout("failed", reason, tokensBefore),
        floor: corePlan.plan.floor ?? null,
      };
    }
    if (outcome === "prune") {
      // The next request does the same; what only the host wants it is told.
      const { lists } = this.#read("compact", manager, corePlan);
      const wish = argumentJson(["context_compact", {}], "args");
      if (asked) call("compact", () => manager.call_agent_tool(send(wish)));
      const extracted = { ...lists, identifiers: corePlan.identifiers };
      return outcomeWithout("pruned", reason, tokensBefore, tokensAfterEstimate, extracted);
    }
    if (!corePlan.blocked || asked || !corePlan.summaryWanted) return undefined;
    return outcomeWithout("none", deferral(corePlan.blocked).reason, tokensBefore);
  }

  async #job(
    corePlan: CorePlan,
    messages: string[],
    how: { focus: string | undefined; strikes: Promise<number>; isByHand: boolean },
    signal: AbortSignal,
  ): Promise<Result> {
    const { focus, strikes, isByHand } = how;
    const options = this.#session.options();
    const { redact, minimumTokens: _, checkpoints: __, ...summary } = options.summary ?? {};
    const { droppedTokens, room, previousSummary, splitTurn, pins, identifiers } = corePlan;
    const { checkpoints, folds, waits } = corePlan;
    const ahead = { checkpoints: checkpoints ?? undefined, folds, waits };
    const { estimator } = options;
    const figures = { previousSummary, droppedTokens, room, splitTurn, pins, identifiers };
    const job = {
      contextTokens: options.window.contextTokens,
      ...summary,
      ...figures,
      ...ahead,
      requestTokens: this.checkpoints.tokens,
      focus,
      estimator: typeof estimator === "string" ? estimator : "generic",
      degrade: corePlan.degrades,
    };
    try {
      const { drive } = await driver.load();
      Object.assign(job, { strikes: await strikes });
      const summarizers = summarizersOf(options);
      return await drive({ options: job, messages, summarizers, signal, redact });
    } catch (error) {
      signal.throwIfAborted();
      const isMistake = error instanceof PlimsollError && error.code === "INVALID_ARGUMENT";
      if (isMistake && isByHand && !this.#hasThrown) {
        this.#hasThrown = true;
        throw error;
      }
      const reason = `no summary could be made: ${String((error as Error)?.message ?? error)}`;
      return { ...NO_SUMMARY, reason, failure: "temporary", isBroken: true };
    }
  }

  #commit(
    corePlan: CorePlan,
    result: Result,
    extracted: Lists,
    hasPlan: boolean,
  ): CompactionOutcome {
    const session = this.#session;
    const now = session.now();
    const manager = session.manager();
    const { summary, attempts, failure, lost } = result;
    if (attempts.length > 0) {
      const calls = argumentJson(
        { source: "compaction_summary", requests: attempts.length },
        "record",
      );
      call("compact", () => manager.note(send(calls)));
    }
    const { base, gone, tokensBefore } = corePlan.plan;
    const isWanting = summary === null && corePlan.summaryWanted;
    if (isWanting && !corePlan.degrades) {
      call("compact", () => manager.compaction_failed(send(failure), now));
      return { ...outcomeWithout("failed", result.reason, tokensBefore), attempts };
    }
    const degraded = result.degraded || isWanting;
    const { messages } = corePlan;
    const planned = { base, gone, messages, summary, degraded, failure, extracted, lost };
    try {
      const json = argumentJson(planned, "plan");
      const text = call("compact", () => manager.commit(send(json), now));
      const done = JSON.parse(text) as Sized & { carried: boolean };
      if (!done.carried) {
        const reason = "what would stand for it is no smaller than what would go";
        return { ...outcomeWithout("failed", reason, tokensBefore), attempts };
      }
      const fold = { ...done, at: now, summary: summary ?? "", extracted, lost, degraded };
      const reason = result.reason || (summary === null ? undefined : corePlan.plan.reason);
      const outcome = outcomeOf(fold, attempts, reason);
      if (result.fromCheckpoint && outcome.record) outcome.record.fromCheckpoint = true;
      this.#unreported = outcome;
      return this.#placed(outcome);
    } catch (error) {
      const isStale = (error as { code?: string }).code === "STALE_PLAN";
      if (!isStale || hasPlan) throw error;
      // What the summarizer came to counts all the same.
      call("compact", () => manager.compaction_failed(send(failure), now));
      return { ...outcomeWithout("failed", (error as Error).message, tokensBefore), attempts };
    }
  }

  #planned(
    during: string,
    manager: glue.Manager,
    force: boolean,
    planJson: string | undefined,
    now: number,
  ): CorePlan {
    const json = call(during, () =>
      manager.plan(force, planJson === undefined ? undefined : send(planJson), now),
    );
    return JSON.parse(json) as CorePlan;
  }

  /** The messages that go, flat, and what they tell of files, commands and errors. */
  #read(
    during: string,
    manager: glue.Manager,
    corePlan: CorePlan,
  ): { flat: string[]; lists: Lists } {
    const { history } = this.#session;
    const flat = history.available(corePlan.go).map((number) => {
      const json = messageJson(history.messages[number], number);
      return call(during, () => manager.flat(number, send(json)));
    });
    return { flat, lists: JSON.parse(call(during, () => manager.extracted())) as Lists };
  }

  #ranges(ranges: Array<[number, number]>): Array<[number, number]> {
    return ranges.flatMap(([from, to]) => this.#session.history.runsOf(from, to));
  }

  /** A compaction as a record, its positions those of the host's history. */
  recordOf(fold: Sized): CompactionRecord[] {
    const { record } = this.#placed(outcomeOf(fold));
    return record ? [record] : [];
  }

  #placed(outcome: CompactionOutcome): CompactionOutcome {
    const { record } = outcome;
    if (!record) return outcome;
    const firstKeptIndex = this.#session.history.placeFrom(record.firstKeptIndex);
    return { ...outcome, record: { ...record, firstKeptIndex, kept: this.#ranges(record.kept) } };
  }
}

const NOTHING_READ: { flat: string[]; lists: Lists } = { flat: [], lists: nothingFound() };

const NO_SUMMARY: Result = {
  summary: null,
  degraded: false,
  reason: "",
  lost: [],
  attempts: [],
  failure: "none",
  fromCheckpoint: false,
};
