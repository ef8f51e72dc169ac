/** Plans of compactions: the core's plan of what to fold, and its positions in the host's history. */
import { messageJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import type * as glue from "../glue/plimsoll_bg.js";
import type { CompactionOutcome, CompactionPlan, CompactionRecord, Parts } from "../types.js";
import { type Blocked, type Lists, outcomeOf, type Sized } from "./outcome.js";
import type { SessionAccess } from "./session-access.js";

/** A plan as the core returns it: positions are its own numbers of messages. */
export interface CorePlan {
  plan: Omit<CompactionPlan, "extracted">;
  /** Number of messages in the session. */
  messages: number;
  /** Messages that the compaction removes. */
  go: number[];
  droppedTokens: number;
  /** Tokens that the summary may have. */
  room: number;
  summaryWanted: boolean;
  /** An extract may replace the summary if every summarizer fails. */
  degrades: boolean;
  previousSummary: string | null;
  /** State of the checkpoints, which only the summary engine reads, and the number of folds so far. */
  checkpoints: object | null;
  folds: number;
  /** A request waits for the compaction. */
  waits: boolean;
  splitTurn: number | null;
  pins: string[];
  identifiers: string[];
  blocked: Blocked | null;
}

/** Plans of one session. */
export class Plans<M> {
  readonly #session: SessionAccess<M>;

  constructor(session: SessionAccess<M>) {
    this.#session = session;
  }

  /** Returns what a compaction of this history would do. */
  plan(messages: readonly M[], parts: Parts, force: boolean): CompactionPlan {
    const session = this.#session;
    return session.alone("plan", () => this.next(session.take("plan", messages, parts), force));
  }

  /** Returns what a compaction of the messages that the core has would do. */
  next(manager: glue.Manager, force = false): CompactionPlan {
    const corePlan = this.decide("plan", manager, force, undefined);
    const { lists } = this.read("plan", manager, corePlan);
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

  /**
   * Has the core decide a compaction.
   *
   * @param planJson the host's plan, which is checked against the history instead
   */
  decide(
    during: string,
    manager: glue.Manager,
    force: boolean,
    planJson: string | undefined,
    now: number = this.#session.now(),
  ): CorePlan {
    const json = call(during, () =>
      manager.plan(force, planJson === undefined ? undefined : send(planJson), now),
    );
    return JSON.parse(json) as CorePlan;
  }

  /** Reads the messages that a plan removes: each flat, as JSON, and the files, commands and errors in them. */
  read(
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

  /** Returns the record of a fold, in a list; positions are those of the host's history. */
  recordOf(fold: Sized): CompactionRecord[] {
    const { record } = this.placed(outcomeOf(fold));
    return record ? [record] : [];
  }

  /** Turns the numbers of messages in a record into positions in the host's history. */
  placed(outcome: CompactionOutcome): CompactionOutcome {
    const { record } = outcome;
    if (!record) return outcome;
    const firstKeptIndex = this.#session.history.placeFrom(record.firstKeptIndex);
    return { ...outcome, record: { ...record, firstKeptIndex, kept: this.#ranges(record.kept) } };
  }
}
