// @ts-check
/**
 * What becomes of thinking after an edit, by the host's model: what each model's API takes. The newest call of an open turn keeps its
 * thinking, unless only a hint, which the host cannot send, would have the API drop it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { adapter } from "./agent-runs.mjs";
import { client, writer } from "./opencode-agents.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const { processor } = api ? await adapter("ai-sdk") : { processor: null };
const { plugin } = api ? await adapter("opencode") : { plugin: null };
const { middleware } = api ? await adapter("langchain") : { middleware: null };

const WINDOW = { contextTokens: 12_000, maxOutputTokens: 1_000 };
const CALLS = 40;
const SHIPS = "ship ".repeat(300);
const signed = (/** @type {number} */ at) => ({ anthropic: { signature: `s${at}` } });

/** @typedef {(model: string) => Promise<(at: number) => Promise<any[]>>} Host asks for a request after so many calls; returns its messages */

/** @type {Record<string, Host>} */
const HOSTS = {
  Mastra: async (modelId) => {
    const own = processor({ window: WINDOW });
    const model = { provider: "anthropic.messages", modelId };
    /** @type {any[]} */
    const prompt = [{ role: "user", content: [{ type: "text", text: "Read all berths." }] }];
    return async (at) => {
      const made = await own.processLLMRequest({ prompt, model, steps: [] });
      const [call, output] = [
        { toolCallId: `c${at}`, toolName: "read" },
        { type: "text", value: SHIPS },
      ];
      const thinking = { type: "reasoning", text: "So.", providerOptions: signed(at) };
      const content = [thinking, { type: "tool-call", ...call, input: { at } }];
      prompt.push({ role: "assistant", content });
      prompt.push({ role: "tool", content: [{ type: "tool-result", ...call, output }] });
      return made.prompt;
    };
  },
  LangChain: async (model) => {
    const own = middleware({ window: WINDOW });
    /** @type {any[]} */
    const messages = [{ type: "human", content: "Read all berths." }];
    return async (at) => {
      /** @type {any[]} */
      let sent = [];
      const request = { messages, model: { _llmType: () => "anthropic", model }, tools: [] };
      await own.wrapModelCall(request, async (/** @type {any} */ asked) => {
        sent = asked.messages;
        return { type: "ai", content: "" };
      });
      const [id, name, args] = [`c${at}`, "read", { at }];
      const thinking = { type: "thinking", thinking: "So.", signature: `s${at}` };
      const content = [thinking, { type: "tool_use", id, name, input: args }];
      messages.push({ type: "ai", content, tool_calls: [{ id, name, args, type: "tool_call" }] });
      messages.push({ type: "tool", content: SHIPS, tool_call_id: id, name });
      return sent;
    };
  },
  opencode: async (id) => inOpencode({ id, npm: "@ai-sdk/anthropic" }),
  "opencode by another package": async (id) => inOpencode({ id, npm: "@openrouter/anthropic" }),
};

/** @param {{ id: string, npm: string }} model */
async function inOpencode(model) {
  const known = await client.config.providers();
  const providers = known.data.providers.map(({ id, models: { m } }) => ({
    id,
    models: { m: { ...m, api: model } },
  }));
  const config = { providers: async () => ({ data: { providers } }) };
  const hooks = await plugin()({ client: { config } });
  const { user, answer, call } = writer();
  const messages = [user([{ type: "text", text: "Read all berths." }], "anthropic")];
  return async (/** @type {number} */ at) => {
    const output = { messages: structuredClone(messages) };
    await hooks["experimental.chat.messages.transform"]({}, output);
    const thinking = { type: "reasoning", text: "So.", metadata: signed(at) };
    const state = { status: "completed", input: { at }, output: SHIPS };
    const input = Math.ceil(JSON.stringify(output.messages).length / 4);
    messages.push(answer([thinking, call(state)], input, { providerID: "anthropic" }));
    return output.messages;
  };
}

/** @type {Array<[model: string, hosts: Record<string, boolean>]>} whether the newest call keeps its thinking, by host */
const MODELS = [
  ["claude-sonnet-4-5-20250929", { Mastra: true, LangChain: true, opencode: true }],
  ["claude-3-7-sonnet", { Mastra: true, LangChain: true, opencode: true }],
  ["claude-opus-5", { Mastra: true, LangChain: true, opencode: true }],
  [
    "claude-opus-5-5",
    { Mastra: false, LangChain: false, opencode: true, "opencode by another package": false },
  ],
  ["claude-fable-5.1", { Mastra: false, LangChain: false, opencode: true }],
];

for (const [model, hosts] of MODELS) {
  for (const [name, keeps] of Object.entries(hosts)) {
    test(`${model} in ${name}: the newest call ${keeps ? "keeps" : "loses"} its thinking`, {
      skip,
    }, async () => {
      const request = await /** @type {Host} */ (HOSTS[name])(model);
      const lost = [];
      for (let at = 0; at < CALLS; at += 1) {
        const messages = await request(at);
        if (at > 0 && !JSON.stringify(messages).includes(`"s${at - 1}"`)) lost.push(at);
      }
      assert.equal(lost.length === 0, keeps, `lost after ${lost.length} of ${CALLS} calls`);
    });
  }
}
