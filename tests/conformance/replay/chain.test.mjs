// @ts-check
/** Long chains of tiny messages, in which nothing needs to be pruned for long: what a call costs does not grow with those before it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);

const CALLS = sized({ short: 2_000, ci: 10_000, long: 50_000 });
/** Of processor time; 60 s for 50,000 calls. */
const MOST_MS = sized({ short: 5_000, ci: 15_000, long: 60_000 });

/** Two messages for each call. @type {Record<string, (at: number) => [object, object]>} */
const CHAINS = {
  "questions and answers": (at) => [
    { role: "user", content: `q ${at}` },
    { role: "assistant", content: [{ type: "text", text: `a ${at}` }] },
  ],
  "calls and results": (at) => [
    at === 0
      ? { role: "user", content: "go" }
      : {
          role: "toolResult",
          toolCallId: `c${at - 1}`,
          toolName: "read",
          content: [{ type: "text", text: `r ${at}` }],
        },
    {
      role: "assistant",
      content: [{ type: "toolCall", id: `c${at}`, name: "read", arguments: { path: `f${at}` } }],
    },
  ],
};

for (const [kind, pair] of Object.entries(CHAINS)) {
  test(`a session file of ${CALLS} ${kind} in one chain is read, shown and replayed`, {
    skip: !api && why,
  }, (t) => {
    const reader = new api.SessionReader();
    for (let at = 0; at < CALLS; at += 1)
      for (const [place, message] of pair(at).entries()) {
        const id = 2 * at + place;
        const parentId = id === 0 ? null : `m${id - 1}`;
        reader.push(`${JSON.stringify({ type: "message", id: `m${id}`, parentId, message })}\n`);
      }
    const before = process.cpuUsage();
    const session = reader.end();
    assert.deepEqual([session.messageCount, session.calls.length], [2 * CALLS, CALLS]);
    assert.equal(api.recordedView(session).calls.length, CALLS);
    const run = api.replay(session, { window: { contextTokens: 200_000 } });
    const { user, system } = process.cpuUsage(before);
    const took = Math.round((user + system) / 1000);
    assert.deepEqual([run.calls.length, run.totals.violations], [CALLS, 0]);
    t.diagnostic(`${took} ms of processor time`);
    assert.ok(took <= MOST_MS, `${took} ms of processor time`);
  });
}
