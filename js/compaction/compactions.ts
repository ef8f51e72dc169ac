/** Compactions of a session, one at a time. The core decides whether and how to compact; this awaits the summary. */
import { flagOf, own, refuseAborted, textOf } from "../core/arguments.js";
import { disposed, PlimsollError } from "../core/errors.js";
import { argumentJson, messageJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import type * as glue from "../glue/plimsoll_bg.js";
import { summarizersOf } from "../session/options.js";
import type { CompactionOutcome, CompactOptions, Parts, Prepared } from "../types.js";
import { Checkpoints } from "./checkpoints.js";
import {
  type Blocked,
  deferral,
  type Lists,
  nothingFound,
  outcomeOf,
  outcomeWithout,
  type Sized,
  WITHOUT_SUMMARY,
} from "./outcome.js";
import { type CorePlan, Plans } from "./plans.js";
import type { Asked, SessionAccess } from "./session-access.js";
import { NO_SUMMARY, type SummaryOutcome, summarize } from "./summary.js";

/** A compaction that runs. It is given up after the last caller that waits for it has aborted. */
interface Running {
  promise: Promise<CompactionOutcome>;
  controller: AbortController;
  waiting: number;
  /** The core has committed or refused it, so that an abort has no effect any more. */
  isOver: () => boolean;
}

/** What came of a commit; `need`: messages whose texts the head needs lines of. */
type Committed = Sized & { carried: boolean; need: number[] };

export class Compactions<M> {
  readonly #session: SessionAccess<M>;
  readonly plans: Plans<M>;
  readonly checkpoints: Checkpoints<M>;
  #running: Running | undefined;
  /** Outcome that no request has reported yet. */
  #unreported: CompactionOutcome | undefined;
  /** An invalid option that keeps summarizers from being called was thrown once. */
  #hasThrown = false;
  /** The host calls `prepare` or `compact`, or was warned that `request` never calls its summarizer. */
  #isIdleKnown = false;

  constructor(session: SessionAccess<M>) {
    this.#session = session;
    this.plans = new Plans(session);
    this.checkpoints = new Checkpoints(session);
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Gives up the compaction and the checkpoint that run. */
  stop(): void {
    void this.checkpoints.stop();
    this.#running?.controller.abort(new DOMException("the session was disposed of", "AbortError"));
  }

  /** Makes a request without calling a summarizer. The first time that one would have been called, an event warns of it. */
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

  /** Adds to a request without the wanted summary why it has none; an event reports it if no earlier one did. */
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

  /** Compacts now. A second call joins the first. An aborted call rejects with its signal's reason; the work stops after the last one. */
  async compact(messages: readonly M[], options: CompactOptions): Promise<CompactionOutcome> {
    const { signal } = options;
    refuseAborted("options.signal", signal);
    this.#isIdleKnown = true;
    return this.#wait(this.#running ?? this.#start(messages, options, true), signal);
  }

  /** Makes a request, and calls a summarizer before it if the request cannot fit without a summary, else after it. */
  async prepare(messages: readonly M[], parts: Parts): Promise<Prepared<M>> {
    refuseAborted("parts.signal", parts.signal);
    this.#isIdleKnown = true;
    const session = this.#session;
    let asked = session.ask(messages, parts, true);
    let why: string | undefined;
    // A compaction that was already running may not remove enough: then one for this history follows.
    for (let tries = 0; asked === null && tries < 2; tries++) {
      parts.signal?.throwIfAborted();
      try {
        const running = this.#running ?? this.#start(messages, parts);
        const isRefused = running.isOver();
        const { record, reason, status } = await this.#wait(running, parts.signal);
        if (!record) why = reason;
        // Refused before a summarizer was called: a second plan of the same history would be refused too.
        if (isRefused && status === "failed") break;
      } catch (error) {
        parts.signal?.throwIfAborted();
        why = String((error as Error)?.message ?? error);
        // The host's turn continues without a summary; if the messages are at fault, the request below throws.
      }
      asked = session.ask(messages, parts, true);
    }
    asked ??= session.ask(messages, parts, false);
    const { foldDue, now } = asked as Asked<M>;
    const prepared = this.#explained(asked as Asked<M>, why);
    if (this.#running || session.isOver) return prepared;
    if (foldDue) return this.#inBackground(messages, parts, { prepared, foldDue, now });
    this.checkpoints.inBackground();
    return prepared;
  }

  /** Starts a compaction that is due but not needed for this request, in the background. */
  #inBackground(messages: readonly M[], parts: Parts, { prepared, now }: Asked<M>): Prepared<M> {
    const manager = this.#session.manager();
    if (call("prepare", () => manager.may_summarize(now))) {
      const { signal: _, ...beside } = parts;
      // Twice, since a getter that throws once should not leave the next request too large.
      for (let tries = 0; tries < 2 && !this.#running; tries++) {
        try {
          const running = this.#start(messages, beside);
          running.waiting += 1;
          running.promise.catch(() => undefined);
          break;
        } catch {
          // This request is ready already; if the error persists, the next call throws it.
        }
      }
      return prepared;
    }
    // A request reports one outcome.
    if (prepared.compaction) return prepared;
    const warning = call("prepare", () => manager.warning(now));
    if (warning === undefined) return prepared;
    const deferred = deferral(JSON.parse(warning) as Blocked);
    this.#session.emit({ type: "compaction-deferred", ...deferred });
    prepared.compaction = outcomeWithout("none", deferred.reason, prepared.tokens);
    return prepared;
  }

  /** Outcome of a request with this fold: the compaction's own, if a compaction made the fold. */
  outcomeFor(fold: Sized): CompactionOutcome {
    const unreported = this.#unreported;
    this.#unreported = undefined;
    const outcome = unreported?.record?.id === fold.id ? unreported : outcomeOf(fold);
    return this.plans.placed(outcome);
  }

  /**
   * Starts a compaction.
   *
   * @param isByHand the host has called `compact`, so that an invalid option may be thrown
   */
  #start(messages: readonly M[], options: CompactOptions, isByHand = false): Running {
    const { force, focus, plan, signal: _, ...parts } = own(options);
    const isForced = flagOf("options.force", force);
    textOf("options.focus", focus ?? "");
    const session = this.#session;
    const controller = new AbortController();
    const asked = isForced || plan !== undefined;
    const { corePlan, settled, flat, lists } = session.alone("compact", () => {
      const planJson = plan === undefined ? undefined : argumentJson(plan, "plan");
      const now = session.now();
      const manager = session.take("compact", messages, parts);
      const corePlan = this.plans.decide("compact", manager, isForced, planJson, now);
      const settled = this.#without(manager, corePlan, asked);
      return {
        corePlan,
        settled,
        ...(settled ? NOTHING_READ : this.plans.read("compact", manager, corePlan)),
      };
    });
    let over = settled !== undefined;
    const isOver = () => over;
    if (settled) {
      const running: Running = {
        promise: Promise.resolve(settled),
        controller,
        waiting: 0,
        isOver,
      };
      if (settled.status !== "failed") return running;
      // A listener that compacts again joins this one: it would fail as this did, without an end.
      this.#running = running;
      session.emit({ type: "compaction-failed", outcome: settled });
      if (this.#running === running) this.#running = undefined;
      return running;
    }
    const strikes = this.checkpoints.stop();
    let isBroken = false;
    const work = async (): Promise<CompactionOutcome> => {
      const result = corePlan.summaryWanted
        ? await this.#summarized(
            { corePlan, messages: flat, focus, strikes },
            isByHand,
            controller.signal,
          )
        : NO_SUMMARY;
      isBroken = result.isBroken === true;
      controller.signal.throwIfAborted();
      // Another process's session was merged in meanwhile, or the model changed: the core needs the messages again.
      const { history } = session;
      const again = history.messages.length === 0 ? messages : history.wanted;
      if (again) session.alone("compact", () => session.take("compact", again, parts));
      const outcome = this.#commit(corePlan, result, lists, plan !== undefined);
      over = true;
      return outcome;
    };
    let settle = (_: Promise<CompactionOutcome>): void => undefined;
    const promise = new Promise<CompactionOutcome>((resolve) => {
      settle = resolve;
    });
    // The caller that starts it counts already: a listener that joins and aborts must not end it.
    const running: Running = { promise, controller, waiting: 1, isOver };
    this.#running = running;
    const forget = (): void => {
      if (this.#running === running) this.#running = undefined;
    };
    promise.then(forget, forget);
    // Only now: a listener that calls `compact` or `prepare` joins this one, and `dispose` ends it.
    session.emit({ type: "compaction-start" });
    running.waiting -= 1;
    settle(this.#ended(work(), () => isBroken));
    return running;
  }

  /** Reports how a compaction ended, by an event. */
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

  /** Waits for a compaction until this caller aborts. */
  async #wait(running: Running, signal: AbortSignal | undefined): Promise<CompactionOutcome> {
    running.waiting += 1;
    if (!signal) return running.promise;
    let abort = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      abort = () => {
        if (running.isOver()) return;
        running.waiting -= 1;
        if (running.waiting === 0) {
          running.controller.abort(signal.reason);
          // It may take a while to end; a caller that follows must not join it, since it rejects.
          if (this.#running === running) this.#running = undefined;
        }
        reject(signal.reason);
      };
    });
    // A listener of the compaction's start may have aborted it: the signal says so no second time.
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    try {
      return await Promise.race([aborted, running.promise]);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  /** Outcome of a plan that folds nothing or must not be carried out now; `undefined` for any other. */
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
      // The next request shortens them anyway, unless only the host wants it: then the core is asked to.
      const { lists } = this.plans.read("compact", manager, corePlan);
      const wish = argumentJson(["context_compact", {}], "args");
      if (asked) call("compact", () => manager.call_agent_tool(send(wish)));
      const extracted = { ...lists, identifiers: corePlan.identifiers };
      return outcomeWithout("pruned", reason, tokensBefore, tokensAfterEstimate, extracted);
    }
    if (!corePlan.blocked || asked || !corePlan.summaryWanted) return undefined;
    return outcomeWithout("none", deferral(corePlan.blocked).reason, tokensBefore);
  }

  /** Calls the summarizers. A failure of the engine counts as a temporary one, so that the session goes on without a summary. */
  async #summarized(
    job: Omit<Parameters<typeof summarize>[1], "requestTokens">,
    isByHand: boolean,
    signal: AbortSignal,
  ): Promise<SummaryOutcome> {
    const requestTokens = this.checkpoints.tokens;
    try {
      return await summarize(this.#session.options(), { ...job, requestTokens }, signal);
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

  /** Hands over the texts that the head needs lines of. If that throws, the next request does it. */
  #withLines(manager: glue.Manager, done: Committed): Committed {
    if (!done.carried || done.need.length === 0) return done;
    const session = this.#session;
    try {
      return session.alone("compact", () => {
        for (const number of done.need) {
          const json = messageJson(session.history.messages[number], number);
          call("compact", () => manager.supply(number, send(json)));
        }
        return JSON.parse(call("compact", () => manager.commit_lines())) as Committed;
      });
    } catch {
      return done;
    }
  }

  /** Has the core carry the plan out, with the summary or without. */
  #commit(
    corePlan: CorePlan,
    result: SummaryOutcome,
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
      const done = this.#withLines(manager, JSON.parse(text) as Committed);
      if (!done.carried) {
        const reason = "what would stand for it is no smaller than what would go";
        return { ...outcomeWithout("failed", reason, tokensBefore), attempts };
      }
      const fold = { ...done, at: now, summary: summary ?? "", extracted, lost, degraded };
      const reason = result.reason || (summary === null ? undefined : corePlan.plan.reason);
      const outcome = outcomeOf(fold, attempts, reason);
      if (result.fromCheckpoint && outcome.record) outcome.record.fromCheckpoint = true;
      this.#unreported = outcome;
      return this.plans.placed(outcome);
    } catch (error) {
      const isStale = (error as { code?: string }).code === "STALE_PLAN";
      if (!isStale || hasPlan) throw error;
      // The failure of the summarizer counts although the plan is stale.
      call("compact", () => manager.compaction_failed(send(failure), now));
      return { ...outcomeWithout("failed", (error as Error).message, tokensBefore), attempts };
    }
  }
}

const NOTHING_READ: { flat: string[]; lists: Lists } = { flat: [], lists: nothingFound() };
