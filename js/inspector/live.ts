/** A live session: the page asks for its report again and again, and shows what changed. */
import { batch, effect } from "@preact/signals";
import type { ListedMessage } from "../generated.js";
import type { InspectReport } from "../types.js";
import { show } from "./actions.js";
import type { Asked } from "./client.js";
import {
  factsOf,
  type LiveCall,
  layersOf,
  type Point,
  pointOf,
  standingOf,
} from "./live-report.js";
import { type LiveSource, meetEmbedder, overHttp, type Target } from "./live-source.js";
import type { Detail, Operation, Operations } from "./protocol.js";
import * as state from "./state.js";
import { oneLine } from "./words.js";

/** Milliseconds between two questions; after failures up to the second. */
const PAUSE = { least: 2_000, most: 15_000 };
const TIMEOUT = 15_000;
/** Messages and calls in one answer. */
const PAGE = 500;
/** Requests of which the page remembers the messages. */
const MOST_POINTS = 300;
/** Longest text that is shown in one piece. */
const MOST_CHARS = 400_000;

/** A report, with the calls if the session has some; `null` if it shows its last request alone. */
interface FullReport {
  report: InspectReport;
  calls: LiveCall[] | null;
}

class Refusal extends Error {
  readonly param: unknown;

  constructor({ message, data }: { message: string; data?: { param?: unknown } }) {
    super(message);
    this.param = data?.param;
  }
}

let following: LiveSession | undefined;
let asked = 0;

/** Follows the session that the address names. */
export function follow(target: Target): void {
  if (target.kind === "gateway") start(overHttp(target.url), target.session);
  else {
    state.live.value = { ...NONE, name: "the page around", from: target.origin };
    meetEmbedder(target.origin, start);
  }
}

const NONE = { name: "", from: "", lastAt: null, isStopped: false, error: "" };

function start(source: LiveSource, session: string): void {
  following?.close();
  // The session on the page is another one: it must not stand under this name until this one answers.
  state.session.peek()?.client.close();
  state.session.value = null;
  following = new LiveSession(source, session);
  state.live.value = { ...NONE, name: session, from: source.name };
  following.resume();
}

/** Opening a file stops following a live session, even one that has not answered yet: its answer would replace the file. */
effect(() => {
  if (state.session.value?.isLive !== false) return;
  following?.stop();
  following = undefined;
  state.live.value = null;
});

/** Stops to ask, or begins again. */
export function toggleLive(): void {
  const live = state.live.peek();
  if (!live) return;
  if (live.isStopped) following?.resume();
  else following?.stop();
}

class LiveSession implements Asked {
  readonly #source: LiveSource;
  readonly #session: string;
  readonly #points: Point[] = [];
  #full: FullReport | undefined;
  /** The last report without its lists: if it is the same again, nothing else is asked for. */
  #last = "";
  #hasCalls: boolean | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #round = 0;
  #failures = 0;

  constructor(source: LiveSource, session: string) {
    this.#source = source;
    this.#session = session;
  }

  resume(): void {
    this.#round += 1;
    this.#update({ isStopped: false, error: "" });
    void this.#poll(this.#round);
  }

  stop(): void {
    this.#round += 1;
    clearTimeout(this.#timer);
    this.#update({ isStopped: true });
  }

  close(): void {
    this.stop();
  }

  async ask<O extends Operation>(
    operation: O,
    input: Operations[O]["takes"],
  ): Promise<Operations[O]["gives"]> {
    const answer = ANSWERS[operation];
    if (!answer) throw new Error("a live session does not have this");
    return (await answer(this, input as never)) as Operations[O]["gives"];
  }

  /** What was seen of a call; asked for, if the session keeps its calls. */
  async standing(call: number): Promise<Operations["standing"]["gives"]> {
    const point = this.#points[call];
    if (!this.#hasCalls && point) return standingOf(point, call);
    return standingOf(pointOf(await this.reportAt(call), 0), call);
  }

  newest(): InspectReport {
    if (!this.#full) throw new Error("there was no answer yet");
    return this.#full.report;
  }

  async reportAt(call: number): Promise<InspectReport> {
    const calls = this.#full?.calls;
    if (!calls || call === calls.length - 1) return this.newest();
    return (await this.#read(["messages", "sections"], call)).report;
  }

  async detail(call: number, index: number): Promise<Detail> {
    const params = { detailKey: `message:${index}`, include: [], ...this.#at(call) };
    const [answer, report] = await Promise.all([this.#call(params), this.reportAt(call)]);
    const raw = answer.detail?.content ?? "";
    const listed = report.messages[index];
    // Of an earlier request the page knows the figures, and no longer the reasons.
    const isKnown = this.#hasCalls || call === this.#points.length - 1;
    return {
      ...{ index, raw: raw.slice(0, MOST_CHARS), chars: raw.length, sent: null },
      explanation: isKnown && listed ? explained(listed) : null,
    };
  }

  async section(detailKey: string): Promise<string> {
    return (await this.#call({ detailKey, include: [] })).detail?.content ?? "";
  }

  async #poll(round: number): Promise<void> {
    try {
      const brief = JSON.stringify(await this.#call({ include: [] }));
      if (brief !== this.#last) {
        const full = await this.#read(await this.#lists());
        if (round !== this.#round) return;
        this.#last = brief;
        this.#take(full);
      }
      if (round !== this.#round) return;
      this.#failures = 0;
      this.#update({ lastAt: Date.now(), error: "" });
    } catch (error) {
      if (round !== this.#round) return;
      this.#failures += 1;
      this.#update({ error: oneLine((error as Error).message).slice(0, 300) });
    }
    const pause = Math.min(PAUSE.most, PAUSE.least * 2 ** Math.min(this.#failures, 4));
    this.#timer = setTimeout(() => void this.#poll(round), pause);
  }

  /** Adds what is new to the screen. Who looks at the last request goes on to the newest. */
  #take(full: FullReport): void {
    const before = this.#full;
    this.#full = full;
    const { report, calls } = full;
    let dropped = 0;
    if (!calls) {
      const point = pointOf(report, Date.now());
      if (before && isSameRequest(before.report, report)) this.#points.pop();
      this.#points.push(point);
      if (this.#points.length > MOST_POINTS) {
        this.#points.shift();
        dropped = 1;
      }
    }
    const facts = factsOf(report, calls, this.#points);
    const opened = { name: this.#session, client: this, facts, file: null, isLive: true, report };
    const layers = calls ? state.NO_LAYERS : layersOf(this.#points);
    const open = state.session.peek();
    const last = facts.calls.used.length - 1;
    batch(() => {
      if (open?.client !== this) {
        open?.client.close();
        show(opened);
        state.layers.value = layers;
        return;
      }
      const wasLast = state.call.peek() === open.facts.calls.used.length - 1;
      state.session.value = opened;
      state.layers.value = layers;
      state.call.value = wasLast ? last : Math.max(0, Math.min(last, state.call.peek() - dropped));
    });
  }

  async #lists(): Promise<string[]> {
    if (this.#hasCalls === undefined) {
      try {
        await this.#call({ include: ["calls"], limit: 1 });
        this.#hasCalls = true;
      } catch (error) {
        if (!(error instanceof Refusal) || error.param !== "include") throw error;
        this.#hasCalls = false;
      }
    }
    return this.#hasCalls ? ["messages", "calls", "sections"] : ["messages", "sections"];
  }

  /** The parameter for a call of a session that keeps them. */
  #at(call: number | undefined): { call?: number } {
    return this.#hasCalls && call !== undefined ? { call } : {};
  }

  /** Reads a report in pieces. If the session goes on meanwhile, they do not fit, and it is read again. */
  async #read(include: string[], call?: number): Promise<FullReport> {
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const messages: ListedMessage[] = [];
      const calls: LiveCall[] = [];
      let cursor: string | null = null;
      let first: string | undefined;
      do {
        const params = { include, limit: PAGE, ...(cursor === null ? {} : { cursor }) };
        const piece: Piece = await this.#call({ ...params, ...this.#at(call) });
        const { messages: some, calls: others, nextCursor, ...rest } = piece;
        const sign = JSON.stringify([rest.window, rest.buckets, rest.status]);
        first ??= sign;
        if (sign !== first) break;
        messages.push(...(some ?? []));
        calls.push(...(others ?? []));
        cursor = nextCursor ?? null;
        if (cursor === null)
          return {
            report: { ...rest, messages },
            calls: include.includes("calls") ? calls : null,
          };
      } while (cursor !== null);
    }
    throw new Error("the session changes faster than it can be read");
  }

  async #call(params: object): Promise<Piece> {
    asked += 1;
    const request = {
      ...{ jsonrpc: "2.0", id: asked, method: "context.inspect" },
      params: { sessionId: this.#session, ...params },
    };
    const answer = await this.#source
      .send(request, AbortSignal.timeout(TIMEOUT))
      .catch((error: Error) => {
        throw error.name === "TimeoutError" ? new Error("there was no answer in time") : error;
      });
    const { result, error } = (answer ?? {}) as {
      result?: Piece;
      error?: ConstructorParameters<typeof Refusal>[0];
    };
    if (error) throw new Refusal(error);
    const isReport =
      result?.schema === "context.inspect/1" && result.window && Array.isArray(result.buckets);
    if (!isReport) throw new Error("the answer is no report of context.inspect");
    return result;
  }

  #update(more: Partial<state.Live>): void {
    const live = state.live.peek();
    if (live && following === this) state.live.value = { ...live, ...more };
  }
}

/** A piece of a report: with the lists that were asked for, and where it goes on. */
type Piece = InspectReport & { calls?: LiveCall[]; nextCursor?: string | null };

/** Compares what was sent. The tokens used say nothing: they change when the provider's count comes. */
function isSameRequest(before: InspectReport, now: InspectReport): boolean {
  const sign = ({ messages, status }: InspectReport) =>
    `${status.epoch} ${messages.map(({ sentTokens }) => sentTokens)}`;
  return sign(before) === sign(now);
}

const explained = (message: ListedMessage): NonNullable<Detail["explanation"]> => ({
  ...{ index: message.index, state: message.state, rule: message.rule, turn: message.turn },
  ...{ tokensBefore: message.tokens, tokensAfter: message.sentTokens, group: message.group },
  ...{ evidence: [], since: null, restore: "" },
});

/** The questions that a live session can answer. */
const ANSWERS: {
  [O in Operation]?: (
    live: LiveSession,
    input: Operations[O]["takes"],
  ) => Operations[O]["gives"] | Promise<Operations[O]["gives"]>;
} = {
  standing: (live, { call }) => live.standing(call),
  report: (live, { call }) => live.reportAt(call),
  detail: (live, { call, index }) => live.detail(call, index),
  section: (live, { key }) => live.section(key),
  // Texts are asked for one by one, when somebody opens a message: each costs the session a report.
  texts: (_, { indices }) => indices.map(() => ""),
  next: (live) => ({
    report: live.newest(),
    changes: null,
  }),
};
