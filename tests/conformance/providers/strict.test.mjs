// @ts-check
/** The strict providers are themselves tested: each rule has a request that passes and one that does not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { anthropic } from "./strict/cases/anthropic.mjs";
import { bedrock } from "./strict/cases/bedrock.mjs";
import { gemini } from "./strict/cases/gemini.mjs";
import { openAiAgents } from "./strict/cases/openai-agents.mjs";
import { openAiChat } from "./strict/cases/openai-chat.mjs";
import { openAiResponses } from "./strict/cases/openai-responses.mjs";
import { pi } from "./strict/cases/pi.mjs";
import { aiSdk, langchain } from "./strict/cases/sdk.mjs";
import { emoji, lone } from "./strict/cases/shared.mjs";
import { isWellFormed } from "./strict/common.mjs";
import {
  strictAiSdk,
  strictAnthropic,
  strictBedrock,
  strictGemini,
  strictLangchain,
  strictOpenAiAgents,
  strictOpenAiChat,
  strictOpenAiResponses,
  strictPi,
} from "./strict.mjs";

const providers = /** @type {const} */ ([
  ["anthropic", strictAnthropic, anthropic],
  ["openai-chat", strictOpenAiChat, openAiChat],
  ["openai-responses", strictOpenAiResponses, openAiResponses],
  ["openai-agents", strictOpenAiAgents, openAiAgents],
  ["gemini", strictGemini, gemini],
  ["bedrock", strictBedrock, bedrock],
  ["ai-sdk", strictAiSdk, aiSdk],
  ["langchain", strictLangchain, langchain],
  ["pi", strictPi, pi],
]);

for (const [provider, strict, cases] of providers) {
  for (const { rule, name, good, bad, rules, goodRules = rules, index, path } of cases) {
    test(`the strict reader for ${provider} judges ${name} (${rule})`, () => {
      assert.deepEqual(strict(good, goodRules), [], "the good one is accepted");
      const found = strict(bad, rules);
      const hit = found.find(
        (one) => one.rule === rule && (path === undefined || one.path === path),
      );
      assert.ok(hit, `${rule} is found: ${JSON.stringify(found)}`);
      if (index !== undefined) assert.equal(hit.index, index);
    });
  }
}

test("lone surrogates are found the same way in old and new runtimes", () => {
  const own = String.prototype.isWellFormed;
  for (const [value, good] of /** @type {Array<[string, boolean]>} */ ([
    ["", true],
    ["a", true],
    [emoji, true],
    [lone, false],
    ["\ude00", false],
    ["\ud83d\ud83d\ude00", false],
    ["\ud83da", false],
  ])) {
    assert.equal(isWellFormed(value), good);
    try {
      Object.defineProperty(String.prototype, "isWellFormed", {
        value: undefined,
        configurable: true,
        writable: true,
      });
      assert.equal(isWellFormed(value), good);
    } finally {
      Object.defineProperty(String.prototype, "isWellFormed", {
        value: own,
        configurable: true,
        writable: true,
      });
    }
  }
});
