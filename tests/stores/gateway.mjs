// @ts-check
/**
 * A gateway: a process that drives a session, round by round as it is told on stdin. In each round both see the same history; each asks
 * its summarizer, pins, lets go, observes, and saves when it likes.
 */
import assert from "node:assert/strict";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { checkAccepted } from "../conformance/faults/rows.mjs";
import { api, good, talk, WINDOW } from "../conformance/support/agent-session.mjs";
import { opened } from "./stores.mjs";

const KEY = "session";

/** What both see after so many steps: it only grows. @param {number} steps */
export const historyOf = (steps) => talk(steps + 1).slice(0, 4 * steps + 1);

/** @param {any} spec @param {{ name: string }} given @param {(line: unknown) => void} say */
export async function gateway(spec, { name }, say) {
  const store = await opened(spec);
  /** Revisions that this process was given. @type {number[]} */
  let made = [];
  const commit = async (/** @type {any[]} */ ...args) => {
    const revision = await store.commit(...args);
    if (revision !== null) made.push(revision);
    return revision;
  };
  let asked = 0;
  const options = {
    window: WINDOW,
    format: "anthropic",
    estimator: "chars/4",
    summary: { minimumTokens: 0, contextTokens: 200_000 },
    summarize: async (/** @type {any} */ job) => {
      asked += 1;
      await sleep(5 + Math.random() * 20);
      return good(job, `${name} says what was done.`);
    },
  };
  const context = await api.ContextManager.open({ ...store, commit }, KEY, options);
  say("open");
  /** @type {string[]} */
  const pins = [];
  for await (const line of createInterface({ input: process.stdin })) {
    const { round, steps, folds, pin, unpin, end } = JSON.parse(line);
    if (end) break;
    const history = historyOf(steps);
    made = [];
    const pinned = [];
    const unpinned = [];
    // What the other has saved since: a compaction that is asked for now stands on it.
    const begun = await context.save();
    checkAccepted(await context.prepare(history));
    if (pin) pinned.push(context.pin({ text: `${name} keeps ${round}.` }));
    if (pin) pinned.push(context.pin({ index: 4 * (round % steps) }));
    pins.push(...pinned);
    if (unpin && pins.length > 2) {
      const id = pins.shift() ?? "";
      assert.ok(context.unpin(id), `${id} was let go by nobody`);
      unpinned.push(id);
    }
    const [outcome, saved] = await Promise.all([
      folds ? context.compact(history, { force: true }) : null,
      sleep(Math.random() * 20).then(() => context.save()),
    ]);
    // What was folded while the first was under way.
    const last = await context.save();
    const prepared = await context.prepare(history);
    checkAccepted(prepared);
    assert.ok(prepared.fits);
    const bytes = context.snapshot().length;
    const carried = outcome?.record ? 1 : 0;
    say({
      round,
      made,
      pinned,
      unpinned,
      carried,
      asked,
      bytes,
      rebased: begun.rebased || saved.rebased || last.rebased,
    });
  }
  context[Symbol.dispose]();
}
