// @ts-check
/** A host that gave a summarizer and only ever calls `request()`, which asks nobody: it is told so, once. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { good, idle, manager, skip, talk } from "../support/agent-session.mjs";

const IDLE = "summarizer-idle";
const of = (/** @type {any[]} */ events) => events.filter(({ type }) => type === IDLE);

test("request() folds without the summarizer, and one event says that only prepare() and compact() call it", {
  skip,
}, () => {
  let asked = 0;
  const { context, events } = manager(async () => {
    asked += 1;
    return "a summary";
  });
  let folds = 0;
  for (let steps = 1; steps <= 60; steps += 1) {
    const { compaction } = context.request(talk(steps));
    if (compaction?.record) folds += 1;
    if (folds === 0 && of(events).length === 0) assert.equal(context.status().blocked, null);
  }
  assert.ok(folds > 1, `${folds} folds`);
  assert.equal(asked, 0);
  assert.equal(of(events).length, 1);
  const [{ reason }] = of(events);
  assert.match(reason, /request\(\)/);
  assert.match(reason, /prepare\(\)/);
  assert.match(reason, /compact\(\)/);
});

test("a history too short to fold causes no event about an idle summarizer", {
  skip,
}, () => {
  const { context, events } = manager(async () => "a summary");
  context.request(talk(2));
  assert.deepEqual(of(events), []);
});

test("a host that calls prepare() besides request() gets no event about an idle summarizer", {
  skip,
}, async () => {
  const { context, events } = manager(async (/** @type {any} */ job) => good(job));
  for (let steps = 1; steps <= 60; steps += 1) {
    await context.prepare(talk(steps));
    await idle(context);
    context.request(talk(steps));
  }
  assert.ok(events.some(({ type }) => type === "compaction-end"));
  assert.deepEqual(of(events), []);
});

test("a host that calls compact() gets no event about an idle summarizer", { skip }, async () => {
  const { context, events } = manager(async (/** @type {any} */ job) => good(job));
  await context.compact(talk(3), { force: true });
  for (let steps = 3; steps <= 60; steps += 1) context.request(talk(steps));
  assert.deepEqual(of(events), []);
});

test("a session without a summarizer causes no event about an idle one", { skip }, () => {
  const { context, events } = manager(undefined);
  for (let steps = 1; steps <= 60; steps += 1) context.request(talk(steps));
  assert.deepEqual(of(events), []);
});
