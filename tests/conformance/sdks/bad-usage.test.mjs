// @ts-check
/** An answer has been paid for: usage that cannot be read, or that comes after the session has ended, does not end the host's run. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { adapter } from "./agent-runs.mjs";
import { contextOf, started, Tree } from "./pi-agents.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const [aiSdk, openAiAgents, pi] = api
  ? await Promise.all(["ai-sdk", "openai-agents", "pi"].map(adapter))
  : [];

const window = { contextTokens: 16_000 };
const usage = /** @type {any} */ ({ inputTokens: 10, outputTokens: 2 });
usage.raw = { usage };
const question = { role: "user", content: "Read the file." };

test("prepareStep goes on after usage that cannot be read", { skip }, async () => {
  const prepareStep = aiSdk.prepareStep({ window });
  const messages = [question];
  await prepareStep({ messages, steps: [] });
  assert.equal((await prepareStep({ messages, steps: [{ usage }] })).messages.length, 1);
});

test("a processor goes on after usage that cannot be read", { skip }, async () => {
  const { processLLMRequest } = aiSdk.processor({ window });
  const prompt = [{ role: "user", content: [{ type: "text", text: "Read the file." }] }];
  await processLLMRequest({ prompt, steps: [] });
  assert.equal((await processLLMRequest({ prompt, steps: [{ usage }] })).prompt.length, 1);
});

test("a filter goes on after usage that cannot be read", { skip }, async () => {
  const filter = openAiAgents.callModelInputFilter({ window });
  const agent = Object.assign(new EventEmitter(), { tools: [] });
  const run = { context: {}, usage: { requestUsageEntries: /** @type {any[]} */ ([]) } };
  const call = { modelData: { input: [question] }, agent, context: run.context };
  await filter(call);
  agent.emit("agent_start", run);
  await filter(call);
  run.usage.requestUsageEntries.push(usage);
  assert.deepEqual((await filter(call)).input, [question]);
});

test("a turn of pi ends after usage that cannot be read, or after its session has ended", {
  skip,
}, async () => {
  const context = new api.ContextManager({ window, format: "pi" });
  const hooks = started(pi.extension(context));
  const tree = new Tree("s");
  tree.append({ type: "message", message: { ...question, timestamp: 1 } });
  const model = [{ provider: "local", api: "openai-completions" }, "openai-chat"];
  const size = { contextWindow: 16_000, maxTokens: 1_000 };
  const of = contextOf({ tree, model, window: size });
  await hooks.context({ messages: tree.messages() }, of);
  const message = { role: "assistant", content: [], stopReason: "stop", usage };
  hooks.turn_end({ message }, of);
  context[Symbol.dispose]();
  hooks.turn_end({ message: { ...message, usage: { input: 10, output: 2 } } }, of);
});
