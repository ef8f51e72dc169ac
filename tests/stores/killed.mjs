// @ts-check
/** A process is killed before and after each call to the file system that a commit, a first commit or a deletion makes. */
import assert from "node:assert/strict";
import { sized } from "../support/size.mjs";
import { child, opened } from "./stores.mjs";

/** Of the points, one in so many. */
const STEP = sized({ short: 3, ci: 1, long: 1 });

/** A record, each byte of which tells its revision. @param {number} revision */
export const page = (revision) => new Uint8Array(3000).fill(revision % 251);

/**
 * What is left is the old record or the new one, and the next writer gets in at once.
 * @param {() => Promise<import("./stores.mjs").Spec>} place a file store that is empty @param {"commit" | "delete" | "first"} task
 */
export async function killed(place, task) {
  let isOld = 0;
  for (let point = 0; ; point += STEP) {
    const spec = await place();
    const store = await opened(spec);
    const before = task === "first" ? null : await store.commit("one", page(1), null);
    const { ended, lines } = child("killed", spec, { key: "one", of: task, point });
    for await (const _ of lines);
    if ((await ended) !== "SIGKILL") {
      assert.ok(point >= 12, `${point} points`);
      return { points: point, isOld };
    }
    const begun = performance.now();
    const stored = await store.load("one");
    const revision = stored?.revision ?? null;
    const isNew = task === "delete" ? stored === null : revision === (before ?? 0) + 1;
    assert.ok(isNew || revision === before, `point ${point}: ${revision}`);
    if (stored) assert.deepEqual(stored.bytes, page(stored.revision));
    isOld += isNew ? 0 : 1;
    const next = await store.commit("one", page((revision ?? before ?? 0) + 1), revision);
    assert.equal(next, (revision ?? (task === "delete" ? 1 : 0)) + 1, `point ${point}`);
    const waited = performance.now() - begun;
    assert.ok(waited < 5000, `the killed one's lock stands in the way for ${waited} ms`);
  }
}
