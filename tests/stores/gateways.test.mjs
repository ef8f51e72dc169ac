// @ts-check
/**
 * Two gateways, each a process of its own, drive one session at once: they compact, pin, let go, observe and save as it comes. Every
 * revision is one commit of one of them, and nothing that either decided is lost.
 *
 * PLIMSOLL_LONG  1: 150 rounds on each store; else 8
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAccepted } from "../conformance/faults/rows.mjs";
import { api, good, talk, WINDOW } from "../conformance/support/agent-session.mjs";
import { driven } from "./driven.mjs";
import { long, opened, skip, specOf } from "./stores.mjs";

const ROUNDS = long ? 150 : 8;
const OPTIONS = { window: WINDOW, format: "anthropic", estimator: "chars/4" };

for (const kind of /** @type {const} */ (["redis", "file", "sqlite"])) {
  test(`two gateways drive one session on a ${kind} store`, { skip: skip(kind) }, async (t) => {
    const spec = await specOf(t, kind);
    const { made, rebased, folds, rounds, stand, pins, most } = await driven(spec, ROUNDS);
    console.log(
      `${kind}: ${made} revisions, ${rebased} rebased, ${folds} compactions in ${rounds} rounds, ${stand} stand; ${pins} pins, snapshots up to ${most} bytes`,
    );
  });
}

test("two managers over one memory store end with the same session", {
  skip: skip("memory"),
}, async () => {
  const store = await opened({ kind: "memory", place: "" });
  const [one, other] = await Promise.all(
    [0, 1].map(() => api.ContextManager.open(store, "s", OPTIONS)),
  );
  const history = talk(20);
  one.request(history);
  other.request(history);
  const [here, there] = [one.pin({ index: 4 }), other.pin({ index: 8 })];
  assert.deepEqual(await one.save(), { revision: 1, rebased: false });
  const before = other.request(history);
  assert.deepEqual(await other.save(), { revision: 2, rebased: true });
  const after = other.request(history);
  checkAccepted(after);
  assert.ok(after.epoch > before.epoch, "theirs is another start: an epoch of its own");
  assert.deepEqual(await one.save(), { revision: 2, rebased: true });
  assert.deepEqual(one.request(history).messages, after.messages);
  for (const context of [one, other]) for (const id of [here, there]) assert.ok(context.unpin(id));
});

/** A store that loses answers: the commit is made, and the caller is told otherwise. @param {any} store @param {(commit: number) => "error" | "refused" | null} loses */
function lossy(store, loses) {
  let commits = 0;
  return {
    ...store,
    commit: async (/** @type {any[]} */ ...args) => {
      const made = await store.commit(...args);
      const how = made === null ? null : loses(commits++);
      if (how === "error") throw new Error("the connection broke");
      return how === "refused" ? null : made;
    },
  };
}

test("a lost acknowledgement is recognized by this save or a later one", {
  skip: skip("memory"),
}, async () => {
  for (const how of /** @type {const} */ (["error", "refused"])) {
    const store = await opened({ kind: "memory", place: "" });
    const context = await api.ContextManager.open(
      lossy(store, () => how),
      "s",
      OPTIONS,
    );
    let revision = 0;
    for (let steps = 4; steps < 20; steps += 2) {
      context.request(talk(steps));
      context.pin({ text: `at ${steps}` });
      revision += 1;
      if (how === "refused") {
        assert.deepEqual(await context.save(), { revision, rebased: false });
        continue;
      }
      // Made each time, and never told: the next finds out, and commits only what is new.
      await assert.rejects(context.save(), /the connection broke/);
      assert.equal((await store.load("s")).revision, revision);
    }
    const again = await api.ContextManager.open(store, "s", OPTIONS);
    checkAccepted(again.request(talk(20)));
    assert.equal((await store.load("s")).revision, revision);
  }
});

test("a lost acknowledgement is recognized although later commits did not reach the store", {
  skip: skip("memory"),
}, async () => {
  const store = await opened({ kind: "memory", place: "" });
  let isDown = false;
  const lost = lossy(store, (commit) => (commit === 0 ? "error" : null));
  const commit = async (/** @type {any[]} */ ...args) => {
    if (isDown) throw new Error("no connection");
    return lost.commit(...args);
  };
  const context = await api.ContextManager.open({ ...lost, commit }, "s", OPTIONS);
  context.request(talk(8));
  const pin = context.pin({ text: "no longer true" });
  await assert.rejects(context.save(), /the connection broke/);
  isDown = true;
  assert.ok(context.unpin(pin));
  await assert.rejects(context.save(), /no connection/);
  context.request(talk(9));
  await assert.rejects(context.save(), /no connection/);
  isDown = false;
  assert.deepEqual(await context.save(), { revision: 2, rebased: false });
  assert.equal(context.unpin(pin), false, "the pin does not come back");
});

test("a lost acknowledgement followed by another's commit duplicates nothing", {
  skip: skip("memory"),
}, async () => {
  const store = await opened({ kind: "memory", place: "" });
  const one = await api.ContextManager.open(
    lossy(store, (commit) => (commit === 0 ? "error" : null)),
    "s",
    OPTIONS,
  );
  one.request(talk(8));
  const pin = one.pin({ text: "kept by one" });
  await assert.rejects(one.save(), /the connection broke/);
  const other = await api.ContextManager.open(store, "s", OPTIONS);
  other.request(talk(9));
  const theirs = other.pin({ text: "kept by the other" });
  await other.save();
  assert.equal((await one.save()).rebased, true);
  const last = await api.ContextManager.open(store, "s", OPTIONS);
  assert.deepEqual(
    [pin, theirs].map((id) => [last.unpin(id), last.unpin(id)]),
    [
      [true, false],
      [true, false],
    ],
  );
});

/** A session with a summary that is not committed yet, and a store whose `load` answers what `reads` holds, if any, before its own. */
async function behind() {
  const history = talk(30);
  const store = await opened({ kind: "memory", place: "" });
  /** @type {any[]} */
  const reads = [];
  const load = async (/** @type {string} */ key) => reads.shift() ?? store.load(key);
  let summaries = 0;
  const summarize = async (/** @type {any} */ job) => {
    summaries += 1;
    return good(job, `This is summary ${summaries}.`);
  };
  const options = { ...OPTIONS, summary: { minimumTokens: 0, contextTokens: 200_000 }, summarize };
  const one = await api.ContextManager.open({ ...store, load }, "s", options);
  one.request(history.slice(0, 16));
  await one.save();
  const old = await store.load("s");
  await one.compact(history.slice(0, 48), { force: true });
  one.request(history.slice(0, 48));
  await one.save();
  const other = await api.ContextManager.open(store, "s", options);
  other.request(history.slice(0, 48));
  const pin = other.pin({ text: "of the other's" });
  await other.save();
  await one.compact(history, { force: true });
  const sent = () => /This is summary \d/.exec(JSON.stringify(one.request(history).messages))?.[0];
  assert.equal(sent(), "This is summary 2");
  return { one, sent, pin, reads, old };
}

test("a read that is older than the session's own commit costs no summary that is not committed yet", {
  skip: skip("memory"),
}, async () => {
  for (const stale of [1, 3]) {
    const { one, sent, pin, reads, old } = await behind();
    reads.push(...Array(stale).fill(old));
    const saved = await one.save();
    assert.equal(sent(), "This is summary 2");
    assert.deepEqual(saved, { revision: 4, rebased: true });
    assert.ok(one.unpin(pin));
  }
  const { one, sent, pin, reads, old } = await behind();
  reads.push(...Array(8).fill(old));
  await assert.rejects(one.save(), { code: "CONFLICT" });
  assert.equal(sent(), "This is summary 2");
  assert.deepEqual(await one.save(), { revision: 4, rebased: true });
  assert.equal(sent(), "This is summary 2");
  assert.ok(one.unpin(pin));
});

test("a store that lost commits, as in a failover, takes the session again at the second save", {
  skip: skip("memory"),
}, async () => {
  /** @type {any} */
  let stored = null;
  const store = {
    load: async () => stored,
    commit: async (/** @type {any} */ _, /** @type {any} */ bytes, /** @type {any} */ expected) => {
      if (expected !== (stored?.revision ?? null)) return null;
      stored = { bytes, revision: (expected ?? 0) + 1 };
      return stored.revision;
    },
  };
  const context = await api.ContextManager.open(store, "s", OPTIONS);
  context.request(talk(4));
  await context.save();
  const first = stored;
  const pins = [context.pin({ text: "saved" })];
  await context.save();
  pins.push(context.pin({ text: "not saved yet" }));
  stored = first;
  await assert.rejects(context.save(), { code: "CONFLICT" });
  assert.equal(stored, first);
  assert.equal((await context.save()).revision, 2);
  assert.equal(context.unpin(pins[1]), true);
});

test("two saves of one manager run one after the other, and a busy store is a CONFLICT after 8 tries", {
  skip: skip("memory"),
}, async () => {
  const store = await opened({ kind: "memory", place: "" });
  const context = await api.ContextManager.open(store, "s", OPTIONS);
  context.request(talk(4));
  const saves = await Promise.all([context.save(), context.save(), context.save()]);
  assert.deepEqual(
    saves.map(({ revision }) => revision),
    [1, 2, 3],
  );
  let tries = 0;
  const busy = {
    ...store,
    commit: async () => {
      tries += 1;
      return null;
    },
    load: async () => ({ ...(await store.load("s")), revision: 10 + tries }),
  };
  const late = await api.ContextManager.open(busy, "s", OPTIONS);
  late.pin({ text: "mine" });
  await assert.rejects(late.save(), { code: "CONFLICT" });
  assert.equal(tries, 8);
  await store.delete("s");
  assert.deepEqual(await context.save(), { revision: 4, rebased: false });
});

test("a compaction that runs during another's commit is still saved", {
  skip: skip("memory"),
}, async () => {
  const store = await opened({ kind: "memory", place: "" });
  /** @type {() => void} */
  let answer = () => {};
  const answered = new Promise((done) => {
    answer = () => done(undefined);
  });
  const summarize = async (/** @type {any} */ job) => {
    await answered;
    return good(job);
  };
  const summary = { minimumTokens: 0, contextTokens: 200_000 };
  const one = await api.ContextManager.open(store, "s", { ...OPTIONS, summarize, summary });
  const history = talk(20);
  one.request(history);
  await one.save();
  const other = await api.ContextManager.open(store, "s", OPTIONS);
  const running = one.compact(history, { force: true });
  other.request(talk(22));
  await other.save();
  assert.equal((await one.save()).rebased, true);
  answer();
  const outcome = await running;
  assert.equal(outcome.status, "summarized", outcome.reason);
  await one.save();
  const last = await api.ContextManager.open(store, "s", OPTIONS);
  const { messages } = last.request(talk(22));
  assert.equal(JSON.stringify(messages).split("Zebra_One").length, 2);
});
