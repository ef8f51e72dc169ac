// @ts-check
/** Tools that the provider runs itself: a call and its result in the model's own messages go out together or not at all. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { strictAnthropic } from "../providers/strict.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const window = { contextTokens: 100_000 };
const question = { role: "user", content: "Who won?" };
const next = { role: "user", content: "And before that?" };
const answer = { type: "text", text: "The home side." };

/** A call and its result as Anthropic documents them. @type {Record<string, [any, any]>} */
const tools = {
  web_search: [
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "score" } },
    {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [
        {
          type: "web_search_result",
          title: "Score",
          url: "https://a.example",
          encrypted_content: "Eq",
        },
      ],
    },
  ],
  code_execution: [
    {
      type: "server_tool_use",
      id: "srvtoolu_1",
      name: "bash_code_execution",
      input: { command: "ls" },
    },
    {
      type: "bash_code_execution_tool_result",
      tool_use_id: "srvtoolu_1",
      content: {
        type: "bash_code_execution_result",
        stdout: "a",
        stderr: "",
        return_code: 0,
        content: [],
      },
    },
  ],
  mcp: [
    { type: "mcp_tool_use", id: "mcptoolu_1", name: "find", server_name: "s", input: {} },
    {
      type: "mcp_tool_result",
      tool_use_id: "mcptoolu_1",
      is_error: false,
      content: [{ type: "text", text: "found" }],
    },
  ],
};

/** @param {any[]} history */
const request = (history) =>
  new api.ContextManager({ window, format: "anthropic" }).request(structuredClone(history));
/** @param {any} prepared */
const types = (prepared) =>
  prepared.messages.map((/** @type {any} */ { content }) =>
    Array.isArray(content) ? content.map((/** @type {any} */ block) => block.type) : "text",
  );
/** @param {any[]} history */
const rulesOf = (history) =>
  api.validate(history, "anthropic").map((/** @type {any} */ found) => found.rule);

for (const [name, [call, result]] of Object.entries(tools)) {
  const modelTurn = (/** @type {any[]} */ ...content) => ({ role: "assistant", content });

  test(`a provider-run call of ${name} with its result is unchanged`, { skip }, () => {
    const history = [question, modelTurn(call, result, answer), next];
    const prepared = request(history);
    assert.deepEqual(prepared.messages, history);
    assert.deepEqual(prepared.repairs, []);
    assert.deepEqual(rulesOf(history), []);
  });

  test(`a provider-run call of ${name} without a result is removed after the next user message`, {
    skip,
  }, () => {
    const history = [question, modelTurn(call, answer), next];
    const prepared = request(history);
    assert.deepEqual(types(prepared), ["text", ["text"], "text"]);
    assert.deepEqual(
      prepared.repairs.map((/** @type {any} */ it) => it.rule),
      ["I1"],
    );
    assert.deepEqual(rulesOf(history), ["I1"]);
    assert.deepEqual(strictAnthropic(prepared.messages), []);
    assert.deepEqual(api.repair(history, "anthropic").messages, prepared.messages);
    const alone = request([question, modelTurn(call), next]);
    assert.deepEqual(strictAnthropic(alone.messages), []);
    assert.deepEqual(types(alone), ["text", "text"]);
  });

  test(`a provider-run result of ${name} without its call is removed`, { skip }, () => {
    const history = [question, modelTurn(result, answer), next];
    assert.deepEqual(types(request(history)), ["text", ["text"], "text"]);
    assert.deepEqual(rulesOf(history), ["I2"]);
  });

  test(`a paused turn of ${name} is sent unchanged and continues with its result`, { skip }, () => {
    const thought = { type: "thinking", thinking: "Look it up.", signature: "c2ln" };
    const manager = new api.ContextManager({ window, format: "anthropic" });
    const history = /** @type {any[]} */ ([question, modelTurn(thought, call)]);
    const paused = manager.request(history);
    assert.deepEqual(paused.messages, history);
    assert.deepEqual(paused.repairs, []);
    assert.deepEqual(strictAnthropic(paused.messages), []);
    history.push(modelTurn(result, answer), next);
    const done = manager.request(history);
    assert.deepEqual(done.messages, history);
    assert.equal(done.firstChanged, null);
  });

  test(`a paused turn of ${name} that the user interrupts loses its call and the reasoning before it`, {
    skip,
  }, () => {
    const thought = { type: "thinking", thinking: "Look it up.", signature: "c2ln" };
    const manager = new api.ContextManager({ window, format: "anthropic" });
    const history = /** @type {any[]} */ ([question, modelTurn(answer, thought, call)]);
    assert.deepEqual(manager.request(history).messages, history);
    history.push(next);
    const cut = manager.request(history);
    assert.deepEqual(types(cut), ["text", ["text"], "text"]);
    assert.equal(cut.firstChanged, 1);
    const fresh = request(history);
    assert.deepEqual(cut.messages, fresh.messages);
  });
}

test("a provider-run tool may call a host's tool before its own result", {
  skip,
}, () => {
  const [call, result] = tools.code_execution ?? [];
  const own = {
    type: "tool_use",
    id: "toolu_1",
    name: "read",
    input: {},
    caller: { type: "direct" },
  };
  const toolResult = { type: "tool_result", tool_use_id: "toolu_1", content: "text" };
  const history = [
    question,
    { role: "assistant", content: [call, own] },
    { role: "user", content: [toolResult] },
    { role: "assistant", content: [result, answer] },
    next,
  ];
  const manager = new api.ContextManager({ window, format: "anthropic" });
  for (const count of [3, 5]) {
    const prepared = manager.request(history.slice(0, count));
    assert.deepEqual(prepared.messages, history.slice(0, count));
    assert.deepEqual(prepared.repairs, []);
  }
});

test("a provider-executed AI SDK call without a result is removed after the next user message", {
  skip,
}, () => {
  const call = {
    type: "tool-call",
    toolCallId: "srvtoolu_1",
    toolName: "web_search",
    input: {},
    providerExecuted: true,
  };
  const history = [question, { role: "assistant", content: [call, answer] }, next];
  const prepared = new api.ContextManager({ window, format: "ai-sdk" }).request(history);
  assert.deepEqual(types(prepared), ["text", ["text"], "text"]);
  assert.deepEqual(
    prepared.repairs.map((/** @type {any} */ it) => it.rule),
    ["I1"],
  );
});

test("Gemini's executable code is removed together with its outcome", { skip }, () => {
  const code = { executableCode: { language: "PYTHON", code: "1+1" } };
  const outcome = { codeExecutionResult: { outcome: "OUTCOME_OK", output: "2" } };
  const modelTurn = (/** @type {any[]} */ ...parts) => ({ role: "model", parts });
  const asks = { role: "user", parts: [{ text: "What is 1+1?" }] };
  const words = { text: "Two." };
  const sent = (/** @type {any[]} */ ...parts) =>
    new api.ContextManager({ window, format: "gemini" }).request([asks, modelTurn(...parts), asks])
      .messages[1].parts;
  assert.deepEqual(sent(code, outcome, words), [code, outcome, words]);
  assert.deepEqual(sent(code, words), [words]);
  assert.deepEqual(sent(outcome, words), [words]);
});
