// @ts-check
/**
 * Processes that are killed (SIGKILL) while they write: before and after every call to the file system that a commit or a deletion makes,
 * and at any time. A record is the old one or the new one, what was acknowledged is there, and the next writer gets in.
 *
 * PLIMSOLL_LONG  1: 1,000 kills at any time for each store; else 12 with `--ci`, and 4
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { sized } from "../support/size.mjs";
import { killed, page } from "./killed.mjs";
import { child, folder, long, looker, opened, skip, specOf } from "./stores.mjs";

/** What all open files have in common. @param {string} place */
async function filesOf(place) {
  const probe = await open(place, "r");
  await probe.close();
  return Object.getPrototypeOf(probe);
}

/** The file of a key's record. @param {string} place @param {string} key */
const recordOf = async (place, key) =>
  (await readdir(place)).find((it) => it.startsWith(`${key}.`)) ?? "";

/** A store in a folder of its own, with one record. @param {import("node:test").TestContext} t */
async function begun(t) {
  const place = folder(t);
  const store = await opened({ kind: "file", place });
  await store.commit("one", page(1), null);
  return { place, store };
}

const KILLS = sized({ short: 4, ci: 12, long: 1000 });

for (const kind of /** @type {const} */ (["file", "sqlite", "redis"])) {
  test(`${KILLS} writers killed at any time leave a ${kind} store intact`, {
    skip: skip(kind),
  }, async (t) => {
    const spec = await specOf(t, kind);
    const { look, end } = looker(spec, "one");
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
      const seen = await look();
      assert.ok(seen.isComplete && seen.length === 3000, JSON.stringify(seen));
      // Acknowledged is there; each writer may have had one more under way.
      assert.ok(
        seen.revision >= acknowledged && seen.revision <= acknowledged + 2,
        `${seen.revision} after ${acknowledged}`,
      );
      landed += seen.revision > acknowledged ? 1 : 0;
      least = seen.revision;
    }
    await end();
    console.log(
      `${kind}: ${KILLS} kills, ${least} revisions; ${landed} commits landed unacknowledged, none is torn`,
    );
  });
}

for (const task of /** @type {const} */ (["commit", "delete", "first"])) {
  test(`a file store survives a kill at every write point of a ${task}`, {
    skip: skip("file"),
  }, async (t) => {
    const { points, isOld } = await killed(async () => ({ kind: "file", place: folder(t) }), task);
    console.log(
      `file, ${task}: killed at ${points} points, ${isOld} times the old record, else the new one`,
    );
  });
}

test("a file store waits for a live process's lock for at most ten seconds", {
  skip: skip("file") || (!long && "skipped: locks that are waited for are left to --long"),
}, async (t) => {
  const { place, store } = await begun(t);
  const { process, lines, ended } = child("stopped", { kind: "file", place }, { key: "one" });
  await lines.next();
  await assert.rejects(store.commit("one", page(2), 1), { code: "LOCKED" });
  process.kill("SIGKILL");
  await ended;
  assert.equal(await store.commit("one", page(2), 1), 2);
  // Of another machine nobody here knows whether it lives: after a minute it does not.
  const name = await recordOf(place, "one");
  const lock = join(place, `${name}.lock`);
  await writeFile(lock, JSON.stringify({ id: "0".repeat(12), pid: 1, began: "", host: "far" }));
  await assert.rejects(store.commit("one", page(3), 2), /held by process 1 on far/);
  await sleep(55_000);
  assert.equal(await store.commit("one", page(3), 2), 3);
});

test("a file store takes over the lock of a worker that was terminated, and of none that runs", {
  skip: skip("file") || (process.platform !== "linux" && "skipped: only Linux tells of threads"),
}, async (t) => {
  const { place, store } = await begun(t);
  const input = JSON.stringify({ task: "stopped", spec: { kind: "file", place }, key: "one" });
  const worker = new Worker(new URL("child.mjs", import.meta.url), {
    argv: [input],
    stdout: true,
  });
  t.after(() => worker.terminate());
  await once(worker.stdout, "data");
  let isMade = false;
  const next = store.commit("one", page(2), 1).then((/** @type {number} */ revision) => {
    isMade = true;
    return revision;
  });
  await sleep(300);
  assert.equal(isMade, false, "the worker still writes");
  await worker.terminate();
  assert.equal(await next, 2);
  assert.deepEqual(
    (await readdir(place)).filter((it) => it.endsWith(".lock")),
    [],
  );
});

test("a file store goes on after its folder of owners was removed", {
  skip: skip("file"),
}, async (t) => {
  const place = folder(t);
  const [one, other] = await Promise.all([0, 1].map(() => opened({ kind: "file", place })));
  assert.equal(await one.commit("one", page(1), null), 1);
  await rm(join(place, ".owners"), { recursive: true });
  const revisions = await Promise.all([
    one.commit("a", page(1), null),
    one.commit("b", page(1), null),
    other.commit("c", page(1), null),
  ]);
  assert.deepEqual(revisions, [1, 1, 1]);
  await one.delete("one");
  assert.deepEqual(
    (await readdir(place)).filter((it) => /lock|new/.test(it)),
    [],
  );
});

test("file stores of one folder share an owner, also after a change of directory", {
  skip: skip("file"),
}, async (t) => {
  const place = folder(t);
  const here = process.cwd();
  t.after(() => process.chdir(here));
  process.chdir(place);
  const stores = [];
  for (const path of [place, ".", `${place}/../${basename(place)}`])
    stores.push(await opened({ kind: "file", place: path }));
  process.chdir(here);
  for (const [at, store] of stores.entries())
    assert.equal(await store.commit("one", page(1), at || null), at + 1);
  assert.equal((await readdir(join(place, ".owners"))).length, 1);
});

test("a file store removes a lock without a readable owner after a minute", {
  skip: skip("file"),
}, async (t) => {
  const { place, store } = await begun(t);
  const owners = join(place, ".owners");
  const [own = ""] = await readdir(owners);
  const { host } = JSON.parse(await readFile(join(owners, own), "utf8"));
  // A number that another process has by now, where the system does not say when one began.
  const again = JSON.stringify({ id: "0".repeat(12), pid: process.pid, began: "", host });
  const name = await recordOf(place, "one");
  await writeFile(join(place, `${name}.lock`), again);
  const far = JSON.stringify({ id: "1".repeat(12), pid: 1, began: "", host: "far" });
  for (const [id, text] of Object.entries({ [`${"1".repeat(12)}`]: far, half: '{"id', none: "" }))
    await writeFile(join(owners, id), text);
  const now = Date.now;
  t.after(() => {
    Date.now = now;
  });
  Date.now = () => now() + 61_000;
  assert.equal(await store.commit("one", page(2), 1), 2);
  await rm(join(owners, own));
  assert.equal(await store.commit("one", page(3), 2), 3);
  assert.equal((await readdir(owners)).length, 1);
});

test("a failed write of a file store leaves only the old record", {
  skip: skip("file"),
}, async (t) => {
  const { place, store } = await begun(t);
  const files = await filesOf(join(place, ".owners"));
  const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  for (const call of ["writeFile", "sync"]) {
    const mocked = t.mock.method(files, call, async () => Promise.reject(full));
    await assert.rejects(store.commit("one", page(2), 1), { code: "ENOSPC" });
    mocked.mock.restore();
  }
  const left = await readdir(place, { recursive: true });
  assert.equal(left.length, 3, `${left}`);
  assert.equal((await store.load("one")).revision, 1);
  assert.equal(await store.commit("one", page(2), 1), 2);
  await writeFile(join(place, ".deleted"), "what?");
  await assert.rejects(store.commit("two", page(1), null), { code: "CORRUPT_STATE" });
});

test("a paused writer whose lock was taken writes no record", {
  skip: skip("file"),
}, async (t) => {
  const { place, store } = await begun(t);
  const files = await filesOf(join(place, ".owners"));
  const write = files.writeFile;
  /** @type {() => void} */
  let wake = () => {};
  const sleeps = new Promise((done) => {
    t.mock.method(
      files,
      "writeFile",
      async function (/** @type {any[]} */ ...args) {
        done(undefined);
        await new Promise((woken) => {
          wake = () => woken(undefined);
        });
        return write.apply(this, args);
      },
      { times: 1 },
    );
  });
  const late = store.commit("one", page(2), 1);
  await sleeps;
  const lock = (await readdir(place)).find((it) => it.endsWith(".lock")) ?? "";
  await rm(join(place, lock));
  assert.equal(await store.commit("one", new Uint8Array(9), 1), 2);
  wake();
  await assert.rejects(late, { code: "LOCKED" });
  assert.deepEqual(await store.load("one"), { bytes: new Uint8Array(9), revision: 2 });
});

test("slow writers of one process wait for each other on a file store as long as one goes on", {
  skip: skip("file"),
}, async (t) => {
  const { place, store } = await begun(t);
  const files = await filesOf(join(place, ".owners"));
  const write = files.writeFile;
  t.mock.method(files, "writeFile", async function (/** @type {any[]} */ ...args) {
    await sleep(100);
    return write.apply(this, args);
  });
  // The ten seconds for which another process may hold a lock pass in the time of three of these writes.
  const start = Date.now();
  t.mock.method(
    Date,
    "now",
    () => start + 33 * (performance.timeOrigin + performance.now() - start),
  );
  const writer = async () => {
    for (;;) {
      const stored = await store.load("one");
      if (await store.commit("one", page(stored.revision), stored.revision)) return;
    }
  };
  await Promise.all(Array.from({ length: 8 }, writer));
  assert.equal((await store.load("one")).revision, 9);
});

test("a damaged record of a file store is a typed error and can be deleted", {
  skip: skip("file"),
}, async (t) => {
  const { place, store } = await begun(t);
  const name = await recordOf(place, "one");
  const content = await readFile(join(place, name));
  const each = Math.ceil(content.length / 300);
  for (let at = 0; at < content.length; at += each) {
    const flipped = Buffer.from(content);
    flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
    for (const damaged of [flipped, content.subarray(0, at), Buffer.concat([content, flipped])]) {
      await writeFile(join(place, name), damaged);
      await assert.rejects(store.load("one"), { code: "CORRUPT_STATE" }, `at ${at}`);
    }
  }
  await assert.rejects(store.commit("one", page(2), 1), { code: "CORRUPT_STATE" });
  await writeFile(join(place, name), content);
  assert.equal((await store.load("one")).revision, 1);
  await store.commit("two", page(1), null);
  const other = await recordOf(place, "two");
  await writeFile(join(place, other), content);
  await assert.rejects(store.load("two"), { code: "CORRUPT_STATE" }, "another key's record");
  await store.delete("two");
  assert.equal(await store.load("two"), null);
});
