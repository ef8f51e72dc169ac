// @ts-check
/** Turns as each provider's API takes them, as the SDKs' adapters document that they send them. */
import { callsOf, rawOf, reasoningOf, wordsOf } from "./turns.mjs";

/**
 * @typedef {import("./turns.mjs").Turn} Turn
 * @typedef {import("./turns.mjs").Part} Part
 * @typedef {{ reasoning?: boolean, signatures?: boolean, ids?: boolean }} Ways
 *   reasoning: OpenAI Chat with `reasoning_content` (DeepSeek, Kimi). signatures: OpenAI Chat with Gemini's thought
 *   signatures. ids: Gemini with the ids of calls.
 */

const url = (/** @type {any} */ { mime, data }) => `data:${mime};base64,${data}`;

/** @type {Record<string, (turn: Turn, ways?: Ways) => any[]>} */
export const writers = {
  anthropic: (turn) => {
    const content = turn.parts.flatMap(anthropicBlocks);
    if (turn.role === "assistant") return [{ role: "assistant", content: plain(turn, content) }];
    if (turn.role === "system") return [{ role: "system", content: wordsOf(turn) }];
    return [{ role: "user", content: plain(turn, content) }];
  },
  "openai-chat": (turn, ways = {}) => {
    if (turn.role === "system") return [{ role: "system", content: wordsOf(turn) }];
    if (turn.role === "user") return [{ role: "user", content: chatContent(turn) }];
    if (turn.role === "tool") return turn.parts.flatMap(chatResult);
    const calls = callsOf(turn);
    const words = wordsOf(turn);
    const thoughts = reasoningOf(turn)
      .map((one) => one.text)
      .join("");
    return [
      {
        role: "assistant",
        content: words === "" && calls.length > 0 ? null : words,
        ...(ways.reasoning && reasoningOf(turn).length > 0 ? { reasoning_content: thoughts } : {}),
        ...(calls.length > 0
          ? {
              tool_calls: calls.map((call) => ({
                id: call.id,
                type: "function",
                function: { name: call.name, arguments: rawOf(call) },
                ...(ways.signatures && call.sig
                  ? { extra_content: { google: { thought_signature: call.sig } } }
                  : {}),
              })),
            }
          : {}),
      },
    ];
  },
  "openai-responses": (turn) =>
    turn.parts.flatMap((part) => responseItems(part, turn.role)).reduce(joined, []),
  gemini: (turn, ways = {}) => {
    const parts = turn.parts.flatMap((part) => geminiParts(part, ways));
    const role = turn.role === "assistant" ? "model" : turn.role === "system" ? "system" : "user";
    return [{ role, parts }];
  },
  bedrock: (turn) => {
    const content = turn.parts.flatMap(bedrockBlocks);
    const role = turn.role === "tool" ? "user" : turn.role;
    return [{ role, content }];
  },
};

/** A turn of one text may be written as a string. @param {Turn} turn @param {any[]} content */
const plain = (turn, content) =>
  turn.plain && content.length === 1 && content[0].type === "text" ? content[0].text : content;

/** @param {Part} part @returns {any[]} */
function anthropicBlocks(part) {
  switch (part.kind) {
    case "text":
      return [{ type: "text", text: part.text }];
    case "image":
      return [
        { type: "image", source: { type: "base64", media_type: part.mime, data: part.data } },
      ];
    case "reasoning":
      if (part.sig === null) return [];
      return [
        part.redacted
          ? { type: "redacted_thinking", data: part.sig }
          : { type: "thinking", thinking: part.text, signature: part.sig },
      ];
    case "call":
      if (part.hosted === undefined)
        return [{ type: "tool_use", id: part.id, name: part.name, input: part.raw ?? part.input }];
      if (part.unanswered || part.name !== "web_search") return anthropicRun(part);
      return [
        { type: "server_tool_use", id: part.id, name: "web_search", input: part.input },
        {
          type: "web_search_tool_result",
          tool_use_id: part.id,
          content: [
            {
              type: "web_search_result",
              url: "https://example.org",
              title: "t",
              encrypted_content: part.hosted,
            },
          ],
        },
      ];
    default:
      return [
        {
          type: "tool_result",
          tool_use_id: part.id,
          ...(part.text === null
            ? {}
            : {
                content: part.image
                  ? [{ type: "text", text: part.text }, ...anthropicBlocks(part.image)]
                  : part.text,
              }),
          ...(part.error ? { is_error: true } : {}),
        },
      ];
  }
}

/** What another tool of the provider's did, or one that never answered. @param {import("./turns.mjs").Call} part @returns {any[]} */
function anthropicRun({ id, name, input, hosted, unanswered }) {
  if (name === "mcp") {
    const content = [{ type: "text", text: `found ${hosted}` }];
    const call = { type: "mcp_tool_use", id, name: "find", server_name: "s", input };
    const result = { type: "mcp_tool_result", tool_use_id: id, is_error: false, content };
    return unanswered ? [call] : [call, result];
  }
  const output = {
    type: `${name}_result`,
    stdout: hosted,
    stderr: "",
    return_code: 0,
    content: [],
  };
  const call = { type: "server_tool_use", id, name, input };
  const result = { type: `${name}_tool_result`, tool_use_id: id, content: output };
  return unanswered ? [call] : [call, result];
}

/** @param {Turn} turn */
function chatContent(turn) {
  if (turn.plain) return wordsOf(turn);
  return turn.parts.flatMap((part) => {
    if (part.kind === "text") return [{ type: "text", text: part.text }];
    return part.kind === "image" ? [{ type: "image_url", image_url: { url: url(part) } }] : [];
  });
}

/** @param {Part} part @returns {any[]} */
const chatResult = (part) =>
  part.kind === "result" ? [{ role: "tool", tool_call_id: part.id, content: part.text ?? "" }] : [];

/** @param {Part} part @param {Turn["role"]} role @returns {any[]} */
function responseItems(part, role) {
  switch (part.kind) {
    case "text":
      return [
        {
          type: "message",
          role,
          content: [{ type: role === "assistant" ? "output_text" : "input_text", text: part.text }],
        },
      ];
    case "image":
      return [{ type: "message", role, content: [{ type: "input_image", image_url: url(part) }] }];
    case "reasoning":
      if (part.sig === null) return [];
      return [
        {
          type: "reasoning",
          id: part.id ?? "rs_0",
          summary: part.text === "" ? [] : [{ type: "summary_text", text: part.text }],
          encrypted_content: part.sig,
        },
      ];
    case "call":
      if (part.hosted !== undefined)
        return [{ type: "web_search_call", id: part.id, status: "completed" }];
      return [{ type: "function_call", call_id: part.id, name: part.name, arguments: rawOf(part) }];
    default:
      return [{ type: "function_call_output", call_id: part.id, output: part.text ?? "" }];
  }
}

/** The parts of one message of the user stand in one item. @param {any[]} items @param {any} item */
function joined(items, item) {
  const last = items.at(-1);
  const mergeable =
    item.type === "message" && item.role !== "assistant" && last?.role === item.role;
  if (mergeable) last.content.push(...item.content);
  else items.push(item);
  return items;
}

/** @param {Part} part @param {Ways} ways @returns {any[]} */
function geminiParts(part, ways) {
  switch (part.kind) {
    case "text":
      return [{ text: part.text }];
    case "image":
      return [{ inlineData: { mimeType: part.mime, data: part.data } }];
    case "reasoning":
      return part.text === "" ? [] : [{ text: part.text, thought: true }];
    case "call": {
      if (part.hosted !== undefined)
        return [
          { executableCode: { language: "PYTHON", code: "print(1)" } },
          ...(part.unanswered
            ? []
            : [{ codeExecutionResult: { outcome: "OUTCOME_OK", output: part.hosted } }]),
        ];
      const id = ways.ids ? { id: part.id } : {};
      return [
        {
          functionCall: { ...id, name: part.name, args: part.raw ?? part.input },
          ...(part.sig ? { thoughtSignature: part.sig } : {}),
        },
      ];
    }
    default: {
      const id = ways.ids ? { id: part.id } : {};
      const response = { [part.error ? "error" : "output"]: part.text ?? "" };
      return [
        {
          functionResponse: {
            ...id,
            ...(part.name === undefined ? {} : { name: part.name }),
            response,
          },
        },
      ];
    }
  }
}

/** @param {Part} part @returns {any[]} */
function bedrockBlocks(part) {
  switch (part.kind) {
    case "text":
      return [{ text: part.text }];
    case "image":
      return [{ image: { format: "png", source: { bytes: part.data } } }];
    case "reasoning":
      if (part.sig === null) return [];
      return [
        part.redacted
          ? { reasoningContent: { redactedContent: part.sig } }
          : { reasoningContent: { reasoningText: { text: part.text, signature: part.sig } } },
      ];
    case "call":
      if (part.hosted !== undefined) return [];
      return [{ toolUse: { toolUseId: part.id, name: part.name, input: part.raw ?? part.input } }];
    default:
      return [
        {
          toolResult: {
            toolUseId: part.id,
            content:
              part.text === null
                ? []
                : [{ text: part.text }, ...(part.image ? bedrockBlocks(part.image) : [])],
            status: part.error ? "error" : "success",
          },
        },
      ];
  }
}
