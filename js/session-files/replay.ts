/** Replay of sessions under a policy. */
import { outcomeOf, type Sized } from "../compaction/outcome.js";
import { objectOf, onlyKnown, refuseAborted } from "../core/arguments.js";
import { invalid } from "../core/errors.js";
import { Handle } from "../core/handle.js";
import { messageJson } from "../core/json.js";
import type * as glue from "../glue/sessions_bg.js";
import type { Item } from "../session/answer.js";
import { coreOptions } from "../session/options.js";
import { indexesOf, View } from "../session/view.js";
import type {
  Explanation,
  InspectReport,
  Layers,
  MessageChange,
  Replay,
  ReplayCall,
  ReplayEvent,
  ReplayOptions,
  ReplayTotals,
  SentMessages,
  SessionFile,
} from "../types.js";
import { countOf, someOf } from "./opened.js";
import { recordingOf, reportOf } from "./recording.js";
import { Views } from "./views.js";
import { call, send, sessions } from "./wasm.js";

/**
 * Replays a session call by call under a policy, without calling a model. The session is measured once for each estimator; further
 * replays of the same object reuse the measures.
 *
 * If the file has the provider's counts, tokens are the provider's, and what the file does not contain, such as a system prompt, is
 * counted (`calibrate`, `unseenTokens`).
 *
 * A message that is not of the session's format is in no request; `session.receipt.unreadable` names it.
 *
 * @param session session from `readSession`
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * using run = replay(readSession(bytes), { window: { contextTokens: 64_000 } });
 * run.totals.bill; // price of all requests, in uncached input tokens
 */
export function replay(session: SessionFile, options: ReplayOptions): Replay {
  const own = objectOf("options", options);
  const { signal, calls = Number.POSITIVE_INFINITY, unseenTokens, summaryTokens, ...policy } = own;
  refuseAborted("options.signal", signal);
  const { estimator = "generic", calibrate = true } = policy;
  const recording = (): glue.Recording => recordingOf(session, estimator);
  const ofFile = (): number => call("replay", () => recording().summary_tokens(calibrate));
  const found = {
    unseenTokens: amountOr("usage", () => undefined, "unseenTokens", unseenTokens),
    summaryTokens: amountOr("file", ofFile, "summaryTokens", summaryTokens),
  };
  const json = coreOptions({ ...policy, ...found } as typeof policy);
  const played = new Played(session, recording, json, found.summaryTokens ?? 0);
  played.advance(calls);
  return played;
}

/** An amount of tokens, or what `word` stands for. The core refuses amounts that are none. */
function amountOr<T>(
  word: string,
  found: () => T,
  name: string,
  value: number | string | undefined,
): number | T | undefined {
  if (value === word) return found();
  if (typeof value === "string") throw invalid(name, `a number of tokens, or "${word}"`, value);
  return value;
}

/** What the core tells of a replay; shares are of two sums. */
type CoreTotals = ReplayTotals &
  Record<"recall" | "farRecall" | "contentRecall" | "userText", Share>;
type Share = { found: number; wanted: number } & number;
type CoreEvent = Pick<ReplayEvent, "call" | "event" | "before" | "after"> & {
  fold: Omit<Sized, "tokensBefore" | "tokensAfter"> | null;
};

/** A factor of 1 in the core. */
const ONE = 10_000;

class Played extends Views implements Replay {
  readonly calls: ReplayCall[] = [];
  /** Filled by `advance`. */
  readonly totals = {} as ReplayTotals;
  readonly calibration: Replay["calibration"];
  readonly summaryTokens: number;
  readonly #options: string;
  #handle: Handle<glue.Replay>;

  constructor(
    session: SessionFile,
    recording: () => glue.Recording,
    options: string,
    summaryTokens: number,
  ) {
    super("replay", session, recording);
    this.#options = options;
    this.summaryTokens = summaryTokens;
    this.#handle = this.#begin();
    const { value } = this.#handle;
    const json = call("replay", () => value.calibration());
    const [factor, unseenTokens] = JSON.parse(json) as [number, number];
    const isEstimate = factor === ONE && unseenTokens === 0;
    this.calibration = isEstimate ? null : { factor: factor / ONE, unseenTokens };
  }

  advance(calls: number): { done: boolean; call: number } {
    this.refuseDisposed("advance");
    const isAmount = calls === Number.POSITIVE_INFINITY || Number.isSafeInteger(calls);
    if (!isAmount || calls < 0) throw invalid("calls", "a number of calls", calls);
    const { value } = this.#standingReplay();
    const done = this.#play(value, calls);
    const [more, totals] = this.#played();
    this.calls.push(...more);
    Object.assign(this.totals, totals);
    this.forget();
    return { done, call: this.calls.length };
  }

  layers(): Layers {
    this.refuseDisposed("layers");
    const { value } = this.#standingReplay();
    const names = JSON.parse(call("layers", () => value.layer_names())) as string[];
    return { names, tokens: call("layers", () => value.layers()) };
  }

  changes(from = 0, to: number = this.calls.length - 1): MessageChange[] {
    this.refuseDisposed("changes");
    const [first, last] = [this.numberOf(from), this.numberOf(to)];
    const { value } = this.#standingReplay();
    return JSON.parse(call("changes", () => value.changes(first, last))) as MessageChange[];
  }

  events(): ReplayEvent[] {
    this.refuseDisposed("events");
    const { value } = this.#standingReplay();
    const events = JSON.parse(call("events", () => value.events())) as CoreEvent[];
    return events.map(({ fold, ...event }) => {
      const { call, before: tokensBefore, after: tokensAfter } = event;
      const record = fold && outcomeOf({ ...fold, tokensBefore, tokensAfter }).record;
      return { ...event, changes: this.changes(call, call), record };
    });
  }

  explain(index: number, at?: number): Explanation {
    const { value } = this.standing("explain", at);
    const isIndex = Number.isInteger(index) && index >= 0;
    const asked = isIndex ? Math.min(index, 2 ** 32 - 1) : 2 ** 32 - 1;
    return JSON.parse(call("explain", () => value.explain(asked))) as Explanation;
  }

  sent(at?: number): SentMessages {
    const { value } = this.standing("sent", at);
    const items = JSON.parse(call("sent", () => value.sent())) as Item[];
    const view = new View<unknown>(
      undefined,
      () => undefined,
      () => null,
    );
    const numbers = items.flatMap(indexesOf);
    const history = someOf(this.session, numbers);
    view.take(view.carried({ keep: 0, items }, history), history);
    const { messages, source } = view;
    const edited = view.shown.map(({ isEdited }) => isEdited);
    const text = (place: number): string => {
      const message = messages[place];
      if (message === undefined) return "";
      const json = messageJson(message, place);
      return call("text", () => this.recording().text_of(send(json), place));
    };
    return { messages, source, edited, text };
  }

  next(options: { idleMs?: number } = {}): { report: InspectReport; changes: MessageChange[] } {
    this.refuseDisposed("next");
    const { idleMs = 0 } = onlyKnown("options", options, ["idleMs"]) as typeof options;
    if (!(idleMs >= 0 && idleMs < 2 ** 32))
      throw invalid("idleMs", `0 to ${2 ** 32 - 1} milliseconds`, idleMs);
    if (this.calls.length < this.session.calls.length)
      throw invalid("next", "a replay of all calls", `one of ${this.calls.length} calls`);
    const { value } = this.#standingReplay();
    const at = new Handle(
      () => call("next", () => this.recording().next(value, Math.floor(idleMs))),
      sessions,
    );
    try {
      const changes = JSON.parse(call("next", () => value.next_changes())) as MessageChange[];
      const all = countOf(this.session);
      const report = reportOf(this.session, this.recording(), at.value, all, undefined);
      return { report, changes };
    } finally {
      at.free();
    }
  }

  override [Symbol.dispose](): void {
    super[Symbol.dispose]();
    this.#handle.free();
  }

  protected at(number: number): glue.AtCall {
    const { value } = this.#standingReplay();
    return this.recording().at_call(value, number);
  }

  #begin(): Handle<glue.Replay> {
    const recording = this.recording();
    return new Handle(() => call("replay", () => recording.begin(send(this.#options))), sessions);
  }

  #play(replay: glue.Replay, calls: number): boolean {
    const recording = this.recording();
    return call("replay", () => recording.advance(replay, Math.min(calls, 2 ** 32 - 1)));
  }

  /** The replay in the core: played again as far as it was if its instance was lost. */
  #standingReplay(): Handle<glue.Replay> {
    if (!this.#handle.isAlive) {
      this.#handle = this.#begin();
      this.#play(this.#handle.value, this.calls.length);
    }
    return this.#handle;
  }

  /** The calls that were played since, and the totals of all. */
  #played(): [ReplayCall[], ReplayTotals] {
    const { value } = this.#handle;
    const json = call("replay", () => value.calls(this.calls.length));
    const [calls, totals] = JSON.parse(json) as [ReplayCall[], CoreTotals];
    return [
      calls.map((one) => ({ ...one, bill: one.bill / 1000 })),
      {
        ...totals,
        bill: totals.bill / 1000,
        unmanagedBill: totals.unmanagedBill / 1000,
        summaryBill: totals.summaryBill / 1000,
        recall: share(totals.recall),
        farRecall: share(totals.farRecall),
        contentRecall: share(totals.contentRecall),
        userText: share(totals.userText),
      },
    ];
  }
}

function share({ found, wanted }: { found: number; wanted: number }): number | null {
  return wanted === 0 ? null : found / wanted;
}
