/**
 * Compaction by the host's summarizers: between two calls into the engine, which decides what is asked and what an answer is
 * worth, the host's functions are awaited, under its signal and its deadlines. Nothing of the engine is held meanwhile.
 */
import { invalid, lost } from "../core/errors.js";
import { Handle } from "../core/handle.js";
import { Instance } from "../core/instance.js";
import { argumentJson, wellFormed } from "../core/json.js";
import * as glue from "../glue/compact_bg.js";
import type {
  CompactionOutcome,
  Summarizer,
  SummaryControl,
  SummaryJob,
  SummaryOptions,
  SummaryResult,
} from "../types.js";
import { seen } from "./overflow.js";

export const compactions: Instance = new Instance("compact", glue);

/** Clocks of the host, or of a test. */
export interface Timers {
  set: (work: () => void, ms: number) => unknown;
  clear: (timer: never) => void;
}

export interface Drive {
  /** What the engine is told (`Options` in src/compact/options.rs), less what is here. */
  options: object;
  /** The messages that go, flat, each as JSON. */
  messages: Iterable<string>;
  summarizers: readonly Summarizer[];
  signal?: AbortSignal | undefined;
  redact?: SummaryOptions["redact"] | undefined;
  timers?: Timers | undefined;
}

/** How it ended; `summary` null: the history stays as it is. */
export interface Driven {
  summary: string | null;
  degraded: boolean;
  reason: string;
  /** Pinned texts and identifiers that are not in the summary. */
  lost: string[];
  attempts: CompactionOutcome["attempts"];
  failure: "none" | "temporary" | "auth" | "network" | "ineffective" | "aborted";
  /** It is a checkpoint that stood ready: nobody was asked. */
  fromCheckpoint: boolean;
  /** Calls that have failed since the last that did not. */
  strikes: number;
}

interface Ask {
  id: number;
  summarizer: number;
  job: SummaryJob;
}
type Next = { ask?: Ask[]; wait?: true; done?: Driven };

/** Not `setTimeout` itself: fake clocks put theirs in its place later. */
const TIMERS: Timers = {
  set: (work, ms) => setTimeout(work, ms),
  clear: (timer) => clearTimeout(timer),
};

/**
 * Runs one compaction to its end. Never throws for a summarizer: whatever one does, or does not do, is an attempt in the outcome.
 * Ends within its deadlines also where a summarizer never settles; what settles late is ignored.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`, `MALFORMED_MESSAGE`, `INSTANCE_LOST`.
 */
export async function drive(job: Drive): Promise<Driven> {
  const { summarizers, signal, redact, timers = TIMERS } = job;
  const started = {
    ...job.options,
    nonce: compactions.call("compact", () => glue.nonce()),
    summarizers: summarizers.length,
    redact: redact !== false,
  };
  const options = argumentJson(started, "summary");
  const engine = new Handle(
    () => compactions.call("compact", () => new glue.Compaction(compactions.send(options))),
    compactions,
  );
  const call = <T>(work: (engine: glue.Compaction) => T): T => {
    if (!engine.isAlive) throw lost("compact", undefined);
    return compactions.call("compact", () => work(engine.value));
  };
  const open = new Set<AbortController>();
  let wake = (): void => {};
  let broken: { error: unknown } | undefined;
  /** Tells the engine what came, from wherever that comes, and wakes who waits for it. */
  const run = (work: (engine: glue.Compaction) => void): void => {
    try {
      call(work);
    } catch (error) {
      broken ??= { error };
    }
    wake();
  };
  const stop = (why: string): void => run((own) => own.stop(compactions.send(why)));
  const aborted = (): void => stop("aborted");
  let total: unknown;
  try {
    for (const message of job.messages) call((own) => own.push(compactions.send(message)));
    const [silenceMs, totalMs] = JSON.parse(call((own) => own.deadlines()));
    const cleaned = (text: string): string => {
      const clean: unknown = typeof redact === "function" ? redact(text) : text;
      if (typeof clean === "string") return clean;
      throw invalid("summary.redact", "a function that returns a string", clean);
    };
    total = timers.set(() => stop("timeout"), totalMs);
    signal?.addEventListener("abort", aborted, { once: true });
    if (signal?.aborted) aborted();
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        wake = resolve;
      });
      if (broken) throw broken.error;
      const next = JSON.parse(call((own) => own.step())) as Next;
      if (next.done) return next.done;
      for (const { id, summarizer, job } of next.ask ?? []) {
        const control = new AbortController();
        open.add(control);
        const summarize = summarizers[summarizer] as Summarizer;
        put(summarize, job, { control, cleaned, silenceMs, timers }).then((came) => {
          // Nobody waits for it any more.
          if (!open.delete(control)) return;
          const json = wellFormed(JSON.stringify(came));
          run((own) => own.answer(id, compactions.send(json)));
        });
      }
      await woken;
    }
  } finally {
    timers.clear(total as never);
    signal?.removeEventListener("abort", aborted);
    const waiting = [...open];
    open.clear();
    for (const control of waiting) control.abort(new DOMException("not needed", "AbortError"));
    engine.free();
  }
}

/** Whether a checkpoint is due by the figures of a session, and what is to be kept from then on, as JSON. */
export function checkpointDue(figures: object): { due: boolean; from: number; state: object } {
  const json = argumentJson(figures, "checkpoints");
  return JSON.parse(
    compactions.call("prepare", () => glue.checkpoint_due(compactions.send(json))),
  ) as { due: boolean; from: number; state: object };
}

/** What is to be kept once a checkpoint has come, as JSON. */
export function checkpointTaken(came: object): string {
  const json = argumentJson(came, "checkpoint");
  return compactions.call("prepare", () => glue.checkpoint_taken(compactions.send(json)));
}

interface Put {
  control: AbortController;
  cleaned: (text: string) => string;
  silenceMs: number;
  timers: Timers;
}

/** Asks one summarizer; what came of it, whatever that is. Settles with its silence at the latest. */
function put(summarize: Summarizer, job: SummaryJob, how: Put): Promise<object> {
  const { control, cleaned, silenceMs, timers } = how;
  return new Promise((resolve) => {
    let timer: unknown;
    let settled = false;
    const settle = (came: object): void => {
      settled = true;
      timers.clear(timer as never);
      resolve(came);
    };
    const silent = (): void => {
      settle({ failed: "timeout", detail: `nothing came for ${silenceMs} ms` });
      control.abort(new DOMException("the summarizer was silent", "TimeoutError"));
    };
    const alive = (): void => {
      if (settled) return;
      timers.clear(timer as never);
      timer = timers.set(silent, silenceMs);
    };
    control.signal.addEventListener("abort", () => settle({ failed: "aborted" }), { once: true });
    alive();
    answer(summarize, job, cleaned, { signal: control.signal, alive }).then(settle);
  });
}

/** What a summarizer gives or throws. */
async function answer(
  summarize: Summarizer,
  job: SummaryJob,
  cleaned: (text: string) => string,
  control: SummaryControl,
): Promise<object> {
  try {
    const previous = job.previousSummary;
    const safe: SummaryJob = {
      ...job,
      system: cleaned(job.system),
      prompt: cleaned(job.prompt),
      previousSummary: previous === null ? null : cleaned(previous),
    };
    const came: unknown = await summarize(safe, control);
    const result = typeof came === "string" ? { text: came } : (came as Partial<SummaryResult>);
    const { text, finishReason } = result ?? {};
    const finish = typeof finishReason === "string" ? finishReason : null;
    const chars = typeof text === "string" ? text.length : 0;
    // The engine refuses it by its length.
    const isRead = typeof text === "string" && chars <= job.maxOutputChars;
    return { text: isRead ? cleaned(text) : null, chars, finishReason: finish };
  } catch (error) {
    return { failed: "threw", error: seen(error) };
  }
}
