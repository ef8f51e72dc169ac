/**
 * The provider: counts tokens with the o200k encoding of gpt-tokenizer, refuses what is over the window, and bills. Its prompt cache holds the
 * last request, token by token, for five minutes.
 */
import { estimateTokens } from "../../npm/dist/index.node.js";
import { peerFile, versionOf } from "./sides/peer.mjs";

const version = versionOf("gpt-tokenizer");
/** What counts: gpt-tokenizer, or our own estimate where that is not installed. */
export const TOKENIZER = version ? `gpt-tokenizer ${version}, o200k_base` : "estimateTokens, o200k";
const countTokens = version
  ? (await import(peerFile("gpt-tokenizer", "esm/encoding/o200k_base.js"))).countTokens
  : (text) => estimateTokens(text, "o200k");

export const PRICES = { cacheRead: 0.1, cacheWrite: 1.25, input: 1, output: 5 };
export const TTL = 300_000;
/** Tokens around a message. */
const FRAME = 4;

const known = new Map();
/** Tokens of a text. */
export function tokens(text) {
  if (text.length < 24) return countTokens(text);
  let count = known.get(text);
  if (count === undefined) {
    if (known.size > 60_000) known.clear();
    count = countTokens(text);
    known.set(text, count);
  }
  return count;
}

const plain = (content) =>
  typeof content === "string" ? content : (content ?? []).map((it) => it.text ?? "").join("\n");

/** A message as the texts that are counted and cached: its role, its text, its calls. */
function texts(message) {
  const known = written.get(message);
  if (known) return known;
  const { role, content, tool_calls: calls = [] } = message;
  const made = [
    `${role}\n${plain(content)}`,
    ...calls.map(({ function: it }) => `${it.name}${it.arguments}`),
  ];
  written.set(message, made);
  return made;
}
const written = new WeakMap();

const measured = new WeakMap();
/** Tokens of a message, which nobody changes. */
export function messageTokens(message) {
  let size = measured.get(message);
  if (size === undefined) {
    size = FRAME + texts(message).reduce((sum, text) => sum + tokens(text), 0);
    measured.set(message, size);
  }
  return size;
}
export const sizeOf = (messages) => messages.reduce((sum, it) => sum + messageTokens(it), 0);

/** An answer of the provider's to a request that is too large. */
export class Overflow extends Error {
  constructor(size, limit) {
    super(
      `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${size} tokens.`,
    );
    Object.assign(this, { status: 400, code: "context_length_exceeded", size, limit });
  }
}

export class Provider {
  billed = 0;
  input = 0;
  cached = 0;
  output = 0;
  summaries = 0;
  summaryTokens = 0;
  largest = 0;
  #last = [];
  #at = Number.NEGATIVE_INFINITY;

  /** @param {{ window: number, reserve: number, extras: string }} options extras: system prompt and tools */
  constructor({ window, reserve, extras }) {
    Object.assign(this, { window, reserve, extras, extraTokens: tokens(extras) });
  }

  /** Takes a request; its usage. */
  request(messages, now) {
    const parts = [this.extras, ...messages.flatMap(texts)];
    const size = this.extraTokens + sizeOf(messages);
    if (size > this.window - this.reserve) throw new Overflow(size, this.window - this.reserve);
    const cached = now - this.#at > TTL ? 0 : Math.min(size, this.#common(parts));
    [this.#last, this.#at] = [parts, now];
    this.billed += PRICES.cacheRead * cached + PRICES.cacheWrite * (size - cached);
    this.input += size;
    this.cached += cached;
    this.largest = Math.max(this.largest, size);
    return { size, cached };
  }

  answer(message) {
    const size = messageTokens(message);
    this.output += size;
    this.billed += PRICES.output * size;
    return size;
  }

  /** Bills a call of a summarizer, which nothing of is cached. */
  summary(input, output) {
    const [read, written] = [tokens(input), tokens(output)];
    this.summaries += 1;
    this.summaryTokens += read + written;
    this.billed += PRICES.input * read + PRICES.output * written;
  }

  /** Tokens that the request begins with like the last one. */
  #common(parts) {
    let sum = 0;
    for (const [at, part] of parts.entries()) {
      const old = this.#last[at];
      if (old === part) {
        sum += tokens(part) + (at > 0 ? FRAME : 0);
        continue;
      }
      if (old !== undefined) {
        let same = 0;
        while (same < part.length && part[same] === old[same]) same += 1;
        sum += Math.floor((tokens(part) * same) / Math.max(1, part.length));
      }
      break;
    }
    return sum;
  }
}
