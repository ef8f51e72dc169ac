import { createHash } from "node:crypto";

const idOf = (index) => createHash("sha256").update(`entry ${index}`).digest("hex").slice(0, 8);

/** pi's session file: a header, then one entry a line, each with its parent. */
export function piLines(history, { id, cwd }) {
  const iso = (time) => new Date(time).toISOString();
  const entries = [{ type: "session", version: 3, id, timestamp: iso(history[0].timestamp), cwd }];
  entries.push({
    type: "model_change",
    id: idOf(0),
    parentId: null,
    timestamp: iso(history[0].timestamp),
    provider: "example",
    modelId: "planner-1",
  });
  for (const [index, message] of history.entries()) {
    entries.push({
      type: "message",
      id: idOf(index + 1),
      parentId: idOf(index),
      timestamp: iso(message.timestamp),
      message,
    });
  }
  return `${entries.map((entry) => JSON.stringify(entry)).join("\n")}\n`;
}

/** The body of an Anthropic request: results go into a user message, all of one assistant message into the same. */
export function anthropicRequest(history, { system, tools }) {
  const messages = [];
  for (const message of history) {
    if (message.role === "user") messages.push({ role: "user", content: message.content });
    else if (message.role === "assistant")
      messages.push({ role: "assistant", content: message.content.map(anthropicBlock) });
    else {
      const block = {
        type: "tool_result",
        tool_use_id: message.toolCallId,
        content: message.content,
        ...(message.isError ? { is_error: true } : {}),
      };
      const last = messages.at(-1);
      if (last.role === "user" && last.content[0]?.type === "tool_result") last.content.push(block);
      else messages.push({ role: "user", content: [block] });
    }
  }
  return {
    system,
    tools: tools.map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: parameters,
    })),
    messages,
  };
}

function anthropicBlock(block) {
  if (block.type === "thinking")
    return { type: "thinking", thinking: block.thinking, signature: block.thinkingSignature };
  if (block.type === "toolCall")
    return { type: "tool_use", id: block.id, name: block.name, input: block.arguments };
  return block;
}

/** OpenAI chat messages, the system prompt first. Thinking has no place there. */
export function openaiMessages(history, { system }) {
  const text = (content) =>
    content
      .filter((block) => block.type === "text")
      .map((block) => block.text)
      .join("");
  const messages = [{ role: "system", content: system }];
  for (const message of history) {
    if (message.role === "user") messages.push({ role: "user", content: text(message.content) });
    else if (message.role === "toolResult")
      messages.push({
        role: "tool",
        tool_call_id: message.toolCallId,
        content: text(message.content),
      });
    else {
      const calls = message.content.filter((block) => block.type === "toolCall");
      const tool_calls = calls.map(({ id, name, arguments: args }) => ({
        id,
        type: "function",
        function: { name, arguments: JSON.stringify(args) },
      }));
      messages.push({
        role: "assistant",
        content: text(message.content) || null,
        ...(calls.length > 0 ? { tool_calls } : {}),
      });
    }
  }
  return messages;
}
