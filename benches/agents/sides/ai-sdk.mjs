/** AI SDK: `pruneMessages` as its cookbook has it: over a threshold tool calls before the last six messages go, over the window all but the last. */
import { sizeOf } from "../provider.mjs";
import { peer } from "./peer.mjs";

export const prune = async ({ window, reserve, provider }) => {
  const { pruneMessages } = await peer("ai");
  const made = new WeakMap();
  const back = new WeakMap();
  const from = (message, names) => {
    if (made.has(message)) return made.get(message);
    const { role, content, tool_calls: calls = [], tool_call_id: id } = message;
    const text = content ? [{ type: "text", text: content }] : [];
    const shaped =
      role === "tool"
        ? {
            role,
            content: [
              {
                type: "tool-result",
                toolCallId: id,
                toolName: names.get(id),
                output: { type: "text", value: content },
              },
            ],
          }
        : role === "user"
          ? { role, content }
          : {
              role,
              content: [
                ...text,
                ...calls.map(({ id, function: it }) => ({
                  type: "tool-call",
                  toolCallId: id,
                  toolName: it.name,
                  input: JSON.parse(it.arguments),
                })),
              ],
            };
    made.set(message, shaped);
    back.set(shaped, message);
    return shaped;
  };
  const to = (shaped) => {
    const known = back.get(shaped);
    if (known) return known;
    const text =
      typeof shaped.content === "string"
        ? shaped.content
        : shaped.content
            .filter((it) => it.type === "text")
            .map((it) => it.text)
            .join("");
    const calls = Array.isArray(shaped.content)
      ? shaped.content.filter((it) => it.type === "tool-call")
      : [];
    return {
      role: shaped.role,
      content: text,
      ...(calls.length > 0 && {
        tool_calls: calls.map((it) => ({
          id: it.toolCallId,
          type: "function",
          function: { name: it.toolName, arguments: JSON.stringify(it.input) },
        })),
      }),
    };
  };
  const room = window - reserve - provider.extraTokens;
  return {
    async request(history) {
      if (sizeOf(history) <= room * 0.8) return history;
      const names = new Map(
        history.flatMap(({ tool_calls: calls = [] }) =>
          calls.map(({ id, function: it }) => [id, it.name]),
        ),
      );
      const shaped = history.map((it) => from(it, names));
      let out = history;
      for (const toolCalls of [
        "before-last-6-messages",
        "before-last-3-messages",
        "before-last-message",
      ]) {
        out = pruneMessages({ messages: shaped, reasoning: "all", toolCalls }).map(to);
        if (sizeOf(out) <= room) break;
      }
      return out;
    },
  };
};
