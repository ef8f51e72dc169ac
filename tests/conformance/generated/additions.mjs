// @ts-check
/**
 * What some hosts and providers add to a history: calls of tools that the provider runs, answered or not, and cache markers on
 * each message as it comes. Each has random numbers of its own, so that the history of a seed stays what it was.
 */
import { random, render } from "./histories.mjs";

/**
 * @typedef {import("./histories.mjs").History} History
 * @typedef {import("../providers/convert/turns.mjs").Turn} Turn
 * @typedef {import("../providers/convert/turns.mjs").Call} Call
 */

const KINDS = ["web_search", "mcp", "bash_code_execution"];

/** A quarter of the histories have calls that the provider ran; those that are not clean have some that it never answered. */
/** @param {History} history @param {string} format @param {string} provider @param {number} seed @returns {History} */
function withProviderRun(history, format, provider, seed) {
  const next = random(seed + 0x5e4);
  const isSdk = format === "ai-sdk";
  // With others the SDK has no such tools. Only Anthropic goes on with a turn in which a call has no result yet; what the SDK
  // makes of one is not seen on the wire that these tests make of it.
  const isRun = !isSdk || ["anthropic", "openai-responses", "gemini"].includes(provider);
  if (next() >= 0.25 || !isRun) return history;
  const pauses = format === "anthropic";
  let count = 0;
  /** @returns {Call} */
  const call = () => {
    count += 1;
    const id = `p${String(seed % 10_000).padStart(4, "0")}${String(count).padStart(4, "0")}`;
    const kind = KINDS[Math.floor(next() * KINDS.length)] ?? "web_search";
    const query = !history.clean && next() < 0.1 ? "cut \ud83d here" : "score of the match";
    const hosted = `opq-${seed}-9${count}-${"Zm9v".repeat(2)}==`;
    const unanswered = next() < 0.3 && !history.clean && pauses;
    return { kind: "call", id, name: kind, input: { query }, hosted, unanswered };
  };
  /** @param {Turn} turn @returns {Turn} */
  const added = (turn) => {
    const { role, parts } = turn;
    const isOwn = role === "assistant" && parts.length > 0 && !turn.plain;
    if (!isOwn || next() >= 0.4) return turn;
    // After what it thought and said, before what the host is to run.
    const found = parts.findIndex((part) => part.kind === "call" && part.hosted === undefined);
    const at = found < 0 ? parts.length : found;
    const own = next() < 0.3 ? [call(), call()] : [call()];
    return { ...turn, parts: [...parts.slice(0, at), ...own, ...parts.slice(at)] };
  };
  const turns = history.turns.map(added);
  return { ...history, turns };
}

/** Those who take markers, and how a host writes one. @type {Record<string, (message: any) => void>} */
const marking = {
  anthropic: onLastBlock,
  "openai-chat": onLastBlock,
  langchain: (message) => onLastBlock(message.kwargs ?? message.data ?? message),
  "ai-sdk": (message) => {
    if (message.parts) return;
    const last = Array.isArray(message.content) ? message.content.at(-1) : message;
    if (last) last.providerOptions = { ...last.providerOptions, ...sdkMark(last) };
  },
};
const ephemeral = { type: "ephemeral" };

/** @param {any} message */
function onLastBlock({ content }) {
  const last = Array.isArray(content) ? content.at(-1) : undefined;
  const mayBe = last && typeof last === "object" && !/thinking|reasoning/.test(last.type);
  if (mayBe && last.text !== "") last.cache_control = ephemeral;
}

/** Beside other options of the provider. @param {any} part */
const sdkMark = ({ providerOptions }) => ({
  anthropic: { ...providerOptions?.anthropic, cacheControl: ephemeral },
});

/** A third of the histories for providers that take markers have them on the user's messages, on every second one, or on all. */
/** @param {any[]} messages @param {string} format @param {number} seed */
function mark(messages, format, seed) {
  const next = random(seed + 0xcac);
  if (next() >= 0.33) return;
  const way = Math.floor(next() * 3);
  const marked = messages.filter((message, at) =>
    way === 2 ? true : isUsers(message) && (way === 0 || at % 2 === 0),
  );
  for (const message of marked) marking[format]?.(message);
}

/** @param {any} message */
const isUsers = (message) =>
  message.role === "user" || /human/i.test(String(message.type ?? message.id?.at?.(-1) ?? ""));

/** Who takes cache markers. @param {string} provider */
export const takesMarkers = (provider) => ["anthropic", "bedrock"].includes(provider);

/** The history as a host of this format has it, with what is added. @param {History} history @param {string} format @param {string} provider @param {number} seed */
export function rendered(history, format, provider, seed) {
  const messages = render(withProviderRun(history, format, provider, seed), format, provider);
  if (takesMarkers(provider)) mark(messages, format, seed);
  return messages;
}

const names = ["cache_control", "cacheControl", "cachePoint"];

/** How many cache markers stand in messages, as they are written. @param {readonly any[]} messages */
export const markersIn = (messages) =>
  JSON.stringify(messages).match(/"(cache_control|cacheControl|cachePoint)":/g)?.length ?? 0;

/** A value without its cache markers, and what held nothing else: what a provider's cache compares. @param {any} value @returns {any} */
export function withoutMarkers(value) {
  if (Array.isArray(value)) return value.map(withoutMarkers);
  if (typeof value !== "object" || value === null) return value;
  const own = Object.entries(value).filter(([key]) => !names.includes(key));
  const bare = own.map(([key, inner]) => [key, withoutMarkers(inner)]);
  const isOptions = (/** @type {string} */ key) => /^(providerOptions|anthropic)$/.test(key);
  return Object.fromEntries(
    bare.filter(([key, inner]) => !isOptions(key) || Object.keys(inner).length > 0),
  );
}

/**
 * A call that the provider ran goes out with its result, or neither does; only the model's last turn may wait.
 * @param {readonly any[]} sent messages of the AI SDK
 */
export function unpaired(sent) {
  // The model's last turn may wait for it, also after results of the host's.
  const last = sent.findLastIndex(({ role }) => role === "user");
  for (const [at, { role, content, parts }] of sent.entries()) {
    if (role !== "assistant") continue;
    const own = Array.isArray(content) ? content : [];
    /** @param {string} type */
    const ids = (type) => own.filter((part) => part.type === type);
    const calls = ids("tool-call").filter((part) => part.providerExecuted);
    const results = ids("tool-result").map((part) => part.toolCallId);
    const alone = calls.find((part) => !results.includes(part.toolCallId));
    const shown = (parts ?? []).find(
      (/** @type {any} */ part) => part.providerExecuted && part.state === "input-available",
    );
    if ((alone || shown) && at < last) return `message ${at}: ${JSON.stringify(alone ?? shown)}`;
  }
  return null;
}
