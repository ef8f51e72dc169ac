// @ts-check
/**
 * Message formats and the providers that they are sent to in the wild, and how strict each is. A format that is a
 * provider's own wire is checked as it stands; an SDK's messages are checked by themselves and then as its adapter
 * sends them.
 */
import { turnsIn } from "./convert/read.mjs";
import { writers } from "./convert/wire.mjs";
import { hasText } from "./strict/common.mjs";
import {
  strictAiSdk,
  strictAnthropic,
  strictBedrock,
  strictGemini,
  strictLangchain,
  strictOpenAiAgents,
  strictOpenAiChat,
  strictOpenAiResponses,
  strictPi,
} from "./strict.mjs";

/**
 * @typedef {import("./strict/common.mjs").Violation} Violation
 * @typedef {import("./strict/common.mjs").Rules} Rules
 * @typedef {import("./convert/turns.mjs").Turn} Turn
 * @typedef {{ format: string, provider: string, why: string }} Pair
 * @typedef {(messages: readonly any[], rules?: Rules) => Violation[]} Strict
 */

const everyProvider = [
  "anthropic",
  "openai-chat",
  "openai-responses",
  "gemini",
  "bedrock",
  "mistral",
  "deepseek",
  "kimi",
];

/** @type {Record<string, Record<string, string>>} */
const wires = {
  anthropic: {
    anthropic: "its own",
    bedrock: "InvokeModel takes the body of Messages; roles alternate",
    deepseek: "api.deepseek.com/anthropic",
    kimi: "api.moonshot.ai/anthropic",
  },
  "openai-chat": {
    "openai-chat": "its own",
    mistral: "api.mistral.ai speaks it",
    deepseek: "api.deepseek.com speaks it",
    kimi: "api.moonshot.ai speaks it",
    gemini: "the compatibility endpoint /v1beta/openai",
    anthropic: "the compatibility endpoint /v1/chat/completions, and gateways such as LiteLLM",
    bedrock: "gateways such as LiteLLM turn it into Converse",
  },
  "openai-responses": { "openai-responses": "its own" },
  "openai-agents": { "openai-responses": "its converter sends them there" },
  gemini: { gemini: "its own" },
};
/** @type {Record<string, string>} */
const sdks = {
  "ai-sdk": "has a provider package for it",
  langchain: "has an integration for it",
  pi: "has an adapter for it, or speaks OpenAI Chat to it",
};

/** @type {readonly Pair[]} */
export const pairs = [
  ...Object.entries(wires).flatMap(([format, providers]) =>
    Object.entries(providers).map(([provider, why]) => ({ format, provider, why })),
  ),
  ...Object.entries(sdks).flatMap(([format, why]) =>
    everyProvider.map((provider) => ({ format, provider, why: `${format} ${why}` })),
  ),
];

/** What a provider asks on top of its wire's rules. @type {Record<string, Rules>} */
const asks = {
  mistral: { alternate: true, ids: /^[a-zA-Z0-9]{9}$/, systemFirst: true },
  kimi: { emptyResults: false },
};
/** @type {Record<string, Strict>} */
const strictWires = {
  anthropic: strictAnthropic,
  "openai-chat": strictOpenAiChat,
  "openai-responses": strictOpenAiResponses,
  gemini: strictGemini,
  bedrock: strictBedrock,
};
/** @type {Record<string, Strict>} */
const strictHosts = { "ai-sdk": strictAiSdk, langchain: strictLangchain, pi: strictPi };
/** The wire that a provider is spoken to on. @param {string} provider */
export const wireOf = (provider) => (strictWires[provider] ? provider : "openai-chat");

/** @param {string} format @param {string} provider @returns {Strict} */
export function strictFor(format, provider) {
  const wire = wireOf(provider);
  const own = strictWires[format];
  const more = asks[provider] ?? {};
  if (format === "anthropic") {
    // Kimi's own ids are `functions.read:0`, on this endpoint too.
    const own = {
      alternate: provider === "bedrock",
      anyIds: provider === "deepseek" || provider === "kimi",
    };
    return (messages, rules = {}) => strictAnthropic(messages, { ...more, ...own, ...rules });
  }
  if (format === "openai-agents")
    return (messages, rules = {}) => strictOpenAiAgents(messages, { ...more, ...rules });
  if (own && wire === format) return (messages, rules = {}) => own(messages, { ...more, ...rules });
  const strict = /** @type {Strict} */ (strictWires[wire]);
  const host = strictHosts[format] ?? alone(own ?? strictOpenAiChat);
  /** What was found in a message of the wire is remembered with it. @type {WeakMap<object, any>} */
  const cache = new WeakMap();
  return (messages, rules = {}) => {
    const { cache: hostCache, ...rest } = rules;
    const found = host(messages, hostCache ? { ...rest, cache: hostCache } : rest);
    if (found.some((one) => one.rule === "shape")) return found;
    const sent = toWire(format, provider, format === "ai-sdk" ? carriedOut(messages) : messages);
    const onWire = strict(sent.wire, {
      ...more,
      ...rest,
      ...(hostCache ? { cache } : {}),
      plain: false,
    });
    const blank = sent.blank.map((index) => ({
      rule: "I6",
      index,
      path: "/system",
      message: "The text field in the SystemContentBlock object is blank.",
    }));
    const mapped = onWire.map((one) => ({
      ...one,
      index: Math.min(sent.at[one.index] ?? messages.length, Math.max(messages.length - 1, 0)),
      path: `${one.path} on the wire`,
    }));
    return [...found, ...blank, ...mapped].sort((a, b) => a.index - b.index);
  };
}

/** Whoever turns one wire into another reads each message of the first as it stands, and its order by the rules of the second. */
const ofOne = new Set(["I5", "I6", "I26", "I30", "shape"]);
/** @param {Strict} strict @returns {Strict} */
const alone = (strict) => (messages, rules) =>
  strict(messages, rules).filter((one) => ofOne.has(one.rule));

/**
 * The AI SDK runs what the user approved in the last message before it sends: a result for each such call follows.
 * @param {readonly any[]} messages
 */
function carriedOut(messages) {
  const last = messages.at(-1);
  if (last?.role !== "tool" || !Array.isArray(last.content)) return messages;
  const parts = messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const toolCallIds = last.content
    .filter((/** @type {any} */ it) => it?.type === "tool-approval-response")
    .map(({ approvalId }) => parts.find((it) => it?.approvalId === approvalId)?.toolCallId);
  const isResult = (/** @type {any} */ it) => it?.type === "tool-result";
  const answered = parts.filter(isResult).map((it) => it.toolCallId);
  const content = toolCallIds
    .filter((id) => id !== undefined && !answered.includes(id))
    .map((toolCallId) => {
      const { toolName } = parts.find((it) => it?.toolCallId === toolCallId && it.toolName) ?? {};
      const output = { type: "text", value: "carried out" };
      return { type: "tool-result", toolCallId, toolName, output };
    });
  return content.length === 0 ? messages : [...messages, { role: "tool", content }];
}

/** Per host message and provider: what it becomes. @type {WeakMap<object, Map<string, Array<{ message: any, tool: boolean }>>>} */
const written = new WeakMap();
/** @type {WeakMap<object, WeakMap<object, any>>} */
const merges = new WeakMap();

/**
 * What the adapter sends, and for each message of it the position of the host's; and which of the system's, that go
 * beside it, hold a text that the provider refuses there (Converse wants one character at least).
 * @param {string} format @param {string} provider @param {readonly any[]} messages
 * @returns {{ wire: any[], at: number[], blank: number[] }}
 */
export function toWire(format, provider, messages) {
  const kind = wireOf(provider);
  /** @type {any[]} */
  const wire = [];
  /** @type {number[]} */
  const at = [];
  /** @type {number[]} */
  const blank = [];
  let afterTool = false;
  /** @type {Map<string, string>} */
  const names = new Map();
  for (let index = 0; index < messages.length; index += 1) {
    for (const { message: piece, tool } of pieces(format, provider, kind, messages[index])) {
      const message = kind === "gemini" && nameless.has(format) ? named(piece, names) : piece;
      const last = wire.at(-1);
      // Instructions go beside the messages where the wire has a place for them: compatibility endpoints and gateways
      // hoist them from wherever they stand, SDKs take them at the start and throw at others
      // (LangChain's for Converse hoists).
      const hoists = format === "openai-chat" || (format === "langchain" && kind === "bedrock");
      const hoisted = message.role === "system" && (wire.length === 0 || hoists);
      if (hoisted && kind !== "openai-chat" && kind !== "openai-responses") {
        if (kind === "bedrock" && !message.content.every(hasContent)) blank.push(index);
        continue;
      }
      // Adapters and gateways for Converse join what one role says, as the AI SDK does for Anthropic too; pi joins results
      // alone, and lives with the rest.
      const asOne = kind === "bedrock" || (kind === "anthropic" && format === "ai-sdk");
      const joins = asOne && last?.role === message.role;
      const together = last && (joins || (kind === "gemini" && tool && afterTool));
      if (together) wire[wire.length - 1] = merged(last, message);
      else {
        // pi puts a word of the assistant's between a result and the user where the provider wants one.
        if (format === "pi" && provider === "mistral" && afterTool && message.role === "user") {
          wire.push(bridge);
          at.push(index);
        }
        wire.push(message);
        at.push(index);
      }
      afterTool = tool;
    }
  }
  return { wire, at, blank };
}

/** @param {any} block */
const hasContent = ({ text }) => text === undefined || hasText(text);

/** Their results name no function: adapters look the call up. */
const nameless = new Set(["openai-chat", "langchain"]);

/** @param {any} message @param {Map<string, string>} names of the calls so far */
function named(message, names) {
  /** @type {any[]} */
  const parts = message.parts ?? [];
  for (const { functionCall } of parts)
    if (functionCall) names.set(functionCall.id, functionCall.name);
  if (!parts.some((part) => part.functionResponse && part.functionResponse.name === undefined))
    return message;
  const own = parts.map((part) => {
    const { functionResponse: response } = part;
    if (!response || response.name !== undefined) return part;
    return { functionResponse: { ...response, name: names.get(response.id) ?? "unknown" } };
  });
  return { ...message, parts: own };
}

const bridge = Object.freeze({ role: "assistant", content: "I have processed the tool results." });

/** @param {string} format @param {string} provider @param {string} kind @param {any} message */
function pieces(format, provider, kind, message) {
  const key = `${format} ${provider}`;
  const frozen = Object.isFrozen(message);
  const known = frozen ? written.get(message) : undefined;
  const kept = known?.get(key);
  if (kept) return kept;
  const ways = {
    reasoning: provider === "deepseek" || provider === "kimi",
    ids: nameless.has(format),
  };
  const made = turnsIn(format, message, provider).flatMap((turn) =>
    (writers[kind]?.(turn, ways) ?? []).map((one) => ({
      message: one,
      tool: turn.role === "tool",
    })),
  );
  if (frozen) written.set(message, (known ?? new Map()).set(key, made));
  return made;
}

/** One message of two, the same for the same two. @param {any} first @param {any} second */
function merged(first, second) {
  const of = merges.get(first) ?? new WeakMap();
  merges.set(first, of);
  const kept = of.get(second);
  if (kept) return kept;
  const list = first.parts ? "parts" : "content";
  const both = { ...first, [list]: [...first[list], ...second[list]] };
  of.set(second, both);
  return both;
}
