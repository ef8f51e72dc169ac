// @ts-check
/**
 * Processes that write one record at once: each commit is one revision, and none is made twice.
 *
 * PLIMSOLL_LONG  1: 10,000 commits a writer; else 250 with `--ci`, and 50
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../support/size.mjs";
import { looker, opened, runTask, skip, specOf } from "./stores.mjs";

const WRITERS = 8;
const COMMITS = sized({ short: 50, ci: 250, long: 10_000 });

for (const kind of /** @type {const} */ (["file", "sqlite", "redis"])) {
  test(`${WRITERS} writers with ${COMMITS} commits each lose none on a ${kind} store`, {
    skip: skip(kind),
  }, async (t) => {
    const spec = await specOf(t, kind);
    const begun = performance.now();
    const ends = await Promise.all(
      Array.from({ length: WRITERS }, (_, at) =>
        runTask("write", spec, { key: "one", commits: COMMITS, name: `writer ${at}` }),
      ),
    );
    const seconds = (performance.now() - begun) / 1000;
    const made = ends.flatMap(([end]) => end.made).sort((a, b) => a - b);
    const wanted = Array.from({ length: WRITERS * COMMITS }, (_, at) => at + 1);
    assert.deepEqual(made, wanted);
    const { look, end } = looker(spec, "one");
    assert.equal((await look()).revision, WRITERS * COMMITS);
    await end();
    const conflicts = ends.reduce((sum, [end]) => sum + end.conflicts, 0);
    const rate = Math.round(made.length / seconds);
    console.log(`${kind}: ${made.length} revisions, ${conflicts} conflicts, ${rate} commits/s`);
  });
}

test("writers of one process lose no commit on a memory store", {
  skip: skip("memory"),
}, async () => {
  const store = await opened({ kind: "memory", place: "" });
  const write = async () => {
    for (let left = COMMITS; left > 0; ) {
      const stored = await store.load("one");
      if (await store.commit("one", new Uint8Array(9), stored?.revision ?? null)) left -= 1;
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
  assert.equal((await store.load("one")).revision, WRITERS * COMMITS);
});
