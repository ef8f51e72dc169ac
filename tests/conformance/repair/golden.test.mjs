// @ts-check
/** Histories that a provider refused, by public thread: the broken rule is named, and `repair` fixes all of them. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;

for (const provider of ["openai-responses", "gemini"]) {
  const path = new URL(`../../golden/${provider}.json`, import.meta.url);
  for (const { thread, rule, thinking, messages } of JSON.parse(await readFile(path, "utf8"))) {
    test(`the recorded case ${thread} is ${rule ? `repaired by rule ${rule}` : "valid"}`, {
      skip,
    }, () => {
      const options = thinking ? { thinking } : {};
      const rules = api
        .validate(messages, provider, options)
        .map((/** @type {any} */ it) => it.rule);
      assert.ok(rule ? rules.includes(rule) : rules.length === 0, `${rules}`);
      const repaired = api.repair(messages, provider, options);
      assert.deepEqual(api.validate(repaired.messages, provider, options), []);
      if (!rule) assert.deepEqual(repaired, { messages, repairs: [] });
    });
  }
}
