// @ts-check
/**
 * The processor for Mastra, called as Mastra 1.71 calls it: a call that is sent again comes with the steps that it came with before, and
 * generated conversations. PLIMSOLL_AGENTS: how many.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";
import { adapter, requestsOf } from "./agent-runs.mjs";
import { playMastra } from "./mastra-agents.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const { processor } = api ? await adapter("ai-sdk") : { processor: null };

const made = api ? requestsOf(api) : [];
const count = Number(process.env.PLIMSOLL_AGENTS ?? sized({ short: 6, ci: 60, long: 600 }));

test("requests of generated conversations are valid", { skip }, async () => {
  const all = { calls: 0, epochs: 0, refused: 0, aborted: 0, again: 0, usages: 0 };
  for (let seed = 1; seed <= count; seed += 1) {
    const played = await playMastra({ api, processor, made, seed });
    assert.deepEqual(played.problems.slice(0, 1), [], `seed ${seed}`);
    for (const key of /** @type {Array<keyof typeof all>} */ (Object.keys(all)))
      all[key] += played[key];
    made.length = 0;
  }
  console.log(`Mastra: ${JSON.stringify(all)}`);
  assert.ok(all.calls > 20 * count && Object.values(all).every((one) => one > 0));
});

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

const user = { role: "user", content: [{ type: "text", text: "Read the files." }] };
const tooLong = () => new Error("prompt is too long: 15000 tokens > 9000 maximum");

test("a call that another processor had sent again is still made smaller, once", {
  skip,
}, async () => {
  const own = processor({ window: { contextTokens: 16_000 } });
  const prompt = [user, ...step("a", 8_000)];
  const failed = { error: new Error("the connection was reset"), retryCount: 0 };
  await own.processLLMRequest({ prompt, retryCount: 0 });
  assert.deepEqual(await own.processAPIError(failed), { retry: false });
  const sent = await own.processLLMRequest({ prompt, retryCount: 1 });
  const refused = { error: tooLong(), retryCount: 1 };
  assert.deepEqual(await own.processAPIError(refused), { retry: true });
  const again = await own.processLLMRequest({ prompt, retryCount: 2 });
  assert.ok(JSON.stringify(again).length < JSON.stringify(sent).length);
  assert.deepEqual(await own.processAPIError({ error: tooLong(), retryCount: 2 }), {
    retry: false,
  });
});

test("one refusal is one, although Mastra asks the processor in both of its places", {
  skip,
}, async (t) => {
  const recover = t.mock.method(api.ContextManager.prototype, "recover");
  const own = processor({ window: { contextTokens: 16_000 } });
  // Nothing of it can go.
  await own.processLLMRequest({ prompt: [user] });
  const refused = { error: tooLong(), retryCount: 0 };
  assert.deepEqual(await own.processAPIError(refused), { retry: false });
  assert.deepEqual(await own.processAPIError(refused), { retry: false });
  assert.equal(recover.mock.callCount(), 1);
});

test("a run that is aborted does not wait for the summarizer, and no processor fails", {
  skip,
}, async () => {
  /** @type {() => void} */
  let asked = () => {};
  const isAsked = new Promise((done) => (asked = () => done(undefined)));
  const summarize = () => {
    asked();
    return new Promise(() => {});
  };
  const window = { contextTokens: 6_000, maxOutputTokens: 500 };
  const own = processor({ window, summarize });
  const gone = new AbortController();
  const say = (/** @type {string} */ role, /** @type {number} */ at) => ({
    role,
    content: [{ type: "text", text: `${role} ${at} ${words(400)}` }],
  });
  const turns = Array.from({ length: 20 }, (_, at) => [say("user", at), say("assistant", at)]);
  const prompt = [...turns.flat(), user];
  const sent = own.processLLMRequest({ prompt, abortSignal: gone.signal });
  await isAsked;
  gone.abort();
  const late = new Promise((done) => setTimeout(() => done("late"), 2_000));
  assert.deepEqual(await Promise.race([sent, late]), { prompt });
});
