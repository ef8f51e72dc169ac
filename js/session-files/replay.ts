/** Replay of sessions under a policy. */
import { disposed, invalid } from "../core/errors.js";
import { Handle } from "../core/handle.js";
import { call, core, send } from "../core/main.js";
import type * as glue from "../glue/plimsoll_bg.js";
import { coreOptions } from "../session/options.js";
import type {
  Bucket,
  InspectReport,
  ListedMessage,
  Replay,
  ReplayCall,
  ReplayOptions,
  ReplayTotals,
  SessionFile,
} from "../types.js";
import { recordingOf, reportOf } from "./recording.js";

/**
 * Replays a session call by call under a policy, without calling a model. The session is measured once for each estimator; further
 * replays of the same object reuse the measures.
 *
 * @param session session from `readSession`
 * @throws {PlimsollError} `MALFORMED_MESSAGE`, `INVALID_ARGUMENT`.
 * @example
 * using run = replay(readSession(bytes), { window: { contextTokens: 64_000 } });
 * run.totals.bill; // price of all requests, in uncached input tokens
 */
export function replay(session: SessionFile, options: ReplayOptions): Replay {
  const { signal, ...policy } = options;
  signal?.throwIfAborted();
  const { estimator = "generic" } = policy;
  const json = coreOptions(policy);
  const recording = (): glue.Recording => recordingOf(session, estimator);
  const play = (last?: number): Handle<glue.Replay> =>
    new Handle(() => {
      const value = recording();
      return call("replay", () => value.replay(send(json), last));
    }, core);
  return new Played(session, recording, play);
}

class Played implements Replay {
  readonly calls: ReplayCall[];
  readonly totals: ReplayTotals;
  readonly #session: SessionFile;
  readonly #recording: () => glue.Recording;
  readonly #play: (last?: number) => Handle<glue.Replay>;
  #handle: Handle<glue.Replay> | undefined;
  #isOver = false;
  /** The call at which the handle stands. */
  #at: number;

  constructor(
    session: SessionFile,
    recording: () => glue.Recording,
    play: (last?: number) => Handle<glue.Replay>,
  ) {
    this.#session = session;
    this.#recording = recording;
    this.#play = play;
    const handle = play();
    this.#handle = handle;
    const [calls, totals] = JSON.parse(call("replay", () => handle.value.calls())) as [
      ReplayCall[],
      ReplayTotals & Record<"recall" | "farRecall" | "contentRecall" | "userText", Share>,
    ];
    this.calls = calls.map((one) => ({ ...one, bill: one.bill / 1000 }));
    this.totals = {
      ...totals,
      bill: totals.bill / 1000,
      unmanagedBill: totals.unmanagedBill / 1000,
      recall: share(totals.recall),
      farRecall: share(totals.farRecall),
      contentRecall: share(totals.contentRecall),
      userText: share(totals.userText),
    };
    this.#at = this.calls.length - 1;
  }

  composition(at?: number): Bucket[] {
    const { value } = this.#standing("composition", at);
    return JSON.parse(call("replay", () => value.buckets())) as Bucket[];
  }

  messages(at?: number): ListedMessage[] {
    const { value } = this.#standing("messages", at);
    return JSON.parse(call("replay", () => value.list())) as ListedMessage[];
  }

  text(index: number): string {
    const { value } = this.#standing("text", this.#at < 0 ? undefined : this.#at);
    return call("text", () => this.#recording().text(value, index));
  }

  report(at?: number, options: { detailKey?: string } = {}): InspectReport {
    const { value } = this.#standing("report", at);
    const sent = this.calls[this.#at]?.sent ?? 0;
    return reportOf(this.#session, this.#recording(), value, sent, options.detailKey);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#handle?.free();
    this.#handle = undefined;
  }

  /** A replay that stands at call `at`: it is played again up to there if it stands elsewhere. */
  #standing(during: string, at: number = this.calls.length - 1): Handle<glue.Replay> {
    if (this.#isOver) throw disposed(during, "replay");
    if (!Number.isInteger(at) || (at < 0 && this.calls.length > 0) || at >= this.calls.length) {
      if (this.calls.length > 0) throw invalid("call", `0 to ${this.calls.length - 1}`, at);
    }
    if (!this.#handle?.isAlive || this.#at !== at) {
      this.#handle?.free();
      this.#handle = this.#play(Math.max(at, 0));
      this.#at = at;
    }
    return this.#handle;
  }
}

type Share = { found: number; wanted: number } & number;

function share({ found, wanted }: { found: number; wanted: number }): number | null {
  return wanted === 0 ? null : found / wanted;
}
