// @ts-check
/** Helpers shared by the rows of the fault table. */
import assert from "node:assert/strict";
import { strictFor } from "../providers/pairs.mjs";
import { api, idle, step } from "../support/agent-session.mjs";

/**
 * A fault that was seen in the wild: its number and name, what is done to the package, and a run that says what came out.
 * `later`: what of it cannot be shown here, and why.
 * @typedef {{ fault: string, name: string, done: string, run: () => Promise<string> | string, later?: string }} Row
 */

/** Taken by the provider, by the package's word and by the oracle's. @param {any} prepared */
export function checkAccepted({ messages }) {
  assert.deepEqual(api.validate(messages, "anthropic"), []);
  assert.deepEqual(strictFor("anthropic", "anthropic")(messages, { cache: new WeakMap() }), []);
}

/** A talk that grows until a compaction runs after a request. @param {any} context */
export async function untilDue(context) {
  /** @type {any[]} */
  const history = [];
  for (let at = 0; at < 60; at += 1) {
    history.push(...step(at));
    const prepared = await context.prepare(history);
    if (context.status().blocked?.reason === "running") return { history, prepared };
  }
  throw new Error("no compaction was due");
}

/**
 * What a summarizer does after a request: nothing changes, a reason is told, and the next request asks nobody.
 * @param {any} own of `manager`
 */
export async function checkRefused({ context, events }) {
  const { history, prepared } = await untilDue(context);
  const frozen = JSON.stringify(history);
  await idle(context);
  const { type, outcome } = events.findLast((/** @type {any} */ event) => event.outcome);
  assert.deepEqual([type, outcome.status, outcome.record], ["compaction-failed", "failed", null]);
  assert.notEqual(outcome.reason, "");
  const starts = () =>
    events.filter((/** @type {any} */ event) => event.type === "compaction-start").length;
  const before = starts();
  const again = await context.prepare(history);
  assert.deepEqual(again.messages, prepared.messages);
  assert.equal(JSON.stringify(history), frozen);
  assert.equal(starts(), before, "nobody is asked at once");
  return outcome.attempts.map((/** @type {any} */ tried) => tried.result);
}

export const tick = () => new Promise((resolve) => setImmediate(resolve));
