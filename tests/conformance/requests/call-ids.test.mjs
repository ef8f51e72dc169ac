// @ts-check
/**
 * Hosts that rename calls in messages that say the same, or store our request, in which we renamed them: each call that is sent
 * has its own result, and no session is lost.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);
const skip = !api && why;

/** @param {any} value */
const stored = (value) => JSON.parse(JSON.stringify(value));
/** @param {string} content */
const user = (content) => ({ role: "user", content });
/** @param {string} content */
const assistant = (content) => ({ role: "assistant", content });
/** @param {string} id @param {string} p */
const call = (id, p) => ({ type: "tool_use", id, name: "read", input: { p } });
/** @param {string} id @param {string} content */
const result = (id, content) => ({ type: "tool_result", tool_use_id: id, content });
/** @param {number} count @param {string} word */
const words = (count, word) => Array.from({ length: count }, (_, at) => `${word}${at}`).join(" ");

/** @param {any[]} messages */
const idsOf = (messages) =>
  messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.flatMap((part) => part.id ?? part.tool_use_id ?? []) : [],
  );

/** @param {any} prepared @param {string} format */
function assertValid({ messages }, format) {
  assert.deepEqual(api.validate(messages, format, { format }), []);
}

const options = { window: { contextTokens: 20_000, maxOutputTokens: 500 }, format: "anthropic" };

/** @param {string} id */
const answeredLate = (id) => [
  user("question"),
  { role: "assistant", content: [call(id, "a")] },
  user("wait"),
  { role: "user", content: [result(id, "done")] },
  assistant("fine"),
  user("next"),
];
/** @param {string} id */
const unanswered = (id) => [
  user("question"),
  { role: "assistant", content: [call(id, "a")] },
  user("go on"),
  assistant("fine"),
  user("next"),
];

for (const [name, history] of /** @type {const} */ ([
  ["a result that comes late", answeredLate],
  ["a result of ours", unanswered],
])) {
  test(`${name} has the new id after the host has renamed its call`, { skip }, () => {
    const context = new api.ContextManager(options);
    assert.deepEqual(idsOf(context.request(history("one")).messages), ["one", "one"]);
    const renamed = context.request(history("two"));
    assert.deepEqual(idsOf(renamed.messages), ["two", "two"]);
    assertValid(renamed, "anthropic");
    const grown = context.request([...history("three"), assistant("ok"), user("more")]);
    assert.deepEqual(idsOf(grown.messages), ["three", "three"]);
  });
}

test("no message is measured again for a new id, if the host has keys", { skip }, () => {
  const key = (/** @type {any} */ _, /** @type {number} */ index) => `${index}`;
  const context = new api.ContextManager({ ...options, key });
  context.request(answeredLate("one"));
  const { bytesMeasured } = context.counters();
  const { messages, epoch } = context.request(answeredLate("two"));
  assert.deepEqual(idsOf(messages), ["two", "two"]);
  assert.deepEqual([context.counters().bytesMeasured, epoch], [bytesMeasured, 1]);
});

test("a new id that the provider refuses is renamed", { skip }, () => {
  const context = new api.ContextManager(options);
  const history = (/** @type {string} */ id) => [
    user("question"),
    { role: "assistant", content: [call(id, "a")] },
    { role: "user", content: [result(id, "done")] },
    assistant("fine"),
    user("next"),
  ];
  context.request(history("one"));
  const refused = context.request(history("functions.read:0"));
  assert.deepEqual(idsOf(refused.messages), ["functions_read_0", "functions_read_0"]);
});

test("a stored request with renamed calls keeps all results through cuts and folds", {
  skip,
}, async () => {
  let now = 1e12;
  const window = { contextTokens: 4000, maxOutputTokens: 500 };
  const clock = () => now;
  const context = new api.ContextManager({ ...options, window, keep: "lines", clock });
  const turn = (/** @type {number} */ at) => [
    user(`question ${at}`),
    { role: "assistant", content: [call(`functions.read:${at}`, `a${at}`), call(`t${at}`, "b")] },
    {
      role: "user",
      content: [
        result(`functions.read:${at}`, words(300, `w${at}x`)),
        result(`t${at}`, words(40, `v${at}x`)),
      ],
    },
  ];
  const first = stored(context.request([...turn(1), assistant("done"), ...turn(2)]).messages);
  const second = [...first, assistant("done"), ...turn(3)];
  now += 3.6e6;
  assertValid(context.request(second), "anthropic");
  now += 3.6e6;
  await context.callAgentTool("context_compact", {});
  const folded = context.request([...stored(second), assistant("done"), user("more")]);
  assertValid(folded, "anthropic");
  const lost = folded.repairs.filter(({ rule }) => rule !== "I5");
  assert.deepEqual(lost, []);
  assert.doesNotMatch(JSON.stringify(folded.messages), /No result was/);
});

test("a stored request of which the host renames the calls takes all ids from the host", {
  skip,
}, () => {
  const format = "openai-chat";
  const context = new api.ContextManager({ ...options, format });
  const long = "x".repeat(70);
  const calls = (/** @type {string[]} */ ...ids) =>
    ids.map((id) => ({
      id,
      type: "function",
      function: { name: "read", arguments: JSON.stringify({ id: id.length }) },
    }));
  const history = [
    user("question"),
    { role: "assistant", content: null, tool_calls: calls("unanswered") },
    user("go on"),
    { role: "assistant", content: null, tool_calls: calls(long, "t1") },
    { role: "tool", tool_call_id: long, content: "one" },
    { role: "tool", tool_call_id: "t1", content: "two" },
    assistant("fine"),
    user("next"),
  ];
  const sent = JSON.stringify(context.request(history).messages);
  const renamed = JSON.parse(sent.replaceAll('"t1"', '"n1"'));
  const prepared = context.request([...renamed, assistant("ok"), user("more")]);
  assertValid(prepared, format);
  assert.deepEqual(
    prepared.messages.find((it) => it.content === "two"),
    { role: "tool", tool_call_id: "n1", content: "two" },
  );
});

test("a session restored by keys reads again the calls that it renamed", { skip }, () => {
  const all = { ...options, key: (/** @type {any} */ message) => message.key };
  const context = new api.ContextManager(all);
  const history = [
    { key: "a", ...user("question") },
    { key: "b", role: "assistant", content: [call("same", "a")] },
    { key: "c", role: "user", content: [result("same", "one")] },
    { key: "d", role: "assistant", content: [call("same", "b"), call("own", "b")] },
    { key: "e", role: "user", content: [result("same", "two"), result("own", "three")] },
    { key: "f", ...assistant("fine") },
    { key: "g", ...user("next") },
  ];
  const passed = stored(context.request(history).messages);
  const bytes = context.snapshot({ measures: true });
  const restored = api.ContextManager.restore(bytes, all);
  const { messages } = restored.request(passed);
  assertValid({ messages }, "anthropic");
  assert.deepEqual(messages, passed);
  assert.ok(restored.counters().bytesMeasured < JSON.stringify(passed).length / 2 + 200);
});
