/** Views of a session at its calls, which replays and recorded views share. */
import { objectOf, onlyKnown } from "../core/arguments.js";
import { disposed, invalid } from "../core/errors.js";
import { Handle } from "../core/handle.js";
import type * as glue from "../glue/sessions_bg.js";
import type {
  Bucket,
  FindOptions,
  FoundMessage,
  InspectReport,
  ListedMessage,
  MessageTable,
  SessionFile,
} from "../types.js";
import { countOf } from "./opened.js";
import { reportOf } from "./recording.js";
import { call, send, sessions } from "./wasm.js";

/** In the order of their numbers in the core. */
const STATES: MessageTable["states"] = [
  ...(["kept", "capped", "stubbed"] as const),
  ...(["thinned", "summarized", "dropped"] as const),
];
const MOST_HITS = 10_000;

/** A session, and how to bring it to one of its calls. */
export abstract class Views {
  abstract readonly calls: ReadonlyArray<{ sent: number }>;
  protected readonly session: SessionFile;
  protected readonly recording: () => glue.Recording;
  /** What an error calls it. */
  readonly #name: string;
  #isOver = false;
  /** The session at the call that was asked for last. */
  #last: { at: number; handle: Handle<glue.AtCall> } | undefined;

  constructor(name: string, session: SessionFile, recording: () => glue.Recording) {
    this.#name = name;
    this.session = session;
    this.recording = recording;
  }

  composition(at?: number): Bucket[] {
    const { value } = this.standing("composition", at);
    return JSON.parse(call("composition", () => value.buckets())) as Bucket[];
  }

  messages(at?: number): ListedMessage[] {
    const { value } = this.standing("messages", at);
    return JSON.parse(call("messages", () => value.list())) as ListedMessage[];
  }

  table(at?: number): MessageTable {
    const { value } = this.standing("table", at);
    const all = call("table", () => value.table());
    const buckets = JSON.parse(call("table", () => value.table_buckets())) as string[];
    const length = all.length / 5;
    const column = (number: number) => all.subarray(number * length, (number + 1) * length);
    return {
      tokens: column(0),
      sent: column(1),
      state: column(2),
      turn: column(3),
      bucket: column(4),
      states: [...STATES],
      buckets,
    };
  }

  find(text: string, options: FindOptions = {}): FoundMessage[] {
    this.refuseDisposed("find");
    if (typeof text !== "string") throw invalid("text", "a string", text);
    const { ignoreCase = false, limit = MOST_HITS } = onlyKnown("options", options, [
      "ignoreCase",
      "limit",
    ]) as FindOptions;
    if (!Number.isSafeInteger(limit) || limit < 0)
      throw invalid("limit", "a number of hits", limit);
    const most = Math.min(limit, 2 ** 32 - 1);
    const found = call("find", () => this.recording().find(send(text), ignoreCase, most));
    return JSON.parse(found) as FoundMessage[];
  }

  text(index: number): string {
    this.refuseDisposed("text");
    const isIndex = Number.isInteger(index) && index >= 0 && index < countOf(this.session);
    return isIndex ? call("text", () => this.recording().text(index)) : "";
  }

  report(at?: number, options: { detailKey?: string } = {}): InspectReport {
    const { detailKey } = objectOf("options", options);
    const { value } = this.standing("report", at);
    const { sent = 0 } = this.calls[this.#last?.at ?? -1] ?? {};
    return reportOf(this.session, this.recording(), value, sent, detailKey);
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.forget();
  }

  /** Makes the session at a call. */
  protected abstract at(call: number): glue.AtCall;

  /** The number of a call; the last if none is asked for. */
  protected numberOf(at: number = this.calls.length - 1): number {
    const isCall = Number.isInteger(at) && at >= 0 && at < this.calls.length;
    if (this.calls.length > 0 && !isCall)
      throw invalid("call", `0 to ${this.calls.length - 1}`, at);
    return Math.max(at, 0);
  }

  /** The session at a call. */
  protected standing(during: string, asked?: number): Handle<glue.AtCall> {
    this.refuseDisposed(during);
    const at = this.numberOf(asked);
    if (this.#last?.at !== at || !this.#last.handle.isAlive) {
      this.forget();
      this.#last = { at, handle: new Handle(() => call(during, () => this.at(at)), sessions) };
    }
    return this.#last.handle;
  }

  protected forget(): void {
    this.#last?.handle.free();
    this.#last = undefined;
  }

  protected refuseDisposed(during: string): void {
    if (this.#isOver) throw disposed(during, this.#name);
  }
}
