// @ts-check
/** Figures reported for a request equal its content: a repair is measured as it is sent, not as the history has it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { history, render } from "../generated/histories.mjs";
import { landed } from "../generated/supported-pairs.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const big = "alpha beta gamma ".repeat(8000);
const ask = { role: "user", content: "q" };
const result = { type: "tool_result", tool_use_id: "t", content: "ok" };

/** @type {Record<string, [string, any[], number]>} */
const cases = {
  "arguments with half a surrogate": [
    "anthropic",
    [
      ask,
      {
        role: "assistant",
        content: [{ type: "tool_use", id: "t", name: "write", input: { content: `${big}\ud83d` } }],
      },
      { role: "user", content: [result] },
    ],
    200_000,
  ],
  "arguments that were cut off": [
    "openai-chat",
    [
      ask,
      {
        role: "assistant",
        content: null,
        tool_calls: [
          {
            id: "t",
            type: "function",
            function: { name: "write", arguments: `{"content":"${big}` },
          },
        ],
      },
      { role: "tool", tool_call_id: "t", content: "ok" },
    ],
    200_000,
  ],
  "reasoning at the end": [
    "openai-responses",
    [
      { type: "message", role: "user", content: [{ type: "input_text", text: "q" }] },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: big }] },
    ],
    8000,
  ],
};

for (const [name, [format, messages, contextTokens]] of Object.entries(cases))
  test(`a request with ${name} is reported with the tokens it contains`, { skip }, () => {
    const manager = new api.ContextManager({ window: { contextTokens }, format });
    const prepared = manager.request(messages);
    const holds = api.estimateRequest({ messages: prepared.messages }, { format }).tokens;
    checkClose(prepared.tokens, holds, name);
    const sum = (/** @type {string} */ member) =>
      manager
        .inspect()
        .buckets.reduce((/** @type {number} */ all, /** @type {any} */ it) => all + it[member], 0);
    assert.equal(sum("tokens"), prepared.tokens);
    assert.equal(prepared.fits, true);
  });

test("reasoning that ended a request is counted again once something follows it", { skip }, () => {
  const [, messages] = cases["reasoning at the end"] ?? ["", []];
  const manager = new api.ContextManager({
    window: { contextTokens: 100_000 },
    format: "openai-responses",
  });
  manager.request(messages);
  const call = { type: "function_call", id: "fc_1", call_id: "c", name: "ls", arguments: "{}" };
  const output = { type: "function_call_output", call_id: "c", output: "a" };
  const prepared = manager.request([...messages, call, output]);
  assert.equal(prepared.messages.length, 4);
  checkClose(
    prepared.tokens,
    api.estimateRequest({ messages: prepared.messages }, { format: "openai-responses" }).tokens,
    "after",
  );
});

test("a generated request is reported within 3 % or 24 tokens of its contents", {
  skip,
}, () => {
  const pairs = landed(api);
  let [requests, worst] = [0, 0];
  for (let seed = 1; seed <= 1200; seed += 1) {
    const own = history(seed);
    const { format, provider } = pairs[seed % pairs.length] ?? pairs[0];
    const messages = render(own, format, provider);
    if (messages.length === 0) continue;
    const manager = new api.ContextManager({
      window: { contextTokens: 1_000_000 },
      format,
      provider,
    });
    const prepared = manager.request(messages);
    const holds = api.estimateRequest({ messages: prepared.messages }, { format }).tokens;
    checkClose(prepared.tokens, holds, `${format} x ${provider}, seed ${seed}`);
    requests += 1;
    worst = Math.max(worst, Math.abs(prepared.tokens - holds) / Math.max(holds, 200));
  }
  console.log(`${requests} requests, at most ${(100 * worst).toFixed(1)} % apart`);
});

/** A short request may differ by a frame or two. @param {number} reported @param {number} holds @param {string} where */
function checkClose(reported, holds, where) {
  const apart = Math.abs(reported - holds);
  assert.ok(apart <= Math.max(0.03 * holds, 24), `${where}: ${reported} reported, ${holds} held`);
}
