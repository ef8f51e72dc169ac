// @ts-check
/**
 * A model on this machine that speaks the APIs of OpenAI and Anthropic, and keeps each request. It reads one file a step until a
 * turn's steps are done, and writes a short summary where an agent asks for one.
 */
import { createServer } from "node:http";

/**
 * @typedef {object} Asked a request
 * @property {any[]} messages
 * @property {number} tokens what is reported as its input
 * @property {boolean} isSummary it asks for a summary
 * @property {any} body
 */

/** What a wire calls its members. `of`: the messages of a body; `answer`: writes an answer. */
const WIRES = [
  { path: "/chat/completions", of: (/** @type {any} */ body) => body.messages, answer: asChat },
  { path: "/responses", of: (/** @type {any} */ body) => body.input, answer: asResponses },
  { path: "/messages", of: (/** @type {any} */ body) => body.messages, answer: asAnthropic },
];

/**
 * Starts the model. `read`: the names of tools that read a file, and their arguments for a path; `path`: of the file of a step;
 * `summary`: what a request for a summary contains, if it has tools.
 * @param {{ read: Record<string, (path: string) => any>, path: (step: number) => string, summary: RegExp, steps: number }} script
 */
export async function startModel({ read, path, summary, steps }) {
  /** @type {Asked[]} */
  const requests = [];
  let step = 0;
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await request.toArray()).toString();
    const wire = WIRES.find((one) => request.url?.split("?")[0]?.endsWith(one.path));
    if (!wire) {
      response.writeHead(404, { "content-type": "application/json" });
      response.end("{}");
      return;
    }
    const body = JSON.parse(text);
    const messages = wire.of(body);
    const names = (body.tools ?? []).map(
      (/** @type {any} */ tool) => tool.function?.name ?? tool.name,
    );
    const name = names.find((/** @type {string} */ one) => one in read);
    const isSummary = !name || summary.test(JSON.stringify(messages.slice(-3)));
    const tokens = Math.ceil(text.length / 4);
    requests.push({ messages, tokens, isSummary, body });
    const id = `c${requests.length}`;
    const answer = { id, tokens, model: body.model, stream: body.stream !== false };
    if (!isSummary) step += 1;
    if (isSummary) {
      wire.answer(response, {
        ...answer,
        text: `Summary ${requests.length}: the berths were read.`,
      });
    } else if (step % (steps + 1) === 0) {
      wire.answer(response, { ...answer, text: `Turn done after ${step} steps.` });
    } else {
      const call = { name, input: read[name]?.(path(step)) };
      wire.answer(response, { ...answer, thought: `Reading berth ${step}.`, call });
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const address = /** @type {import("node:net").AddressInfo} */ (server.address());
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { requests, url: `http://127.0.0.1:${address.port}`, stop };
}

/**
 * @typedef {{ id: string, tokens: number, model: string, stream: boolean, text?: string, thought?: string, call?: { name: string, input: any } }} Answer
 * @typedef {import("node:http").ServerResponse} Response
 */

/** @param {Response} response @param {any[]} events each an event of the stream, with its type where the wire has one */
function stream(response, events) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of events) {
    if (event.type) response.write(`event: ${event.type}\n`);
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
}

/** @param {Response} response @param {Answer} answer */
function asChat(response, { id, tokens, text, thought, call }) {
  const made = call && { name: call.name, arguments: JSON.stringify(call.input) };
  const calls = made && [{ index: 0, id: `call_${id}`, type: "function", function: made }];
  const delta = { role: "assistant", reasoning_content: thought, content: text, tool_calls: calls };
  const usage = { prompt_tokens: tokens, completion_tokens: 20, total_tokens: tokens + 20 };
  const head = { id, object: "chat.completion.chunk", created: 1, model: "strict" };
  const end = { index: 0, delta: {}, finish_reason: calls ? "tool_calls" : "stop" };
  stream(response, [
    { ...head, choices: [{ index: 0, delta, finish_reason: null }] },
    { ...head, choices: [end] },
    { ...head, choices: [], usage },
  ]);
  response.end("data: [DONE]\n\n");
}

/** @param {Response} response @param {Answer} answer */
function asResponses(response, { id, tokens, text, thought, call }) {
  const summary = [{ type: "summary_text", text: thought }];
  const made = { type: "function_call", id: `fc_${id}`, call_id: `call_${id}`, name: call?.name };
  const content = [{ type: "output_text", text }];
  const output = call
    ? [
        { type: "reasoning", id: `rs_${id}`, summary, encrypted_content: "sealed" },
        { ...made, arguments: JSON.stringify(call.input) },
      ]
    : [{ type: "message", role: "assistant", id: `msg_${id}`, content }];
  const usage = {
    input_tokens: tokens,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 20,
    output_tokens_details: { reasoning_tokens: 5 },
    total_tokens: tokens + 20,
  };
  stream(response, [
    { type: "response.created", response: { id } },
    ...output.flatMap((item, output_index) => [
      { type: "response.output_item.added", output_index, item },
      { type: "response.output_item.done", output_index, item },
    ]),
    { type: "response.completed", response: { id, output, usage } },
  ]);
  response.end();
}

/** @param {Response} response @param {Answer} answer */
function asAnthropic(response, { id, tokens, model, stream: streams, text, thought, call }) {
  const usage = { input_tokens: tokens, output_tokens: 20 };
  const content = call
    ? [
        { type: "thinking", thinking: thought, signature: `signed ${id}` },
        { type: "tool_use", id: `call_${id}`, name: call.name, input: call.input },
      ]
    : [{ type: "text", text }];
  const stop_reason = call ? "tool_use" : "end_turn";
  const message = { id, type: "message", role: "assistant", model, stop_sequence: null, usage };
  if (!streams) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ ...message, content, stop_reason }));
    return;
  }
  const empty = { text: "", thinking: "", signature: "", input: {} };
  const blank = (/** @type {any} */ block) =>
    Object.fromEntries(
      Object.entries(block).map(([name, value]) => [name, name in empty ? empty[name] : value]),
    );
  const deltas = (/** @type {any} */ block) =>
    block.type === "text"
      ? [{ type: "text_delta", text: block.text }]
      : block.type === "thinking"
        ? [
            { type: "thinking_delta", thinking: block.thinking },
            { type: "signature_delta", signature: block.signature },
          ]
        : [{ type: "input_json_delta", partial_json: JSON.stringify(block.input) }];
  stream(response, [
    { type: "message_start", message: { ...message, content: [], stop_reason: null } },
    ...content.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: blank(block) },
      ...deltas(block).map((delta) => ({ type: "content_block_delta", index, delta })),
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ]);
  response.end();
}
