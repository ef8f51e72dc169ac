// @ts-check
/**
 * Histories of other SDKs, each of thirty calls and their results, read with `format: "auto"`: a history is either
 * understood, or refused by a named error. None is taken apart.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, manager, skip } from "../support/small-history.mjs";

const big = "x y ".repeat(700);
const go = { role: "user", content: "go" };
const asked = { role: "user", content: [{ type: "text", text: "go" }] };

/** A message of the AI SDK's provider level with one call, and its result. @param {any} output */
const modelCall = (output) => (/** @type {string} */ id) => [
  {
    role: "assistant",
    content: [{ type: "tool-call", toolCallId: id, toolName: "read", input: { path: "f" } }],
  },
  { role: "tool", content: [{ type: "tool-result", toolCallId: id, toolName: "read", output }] },
];

/**
 * What starts each history, how a call and its result are written, and the code of the error, if it is refused.
 * @type {Array<[name: string, first: any, call: (id: string) => any[], code?: string]>}
 */
const rows = [
  ["LanguageModel prompt, text", asked, modelCall({ type: "text", value: big })],
  [
    "LanguageModel prompt, JSON",
    asked,
    modelCall({ type: "json", value: { rows: Array(300).fill({ a: 1, b: "text" }) } }),
  ],
  [
    "LanguageModel prompt, content",
    asked,
    modelCall({ type: "content", value: [{ type: "text", text: big }] }),
  ],
  [
    "OpenAI Agents SDK items",
    { type: "message", role: "user", content: "go" },
    (callId) => [
      { type: "function_call", callId, name: "read", arguments: "{}", status: "completed" },
      {
        type: "function_call_result",
        callId,
        name: "read",
        status: "completed",
        output: { type: "text", text: big },
      },
    ],
  ],
  [
    "Google contents",
    { role: "user", parts: [{ text: "go" }] },
    (id) => [
      { role: "model", parts: [{ functionCall: { id, name: "read", args: {} } }] },
      {
        role: "user",
        parts: [{ functionResponse: { id, name: "read", response: { output: big } } }],
      },
    ],
  ],
  [
    "OpenAI chat",
    go,
    (id) => [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id, type: "function", function: { name: "read", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: id, content: big },
    ],
  ],
  [
    "opencode's messages with info and parts",
    { info: { role: "user", id: "u0" }, parts: [{ type: "text", id: "x", text: "go" }] },
    (callID) => [
      {
        info: { id: `m${callID}`, role: "assistant" },
        parts: [
          { type: "tool", callID, tool: "read", state: { status: "completed", output: big } },
        ],
      },
      { info: { id: `u${callID}`, role: "user" }, parts: [{ type: "text", text: "next" }] },
    ],
    "MALFORMED_MESSAGE",
  ],
  [
    "Mastra's stored messages",
    { id: "u", role: "user", content: { format: 2, parts: [{ type: "text", text: "go" }] } },
    () => [],
    "MALFORMED_MESSAGE",
  ],
  [
    "Claude Agent SDK's stream messages",
    { type: "user", message: go, session_id: "s" },
    () => [],
    "MALFORMED_MESSAGE",
  ],
  ["Bedrock Converse", { role: "user", content: [{ text: "go" }] }, () => [], "MALFORMED_MESSAGE"],
  [
    "LlamaIndex's messages",
    go,
    (id) => [
      { role: "assistant", content: "", options: { toolCall: [{ id, name: "read", input: {} }] } },
      { role: "user", content: big, options: { toolResult: { id, result: big, isError: false } } },
    ],
    "UNKNOWN_FORMAT",
  ],
];

/** @param {any} first @param {(id: string) => any[]} call */
const history = (first, call, count = 30) => [
  first,
  ...Array.from({ length: count }, (_, at) => call(`c${at}`)).flat(),
];

const auto = (options = {}) =>
  manager({
    window: { contextTokens: 8000, maxOutputTokens: 1000 },
    format: "auto",
    estimator: "chars/4",
    ...options,
  });

for (const [name, first, call, code] of rows) {
  test(`a history of ${name} is ${code ? "refused by name" : "recognized"}`, { skip }, () => {
    const messages = history(first, call);
    if (code) {
      assert.throws(
        () => auto().request(messages),
        (/** @type {any} */ error) =>
          code.includes(error.code) && error instanceof api.PlimsollError,
      );
      return;
    }
    const prepared = auto().request(messages);
    assert.ok(prepared.fits, `${prepared.tokens} tokens`);
    assert.ok(prepared.repairs.length <= 2, JSON.stringify(prepared.repairs));
    assert.ok(prepared.messages.length <= messages.length);
  });
}

test("the error for an unknown format says what was seen and lists the formats", { skip }, () => {
  const [, first, call] = rows.find(([name]) => name.startsWith("LlamaIndex")) ?? [];
  assert.ok(call);
  const error = refusal(() => auto().request(history(first, call)));
  assert.match(error.message, /^unknown format: saw 61 messages, of which 30 .*"anthropic"/);
  for (const format of ["openai-chat", "openai-agents", "pi"])
    assert.ok(error.message.includes(`"${format}"`), error.message);
});

test("a growing history is refused at the first message whose format is unknown", {
  skip,
}, () => {
  const [, first, call] = rows.find(([name]) => name.startsWith("LlamaIndex")) ?? [];
  assert.ok(call);
  const context = auto();
  const messages = history(first, call, 8);
  let refused = 0;
  for (let end = 1; end <= messages.length; end += 2) {
    try {
      context.request(messages.slice(0, end));
    } catch (error) {
      assert.equal(/** @type {any} */ (error).code, "UNKNOWN_FORMAT");
      refused ||= end;
    }
  }
  assert.equal(refused, 7, "at the third call");
});

test("a format named in the options is used without detection", { skip }, () => {
  const [, first, call] = rows.find(([name]) => name.startsWith("LlamaIndex")) ?? [];
  assert.ok(call);
  const prepared = auto({ format: "anthropic" }).request(history(first, call));
  assert.ok(prepared.repairs.length >= 30);
});

test("a few empty answers are repaired instead of refused", { skip }, () => {
  const empty = { role: "assistant", content: "" };
  const prepared = auto().request([go, empty, go, empty, go]);
  assert.deepEqual(
    prepared.repairs.map((/** @type {any} */ it) => it.rule),
    ["I6", "I6"],
  );
});

test("a Responses call without an id is refused with its position", { skip }, () => {
  const error = refusal(() =>
    auto({ format: "openai-responses" }).request([
      { role: "user", content: "go" },
      { type: "function_call", callId: "c", name: "read", arguments: "{}" },
    ]),
  );
  assert.deepEqual(
    [error.code, error.info.index, error.info.path, error.info.expected],
    ["MALFORMED_MESSAGE", 1, "/call_id", "a string: the id of the call"],
  );
});

/** @param {() => unknown} call @returns {any} */
function refusal(call) {
  try {
    call();
  } catch (error) {
    return error;
  }
  assert.fail("nothing was refused");
}
