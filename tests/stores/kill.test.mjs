// @ts-check
/**
 * Processes that are killed (SIGKILL) while they write: before and after every call to the file system that a commit or a deletion makes,
 * and at any time. A record is the old one or the new one, what was acknowledged is there, and the next writer gets in.
 *
 * PLIMSOLL_LONG  1: 1,000 kills at any time for each store; else 12
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { child, folder, long, opened, skip, specOf, told } from "./stores.mjs";

const KILLS = long ? 1000 : 12;

for (const kind of /** @type {const} */ (["file", "sqlite", "redis"])) {
  test(`${kind}: ${KILLS} writers are killed at any time`, { skip: skip(kind) }, async (t) => {
    const spec = await specOf(t, kind);
    let least = 0;
    let landed = 0;
    let seed = 7;
    for (let run = 0; run < KILLS; run += 1) {
      // Two at once: the lock of one that is killed stands in the other's way.
      const writers = [0, 1].map(() => child("forever", spec, { key: "one" }));
      seed = (seed * 48_271) % 2_147_483_647;
      let acknowledged = 0;
      const first = writers.map(async ({ lines }) => {
        for await (const revision of lines) acknowledged = Math.max(acknowledged, revision);
      });
      while (acknowledged <= least) await sleep(1);
      await sleep(seed % 25);
      for (const { process } of writers) process.kill("SIGKILL");
      await Promise.all([...first, ...writers.map(({ ended }) => ended)]);
      const [held] = await told("look", spec, { key: "one" });
      assert.ok(held.isWhole && held.length === 3000, JSON.stringify(held));
      // Acknowledged is there; each writer may have had one more under way.
      assert.ok(
        held.revision >= acknowledged && held.revision <= acknowledged + 2,
        `${held.revision} after ${acknowledged}`,
      );
      landed += held.revision > acknowledged ? 1 : 0;
      least = held.revision;
    }
    console.log(
      `${kind}: ${KILLS} kills, ${least} revisions; ${landed} commits landed unacknowledged, none is torn`,
    );
  });
}

for (const task of ["commit", "delete", "first"]) {
  test(`file: killed at every write point of a ${task}`, { skip: skip("file") }, async (t) => {
    let points = 0;
    let isOld = 0;
    for (let point = 0; ; point += 1) {
      /** @type {import("./stores.mjs").Spec} */
      const spec = { kind: "file", place: folder(t) };
      const store = await opened(spec);
      const before = task === "first" ? null : await store.commit("one", page(1), null);
      const { ended, lines } = child("killed", spec, { key: "one", of: task, point });
      for await (const _ of lines);
      if ((await ended) !== "SIGKILL") break;
      points += 1;
      const begun = performance.now();
      const held = await store.load("one");
      const revision = held?.revision ?? null;
      const isNew = task === "delete" ? held === null : revision === (before ?? 0) + 1;
      assert.ok(isNew || revision === before, `point ${point}: ${revision}`);
      if (held) assert.deepEqual(held.bytes, page(held.revision));
      isOld += isNew ? 0 : 1;
      const next = await store.commit("one", page((revision ?? before ?? 0) + 1), revision);
      assert.equal(next, (revision ?? (task === "delete" ? 1 : 0)) + 1, `point ${point}`);
      assert.ok(performance.now() - begun < 5000, "the killed one's lock stands in the way");
    }
    assert.ok(points >= 12, `${points} points`);
    console.log(
      `file, ${task}: killed at ${points} points, ${isOld} times the old record, else the new one`,
    );
  });
}

test("file: a lock of a process that lives is waited for, and no longer than ten seconds", {
  skip: skip("file"),
}, async (t) => {
  if (!long) return;
  /** @type {import("./stores.mjs").Spec} */
  const spec = { kind: "file", place: folder(t) };
  const store = await opened(spec);
  await store.commit("one", page(1), null);
  const { process, lines, ended } = child("stopped", spec, { key: "one" });
  for await (const _ of lines) break;
  await assert.rejects(store.commit("one", page(2), 1), { code: "LOCKED" });
  process.kill("SIGKILL");
  await ended;
  assert.equal(await store.commit("one", page(2), 1), 2);
});

test("file: a record that is damaged is a typed error, and can be deleted", {
  skip: skip("file"),
}, async (t) => {
  const { readdir, readFile, writeFile } = await import("node:fs/promises");
  const { join } = await import("node:path");
  const place = folder(t);
  const store = await opened({ kind: "file", place });
  await store.commit("one", page(1), null);
  const name = (await readdir(place)).find((it) => it.startsWith("one.")) ?? "";
  const whole = await readFile(join(place, name));
  const each = Math.ceil(whole.length / 300);
  for (let at = 0; at < whole.length; at += each) {
    const flipped = Buffer.from(whole);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
    for (const damaged of [flipped, whole.subarray(0, at), Buffer.concat([whole, flipped])]) {
      await writeFile(join(place, name), damaged);
      await assert.rejects(store.load("one"), { code: "CORRUPT_STATE" }, `at ${at}`);
    }
  }
  await assert.rejects(store.commit("one", page(2), 1), { code: "CORRUPT_STATE" });
  await writeFile(join(place, name), whole);
  assert.equal((await store.load("one")).revision, 1);
  await store.commit("two", page(1), null);
  const other = (await readdir(place)).find((it) => it.startsWith("two.")) ?? "";
  await writeFile(join(place, other), whole);
  await assert.rejects(store.load("two"), { code: "CORRUPT_STATE" }, "another key's record");
  await store.delete("two");
  assert.equal(await store.load("two"), null);
});

/** @param {number} revision */
function page(revision) {
  return new Uint8Array(3000).fill(revision % 251);
}
