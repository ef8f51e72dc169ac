// @ts-check
/** Mutations: a valid transcript, broken in each way a pruner can break it, and the rule that must be named. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { valid as anthropic, assistant, user } from "./strict/cases/anthropic.mjs";
import { valid as openAiChat } from "./strict/cases/openai-chat.mjs";
import { acts, valid as pi, userMessage } from "./strict/cases/pi.mjs";
import { lone, replaced, strings, text } from "./strict/cases/shared.mjs";
import { strictAnthropic, strictOpenAiChat, strictPi } from "./strict.mjs";

const providers = /** @type {const} */ ([
  ["anthropic", strictAnthropic, anthropic],
  ["openai-chat", strictOpenAiChat, openAiChat],
  ["pi", strictPi, pi],
]);

const isResult = (/** @type {any} */ message) =>
  message.role === "tool" ||
  message.role === "toolResult" ||
  (Array.isArray(message.content) &&
    message.content.some((/** @type {any} */ block) => block.type === "tool_result"));
const isCall = (/** @type {any} */ message) =>
  message.tool_calls !== undefined ||
  (Array.isArray(message.content) &&
    message.stopReason !== "aborted" &&
    message.content.some(
      (/** @type {any} */ block) => block.type === "tool_use" || block.type === "toolCall",
    ));
const summary = (/** @type {string} */ provider) =>
  provider === "pi" ? userMessage("summary") : user("summary");
const reply = (/** @type {string} */ provider) =>
  provider === "pi" ? acts([text("ack")], { stopReason: "stop" }) : assistant("ack");

for (const [provider, strict, messages] of providers) {
  test(`the strict reader for ${provider} accepts the valid transcript`, () => {
    assert.deepEqual(strict(messages, { thinking: true }), []);
  });

  test(`the strict reader for ${provider} refuses a transcript with a message removed`, () => {
    for (const [at, message] of messages.entries()) {
      const rules = strict(messages.toSpliced(at, 1)).map((found) => found.rule);
      if (isResult(message)) assert.ok(rules.includes("I1"), `${at}: ${rules}`);
      else if (isCall(message)) assert.ok(rules.includes("I2"), `${at}: ${rules}`);
    }
  });

  test(`the strict reader for ${provider} refuses a history cut inside a group`, () => {
    for (let at = 1; at < messages.length; at += 1) {
      const rules = strict(messages.slice(at)).map((found) => found.rule);
      if (isResult(messages[at])) assert.ok(rules.includes("I2"), `${at}: ${rules}`);
      else if (isCall(messages[at])) assert.ok(rules.includes("I7"), `${at}: ${rules}`);
      if (isCall(messages[at - 1]))
        assert.ok(strict(messages.slice(0, at)).some((found) => found.rule === "I1"));
    }
  });

  test(`the strict reader for ${provider} refuses a summary between call and result`, () => {
    for (let at = 1; at < messages.length; at += 1) {
      if (!isResult(messages[at])) continue;
      const inserted = messages.toSpliced(at, 0, summary(provider), reply(provider));
      const rules = strict(inserted).map((found) => found.rule);
      assert.ok(rules.includes("I3"), `${at}: ${rules}`);
    }
  });

  test(`the strict reader for ${provider} refuses an assistant message at the end`, () => {
    assert.deepEqual(
      strict([...messages, reply(provider)]).map((found) => found.rule),
      ["I8"],
    );
  });

  test(`the strict reader for ${provider} refuses strings that are emptied, cut or made numbers`, () => {
    let seen = 0;
    for (const pointer of strings(messages)) {
      seen += 1;
      const broken = strict(replaced(messages, pointer, lone)).map((found) => found.rule);
      const isLeftOut = provider === "pi" && pointer[0] === 4;
      assert.ok(isLeftOut || broken.includes("I26"), `${pointer.join("/")}: ${broken}`);
      const last = pointer.at(-1);
      if (last === "text" || last === "id") {
        const emptied = strict(replaced(messages, pointer, ""), { emptyResults: false }).map(
          (found) => found.rule,
        );
        const free = provider === "pi" && pointer[0] === 4;
        assert.ok(
          free || emptied.includes(last === "id" ? "I5" : "I6"),
          `${pointer.join("/")}: ${emptied}`,
        );
      }
      if (last === "type" || last === "role") {
        const typed = strict(replaced(messages, pointer, 7)).map((found) => found.rule);
        const free = provider === "pi" && pointer[0] === 4;
        const hidden = pointer.includes("source") || pointer.includes("cache_control");
        assert.ok(free || hidden || typed.includes("shape"), `${pointer.join("/")}: ${typed}`);
      }
    }
    assert.ok(seen > 20, "the transcript has strings to break");
  });
}
