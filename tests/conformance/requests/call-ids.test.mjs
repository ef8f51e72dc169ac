// @ts-check
/**
 * Hosts that rename calls in messages that say the same: each call that is sent has its own result, and no session is lost.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);
const skip = !api && why;

/** @param {string} content */
const user = (content) => ({ role: "user", content });
/** @param {string} content */
const assistant = (content) => ({ role: "assistant", content });
/** @param {string} id @param {string} p */
const call = (id, p) => ({ type: "tool_use", id, name: "read", input: { p } });
/** @param {string} id @param {string} content */
const result = (id, content) => ({ type: "tool_result", tool_use_id: id, content });

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
