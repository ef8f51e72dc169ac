// @ts-check
/** Anthropic, Bedrock and Gemini know no system role inside the messages, not even first. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { strictAnthropic, strictGemini } from "../providers/strict.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const window = { contextTokens: 100_000 };
const system = { role: "system", content: "You are a careful assistant." };
const user = { role: "user", content: "Hello." };

for (const provider of ["anthropic", "bedrock"]) {
  const rules = { alternate: provider === "bedrock" };
  const sends = (/** @type {object[]} */ history) => {
    const prepared = new api.ContextManager({ window, format: "anthropic", provider }).request(
      history,
    );
    assert.deepEqual(strictAnthropic(prepared.messages, rules), []);
    assert.match(JSON.stringify(prepared.messages), /You are a careful assistant/);
    assert.ok(prepared.repairs.some((/** @type {any} */ it) => it.rule === "I31"));
    return prepared.messages;
  };

  test(`a leading system message is sent to ${provider} as a user message`, { skip }, () => {
    assert.equal(sends([system, user])[0].role, "user");
    sends([system]);
  });

  test(`a system message that becomes the first is sent to ${provider} as a user message`, {
    skip,
  }, () => {
    const orphan = { type: "tool_result", tool_use_id: "toolu_1", content: "late" };
    sends([{ role: "user", content: "" }, { role: "user", content: [orphan] }, system, user]);
  });

  test(`validate reports a leading system message to ${provider} and says where it belongs`, {
    skip,
  }, () => {
    const found = api.validate([system, user], provider, { format: "anthropic" });
    assert.deepEqual(
      found
        .filter((/** @type {any} */ it) => it.rule === "I31")
        .map((/** @type {any} */ it) => it.index),
      [0],
    );
    assert.match(found[0].message, /`system`/);
    const repaired = api.repair([system, user], provider, { format: "anthropic" });
    assert.deepEqual(strictAnthropic(repaired.messages ?? repaired, rules), []);
  });
}

test("system messages are sent to gemini as user messages", { skip }, () => {
  const content = (/** @type {string} */ role, /** @type {string} */ text) => ({
    role,
    parts: [{ text }],
  });
  const history = [
    content("system", "You are a careful assistant."),
    content("user", "Hello."),
    content("model", "Hello."),
    content("system", "It is noon."),
    content("user", "Go on."),
  ];
  const prepared = new api.ContextManager({ window, format: "gemini" }).request(history);
  assert.deepEqual(strictGemini(prepared.messages), []);
  assert.match(JSON.stringify(prepared.messages), /You are a careful assistant.*It is noon/s);
  assert.deepEqual(
    prepared.repairs.map((/** @type {any} */ it) => [it.rule, it.index]),
    [
      ["I31", 0],
      ["I31", 3],
    ],
  );
});

test("a leading system message stays if the host's adapter hoists it", { skip }, () => {
  for (const format of ["ai-sdk", "openai-chat"]) {
    const manager = new api.ContextManager({ window, format, provider: "anthropic" });
    const prepared = manager.request([system, user]);
    assert.equal(prepared.messages[0], system);
    assert.deepEqual(prepared.repairs, []);
  }
});
