// @ts-check
/** Turns as an SDK's own messages: the AI SDK's two kinds, LangChain's instances and dumps, pi's. */
import { callsOf, reasoningOf, resultsOf, wordsOf } from "./turns.mjs";

/**
 * @typedef {import("./turns.mjs").Turn} Turn
 * @typedef {import("./turns.mjs").Part} Part
 */

/** Where each provider's opaque things stand in the AI SDK's options. @type {Record<string, (sig: string, id?: string) => object>} */
const options = {
  anthropic: (signature) => ({ anthropic: { signature } }),
  bedrock: (signature) => ({ bedrock: { signature } }),
  gemini: (thoughtSignature) => ({ google: { thoughtSignature } }),
  "openai-responses": (reasoningEncryptedContent, itemId) => ({
    openai: { itemId, reasoningEncryptedContent },
  }),
};

/** @param {string} provider @param {string | null | undefined} sig @param {string} [id] */
const optionsOf = (provider, sig, id) => (sig ? options[provider]?.(sig, id) : undefined);

/** @param {string} key @param {unknown} value */
const optional = (key, value) => (value === undefined ? {} : { [key]: value });

/** @param {Turn[]} turns @param {string} provider */
export function aiSdkModel(turns, provider) {
  return turns.map((turn) => {
    if (turn.role === "system") return { role: "system", content: wordsOf(turn) };
    if (turn.plain && turn.parts.length === 1 && turn.parts[0]?.kind === "text")
      return { role: turn.role, content: turn.parts[0].text };
    return { role: turn.role, content: turn.parts.flatMap((part) => aiSdkParts(part, provider)) };
  });
}

/** @param {Part} part @param {string} provider @returns {any[]} */
function aiSdkParts(part, provider) {
  switch (part.kind) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "image":
      return [{ type: "image", image: part.data, mediaType: part.mime }];
    case "reasoning":
      return [
        {
          type: "reasoning",
          text: part.text,
          ...optional("providerOptions", optionsOf(provider, part.sig, part.id)),
        },
      ];
    case "call": {
      const call = {
        type: "tool-call",
        toolCallId: part.id,
        toolName: part.name,
        input: part.raw ?? part.input,
        ...optional("providerOptions", optionsOf(provider, part.sig)),
      };
      if (part.hosted !== undefined) {
        const result = {
          type: "tool-result",
          toolCallId: part.id,
          toolName: part.name,
          output: {
            type: "json",
            value: [{ url: "https://example.org", encryptedContent: part.hosted }],
          },
        };
        const run = { ...call, providerExecuted: true };
        return part.unanswered ? [run] : [run, result];
      }
      if (!part.ask) return [call];
      return [call, { type: "tool-approval-request", approvalId: part.ask, toolCallId: part.id }];
    }
    default: {
      const answer = part.answer
        ? [
            {
              type: "tool-approval-response",
              approvalId: part.answer.id,
              approved: part.answer.approved,
            },
          ]
        : [];
      const result = {
        type: "tool-result",
        toolCallId: part.id,
        toolName: part.name ?? "read",
        output: aiSdkOutput(part),
      };
      return [...answer, result];
    }
  }
}

/** @param {import("./turns.mjs").Result} part */
function aiSdkOutput(part) {
  if (part.error) return { type: "error-text", value: part.text ?? "" };
  if (part.text === null) return { type: "json", value: null };
  if (!part.image) return { type: "text", value: part.text };
  const image = { type: "image-data", data: part.image.data, mediaType: part.image.mime };
  return { type: "content", value: [{ type: "text", text: part.text }, image] };
}

/**
 * UIMessages hold call and result in one part. A result that stands elsewhere than after its call cannot be written:
 * the first of its id after the call, before the user speaks, is taken.
 * @param {Turn[]} turns @param {string} provider @param {boolean} oneForAll a message holds all steps up to the user's next word
 */
export function aiSdkUi(turns, provider, oneForAll) {
  /** @type {any[]} */
  const messages = [];
  for (let at = 0; at < turns.length; at += 1) {
    const turn = /** @type {Turn} */ (turns[at]);
    if (turn.role === "tool") continue;
    if (turn.role !== "assistant") {
      const parts = turn.parts.flatMap((part) => {
        if (part.kind === "text") return [{ type: "text", text: part.text }];
        return part.kind === "image"
          ? [{ type: "file", mediaType: part.mime, url: `data:${part.mime};base64,${part.data}` }]
          : [];
      });
      messages.push({ id: `m${messages.length}`, role: turn.role, parts });
      continue;
    }
    const later = turns.slice(at + 1);
    const end = later.findIndex((one) => one.role !== "tool");
    const results = later.slice(0, end < 0 ? later.length : end).flatMap(resultsOf);
    const parts = turn.parts.flatMap((part) => uiParts(part, provider, results));
    const last = messages.at(-1);
    if (oneForAll && last?.role === "assistant") last.parts.push({ type: "step-start" }, ...parts);
    else
      messages.push({
        id: `m${messages.length}`,
        role: "assistant",
        parts: [{ type: "step-start" }, ...parts],
      });
  }
  return messages;
}

/** @param {Part} part @param {string} provider @param {import("./turns.mjs").Result[]} results @returns {any[]} */
function uiParts(part, provider, results) {
  switch (part.kind) {
    case "text":
      return [{ type: "text", text: part.text, state: "done" }];
    case "reasoning":
      return [
        {
          type: "reasoning",
          text: part.text,
          ...optional("providerMetadata", optionsOf(provider, part.sig, part.id)),
        },
      ];
    case "call": {
      const at = part.hosted === undefined ? results.findIndex((one) => one.id === part.id) : -1;
      const [result] = at < 0 ? [] : results.splice(at, 1);
      const call = {
        type: `tool-${part.name}`,
        toolCallId: part.id,
        input: part.raw ?? part.input,
        ...optional("callProviderMetadata", optionsOf(provider, part.sig)),
      };
      if (part.hosted !== undefined)
        return [
          {
            ...call,
            providerExecuted: true,
            ...(part.unanswered
              ? { state: "input-available" }
              : { state: "output-available", output: { encrypted: part.hosted } }),
          },
        ];
      const answer = result?.answer;
      const approval = part.ask
        ? { approval: { id: part.ask, ...(answer ? { approved: answer.approved } : {}) } }
        : {};
      if (!result)
        return [
          { ...call, state: part.ask ? "approval-requested" : "input-available", ...approval },
        ];
      if (result.error)
        return [{ ...call, state: "output-error", errorText: result.text ?? "", ...approval }];
      return [{ ...call, state: "output-available", output: result.text, ...approval }];
    }
    default:
      return [];
  }
}

/** What every message of LangChain is, as far as a host can see it from outside. */
class BaseMessage {
  lc_serializable = true;
  lc_namespace = ["langchain_core", "messages"];
  /** @param {any} fields */
  constructor(fields) {
    this.lc_kwargs = { additional_kwargs: {}, response_metadata: {}, ...fields };
    Object.assign(this, this.lc_kwargs);
  }
  getType() {
    return types[this.constructor.name] ?? "human";
  }
  _getType() {
    return this.getType();
  }
  get type() {
    return this.getType();
  }
  get lc_id() {
    return [...this.lc_namespace, this.constructor.name];
  }
  get [Symbol.toStringTag]() {
    return this.constructor.name;
  }
  toJSON() {
    const kwargs = Object.fromEntries(Object.keys(this.lc_kwargs).map((key) => [key, this[key]]));
    return { lc: 1, type: "constructor", id: this.lc_id, kwargs };
  }
}
export class HumanMessage extends BaseMessage {}
export class AIMessage extends BaseMessage {}
export class SystemMessage extends BaseMessage {}
export class ToolMessage extends BaseMessage {}
/** @type {Record<string, string>} */
const types = {
  HumanMessage: "human",
  AIMessage: "ai",
  SystemMessage: "system",
  ToolMessage: "tool",
};

/** What `create` would be for a host of LangChain's. @param {any} made */
export const createLangchain = (made) => {
  const { role, content } = made;
  if (role === "assistant") return new AIMessage({ content });
  if (role === "user") return new HumanMessage({ content });
  return new ToolMessage({
    content,
    tool_call_id: made.toolCallId,
    name: made.toolName,
    status: "error",
  });
};

/** @param {Turn[]} turns @param {string} provider @param {"instances" | "constructors" | "stored" | "flat"} way */
export function langchain(turns, provider, way) {
  const messages = turns.flatMap((turn) => langchainMessages(turn, provider));
  if (way === "instances") return messages;
  return messages.map((message) => {
    const written = JSON.parse(JSON.stringify(message));
    if (way === "constructors") return written;
    const type = message.getType();
    return way === "stored" ? { type, data: written.kwargs } : { type, ...written.kwargs };
  });
}

/** @param {Turn} turn @param {string} provider @returns {any[]} */
function langchainMessages(turn, provider) {
  if (turn.role === "system") return [new SystemMessage({ content: wordsOf(turn) })];
  if (turn.role === "user") {
    const blocks = turn.parts.flatMap((part) => {
      if (part.kind === "text") return [{ type: "text", text: part.text }];
      return part.kind === "image"
        ? [{ type: "image_url", image_url: { url: `data:${part.mime};base64,${part.data}` } }]
        : [];
    });
    return [new HumanMessage({ content: turn.plain ? wordsOf(turn) : blocks })];
  }
  if (turn.role === "tool") {
    return resultsOf(turn).map(
      (part) =>
        new ToolMessage({
          content: part.text ?? "",
          tool_call_id: part.id,
          ...optional("name", part.name),
          ...(part.error ? { status: "error" } : {}),
        }),
    );
  }
  return [langchainAssistant(turn, provider)];
}

/** @param {Turn} turn @param {string} provider */
function langchainAssistant(turn, provider) {
  const calls = callsOf(turn);
  const good = calls.filter((call) => call.raw === undefined);
  const bad = calls.filter((call) => call.raw !== undefined);
  const thoughts = reasoningOf(turn);
  const blocks = turn.parts.flatMap((part) => {
    if (part.kind === "text") return [{ type: "text", text: part.text }];
    if (part.kind !== "reasoning" || part.sig === null) return [];
    if (provider === "anthropic")
      return [{ type: "thinking", thinking: part.text, signature: part.sig }];
    if (provider === "bedrock")
      return [
        { type: "reasoning_content", reasoningText: { text: part.text, signature: part.sig } },
      ];
    return [];
  });
  const uses =
    provider === "anthropic" && !turn.plain
      ? good.map((call) => ({ type: "tool_use", id: call.id, name: call.name, input: call.input }))
      : [];
  /** @type {any} */
  const more = {};
  if ((provider === "deepseek" || provider === "kimi") && thoughts.length > 0)
    more.reasoning_content = thoughts.map((one) => one.text).join("");
  const [signed] = thoughts.filter((one) => one.sig !== null);
  if (provider === "openai-responses" && signed) {
    const summary = [{ type: "summary_text", text: signed.text }];
    more.reasoning = { type: "reasoning", id: signed.id, summary, encrypted_content: signed.sig };
  }
  if (provider === "gemini" && good.some((call) => call.sig))
    more.__gemini_function_call_thought_signatures__ = Object.fromEntries(
      good.flatMap((call) => (call.sig ? [[call.id, call.sig]] : [])),
    );
  const asText = turn.plain && blocks.every((block) => block.type === "text");
  return new AIMessage({
    content: asText ? wordsOf(turn) : [...blocks, ...uses],
    tool_calls: good.map((call) => ({
      id: call.id,
      name: call.name,
      args: call.input,
      type: "tool_call",
    })),
    invalid_tool_calls: bad.map((call) => ({
      id: call.id,
      name: call.name,
      args: call.raw,
      type: "invalid_tool_call",
    })),
    additional_kwargs: more,
  });
}

/** @param {Turn[]} turns @param {string} provider */
export function pi(turns, provider) {
  let time = 0;
  return turns.flatMap((turn) => {
    time += 1000;
    if (turn.role === "system" && time === 1000) {
      const sections = { base: wordsOf(turn) };
      return [{ role: "system", content: "", sections, toolsAdded: [], timestamp: time }];
    }
    if (turn.role === "system") {
      return [
        {
          role: "custom",
          customType: "note",
          content: wordsOf(turn),
          display: true,
          timestamp: time,
        },
      ];
    }
    if (turn.role === "user") {
      const content = turn.parts.flatMap((part) => {
        if (part.kind === "text") return [{ type: "text", text: part.text }];
        return part.kind === "image"
          ? [{ type: "image", data: part.data, mimeType: part.mime }]
          : [];
      });
      return [{ role: "user", content: turn.plain ? wordsOf(turn) : content, timestamp: time }];
    }
    if (turn.role === "tool") {
      return resultsOf(turn).map((part) => ({
        role: "toolResult",
        toolCallId: part.id,
        toolName: part.name ?? "read",
        content: [
          ...(part.text === null ? [] : [{ type: "text", text: part.text }]),
          ...(part.image
            ? [{ type: "image", data: part.image.data, mimeType: part.image.mime }]
            : []),
        ],
        isError: part.error,
        timestamp: time,
      }));
    }
    const content = turn.parts.flatMap((part) => {
      if (part.kind === "text") return [{ type: "text", text: part.text }];
      if (part.kind === "reasoning")
        return [
          {
            type: "thinking",
            thinking: part.text,
            ...(part.sig ? { thinkingSignature: piSignature(part, provider) } : {}),
          },
        ];
      if (part.kind !== "call" || part.hosted !== undefined) return [];
      const signed = part.sig ? { thoughtSignature: part.sig } : {};
      return [
        {
          type: "toolCall",
          id: part.id,
          name: part.name,
          arguments: part.raw ?? part.input,
          ...signed,
        },
      ];
    });
    const stop = callsOf(turn).length > 0 ? "toolUse" : "stop";
    return [{ role: "assistant", content, stopReason: turn.aborted ?? stop, timestamp: time }];
  });
}

/** pi keeps the whole reasoning item of Responses as its signature. @param {import("./turns.mjs").Reasoning} part @param {string} provider */
function piSignature(part, provider) {
  if (provider !== "openai-responses") return part.sig;
  const summary = [{ type: "summary_text", text: part.text }];
  return JSON.stringify({ type: "reasoning", id: part.id, summary, encrypted_content: part.sig });
}
