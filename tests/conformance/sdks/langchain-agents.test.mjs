// @ts-check
/**
 * Generated agents of LangChain with the middleware: every request that reaches the model is one that its provider takes, fits, only
 * grows within an epoch, and is of one thread. PLIMSOLL_AGENTS: how many.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";
import { adapter, requestsOf } from "./agent-runs.mjs";
import { playAgentInTool, playThreads } from "./langchain-agents.mjs";
import { load } from "./sdks.mjs";

const { api, why } = await loadPackage();
const count = Number(process.env.PLIMSOLL_AGENTS ?? sized({ short: 2, ci: 60, long: 600 }));
const made = api ? requestsOf(api) : [];
const found = api
  ? await load(
      "langchain",
      "@langchain/core/messages",
      "@langchain/core/language_models/chat_models",
      "@langchain/langgraph",
      "zod",
    )
  : null;
const [langchain, core, models, langgraph, zod] = found ?? [];
const modules = { langchain, core, models, langgraph, zod };
const skip = api ? (found ? false : "skipped: langchain is not installed") : why;

test("requests of generated agents are valid and of one thread", { skip }, async () => {
  const all = { calls: 0, epochs: 0, refused: 0 };
  for (let seed = 1; seed <= count; seed += 1) {
    const of = { modules, adapter: await adapter("langchain"), made, seed };
    const played = await playThreads(of);
    assert.deepEqual(played.problems.slice(0, 1), [], `seed ${seed}`);
    for (const key of /** @type {const} */ (["calls", "epochs", "refused"]))
      all[key] += played[key];
    made.length = 0;
  }
  console.log(`langchain: ${JSON.stringify(all)}`);
  assert.ok(all.epochs > 0 && all.calls > 10 * count, JSON.stringify(all));
});

test("an agent in a tool of another has a session of its own", { skip }, async () => {
  const { middleware } = await adapter("langchain");
  const window = { contextTokens: 20_000, maxOutputTokens: 500 };
  const played = await playAgentInTool({ modules, middleware: middleware({ window }), made });
  assert.deepEqual(played, { outer: 13, inner: 36, epochs: 1 });
});
