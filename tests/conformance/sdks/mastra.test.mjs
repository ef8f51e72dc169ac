// @ts-check
/** The processor for Mastra, called as Mastra 1.71 calls it when it sends a call again: with the steps that it came with before. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { adapter } from "./agent-runs.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const { processor } = api ? await adapter("ai-sdk") : { processor: null };

const words = (/** @type {number} */ count) => "berth ".repeat(count);
const call = (/** @type {string} */ toolCallId) => ({ toolCallId, toolName: "read" });
const step = (/** @type {string} */ id, /** @type {number} */ count) => [
  { role: "assistant", content: [{ type: "tool-call", ...call(id), input: {} }] },
  {
    role: "tool",
    content: [{ type: "tool-result", ...call(id), output: { type: "text", value: words(count) } }],
  },
];

test("the usage of a step is taken once, for the call that it answers", { skip }, async (t) => {
  const observe = t.mock.method(api.ContextManager.prototype, "observe");
  const inputs = () => observe.mock.calls.map(({ arguments: [usage] }) => usage.inputTokens);
  const own = processor({ window: { contextTokens: 16_000 } });
  const user = { role: "user", content: [{ type: "text", text: "Read the files." }] };
  const first = [user, ...step("a", 10)];
  const second = [...first, ...step("b", 8_000)];
  const steps = [100, 200].map((inputTokens) => ({ usage: { inputTokens, outputTokens: 9 } }));

  await own.processLLMRequest({ prompt: [user], steps: [] });
  await own.processLLMRequest({ prompt: first, steps: steps.slice(0, 1) });
  const sent = await own.processLLMRequest({ prompt: second, steps });
  assert.deepEqual(inputs(), [100, 200]);
  const error = new Error("prompt is too long: 15000 tokens > 9000 maximum");
  assert.deepEqual(await own.processAPIError({ error, retryCount: 0 }), { retry: true });
  const again = await own.processLLMRequest({ prompt: second, steps });
  assert.deepEqual(inputs(), [100, 200], "the refused call has no usage");
  assert.ok(JSON.stringify(again).length < JSON.stringify(sent).length);

  // The next turn has no steps yet; the one after a call that failed goes on with those of before.
  await own.processLLMRequest({ prompt: [...first, user], steps: [] });
  await own.processLLMRequest({ prompt: [...first, user], steps: [] });
  assert.deepEqual(inputs(), [100, 200]);
  await own.processLLMRequest({ prompt: [...first, user, ...step("c", 9)], steps: steps.slice(1) });
  assert.deepEqual(inputs(), [100, 200, 200]);
});
