// @ts-check
/**
 * Generated agents of the AI SDK with `prepareStep` and the middleware, in each version: every request that reaches the model is one
 * that its provider takes, fits, and only grows within an epoch. PLIMSOLL_AGENTS: how many of each kind.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";
import { adapter, requestsOf } from "./agent-runs.mjs";
import { playChat } from "./ai-sdk-agents.mjs";
import { load } from "./sdks.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const made = api ? requestsOf(api) : [];
const count = Number(process.env.PLIMSOLL_AGENTS ?? sized({ short: 2, ci: 60, long: 600 }));
// Warnings of deprecated parts are no verdict.
/** @type {any} */ (globalThis).AI_SDK_LOG_WARNINGS = false;

/** Seeds that once broke a rule. */
const FOUND = [9, 40];
/** @type {Array<[string, string, number]>} */
const VERSIONS = [
  ["ai", "MockLanguageModelV4", 7],
  ["ai-v6", "MockLanguageModelV3", 6],
  ["ai-v5", "MockLanguageModelV2", 5],
];
for (const [name, mock, version] of VERSIONS) {
  for (const way of /** @type {const} */ (["prepareStep", "middleware"])) {
    test(`requests of generated agents are valid by ${way} in version ${version}`, {
      skip,
    }, async () => {
      const modules = await load(name, `${name}/test`);
      if (!modules) return;
      const [sdk, testing] = modules;
      const of = { api, adapter: await adapter("ai-sdk"), made, sdk, Model: testing[mock] };
      const all = { calls: 0, epochs: 0, refused: 0 };
      for (const seed of [...FOUND, ...Array.from({ length: count }, (_, at) => at + 1)]) {
        const played = await playChat({ ...of, version, way, seed });
        assert.deepEqual(played.problems.slice(0, 1), [], `seed ${seed}`);
        for (const key of /** @type {const} */ (["calls", "epochs", "refused"]))
          all[key] += played[key];
        made.length = 0;
      }
      console.log(`${name}, ${way}: ${JSON.stringify(all)}`);
      assert.ok(all.epochs > 0 && all.calls > 10 * count, JSON.stringify(all));
    });
  }
}
