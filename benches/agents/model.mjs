/** A real model behind an OpenAI-compatible endpoint, in the place of the scripted agent. */
import { SYSTEM } from "./agent.mjs";
import { DEFINITIONS } from "./tools.mjs";

/**
 * @param {{ name: string, base: string, key?: string, fetch?: typeof fetch }} options base: such as http://127.0.0.1:11434/v1
 * @returns {(messages: object[]) => Promise<{ text: string, call?: { name: string, args: object } }>}
 */
export function endpoint({ name, base, key, fetch: send = fetch }) {
  return async (messages) => {
    const body = {
      model: name,
      temperature: 0,
      messages: [{ role: "system", content: SYSTEM }, ...messages],
      tools: DEFINITIONS,
      parallel_tool_calls: false,
    };
    const headers = {
      "content-type": "application/json",
      ...(key && { authorization: `Bearer ${key}` }),
    };
    const url = `${base.replace(/\/$/, "")}/chat/completions`;
    const response = await send(url, { method: "POST", headers, body: JSON.stringify(body) });
    if (!response.ok)
      throw new Error(
        `${url} answered ${response.status}: ${(await response.text()).slice(0, 300)}`,
      );
    const { message } = (await response.json()).choices[0];
    // One call at a time, as it was asked for; what a model adds is left out.
    const call = message.tool_calls?.[0]?.function;
    const text = message.content ?? "";
    if (!call) return { text: text.trim() };
    return { text, call: { name: call.name, args: readArguments(call.arguments) } };
  };
}

/** What is no JSON calls the tool with nothing, and its error tells the model. */
function readArguments(text) {
  try {
    return JSON.parse(text || "{}");
  } catch {
    return {};
  }
}
