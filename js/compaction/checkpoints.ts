/** Checkpoints: summaries made ahead, in the background. When one is due, of what, and what it is worth the core says. */
import { messageJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import { summarizersOf } from "../session/options.js";
import type { Checkpoint, CheckpointRecord } from "../types.js";
import type { Session } from "./compactions.js";
import { driver } from "./lazy-driver.js";

/** What a checkpoint would be made of, as the core tells it. */
interface Figures {
  base: string;
  messages: number;
  turns: number;
  folds: number;
  tokens: number;
  usable: number;
  checkpoints: { checkpoint: Checkpoint | null } | null;
  go: number[];
  droppedTokens: number;
  previousSummary: string | null;
  pins: string[];
}

/** No message: only the figures. */
const NONE = 0xffff_ffff;

export class Checkpoints<M> {
  readonly #session: Session<M>;
  #running: AbortController | undefined;
  /** What became of the last: calls that had failed when it was given up. */
  #made: Promise<number> = Promise.resolve(0);

  constructor(session: Session<M>) {
    this.#session = session;
  }

  /** The last that was made, as the core's numbers have it. */
  get last(): Checkpoint | null {
    const kept = this.#figures(NONE).checkpoints?.checkpoint;
    return kept ? this.#placed(kept) : null;
  }

  /** Of a request now, as they are told of a checkpoint. */
  get tokens(): number {
    return this.#figures(NONE).tokens;
  }

  /**
   * Gives up what is under way: a compaction begins, or the session has ended. Calls of it that have failed since the last
   * that did not count on.
   */
  async stop(): Promise<number> {
    if (!this.#running) return 0;
    this.#running.abort(new DOMException("no checkpoint is needed any more", "AbortError"));
    return this.#made;
  }

  /** Asks for one, if one is due. Nothing waits for it, and nothing depends on it. */
  behind(): void {
    if (this.#running || !this.#session.options().summary?.checkpoints) return;
    const running = new AbortController();
    this.#running = running;
    const failed = (error: unknown): number => {
      if (running.signal.aborted) return 0;
      this.#session.emit({
        type: "checkpoint-failed",
        reason: String((error as Error)?.message ?? error),
      });
      return 0;
    };
    const forget = (): void => {
      this.#running = undefined;
    };
    this.#made = this.#make(running.signal).catch(failed).finally(forget);
    this.#made.catch(() => undefined);
  }

  async #make(signal: AbortSignal): Promise<number> {
    const session = this.#session;
    const { drive, checkpointDue, checkpointTaken } = await driver.load();
    signal.throwIfAborted();
    const now = session.now();
    if (!call("prepare", () => session.manager().may_summarize(now))) return 0;
    const options = session.options();
    const { checkpoints, redact, minimumTokens: _, ...summary } = options.summary ?? {};
    const { turns: everyTurns, ...when } = typeof checkpoints === "object" ? checkpoints : {};
    const asked = this.#figures(NONE);
    const { tokens, usable, turns, folds } = asked;
    const figures = { used: tokens, usable, turns, folds, state: asked.checkpoints ?? undefined };
    const { due, from, state } = checkpointDue({ ...figures, everyTurns, ...when });
    this.#keep(asked.base, JSON.stringify(state));
    if (!due) return 0;
    const { go, droppedTokens, previousSummary, pins, base, messages } = this.#figures(from);
    const present = session.history.available(go);
    const flat = present.map((number) => {
      const json = messageJson(session.history.messages[number], number);
      return call("prepare", () => session.manager().flat(number, send(json)));
    });
    const { estimator } = options;
    const job = {
      contextTokens: options.window.contextTokens,
      ...summary,
      ...{ previousSummary, droppedTokens, pins, folds, room: tokens },
      checkpoints: state,
      makesCheckpoint: true,
      estimator: typeof estimator === "string" ? estimator : "generic",
      degrade: false,
    };
    const summarizers = summarizersOf(options);
    const came = await drive({ options: job, messages: flat, summarizers, signal, redact });
    if (signal.aborted) return came.strikes;
    if (came.summary === null) {
      const now = session.now();
      call("prepare", () => session.manager().compaction_failed(send(came.failure), now));
      this.#session.emit({ type: "checkpoint-failed", reason: came.reason });
      return 0;
    }
    const at = session.now();
    const taken = checkpointTaken({ state, folds, tokens, messages, summary: came.summary });
    if (!this.#keep(base, taken)) return 0;
    const { checkpoint } = JSON.parse(taken) as { checkpoint: Checkpoint };
    const id = `${String(at).padStart(13, "0")}_${String(messages).padStart(6, "0")}`;
    const timestamp = new Date(at).toISOString();
    const record: CheckpointRecord = { type: "checkpoint", id, timestamp, checkpoint };
    this.#session.emit({
      type: "checkpoint",
      record: { ...record, checkpoint: this.#placed(checkpoint) },
    });
    return 0;
  }

  #figures(from: number): Figures {
    const manager = this.#session.manager();
    return JSON.parse(call("prepare", () => manager.checkpoint(from))) as Figures;
  }

  /** False: the history is another by now. */
  #keep(base: string, kept: string): boolean {
    const manager = this.#session.manager();
    return call("prepare", () => {
      const length = send(base);
      return manager.keep_checkpoints(length, send(base + kept));
    });
  }

  #placed(checkpoint: Checkpoint): Checkpoint {
    const count = this.#session.history.placeFrom(checkpoint.messageCountAtCheckpoint);
    return { ...checkpoint, messageCountAtCheckpoint: count };
  }
}
