// @ts-check
/**
 * Memory stays flat: over many operations, with handles disposed of, and with handles that are dropped and collected.
 *
 * PLIMSOLL_LONG  1: a million operations; else 20,000
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { long, runTask, skip } from "./stores.mjs";

const OPERATIONS = long ? 1_000_000 : 20_000;

test(`${OPERATIONS} operations of a memory store leave memory unchanged`, {
  skip: skip("memory"),
}, async () => {
  const [end] = await runTask("operate", { kind: "memory", place: "" }, { operations: OPERATIONS });
  assert.equal(end.after, end.before, "bytes of the core's memory after warming up");
  const drift = (end.heapAfter - end.heapBefore) / 1e6;
  assert.ok(drift < 20, `the heap grew by ${drift} MB`);
  console.log(
    `${end.operations} operations: ${JSON.stringify(end.counts)}; the core stays at ${end.after / 1e6} MB, the heap drifts by ${drift.toFixed(1)} MB, the process by ${((end.rssAfter - end.rssBefore) / 1e6).toFixed(0)} MB`,
  );
});

test("managers that are not disposed are garbage collected", { skip: skip("memory") }, async () => {
  const managers = long ? 5_000 : 1000;
  const [end] = await runTask("forget", { kind: "memory", place: "" }, { managers });
  assert.ok(end.after <= 2 * end.before, `the core grew from ${end.before} to ${end.after} bytes`);
  assert.ok(end.kept > 2 * end.after, "where they are kept they need more: the test sees them");
  console.log(
    `${managers} managers dropped: the core ${end.before / 1e6} MB after 200, ${end.after / 1e6} MB after all; ${end.kept / 1e6} MB where they are kept`,
  );
});
