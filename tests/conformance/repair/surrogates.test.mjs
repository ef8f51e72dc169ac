// @ts-check
/** Half a surrogate pair in a history costs that one character: no block, no arguments, no other text. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const window = { contextTokens: 100_000 };
const half = "cut \ud83d";
const repaired = "cut \ufffd";

/** The history with every half replaced. @param {any} history */
const expected = (history) => JSON.parse(JSON.stringify(history).replaceAll("\\ud83d", "\ufffd"));

/** @param {string} format @param {any[]} history @param {string} [provider] */
function checkSent(format, history, provider) {
  const manager = new api.ContextManager({ window, format, ...(provider ? { provider } : {}) });
  const prepared = manager.request(history);
  assert.deepEqual(prepared.messages, expected(history));
  assert.ok(JSON.stringify(prepared.messages).isWellFormed());
  const rules = new Set(prepared.repairs.map((/** @type {any} */ it) => it.rule));
  assert.deepEqual([...rules], ["I26"]);
  return prepared;
}
const ask = { role: "user", content: "go on" };

/** @type {Record<string, [string, any[]]>} */
const cases = {
  "a user's text": ["anthropic", [{ role: "user", content: half }]],
  "a call's arguments, deep in them": [
    "anthropic",
    [
      ask,
      {
        role: "assistant",
        content: [
          {
            type: "tool_use",
            id: "t",
            name: "w",
            input: { path: "a.md", list: ["x", { text: half }] },
          },
        ],
      },
      { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "ok" }] },
    ],
  ],
  "a result of several blocks": [
    "anthropic",
    [
      ask,
      { role: "assistant", content: [{ type: "tool_use", id: "t", name: "w", input: {} }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "t",
            content: [
              { type: "text", text: "one" },
              { type: "text", text: half },
              {
                type: "image",
                source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
              },
            ],
          },
        ],
      },
    ],
  ],
  "a page title in a server tool's result": [
    "anthropic",
    [
      ask,
      {
        role: "assistant",
        content: [
          { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: half } },
          {
            type: "web_search_tool_result",
            tool_use_id: "srvtoolu_1",
            content: [{ type: "web_search_result", title: half, url: "u", encrypted_content: "E" }],
          },
          { type: "text", text: "so", citations: [{ type: "char_location", cited_text: half }] },
        ],
      },
      ask,
    ],
  ],
  "arguments as text": [
    "openai-chat",
    [
      ask,
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "t", type: "function", function: { name: "w", arguments: `{"text":"${half}"}` } },
        ],
      },
      { role: "tool", tool_call_id: "t", content: half },
    ],
  ],
  "an item's arguments and output": [
    "openai-responses",
    [
      { type: "message", role: "user", content: [{ type: "input_text", text: half }] },
      { type: "function_call", call_id: "c", name: "w", arguments: `{"text":"${half}"}` },
      { type: "function_call_output", call_id: "c", output: half },
    ],
  ],
  "Gemini's call and response": [
    "gemini",
    [
      { role: "user", parts: [{ text: half }] },
      { role: "model", parts: [{ functionCall: { name: "w", args: { text: half } } }] },
      { role: "user", parts: [{ functionResponse: { name: "w", response: { output: half } } }] },
    ],
  ],
  "the AI SDK's call and output": [
    "ai-sdk",
    [
      ask,
      {
        role: "assistant",
        content: [{ type: "tool-call", toolCallId: "t", toolName: "w", input: { text: half } }],
      },
      {
        role: "tool",
        content: [
          {
            type: "tool-result",
            toolCallId: "t",
            toolName: "w",
            output: { type: "json", value: { text: [half] } },
          },
        ],
      },
    ],
  ],
};

for (const [name, [format, history]] of Object.entries(cases))
  test(`half a surrogate in ${name} becomes U+FFFD, and nothing else changes`, { skip }, () => {
    checkSent(format, history);
  });

test("half a surrogate becomes U+FFFD when messages are joined", { skip }, () => {
  const history = [
    { role: "user", content: half },
    { role: "user", content: [{ type: "text", text: half }] },
  ];
  const manager = new api.ContextManager({ window, format: "anthropic", provider: "bedrock" });
  const { messages } = manager.request(history);
  assert.deepEqual(messages, [
    {
      role: "user",
      content: [
        { type: "text", text: repaired },
        { type: "text", text: repaired },
      ],
    },
  ]);
});

test("half a surrogate becomes U+FFFD in a result that moves to its call", { skip }, () => {
  const result = {
    type: "tool_result",
    tool_use_id: "t",
    content: [
      { type: "text", text: "one" },
      { type: "text", text: half },
    ],
  };
  const history = [
    ask,
    { role: "assistant", content: [{ type: "tool_use", id: "t", name: "w", input: {} }] },
    ask,
    { role: "user", content: [result] },
  ];
  const { messages } = new api.ContextManager({ window, format: "anthropic" }).request(history);
  assert.deepEqual(messages[2].content[0].content, expected(result.content));
});

test("a member name with half a surrogate is replaced with its object, and the rest stays", {
  skip,
}, () => {
  const history = [
    ask,
    {
      role: "assistant",
      content: [
        { type: "tool_use", id: "t", name: "w", input: { path: "a", map: { [half]: 1, b: 2 } } },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "t", content: "ok" }] },
  ];
  checkSent("anthropic", history);
});
