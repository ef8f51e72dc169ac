// @ts-check
/** Two gateways, each a process of its own, are driven through the same rounds; and what must be so in the end. */
import assert from "node:assert/strict";
import { child, runTask } from "./stores.mjs";

/**
 * Every revision is one commit of one of them; no pin and no compaction is lost that the other did not let go, or make itself.
 * @param {import("./stores.mjs").Spec} spec @param {number} all rounds
 */
export async function driven(spec, all) {
  const both = ["one", "other"].map((name) => child("gateway", spec, { name }));
  const next = async (/** @type {typeof both[0]} */ { lines, ended }) => {
    const { value, done } = await lines.next();
    if (done) await ended;
    return value;
  };
  await Promise.all(both.map(next));
  const made = [];
  const pinnedIds = new Set();
  const gone = new Set();
  let [folds, rounds, rebased, steps, most] = [0, 0, 0, 12, 0];
  for (let round = 0; round < all; round += 1) {
    steps += 2;
    for (const [at, { process }] of both.entries()) {
      const order = {
        round,
        steps,
        folds: (round + at) % 3 > 0,
        pin: round % 4 === at,
        unpin: round % 5 === 4,
      };
      process.stdin.write(`${JSON.stringify(order)}\n`);
    }
    const ends = await Promise.all(both.map(next));
    for (const end of ends) {
      made.push(...end.made);
      for (const id of end.pinned) pinnedIds.add(id);
      for (const id of end.unpinned) gone.add(id);
      rebased += end.rebased ? 1 : 0;
      most = Math.max(most, end.bytes);
    }
    const carried = ends.reduce((sum, end) => sum + end.carried, 0);
    folds += carried;
    rounds += carried > 0 ? 1 : 0;
  }
  for (const { process } of both) process.stdin.end(`${JSON.stringify({ end: true })}\n`);
  await Promise.all(both.map(({ ended }) => ended));
  made.sort((a, b) => a - b);
  assert.deepEqual(
    made,
    Array.from(made, (_, at) => at + 1),
    "one commit each revision",
  );

  const [last] = await runTask("last", spec, {
    steps,
    ids: [...pinnedIds].filter((id) => !gone.has(id)),
    gone: [...gone],
    key: "session",
  });
  assert.equal(last.revision, made.length);
  assert.deepEqual(last.lost, [], "pins that are lost");
  assert.deepEqual(last.back, [], "pins that came back");
  assert.ok(
    last.compactions >= rounds,
    `${last.compactions} of ${folds} compactions in ${rounds} rounds`,
  );
  assert.ok(rebased > 0, "they were in each other's way");
  return {
    made: made.length,
    rebased,
    folds,
    rounds,
    stand: last.compactions,
    pins: pinnedIds.size,
    most,
  };
}
