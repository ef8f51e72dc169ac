/**
 * A model on 127.0.0.1 that speaks OpenAI's chat completions and Anthropic's messages. It counts and checks each request, refuses
 * what is too long or invalid, and answers with the tool calls that the test has queued.
 */
import { createServer } from "node:http";
import { Tiktoken } from "js-tiktoken/lite";
import o200k from "js-tiktoken/ranks/o200k_base";
import { strictFor } from "../../conformance/providers/pairs.mjs";

const tokenizer = new Tiktoken(o200k);
const counted = new Map();
/** Tokens of a text; what was counted before is not counted again. */
function count(text) {
  let tokens = counted.get(text);
  if (tokens === undefined) {
    tokens = tokenizer.encode(text, "all").length;
    counted.set(text, tokens);
  }
  return tokens;
}

const LEADING = new Set(["system", "developer"]);
/** Rules of the wire format, by an independent checker. */
const rules = {
  openai: ({ messages }) =>
    strictFor("openai-chat", "openai-chat")(messages.filter(({ role }) => !LEADING.has(role))),
  anthropic: ({ messages }) => strictFor("anthropic", "anthropic")(messages),
};

/** Without the host's cache markers, which move with every request, and make a list of a text. */
function unmarked(name, value) {
  if (name === "cache_control") return undefined;
  const [only, ...others] = Array.isArray(value) ? value : [];
  return only?.type === "text" && others.length === 0 ? only.text : value;
}

/** Starts a model. @param {number} limit its window in tokens */
export async function startModel(limit) {
  const state = { calls: [], say: "ok", fact: null, refuseNext: false, isDown: false, onSay: null };
  const seen = {
    ...{ requests: 0, invalid: [], overflows: 0, forced: 0, peak: 0, tokens: 0, factMissing: 0 },
    ...{ summaries: 0, summariesDown: 0, summaryTokens: 0, epochs: 0, flushes: 0, bill: 0 },
    tools: new Set(),
  };
  let before = [];
  let ids = 0;
  const cache = new Map();

  /** Input as a provider bills it that caches each prefix of a request for good: 1.25 a token that is new, 0.1 one that was cached. */
  function billed(parts) {
    let at = cache;
    let bill = 0;
    for (const part of parts) {
      bill += count(part) * (at.has(part) ? 0.1 : 1.25);
      if (!at.has(part)) at.set(part, new Map());
      at = at.get(part);
    }
    return bill;
  }

  /** What a request is answered with: calls, a text, or an error. */
  function answer(wire, body) {
    const parts = [body.system, body.tools, ...body.messages].map((part) =>
      JSON.stringify(part ?? "", unmarked),
    );
    const tokens = parts.reduce((sum, part) => sum + count(part), 0);
    const invalid = rules[wire](body).map((found) => JSON.stringify(found).slice(0, 200));
    seen.invalid.push(...invalid);
    if (!(body.tools?.length > 0)) {
      seen.summaries += 1;
      seen.summaryTokens += tokens;
      if (!state.isDown) return { tokens, say: summaryFor(parts.join("")) };
      seen.summariesDown += 1;
      return { status: 503, message: "Service unavailable" };
    }
    seen.requests += 1;
    for (const tool of body.tools) seen.tools.add(tool.name ?? tool.function?.name);
    if (state.refuseNext || tokens > limit) {
      seen[state.refuseNext ? "forced" : "overflows"] += 1;
      state.refuseNext = false;
      return { status: 400, message: overflow(wire, tokens, limit) };
    }
    if (invalid.length > 0) return { status: 400, message: invalid[0] };
    seen.tokens += tokens;
    seen.bill += billed(parts);
    seen.peak = Math.max(seen.peak, tokens);
    if (state.fact && !parts.some((part) => part.includes(state.fact))) seen.factMissing += 1;
    if (/memory flush|NO_REPLY/i.test(parts.at(-1)) && /flush|memory/i.test(parts.at(-1))) {
      seen.flushes += 1;
      return { tokens, say: "NO_REPLY" };
    }
    // Not ours: the system prompt, and the lines that the host adds to a turn's first message until the next turn.
    const isOurs = (part, at) =>
      at > 1 && !/^.{0,20}"(system|developer)"|OPENCLAW_INTERNAL_CONTEXT/.test(part);
    const changed = before
      .slice(0, -2)
      .findIndex((part, at) => isOurs(part, at) && part !== parts[at]);
    if (changed >= 0) seen.epochs += 1;
    before = parts;
    const next = state.calls.shift();
    if (!next) return { tokens, say: state.say };
    ids += next.length;
    return { tokens, calls: next.map((command, at) => ({ id: `call${ids}x${at}`, command })) };
  }

  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const wire = request.url.includes("/messages") ? "anthropic" : "openai";
    if (!/\/(messages|chat\/completions)/.test(request.url))
      return json(response, 200, { data: [] });
    const body = JSON.parse(text);
    const found = answer(wire, body);
    if (found.say && body.tools?.length > 0) await state.onSay?.();
    if (found.status) {
      const code = found.status === 400 ? { code: "context_length_exceeded" } : {};
      const error = { type: "invalid_request_error", message: found.message, ...code };
      return json(response, found.status, { type: "error", error });
    }
    const name = body.tools
      ?.map((tool) => tool.name ?? tool.function?.name)
      .find((one) => one === "exec");
    const reply = { ...found, name: name ?? "bash", id: `r${seen.requests}`, model: body.model };
    if (body.stream) stream[wire](response, reply);
    else json(response, 200, replies[wire](reply));
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  const { port } = server.address();
  return { state, seen, port, close: () => server.close() };
}

function json(response, status, body) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

const overflow = (wire, tokens, limit) =>
  wire === "anthropic"
    ? `prompt is too long: ${tokens} tokens > ${limit} maximum`
    : `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens.`;

/** A summary under the headings that were asked for; each says something else, and nothing is pending, as OpenClaw's own check wants it. */
function summaryFor(prompt) {
  const found = [...prompt.matchAll(/\\n\s*## ([A-Z][^\\"]{2,40})/g)].map(([, one]) => one.trim());
  const headings = found.length > 0 ? [...new Set(found)] : HOST_HEADINGS;
  const body = (heading) =>
    /Pending|TODO|Open|Blocked/.test(heading)
      ? "None."
      : `- ${heading}: the berths in src/berth1.js were read, step by step.`;
  return headings.map((heading) => `## ${heading}\n${body(heading)}`).join("\n\n");
}
/** Headings that OpenClaw wants. */
const HOST_HEADINGS = [
  ...["Decisions", "Open TODOs", "Constraints/Rules", "Pending user asks", "Exact identifiers"],
];

const argsOf = ({ command }) => JSON.stringify({ command });
const openaiUsage = (tokens) => ({
  ...{ prompt_tokens: tokens, completion_tokens: 20, total_tokens: tokens + 20 },
});
const openaiCalls = (calls, name) =>
  calls.map((call, index) => ({
    ...{ index, id: call.id, type: "function" },
    function: { name, arguments: argsOf(call) },
  }));

const replies = {
  openai: ({ id, model, say, calls, name, tokens }) => ({
    ...{ id, model, object: "chat.completion", usage: openaiUsage(tokens) },
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: say ?? null,
          ...(calls && { tool_calls: openaiCalls(calls, name) }),
        },
        finish_reason: calls ? "tool_calls" : "stop",
      },
    ],
  }),
  anthropic: ({ id, model, say, calls, name, tokens }) => ({
    ...{ id, model, type: "message", role: "assistant" },
    content: calls
      ? calls.map((call) => ({
          type: "tool_use",
          id: call.id,
          name,
          input: { command: call.command },
        }))
      : [{ type: "text", text: say }],
    stop_reason: calls ? "tool_use" : "end_turn",
    usage: { input_tokens: tokens, output_tokens: 20 },
  }),
};

const stream = {
  openai(response, { id, model, say, calls, name, tokens }) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (choices, more) => {
      const chunk = { id, model, object: "chat.completion.chunk", choices, ...more };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    const delta = calls ? { tool_calls: openaiCalls(calls, name) } : { content: say };
    send([{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }]);
    send([{ index: 0, delta: {}, finish_reason: calls ? "tool_calls" : "stop" }]);
    send([], { usage: openaiUsage(tokens) });
    response.end("data: [DONE]\n\n");
  },
  anthropic(response, { id, model, say, calls, name, tokens }) {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (type, more) =>
      response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`);
    const usage = { input_tokens: tokens, output_tokens: 1 };
    const message = { id, model, type: "message", role: "assistant", content: [], usage };
    send("message_start", { message });
    for (const [index, call] of (calls ?? [null]).entries()) {
      const block = call
        ? { type: "tool_use", id: call.id, name, input: {} }
        : { type: "text", text: "" };
      const delta = call
        ? { type: "input_json_delta", partial_json: argsOf(call) }
        : { type: "text_delta", text: say };
      send("content_block_start", { index, content_block: block });
      send("content_block_delta", { index, delta });
      send("content_block_stop", { index });
    }
    const stop_reason = calls ? "tool_use" : "end_turn";
    send("message_delta", { delta: { stop_reason }, usage: { output_tokens: 20 } });
    send("message_stop", {});
    response.end();
  },
};
