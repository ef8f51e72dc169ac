/** `plimsoll/langchain` in LangChain's own agent, with a model that refuses what is invalid or too long. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, HumanMessage, isBaseMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent, createMiddleware, modelRetryMiddleware, tool } from "langchain";
import { z } from "zod";
import { strictFor } from "../conformance/providers/pairs.mjs";
import { hostProject, row, snippet } from "../support/hosts.mjs";
import { root, run } from "../support/project.mjs";

/** As a user writes it, against the types of both packages. */
const PROGRAM = `import { createAgent, createMiddleware, initChatModel, tool } from "langchain";
import { middleware } from "plimsoll/langchain";
import { z } from "zod";

const window = { contextTokens: 200_000 };
const read = tool(({ path }) => path, { name: "read", schema: z.object({ path: z.string() }) });
const other = createMiddleware({ name: "other" });
export const agent = createAgent({ model: "openai:gpt-5", tools: [read], middleware: [middleware({ window }), other] });
export const answer = agent.invoke({ messages: "x" });
`;
const { folder, entry } = hostProject("langchain", ["langchain", "@langchain", "zod"], PROGRAM);
const { middleware } = await import(pathToFileURL(entry).href);

const STEPS = 50;
const WINDOW = { contextTokens: 16_000, maxOutputTokens: 1_000 };
const FACT = "The audit number is ZX-4471.";
const tokensOf = (messages) =>
  Math.ceil(
    JSON.stringify(messages.map(({ content, tool_calls }) => [content, tool_calls])).length / 4,
  );

/** A model that reads a file a step and stops after `steps`. `limit`: it refuses longer requests. */
class Model extends BaseChatModel {
  seen = { calls: 0, refused: 0, peak: 0, broken: [] };
  /** What it was asked with, by call. */
  asked = [];
  #strict;

  constructor({ limit = WINDOW.contextTokens, steps = STEPS, provider = "anthropic" } = {}) {
    super({ maxRetries: 0 });
    this.limit = limit;
    this.steps = steps;
    this.provider = provider;
    this.#strict = strictFor("langchain", provider);
  }

  _llmType() {
    return this.provider;
  }

  bindTools() {
    return this;
  }

  async _generate(messages) {
    const { seen } = this;
    const sent = messages.filter((message) => message.getType() !== "system");
    seen.broken.push(...this.#strict(sent));
    if (!JSON.stringify(sent).includes(FACT)) seen.broken.push("the fact is gone");
    const tokens = tokensOf(messages);
    if (tokens > this.limit) {
      seen.refused += 1;
      throw new Error(`prompt is too long: ${tokens} tokens > ${this.limit} maximum`);
    }
    seen.peak = Math.max(seen.peak, tokens);
    seen.calls += 1;
    this.asked.push(sent);
    const usage_metadata = { input_tokens: tokens, output_tokens: 20, total_tokens: tokens + 20 };
    const id = `call_${seen.calls}`;
    const call = {
      id,
      name: "read",
      args: { path: `src/berth${seen.calls}.js` },
      type: "tool_call",
    };
    const message =
      seen.calls > this.steps
        ? new AIMessage({ content: "The audit is done.", usage_metadata })
        : new AIMessage({ content: "", tool_calls: [call], usage_metadata });
    return { generations: [{ text: "", message }] };
  }
}

const read = tool(({ path }) => `${path}\n${"const berth = ledger.find(ship);\n".repeat(60)}`, {
  name: "read",
  description: "Reads a file.",
  schema: z.object({ path: z.string() }),
});
const messages = [new HumanMessage(`${FACT} Read every berth's file, one at a time.`)];
const systemPrompt = "You audit a harbour.";
/** Stands for every other middleware: the messages of the request are of LangChain's classes. */
const next = createMiddleware({
  name: "next",
  wrapModelCall: (request, handler) => {
    assert.ok(request.messages.every(isBaseMessage), "a message of no class");
    return handler(request);
  },
});
const asked = async (model, plimsoll) => {
  const agent = createAgent({ model, tools: [read], systemPrompt, middleware: [plimsoll, next] });
  const { messages: all } = await agent.invoke({ messages }, { recursionLimit: 500 });
  return all;
};

/** What every way must hold. */
function checkSound(name, { seen, limit }, all, epochs) {
  row(name, "langchain", seen, epochs);
  assert.deepEqual(seen.broken, []);
  assert.equal(seen.calls, STEPS + 1);
  assert.equal(all.at(-1).content, "The audit is done.");
  assert.ok(
    seen.peak <= Math.min(limit, WINDOW.contextTokens - WINDOW.maxOutputTokens),
    `${seen.peak}`,
  );
}

test("the middleware has the types that LangChain expects", () => {
  run(join(root, "js/node_modules/.bin/tsc"), [], folder);
});

for (const provider of ["anthropic", "openai", "mistral_ai"]) {
  test(`all requests of 50 steps in a small window are valid for ${provider}`, async () => {
    const rules = provider === "openai" ? "openai-chat" : provider.split("_")[0];
    const model = new Model({ provider: rules });
    model.provider = provider;
    let epochs = 0;
    const on = ({ type }) => {
      epochs += type === "epoch" ? 1 : 0;
    };
    const all = await asked(model, middleware({ window: WINDOW, on }));
    checkSound(provider, model, all, epochs);
    assert.equal(model.seen.refused, 0);
    assert.ok(epochs > 0, "the window was full");
    assert.equal(all.length, 2 * STEPS + 2);
    assert.ok(tokensOf(all) > WINDOW.contextTokens, "the agent's state keeps every message");
    assert.ok(
      all.every((message) => !String(message.content).startsWith("[")),
      "as it was",
    );
  });
}

test("the usage of answers is recorded", async () => {
  const { ContextManager } = await import(pathToFileURL(join(entry, "../../index.js")).href);
  const context = new ContextManager({ window: WINDOW, format: "langchain" });
  await asked(new Model({ steps: 3 }), middleware(context));
  assert.equal(context.status().source, "usage+estimate");
});

test("the usage of an answer with a responseFormat is recorded", async () => {
  const { ContextManager } = await import(pathToFileURL(join(entry, "../../index.js")).href);
  const context = new ContextManager({ window: WINDOW, format: "langchain" });
  const usage_metadata = { input_tokens: 4_500, output_tokens: 20, total_tokens: 4_520 };
  const answer = new AIMessage({ content: "{}", usage_metadata });
  const request = { model: new Model(), messages, tools: [] };
  const structured = { structuredResponse: {}, messages: [answer] };
  assert.equal(
    await middleware(context).wrapModelCall(request, async () => structured),
    structured,
  );
  assert.equal(context.status().used, 4_500);
});

test("tools are counted with their descriptions and schemas", async () => {
  const { ContextManager } = await import(pathToFileURL(join(entry, "../../index.js")).href);
  const long = "The path of a file, from the root of the harbour's archive. ".repeat(20);
  const counted = async (schema) => {
    const context = new ContextManager({ window: WINDOW, format: "langchain" });
    const prepared = [];
    const on = context.prepare.bind(context);
    context.prepare = async (...all) => {
      prepared.push(await on(...all));
      return prepared.at(-1);
    };
    const tools = [tool(() => "", { name: "read", description: "Reads a file.", schema })];
    const agent = createAgent({
      model: new Model({ steps: 0 }),
      tools,
      middleware: [middleware(context)],
    });
    await agent.invoke({ messages });
    return prepared[0].tokens;
  };
  const bare = await counted(z.object({ path: z.string() }));
  const described = await counted(z.object({ path: z.string().describe(long) }));
  const properties = { path: { type: "string", description: long } };
  const json = await counted({ type: "object", properties });
  console.log(
    `tokens with tools: ${bare}, ${described} with a description in zod, ${json} as JSON Schema`,
  );
  assert.ok(described - bare > 200 && json - bare > 200);
});

test("a call that was refused as too long is sent again, smaller", async () => {
  const model = new Model({ limit: 9_000 });
  const all = await asked(model, middleware({ window: WINDOW }));
  checkSound("recover", model, all);
  assert.ok(model.seen.refused >= 1);
});

test("a retry middleware before ours in the list sees no overflow", async () => {
  const model = new Model({ limit: 9_000 });
  const middlewares = [modelRetryMiddleware({ initialDelayMs: 1 }), middleware({ window: WINDOW })];
  const agent = createAgent({ model, tools: [read], systemPrompt, middleware: middlewares });
  const { messages: all } = await agent.invoke({ messages }, { recursionLimit: 500 });
  checkSound("recover", model, all);
  assert.ok(model.seen.refused >= 1);
});

test("each thread has its own session", async () => {
  const model = new Model({ steps: 0 });
  let epochs = 0;
  const on = ({ type }) => {
    epochs += type === "epoch" ? 1 : 0;
  };
  const plimsoll = middleware({ window: WINDOW, on });
  const checkpointer = new MemorySaver();
  const agent = createAgent({ model, tools: [read], checkpointer, middleware: [plimsoll] });
  for (const at of [1, 2, 3]) {
    for (const thread_id of ["Ada", "Bob"]) {
      const content = `${FACT} I am ${thread_id}, question ${at}.`;
      await agent.invoke(
        { messages: [new HumanMessage(content)] },
        { configurable: { thread_id } },
      );
      const others = thread_id === "Ada" ? "Bob" : "Ada";
      assert.ok(!JSON.stringify(model.asked.at(-1)).includes(others));
    }
  }
  assert.deepEqual(model.seen.broken, []);
  assert.equal(epochs, 0, "neither changed what the other sends");
});

test("wrong options throw when the agent is created", () => {
  assert.throws(() => middleware({ window: WINDOW, presett: "economy" }), /Did you mean "preset"/);
});

test("the example of docs/hosts/langchain.md runs", async () => {
  const model = new Model();
  const { agent } = await snippet(folder, "langchain", { model, tools: [read] });
  const { messages: all } = await agent.invoke({ messages }, { recursionLimit: 500 });
  checkSound("docs/hosts/langchain.md", model, all);
});

test("a manager passed by the user is opened, used and saved", async () => {
  const dist = join(entry, "../..");
  const { memoryStore } = await import(pathToFileURL(join(dist, "store/memory.js")).href);
  const [model, store] = [new Model(), memoryStore()];
  const host = { model, tools: [read], store, sessionId: "audit" };
  const { agent, context } = await snippet(folder, "langchain", host, 2);
  const { messages: all } = await agent.invoke({ messages }, { recursionLimit: 500 });
  checkSound("docs/hosts/langchain.md, a store", model, all);
  assert.equal((await context.save()).rebased, false);
  assert.ok(await store.load("audit"));
});
