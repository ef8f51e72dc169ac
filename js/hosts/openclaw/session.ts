/** One session: its manager, its transcript, and what the host has told of its sizes. */
import { ContextManager } from "../../session/context.js";
import type {
  CompactionOutcome,
  CompactionRecord,
  ContextManagerOptions,
  Parts,
  Prepared,
} from "../../types.js";
import { thinkingWithoutHints } from "../providers.js";
import { Figures } from "./figures.js";
import type {
  AssembleCall,
  CommitCall,
  CompactCall,
  HostMessage,
  Llm,
  ReadPage,
  SessionTarget,
} from "./host.js";
import type { Mirror } from "./mirror.js";
import type { Model } from "./models.js";
import { Resets } from "./resets.js";
import { definitions, RECALL } from "./tools.js";
import { Transcript, textOf } from "./transcript.js";

/**
 * Share of the usable window above which a turn ends with a fold, also if another turn of its size would not fit: the host lends its
 * model for a summary only between turns, so that a fold within one has none. Below it folds are cheaper and too many: at 80 % of what
 * the host takes for usable, which has a larger reserve, 60 turns of 32,000 tokens had 25 epochs instead of 16, and 32 summaries instead of 13.
 */
const FOLD_ABOVE = 0.8;
/** Advancement keys that are remembered; the host delivers a turn again before the next one. */
const KEYS = 64;
/** A turn without a call for so long was given up. */
const LONGEST_WAIT_MS = 3_600_000;

/** What all sessions have in common. */
export interface Shared {
  /** Options of the manager of a session. */
  options(session: Session): ContextManagerOptions<HostMessage>;
  /** Texts of the user that are pinned. */
  patterns: readonly RegExp[];
  /** Texts of files that are pinned. */
  texts: readonly string[];
}

export class Session {
  readonly id: string;
  context!: ContextManager<HostMessage>;
  transcript: Transcript = new Transcript();
  readonly figures: Figures = new Figures();
  readonly resets: Resets = new Resets();
  /** Its manager was opened in a store. */
  isStored = false;
  /** Key of the conversation, which a later session may take over. */
  key: string | undefined;
  /** When the last request was made, in epoch milliseconds. */
  lastRequest = 0;
  /** Where the host keeps its transcript. */
  target: SessionTarget | undefined;
  /** The transcript has all that the host's has. */
  isRead = false;
  /** A turn's first call was seen. */
  hasBegun = false;
  /** Model of the turn. */
  model = "";
  /** The host's model; usable while the hook runs that lent it. */
  llm: Llm | undefined;
  /** Number of hooks that use it now. */
  busy = 0;
  /** Number of hooks that have used it. */
  uses = 0;
  /** A turn was committed since the last maintenance. */
  hasTurn = false;
  readonly #shared: Shared;
  readonly #pinned = new Set<string>();
  readonly #advanced = new Set<string>();
  /** Window, reserve and provider that the manager knows. */
  #known = "";
  #provider: Model["provider"];
  /** The model has the tool that brings removed text back, so that the lines that stand for such text may name it. */
  #canRecall: boolean | undefined;
  /** Requests of the turn, in order. */
  #requests: Prepared<HostMessage>[] = [];

  constructor(id: string, shared: Shared) {
    this.id = id;
    this.#shared = shared;
  }

  /** A turn waits for its model or a tool. */
  get isInTurn(): boolean {
    return this.#requests.length > 0 && Date.now() - this.lastRequest < LONGEST_WAIT_MS;
  }

  /** Begins where another session is now. */
  fork(parent: Session): void {
    const options = this.#shared.options(this);
    this.context = ContextManager.restore(parent.context.snapshot(), options);
    this.transcript = parent.transcript.copy();
    this.isRead = true;
  }

  /** Begins with an empty history, after a reset, under another manager. */
  renew(): void {
    this.transcript = new Transcript();
    this.isRead = false;
    this.hasTurn = false;
    this.#pinned.clear();
    this.#known = "";
    this.#requests = [];
  }

  /** The request of a turn's first call, whose messages are the history before the turn. */
  begin(call: AssembleCall, model: Model): Prepared<HostMessage> {
    this.transcript.follow(call.messages);
    this.hasBegun = true;
    this.model = model.name;
    const reserve = call.runtimeSettings?.limits?.maxOutputTokens;
    this.figures.begin(call.tokenBudget ?? 0, reserve, call.prompt, model);
    this.#provider = model.provider ?? this.#provider;
    // A turn's first call also names tools that the model has to search for: a later one knows better.
    this.#canRecall ??= call.availableTools?.has(RECALL);
    this.#requests = [];
    return this.#request();
  }

  /** The request of a later call. The host appends the turn's messages itself; as history it shows what we returned last. */
  go(call: AssembleCall, window: number | undefined): Prepared<HostMessage> {
    this.figures.go(call.tokenBudget, window);
    this.#canRecall = call.availableTools?.has(RECALL) ?? this.#canRecall;
    return this.#request();
  }

  /** Appends an accepted turn. False: it is known, the host delivers it again. */
  advance(call: CommitCall): boolean {
    if (this.#advanced.has(call.advancementKey)) return false;
    this.#observe(call.messages);
    for (const message of call.messages) this.transcript.append(message);
    this.#advanced.add(call.advancementKey);
    for (const key of this.#advanced) {
      if (this.#advanced.size > KEYS) this.#advanced.delete(key);
    }
    this.#requests = [];
    this.figures.end();
    this.hasTurn = true;
    return true;
  }

  /**
   * Takes the usage of the turn's answers. Of later ones the host has only estimated the turn's own messages, so that they count only after
   * an overflow, to show how much is accepted; the first is taken last.
   */
  #observe(messages: readonly HostMessage[]): void {
    // The turn's first call counts the history; the next one is what the first answer that is new was made from.
    const requests = this.#requests.length > 1 ? this.#requests.slice(1) : this.#requests;
    const answers = messages.filter((one) => isAnswer(one) && !this.transcript.has(one));
    const isLimited = this.context.status().usable < this.figures.usable;
    const counted = isLimited ? answers.slice(0, requests.length) : answers.slice(0, 1);
    for (const [at, answer] of [...counted.entries()].reverse()) {
      const of = requests[at];
      if (of) this.context.observe(answer.usage, of);
    }
  }

  /** Folds with a summary if that is due or soon will be. `null`: neither. */
  async foldIfNear(signal: AbortSignal | undefined): Promise<CompactionOutcome | null> {
    const history = this.transcript.list();
    if (history.length === 0 || this.context.status().blocked) return null;
    const parts = this.#parts(signal);
    const plan = this.context.plan(history, parts);
    const isDue = plan.outcome === "summarize";
    const { usable, turn } = this.figures;
    const isNear = plan.tokensBefore > Math.min(FOLD_ABOVE * usable, usable - turn);
    if (!isDue && !isNear) return null;
    return this.context.compact(history, { ...parts, force: !isDue });
  }

  /** Compacts now, because the user or the host wants it. */
  compact(call: CompactCall): Promise<CompactionOutcome> {
    const focus = call.customInstructions?.trim() || undefined;
    const parts = this.#parts(call.abortSignal);
    return this.context.compact(this.transcript.list(), { ...parts, force: true, focus });
  }

  /** A smaller request after the provider has refused one; `null` if there is none. */
  recover(call: CompactCall): Promise<Prepared<HostMessage> | null> {
    const { currentTokenCount: inputTokens, tokenBudget: limit } = call;
    const overflow = {
      ...(isSize(inputTokens) && { inputTokens }),
      ...(isSize(limit) && { limit }),
    };
    const parts = this.#parts(call.abortSignal);
    return this.context.recover(this.transcript.list(), overflow, parts);
  }

  /** What would be sent now. */
  sent(): Prepared<HostMessage> {
    return this.context.request(this.transcript.list(), this.#parts());
  }

  async save(): Promise<void> {
    if (this.isStored) await this.context.save();
  }

  #request(): Prepared<HostMessage> {
    this.#pin();
    const prepared = this.sent();
    this.lastRequest = Date.now();
    this.#requests.push(prepared);
    return prepared;
  }

  /** The host appends its prompt itself, and what else it sends is known as a number only. */
  #parts(signal?: AbortSignal): Parts {
    this.#follow();
    const tools = this.#canRecall ? definitions().filter(({ name }) => name === RECALL) : undefined;
    return { open: true, unseenTokens: this.figures.unseen, tools, signal };
  }

  /** The manager hears of another model. */
  #follow(): void {
    const { window: contextTokens, reserve: maxOutputTokens } = this.figures;
    const provider = this.#provider;
    const model = `${contextTokens} ${maxOutputTokens} ${provider}`;
    if (contextTokens === 0 || model === this.#known) return;
    this.context.setModel({
      window: { contextTokens, maxOutputTokens },
      ...(provider && { provider, thinking: thinkingWithoutHints(provider) }),
    });
    this.#known = model;
  }

  /** Reads the messages that the host has from before this process. They precede the messages that are known. */
  async read(
    page: ReadPage,
    mirror: Mirror | undefined,
    shown: readonly HostMessage[],
  ): Promise<void> {
    // Its window has left behind all that is known: turns of another engine or process lie between.
    if (shown.length > 0 && !shown.some((one) => this.transcript.has(one))) this.isRead = false;
    if (this.isRead || !this.target) return;
    const full = new Transcript();
    const originals = (await mirror?.originals(this.id)) ?? new Map();
    if (!(await full.read(page, this.target, originals, this.resets.ended))) return;
    for (const message of this.transcript.list()) full.append(message);
    this.transcript = full;
    this.isRead = true;
  }

  /** Pins what the settings name, before a request that could remove it. */
  #pin(): void {
    const { patterns, texts } = this.#shared;
    for (const text of texts) this.#pinOnce(text, { text });
    if (patterns.length === 0) return;
    const history = this.transcript.list();
    const isPinned = (text: string): boolean => patterns.some((pattern) => pattern.test(text));
    let isKnown = false;
    for (const [index, message] of history.entries()) {
      const text = message.role === "user" ? textOf(message) : "";
      if (!text || this.#pinned.has(text) || !isPinned(text)) continue;
      // A plan makes the manager know the history, and changes nothing of it.
      if (!isKnown) this.context.plan(history, this.#parts());
      isKnown = true;
      this.#pinOnce(text, { index });
    }
  }

  #pinOnce(text: string, what: { text: string } | { index: number }): void {
    if (this.#pinned.has(text)) return;
    this.context.pin(what);
    this.#pinned.add(text);
  }
}

/** The messages of a history that a fold removed. */
export function removedFrom(
  history: readonly HostMessage[],
  { firstKeptIndex, kept }: CompactionRecord,
): HostMessage[] {
  const isKept = (index: number): boolean => kept.some(([from, to]) => index >= from && index < to);
  return history.slice(0, firstKeptIndex).filter((_, index) => !isKept(index));
}

function isAnswer({ role, usage, stopReason }: HostMessage): boolean {
  return role === "assistant" && !!usage && stopReason !== "error" && stopReason !== "aborted";
}

const isSize = (tokens: number | undefined): tokens is number =>
  tokens !== undefined && Number.isFinite(tokens) && tokens >= 1;
