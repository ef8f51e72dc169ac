// @ts-check
/**
 * Generated agents of the OpenAI Agents SDK with the filter: every request that reaches the model is one that its provider takes, fits, and
 * only grows within an epoch; each usage belongs to the request that it answers. PLIMSOLL_AGENTS: how many.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";
import { adapter, requestsOf } from "./agent-runs.mjs";
import { playAgents } from "./openai-agents-agents.mjs";
import { load } from "./sdks.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const count = Number(process.env.PLIMSOLL_AGENTS ?? sized({ short: 3, ci: 40, long: 600 }));

test("requests of generated agents are valid, and usage is of the request that it answers", {
  skip,
}, async () => {
  const modules = await load("@openai/agents");
  if (!modules) return;
  const [sdk] = modules;
  sdk.setTracingDisabled(true);
  const { callModelInputFilter: filterOf } = await adapter("openai-agents");
  const made = requestsOf(api);
  const all = { calls: 0, epochs: 0, refused: 0, helped: 0, handoffs: 0, decided: 0, usages: 0 };
  for (let seed = 1; seed <= count; seed += 1) {
    const played = await playAgents({ api, filterOf, made, sdk, seed });
    assert.deepEqual(played.problems.slice(0, 1), [], `seed ${seed}`);
    for (const key of /** @type {Array<keyof typeof all>} */ (Object.keys(all)))
      all[key] += played[key];
    made.length = 0;
  }
  console.log(`@openai/agents: ${JSON.stringify(all)}`);
  assert.ok(all.calls > 15 * count && Object.values(all).every((one) => one > 0));
});
