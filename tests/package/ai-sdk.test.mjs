/** `plimsoll/ai-sdk` in the AI SDK itself, with a model that refuses what is invalid or too long. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { generateText, jsonSchema, stepCountIs, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { strictFor } from "../conformance/providers/pairs.mjs";
import { hostProject, row, snippet } from "../support/hosts.mjs";
import { root, run } from "../support/project.mjs";

/** As a user writes it, against the types of both packages. */
const PROGRAM = `import { generateText, type LanguageModelMiddleware, streamText, ToolLoopAgent, wrapLanguageModel } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import type { LanguageModelMiddleware as LanguageModelMiddleware5 } from "ai-v5";
import {
  generateText as generateText6,
  type LanguageModelMiddleware as LanguageModelMiddleware6,
  wrapLanguageModel as wrapLanguageModel6,
} from "ai-v6";
import { MockLanguageModelV3 } from "ai-v6/test";
import { middleware, prepareStep } from "plimsoll/ai-sdk";

const model = new MockLanguageModelV4();
const window = { contextTokens: 200_000 };
const own: LanguageModelMiddleware = middleware({ window });
export const wrapped = wrapLanguageModel({ model, middleware: own });
export const once = generateText({ model, prompt: "x", prepareStep: prepareStep({ window }, { tools: {} }) });
export const streamed = streamText({ model, prompt: "x", prepareStep: prepareStep({ window }) });
export const agent = new ToolLoopAgent({ model, prepareStep: prepareStep({ window }) });

const older: LanguageModelMiddleware6 = middleware({ window });
export const oldest: LanguageModelMiddleware5 = middleware({ window });
const model6 = new MockLanguageModelV3();
export const wrapped6 = wrapLanguageModel6({ model: model6, middleware: older });
export const once6 = generateText6({ model: wrapped6, prompt: "x", prepareStep: prepareStep({ window }) });
`;
const { folder, entry } = hostProject("ai-sdk", ["ai", "ai-v5", "ai-v6"], PROGRAM);
const { middleware, prepareStep } = await import(pathToFileURL(entry).href);

const STEPS = 50;
const WINDOW = { contextTokens: 16_000, maxOutputTokens: 1_000 };
const FACT = "The audit number is ZX-4471.";
const MODEL = "anthropic.messages";

const tools = {
  read: tool({
    description: "Reads a file.",
    inputSchema: jsonSchema({ type: "object", properties: { path: { type: "string" } } }),
    execute: ({ path }) => `${path}\n${"const berth = ledger.find(ship);\n".repeat(60)}`,
  }),
};
const tokensOf = (prompt) => Math.ceil(JSON.stringify(prompt).length / 4);

/** A model that reads a file a step and stops after `STEPS`. `limit`: it refuses longer prompts. */
function model({ limit = WINDOW.contextTokens } = {}) {
  const strict = strictFor("ai-sdk", "anthropic");
  const seen = { calls: 0, refused: 0, peak: 0, broken: [] };
  const answer = ({ prompt }) => {
    const messages = prompt.filter(({ role }) => role !== "system");
    seen.broken.push(...strict(messages));
    if (!JSON.stringify(prompt).includes(FACT)) seen.broken.push("the fact is gone");
    const tokens = tokensOf(prompt);
    if (tokens > limit) {
      seen.refused += 1;
      throw new Error(`prompt is too long: ${tokens} tokens > ${limit} maximum`);
    }
    seen.peak = Math.max(seen.peak, tokens);
    seen.calls += 1;
    const usage = {
      inputTokens: { total: tokens, noCache: tokens, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 20, text: 20, reasoning: 0 },
    };
    const done = seen.calls > STEPS;
    const call = {
      type: "tool-call",
      toolCallId: `call_${seen.calls}`,
      toolName: "read",
      input: JSON.stringify({ path: `src/berth${seen.calls}.js` }),
    };
    const content = [done ? { type: "text", text: "The audit is done." } : call];
    const finishReason = { unified: done ? "stop" : "tool-calls", raw: undefined };
    return { content, finishReason, usage, warnings: [] };
  };
  const mock = new MockLanguageModelV4({
    provider: MODEL,
    doGenerate: async (options) => answer(options),
    doStream: async (options) => {
      const { content, finishReason, usage } = answer(options);
      const [part] = content;
      const text = [
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: part.text },
        { type: "text-end", id: "1" },
      ];
      const chunks = [
        { type: "stream-start", warnings: [] },
        ...(part.type === "text" ? text : [part]),
        { type: "finish", finishReason, usage },
      ];
      return { stream: simulateReadableStream({ chunks }) };
    },
  });
  return { seen, mock };
}

const messages = [{ role: "user", content: `${FACT} Read every berth's file, one at a time.` }];
const asked = { tools, messages, system: "You audit a harbour.", stopWhen: stepCountIs(STEPS + 1) };

/** What every way must hold. */
function checkSound(name, seen, text, epochs) {
  row(name, "ai", seen, epochs);
  const { calls, peak, broken } = seen;
  assert.deepEqual(broken, []);
  assert.equal(calls, STEPS + 1);
  assert.equal(text, "The audit is done.");
  assert.ok(peak <= WINDOW.contextTokens - WINDOW.maxOutputTokens, `${peak}`);
}

test("prepareStep and the middleware have the types that the AI SDK expects, also in earlier versions", () => {
  run(join(root, "js/node_modules/.bin/tsc"), [], folder);
});

test("prepareStep keeps 50 steps in a small window valid", async () => {
  const { seen, mock } = model();
  const events = [];
  const step = prepareStep({ window: WINDOW, on: ({ type }) => events.push(type) }, { tools });
  const { text } = await generateText({ ...asked, model: mock, prepareStep: step });
  checkSound("prepareStep", seen, text, events.filter((type) => type === "epoch").length);
  assert.equal(seen.refused, 0);
  assert.ok(events.includes("epoch"), `${events}`);
});

test("a step of a model without a name keeps the current provider rules", async () => {
  const step = prepareStep({ window: WINDOW });
  for (const unnamed of [undefined, null, "", {}, { provider: 7 }]) {
    const [sent] = (await step({ messages, model: unnamed })).messages;
    assert.equal(sent.content, messages[0].content);
    assert.ok(sent.providerOptions.anthropic.cacheControl, "Anthropic's, which hold by default");
  }
});

test("the rules are those of the model behind a gateway", async () => {
  const step = prepareStep({ window: WINDOW });
  const marked = async (modelId) => {
    const [sent] = (await step({ messages, model: { provider: "gateway", modelId } })).messages;
    return sent.providerOptions?.anthropic?.cacheControl !== undefined;
  };
  assert.equal(await marked("anthropic/claude-sonnet-4.5"), true);
  assert.equal(await marked("openai/gpt-5"), false);
});

test("the middleware keeps 50 generated steps valid", async () => {
  const { seen, mock } = model();
  const wrapped = wrapLanguageModel({ model: mock, middleware: middleware({ window: WINDOW }) });
  const { text } = await generateText({ ...asked, model: wrapped });
  checkSound("generateText", seen, text);
});

test("the middleware keeps 50 streamed steps valid and reads the usage of each", async () => {
  const { seen, mock } = model();
  const { ContextManager } = await import(pathToFileURL(join(entry, "../../index.js")).href);
  const context = new ContextManager({ window: WINDOW, format: "ai-sdk" });
  const wrapped = wrapLanguageModel({ model: mock, middleware: middleware(context) });
  const text = await streamText({ ...asked, model: wrapped }).text;
  checkSound("streamText", seen, text);
  assert.equal(context.status().source, "usage+estimate");
});

test("an answer arrives although its session has ended or its usage cannot be read", async () => {
  const { ContextManager } = await import(pathToFileURL(join(entry, "../../index.js")).href);
  for (const isEnded of [true, false]) {
    const context = new ContextManager({ window: WINDOW, format: "ai-sdk" });
    const { transformParams, wrapGenerate, wrapStream } = middleware(context);
    const params = await transformParams({ params: { prompt: messages }, model: {} });
    const usage = isEnded ? { inputTokens: 9 } : { inputTokens: 9n };
    const finish = { type: "finish", usage };
    const { stream } = await wrapStream({
      params,
      model: {},
      doStream: async () => ({ stream: simulateReadableStream({ chunks: [finish] }) }),
    });
    const doGenerate = async () => {
      if (isEnded) context[Symbol.dispose]();
      return { content: "done", usage };
    };
    assert.equal((await wrapGenerate({ params, model: {}, doGenerate })).content, "done");
    const parts = [];
    for await (const part of stream) parts.push(part);
    assert.deepEqual(parts, [finish]);
  }
});

test("a manager of another format is refused, since its requests would lack what that format has not", async () => {
  const { ContextManager } = await import(pathToFileURL(join(entry, "../../index.js")).href);
  for (const adapt of [middleware, prepareStep]) {
    assert.throws(() => adapt(new ContextManager({ window: WINDOW, format: "openai-chat" })), {
      message: 'session: expected a manager with format: "ai-sdk", got "openai-chat"',
    });
    adapt(new ContextManager({ window: WINDOW }));
  }
});

test("the middleware sends a call that was refused as too long again, smaller", async () => {
  for (const ask of [
    async (wrapped) => (await generateText({ ...asked, model: wrapped, maxRetries: 0 })).text,
    async (wrapped) => streamText({ ...asked, model: wrapped, maxRetries: 0 }).text,
  ]) {
    const { seen, mock } = model({ limit: 9_000 });
    const wrapped = wrapLanguageModel({ model: mock, middleware: middleware({ window: WINDOW }) });
    const text = await ask(wrapped);
    checkSound("recover", seen, text);
    assert.ok(seen.refused >= 1 && seen.peak <= 9_000, JSON.stringify(seen));
  }
});

/** A stream that ends like this after its start: an error part, or a failure of the stream itself. */
const endsWith = (error, { fails = false, words = [] } = {}) => {
  const chunks = [{ type: "stream-start", warnings: [] }, { type: "response-metadata" }, ...words];
  if (!fails) chunks.push({ type: "error", error });
  return new ReadableStream({
    pull: async (out) => {
      const chunk = chunks.shift();
      if (chunk) return out.enqueue(chunk);
      // A stream that fails at once loses what was not read yet.
      await setTimeout(5);
      if (fails) out.error(error);
      else out.close();
    },
  });
};
const TOO_LONG = {
  code: 400,
  message:
    "This endpoint's maximum context length is 9000 tokens. However, you requested about 9400 tokens.",
};

test("a call that its stream refuses as too long is sent again, smaller", async () => {
  for (const fails of [false, true]) {
    const { seen, mock } = model();
    const { doStream } = mock;
    let refused = 0;
    mock.doStream = async (options) => {
      if (tokensOf(options.prompt) <= 9_000) return doStream(options);
      refused += 1;
      return { stream: endsWith(TOO_LONG, { fails }) };
    };
    const wrapped = wrapLanguageModel({ model: mock, middleware: middleware({ window: WINDOW }) });
    const text = await streamText({ ...asked, model: wrapped, maxRetries: 0 }).text;
    checkSound(`recover, ${fails ? "a stream that fails" : "an error part"}`, seen, text);
    assert.ok(refused >= 1, `${refused}`);
  }
});

test("a stream is passed on as it is if it fails of something else, or after its first word", async () => {
  const words = [{ type: "text-start", id: "1" }];
  const busy = { code: 529, message: "overloaded" };
  for (const [error, options] of [
    [busy, {}],
    [busy, { fails: true }],
    [TOO_LONG, { words }],
    [TOO_LONG, { words, fails: true }],
  ]) {
    const { transformParams, wrapStream } = middleware({ window: WINDOW });
    const params = await transformParams({ params: { prompt: messages }, model: {} });
    let calls = 0;
    const doStream = async () => {
      calls += 1;
      return { stream: endsWith(error, options) };
    };
    const { stream } = await wrapStream({ params, model: { doStream }, doStream });
    const types = [];
    const read = async () => {
      for await (const { type } of stream) types.push(type);
    };
    if (options.fails) await assert.rejects(read, (it) => it === error);
    else {
      await read();
      const before = (options.words ?? []).map(({ type }) => type);
      assert.deepEqual(types, ["stream-start", "response-metadata", ...before, "error"]);
    }
    assert.equal(calls, 1);
  }
});

test("the examples of docs/hosts/ai-sdk.md run", async () => {
  const { seen, mock } = model();
  const { text } = await snippet(folder, "ai-sdk", { model: mock, tools, messages });
  checkSound("docs/hosts/ai-sdk.md", seen, text);

  const other = model();
  const { wrapped } = await snippet(folder, "ai-sdk", { model: other.mock }, 2);
  const generated = await generateText({ ...asked, model: wrapped });
  checkSound("docs/hosts/ai-sdk.md, the middleware", other.seen, generated.text);
});
