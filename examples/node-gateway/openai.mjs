import { openaiMessages } from "./record.mjs";

/** A model function for any OpenAI-compatible endpoint: MODEL_URL (…/v1), MODEL_NAME, MODEL_KEY. */
export function createOpenAi({ url, model, key }) {
  return async function ask(messages, tools, system) {
    const response = await fetch(`${url}/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key ? { authorization: `Bearer ${key}` } : {}),
      },
      body: JSON.stringify({
        model,
        messages: openaiMessages(messages, { system }),
        tools: tools.map((definition) => ({ type: "function", function: definition })),
      }),
    });
    if (!response.ok)
      throw new Error(
        `the model answered ${response.status}: ${(await response.text()).slice(0, 400)}`,
      );
    const { choices } = await response.json();
    const { content, tool_calls: calls = [] } = choices[0].message;
    return {
      role: "assistant",
      content: [
        ...(content ? [{ type: "text", text: content }] : []),
        ...(calls ?? []).map((one) => ({
          type: "toolCall",
          id: one.id,
          name: one.function.name,
          arguments: JSON.parse(one.function.arguments || "{}"),
        })),
      ],
      api: "openai-completions",
      provider: new URL(url).hostname,
      model,
      stopReason: calls?.length > 0 ? "toolUse" : "stop",
    };
  };
}
