// @ts-check
/** Fractions where none belong: the part of the Rust library that could write them is not in the Wasm, and is not missed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const window = { contextTokens: 32_000 };
const formats = ["anthropic", "openai-chat", "pi"];

/** @type {any[]} */
const messages = [
  { role: 1.5, content: "x" },
  { role: "user", content: 2.5e300 },
  { role: "assistant", content: [{ type: "tool_use", id: 1.5, name: -0.1, input: 1e-7 }] },
  { role: "user", content: [{ type: 1.25 }] },
  { role: "tool", tool_call_id: 3.5, content: 1.5 },
  {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: 1.5, content: [1.5], is_error: 0.5 }],
  },
  { role: "assistant", tool_calls: [{ id: "a", function: { name: 1.5, arguments: 2.5 } }] },
  { role: "user", content: [1.5e10] },
];

/** @type {any[]} */
const options = [
  { trigger: 1.5 },
  { retention: 9.75 },
  { target: -0.001 },
  { window: { contextTokens: 1.5e300 } },
  { economy: 1.5 },
  { economy: { cacheRead: 1e300, cacheWrite: 0.1, output: 0.1, cacheTtlMs: 0.1 } },
  { preset: 1.5 },
  { format: 0.1 },
];

/** @type {Array<() => unknown>} */
const calls = [
  ...messages.flatMap((message) =>
    formats.map((format) => () => new api.ContextManager({ window, format }).request([message])),
  ),
  ...messages.map((message) => () => api.validate([message], "anthropic")),
  ...options.map((option) => () => new api.ContextManager({ window, ...option })),
  ...["1.5", "[1.5]", '{"type":1.5}\n{"type":"user","message":{"role":1.5}}'].map(
    (text) => () => api.readSession(text),
  ),
  () =>
    api.replay(
      { messageFormat: 1.5, messages: [1.5], calls: [{ sent: 1.5, at: 2.5 }] },
      { window },
    ),
  () =>
    api.replay({ messageFormat: "pi", messages: [], calls: [{ sent: 1.5, at: 2.5 }] }, { window }),
  () => new api.ContextManager({ window }).request([], { unseenTokens: 1.5, tools: 1.5 }),
  () =>
    new api.ContextManager({ window }).request([], { tools: [{ a: 1.5, b: 1e21 }], system: 1.5 }),
];

test("a fraction in any numeric argument is accepted or refused by name, never a trap", {
  skip: api ? false : why,
}, () => {
  let refused = 0;
  for (const call of calls) {
    try {
      call();
    } catch (error) {
      assert.ok(error instanceof api.PlimsollError, `${call}: ${error}`);
      assert.notEqual(/** @type {any} */ (error).code, "INSTANCE_LOST", `${call}: ${error}`);
      refused += 1;
    }
  }
  assert.ok(refused > 20 && refused < calls.length, `${refused} of ${calls.length} refused`);
});
