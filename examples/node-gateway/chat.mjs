import { readEvents } from "./sse.mjs";

/** A refusal of the model server, or an answer that broke off. `context.recover` recognizes an overflow by status and message. */
export class ModelError extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

/** Returns a function that calls any OpenAI-compatible server and streams the answer. */
export function createChat({ url, model, key, maxTokens }) {
  return async function chat({ messages, tools, signal, onText }) {
    const response = await fetch(`${url}/chat/completions`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key ? { authorization: `Bearer ${key}` } : {}),
      },
      body: JSON.stringify({
        model,
        messages,
        tools,
        max_tokens: maxTokens,
        stream: true,
        stream_options: { include_usage: true },
      }),
      signal,
    });
    if (!response.ok) {
      const body = (await response.text()).slice(0, 2_000);
      throw new ModelError(`the model answered ${response.status}: ${body}`, response.status);
    }
    const answer = { text: "", calls: [], usage: null, finish: null };
    for await (const data of readEvents(response.body)) {
      if (data !== "[DONE]") read(JSON.parse(data), answer, onText);
    }
    // Half an answer must not become part of a session.
    if (answer.finish === null) throw new ModelError("the model's answer broke off");
    const { text, calls, usage } = answer;
    const message = calls.length
      ? { role: "assistant", content: text || null, tool_calls: calls }
      : { role: "assistant", content: text };
    return { message, usage };
  };
}

/** Adds one chunk to an answer. The arguments of a tool call come in pieces, most with the position of their call. */
function read(chunk, answer, onText) {
  if (chunk.error) throw new ModelError(`the model failed: ${JSON.stringify(chunk.error)}`);
  answer.usage = chunk.usage ?? answer.usage;
  const choice = chunk.choices?.[0];
  answer.finish = choice?.finish_reason ?? answer.finish;
  const { content, tool_calls: pieces } = choice?.delta ?? {};
  if (content) {
    answer.text += content;
    onText(content);
  }
  for (const { index, id, function: piece } of pieces ?? []) {
    const at = index ?? positionOf(answer.calls, id);
    answer.calls[at] ??= { id, type: "function", function: { name: "", arguments: "" } };
    answer.calls[at].function.name += piece?.name ?? "";
    answer.calls[at].function.arguments += piece?.arguments ?? "";
  }
}

/** Some servers name no position: an id that is new starts a call, a piece without one belongs to the last. */
function positionOf(calls, id) {
  if (id === undefined) return Math.max(0, calls.length - 1);
  const known = calls.findIndex((call) => call.id === id);
  return known < 0 ? calls.length : known;
}
