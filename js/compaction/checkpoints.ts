/** Checkpoints: summaries that are written ahead, in the background. The core decides when one is due and of which messages. */
import { messageJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import { summarizersOf } from "../session/options.js";
import type { Checkpoint, CheckpointRecord } from "../types.js";
import { driver } from "./lazy-driver.js";
import type { SessionAccess } from "./session-access.js";
import { jobOptions } from "./summary.js";

/** What a checkpoint would be made of, from the core. */
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

/** Instead of a message number: only the figures are wanted. */
const NONE = 0xffff_ffff;

export class Checkpoints<M> {
  readonly #session: SessionAccess<M>;
  #running: AbortController | undefined;
  /** The last checkpoint: resolves to the number of calls that had failed when it was given up. */
  #made: Promise<number> = Promise.resolve(0);

  constructor(session: SessionAccess<M>) {
    this.#session = session;
  }

  /** The last checkpoint, with its position in the host's history; `null` if there is none for this history. */
  get last(): Checkpoint | null {
    const kept = this.#figures(NONE).checkpoints?.checkpoint;
    return kept ? this.#placed(kept) : null;
  }

  /** Tokens of a request now. */
  get tokens(): number {
    return this.#figures(NONE).tokens;
  }

  /**
   * Gives up a checkpoint that is being written, since a compaction begins or the session has ended. Resolves to the number of its
   * calls that have failed in a row: the compaction counts them as its own.
   */
  async stop(): Promise<number> {
    if (!this.#running) return 0;
    this.#running.abort(new DOMException("no checkpoint is needed any more", "AbortError"));
    return this.#made;
  }

  /** Writes a checkpoint if one is due, in the background: nothing waits for it or depends on it. */
  inBackground(): void {
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
    const { checkpoints } = options.summary ?? {};
    const { job, redact } = jobOptions(options);
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
    const wanted = {
      ...job,
      ...{ previousSummary, droppedTokens, pins, folds, room: tokens },
      checkpoints: state,
      makesCheckpoint: true,
      degrade: false,
    };
    const summarizers = summarizersOf(options);
    const came = await drive({ options: wanted, messages: flat, summarizers, signal, redact });
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

  /** Stores the state of the checkpoints in the core. Returns false if the history has changed meanwhile. */
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
