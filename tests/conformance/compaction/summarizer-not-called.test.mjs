// @ts-check
/** A compaction that could not ask its summarizer says why: in its outcome, in an event, and by an error if the host has to mend it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { good, manager, prose, skip, talk } from "../support/agent-session.mjs";

const failures = (/** @type {any[]} */ events) =>
  events.filter(({ type }) => type === "compaction-failed").map(({ outcome }) => outcome);

test("compact() that finds nothing to remove fires compaction-failed with its outcome", {
  skip,
}, async () => {
  const { context, events } = manager(() => assert.fail("nobody is asked"));
  const outcome = await context.compact(talk(20), { force: true, system: prose(20_000) });
  assert.equal(outcome.status, "failed");
  assert.deepEqual(failures(events), [outcome]);
});

test("prepare() reports each fold that no summary would have helped, once", {
  skip,
}, async () => {
  const { context, events } = manager(() => assert.fail("nobody is asked"));
  let folds = 0;
  for (let steps = 20; steps < 30; steps += 1) {
    const prepared = await context.prepare(talk(steps), { system: prose(20_000) });
    assert.equal(prepared.fits, false);
    if (!prepared.compaction?.record) continue;
    folds += 1;
    assert.match(prepared.compaction.reason, /without a summary: nothing that may go is left/);
    assert.ok(prepared.compaction.reason.endsWith(failures(events).at(-1).reason));
  }
  assert.ok(folds > 0);
  assert.equal(failures(events).length, folds);
});

test("prepare() that folds during a pause reports when the summarizer is called again", {
  skip,
}, async () => {
  const { context, events } = manager(async () => {
    throw new Error("busy");
  });
  const first = await context.prepare([...talk(40)]);
  assert.ok(first.compaction?.record, "a fold that could not wait");
  assert.match(first.compaction.reason, /busy/);
  let reasons = 0;
  for (let steps = 41; steps < 120; steps += 1) {
    const { compaction } = await context.prepare(talk(steps));
    if (!compaction?.record) continue;
    reasons += 1;
    assert.match(compaction.reason, /busy|not asked until \d{4}-|did not help/);
  }
  assert.ok(reasons > 0);
  assert.ok(failures(events).every(({ reason }) => reason !== ""));
});

test("request() that folds reports that it never calls the summarizer", { skip }, () => {
  const { context } = manager(async (/** @type {any} */ job) => good(job));
  const { compaction } = context.request(talk(60));
  assert.ok(compaction.record);
  assert.match(compaction.reason, /without a summary: request\(\)/);
});
