/** A view as the core tells it, carried out on the host's messages. */

import { type Copied, edited, filled, valueAt } from "./carry.js";
import type {
  CompactionOutcome,
  ContextManagerOptions,
  Edit,
  ExtractedContext,
  Op,
  Prepared,
  Violation,
} from "./types.js";

/** A message of a view: a host's message by its index, perhaps edited, or one of ours. */
export type Item =
  | { index: number; ops?: Op[] }
  | {
      make: object;
      copies: Copied[];
      ops?: Op[];
      /** Where its content stands. */
      content: string;
      role: "user" | "assistant" | "tool";
      toolCallId?: string;
      toolName?: string;
    };

/** What the core answers to a request. */
export interface Answer {
  /** So many messages of the last view stand at the start of this one; `items` follow. */
  keep: number;
  items: Item[];
  epoch: number;
  firstChanged: number | null;
  fits: boolean;
  tokens: number;
  /** As we count, whatever the provider's own figures say. */
  estimate: number;
  source: Prepared<unknown>["tokensSource"];
  tokensBefore: number;
  cachedTokensLost: number;
  repairs: Violation[];
  edits: Edit[];
  event: "edit" | "fold" | null;
  /** What room was made, or why none was. */
  outcome: Pick<CompactionOutcome, "status" | "reason" | "tokensBefore" | "tokensAfter"> | null;
  fold: Folded | null;
  foldDue: boolean;
  /** JSON of what the provider must be told. */
  hints: string | null;
  cacheBreakpoints: number[];
  lastGroup: number;
}

/** A fold as a request tells of it. */
export interface Folded {
  id: string;
  at: number;
  firstKept: number;
  kept: Array<[number, number]>;
  head: string;
  summary: string;
  identifiers: string[];
  extracted: Omit<ExtractedContext, "identifiers">;
  lost: string[];
  degraded: boolean;
  /** Messages of which a call or an error went, if nobody has read them yet. */
  went: number[];
}

/** The same, with the request before and with it. */
export interface Sized extends Folded {
  status?: CompactionOutcome["status"];
  tokensBefore: number;
  tokensAfter: number;
}

/** A message that was sent: what the core said of it, the host's messages in it, and what became of it. */
interface Sent<M> {
  item: Item;
  hosts: M[];
  message: M;
}

/** A message of the last request, and the core's numbers of the host's messages in it. */
export interface Shown<M> {
  message: M;
  numbers: number[];
  /** We made it: for a fold, or to mend the history. */
  isOurs: boolean;
  /** It is a copy of the host's, with edits. */
  isEdited: boolean;
}

/** The messages of the last request. */
export class View<M> {
  #sent: Sent<M>[] = [];
  /** Beside them, so that a request copies lists and walks none. */
  #messages: M[] = [];
  #source: Array<number | null> = [];
  readonly #create: ContextManagerOptions<M>["create"];

  constructor(create: ContextManagerOptions<M>["create"]) {
    this.#create = create;
  }

  /** There was no request yet. */
  get isEmpty(): boolean {
    return this.#sent.length === 0;
  }

  get messages(): M[] {
    return this.#messages.slice();
  }

  /** For each message the core's number of the host's that it is or edits; null: ours. */
  get source(): Array<number | null> {
    return this.#source.slice();
  }

  /** Whether all the host's messages that are sent, whole or in part, are such. */
  sends(are: (index: number) => boolean): boolean {
    return this.#sent.every(({ item }) =>
      "index" in item ? are(item.index) : indexesOf(item).every(are),
    );
  }

  get shown(): Shown<M>[] {
    return this.#sent.map(shown);
  }

  get last(): Shown<M> | undefined {
    const last = this.#sent.at(-1);
    return last && shown(last);
  }

  clear(): void {
    this.#sent = [];
    this.#messages = [];
    this.#source = [];
  }

  /** The view of this answer, from the host's objects as they are now. */
  take(answer: Answer, history: readonly M[]): void {
    const items = answer.items.map((item) => this.#carry(item, history));
    const keep = Math.min(answer.keep, this.#sent.length);
    for (let at = 0; at < keep; at++) {
      const sent = this.#sent[at] as Sent<M>;
      if (isOther(sent, history)) this.#put(at, this.#carry(sent.item, history));
    }
    this.#sent.length = keep;
    this.#messages.length = keep;
    this.#source.length = keep;
    for (const sent of items) this.#put(this.#sent.length, sent);
  }

  #put(at: number, sent: Sent<M>): void {
    const { item, message } = sent;
    this.#sent[at] = sent;
    this.#messages[at] = message;
    this.#source[at] = "index" in item ? item.index : null;
  }

  #carry(item: Item, history: readonly M[]): Sent<M> {
    const hosts = indexesOf(item).map((index) => history[index] as M);
    if ("index" in item) {
      const host = hosts[0] as M;
      return { item, hosts, message: item.ops ? edited(host, item.ops) : host };
    }
    const whole = filled(item.make, item.copies, history);
    const made = item.ops ? edited(whole, item.ops) : whole;
    const { role, toolCallId, toolName } = item;
    const names = {
      ...(toolCallId === undefined ? {} : { toolCallId }),
      ...(toolName === undefined ? {} : { toolName }),
    };
    const content = valueAt(made, item.content);
    const message = this.#create?.({ role, content, ...names }) ?? (made as M);
    return { item, hosts, message };
  }
}

/** The host holds other objects for it now. */
function isOther<M>({ item, hosts }: Sent<M>, history: readonly M[]): boolean {
  if ("index" in item) return history[item.index] !== hosts[0];
  return indexesOf(item).some((index, at) => history[index] !== hosts[at]);
}

function shown<M>({ item, message }: Sent<M>): Shown<M> {
  const isOurs = !("index" in item);
  return { message, numbers: indexesOf(item), isOurs, isEdited: !isOurs && item.ops !== undefined };
}

function indexesOf(item: Item): number[] {
  return "index" in item ? [item.index] : item.copies.map(({ index }) => index);
}

/** A share of tokens, in percent, floored. */
function pct(before: number, after: number): number {
  return Math.floor((100 * (before - after)) / Math.max(before, 1));
}

/** What came to nothing, and why; or was shortened, and will be sent so. */
export function outcomeWithout(
  status: CompactionOutcome["status"],
  reason: string,
  tokensBefore: number,
  tokensAfter: number = tokensBefore,
): CompactionOutcome {
  const lists = { modifiedFiles: [], readFiles: [], commands: [], errors: [], identifiers: [] };
  const reductionPct = pct(tokensBefore, tokensAfter);
  const sizes = { tokensBefore, tokensAfter, reductionPct };
  return { status, reason, ...sizes, record: null, extracted: lists, attempts: [] };
}

/** A fold as it is told: carried by a summary, or by digest and hot set. */
export function outcomeOf(
  fold: Sized,
  attempts: CompactionOutcome["attempts"] = [],
  reason?: string,
): CompactionOutcome {
  const { tokensBefore, tokensAfter, head, firstKept, kept, summary, lost, degraded, id } = fold;
  const extracted = { ...fold.extracted, identifiers: fold.identifiers };
  const without = degraded ? "fold by digest and hot set, for want of a summary" : undefined;
  return {
    status: fold.status ?? (summary === "" || degraded ? "truncated" : "summarized"),
    reason: reason ?? without ?? "fold by digest and hot set",
    tokensBefore,
    tokensAfter,
    reductionPct: pct(tokensBefore, tokensAfter),
    record: {
      type: "compaction",
      id,
      timestamp: new Date(fold.at).toISOString(),
      summary,
      firstKeptEntryId: null,
      firstKeptIndex: firstKept,
      kept,
      head,
      tokensBefore,
      tokensAfter,
      details: extracted,
      lost,
      degraded,
    },
    extracted,
    attempts,
  };
}
