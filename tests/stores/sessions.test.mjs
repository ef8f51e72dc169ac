// @ts-check
/**
 * A gateway with many sessions in one process: few are awake, the others parked in a store; a woken one goes on where it was. Memory is
 * that of those awake.
 *
 * PLIMSOLL_LONG  1: 10,000 sessions; else 200 with `--ci`, and 120
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAccepted } from "../conformance/faults/rows.mjs";
import { api, step } from "../conformance/support/agent-session.mjs";
import { sized } from "../support/size.mjs";
import { wasmBytes } from "../support/wasm-memory.mjs";
import { folder, long, opened, skip } from "./stores.mjs";

const SESSIONS = sized({ short: 120, ci: 200, long: 10_000 });
const AWAKE = 50;
const OPTIONS = {
  window: { contextTokens: 8_000, maxOutputTokens: 500 },
  format: "anthropic",
  estimator: "chars/4",
  clock: () => 1_000_000,
};

test(`${SESSIONS} stored sessions, ${AWAKE} of them in memory, keep their histories`, {
  skip: skip("file"),
}, async (t) => {
  const store = await opened({ kind: "file", place: folder(t) });
  /** The host's own histories: what a gateway keeps anyway. @type {any[][]} */
  const histories = Array.from({ length: SESSIONS }, (_, at) => [
    { role: "user", content: `session ${at}` },
    { role: "assistant", content: "ok" },
  ]);
  /** @type {Map<number, any>} */
  const awake = new Map();
  let [woken, parked, calls, most, folds] = [0, 0, 0, 0, 0];
  const park = async (/** @type {number} */ at) => {
    const context = awake.get(at);
    awake.delete(at);
    await context.save();
    most = Math.max(most, context.snapshot().length);
    folds += context.status().compactions;
    context[Symbol.dispose]();
    parked += 1;
  };
  const contextOf = async (/** @type {number} */ at) => {
    const found = awake.get(at);
    awake.delete(at);
    const context = found ?? (await api.ContextManager.open(store, `session ${at}`, OPTIONS));
    woken += found ? 0 : 1;
    awake.set(at, context);
    const [oldest] = awake.keys();
    if (awake.size > AWAKE && oldest !== undefined) await park(oldest);
    return context;
  };
  // Every hundredth has a twin that is never parked: they must say the same.
  const twins = new Map(
    histories.flatMap((_, at) => (at % 100 ? [] : [[at, new api.ContextManager(OPTIONS)]])),
  );
  const turn = async (/** @type {number} */ at, /** @type {number} */ round) => {
    const history = histories[at] ?? [];
    const context = await contextOf(at);
    for (let more = 0; more < 4; more += 1) {
      history.push(...step(10 * round + more));
      const last = context.request([...history, { role: "user", content: "go on" }]);
      calls += 1;
      if (more === 3 && at % 10 === 0) checkAccepted(last);
      const twin = twins.get(at);
      if (!twin) continue;
      const same = twin.request([...history, { role: "user", content: "go on" }]);
      assert.deepEqual(last.messages, same.messages, `session ${at}, round ${round}`);
    }
  };
  for (let at = 0; at < Math.min(100, SESSIONS); at += 1) await turn(at, 0);
  const [before, rss] = [wasmBytes(), process.memoryUsage().rss];
  for (let at = 100; at < SESSIONS; at += 1) await turn(at, 0);
  for (let round = 1; round < 4; round += 1) {
    for (let at = 0; at < SESSIONS; at += long ? 5 : 1) await turn((at * 7919) % SESSIONS, round);
  }
  for (const at of [...awake.keys()]) await park(at);
  const after = wasmBytes();
  assert.ok(folds > 0 && woken > SESSIONS, `${folds} folds, ${woken} woken`);
  assert.ok(most < 8_000, `${most} bytes of a snapshot`);
  assert.ok(after < 1.5 * before + 8e6, `the core grew from ${before} to ${after} bytes`);
  const mb = (/** @type {number} */ bytes) => Math.round(bytes / 1e6);
  const grown = mb(process.memoryUsage().rss - rss);
  console.log(
    `${SESSIONS} sessions: ${calls} requests, ${woken} woken, ${parked} parked, ${folds} folds; snapshots up to ${most} bytes; the core ${mb(before)} MB at 100 sessions, ${mb(after)} MB at the end; the process ${grown} MB more, with the histories`,
  );
});
