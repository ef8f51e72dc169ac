// @ts-check
/**
 * examples/node-gateway under load, on this machine alone: many sessions at once, a process that is killed, two gateways on one Redis.
 *
 * PLIMSOLL_LONG  1: 200 sessions at once and 100,000 turns; else 20 and 400
 * PLIMSOLL_TURNS another number of turns, a multiple of 5
 */
import assert from "node:assert/strict";
import { loadavg } from "node:os";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  asked,
  exampleFolder,
  gateway,
  modelServer,
  session,
  storeOf,
  turn,
} from "../support/gateway.mjs";
import { long, skip } from "./stores.mjs";

const folder = exampleFolder();
/** So small that each session has edits and folds. */
const SMALL = ["--window", "6000", "--answer", "500"];
const SESSIONS = long ? 200 : 20;
const TURNS = Number(process.env.PLIMSOLL_TURNS) || (long ? 100_000 : 400);
/** A worker starts a new session after so many turns: what is in memory is then a matter of the gateway, not of the sessions' length. */
const TURNS_OF_A_SESSION = long ? 25 : 10;
const KILLS = long ? 20 : 3;
const MB = 1e6;

/** @param {string} name @param {number} at */
const textOf = (name, at) =>
  at % 2 ? `read long.md ${name} ${at}` : `${name} ${at}: ${"how deep is it there? ".repeat(12)}`;

/** @param {number} count @param {(at: number) => Promise<void>} work */
const atOnce = (count, work) => Promise.all(Array.from({ length: count }, (_, at) => work(at)));

/** Numbers below another that look random, the same each time. @param {number} seed @returns {(below: number) => number} */
function dice(seed) {
  let state = seed;
  return (below) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
}

const kind = skip("redis") ? "file" : "redis";

test(`every request of ${SESSIONS} sessions at once over ${TURNS} turns is valid, and memory stays flat`, {
  skip: skip("file"),
}, async (t) => {
  if (kind === "file") console.log(`the load runs on files: ${skip("redis")}`);
  const model = await modelServer(t, { strictEach: 50 });
  const limit = `${SESSIONS + Math.ceil(SESSIONS / 4)}`;
  const options = { store: await storeOf(t, kind), model: model.url };
  const one = await gateway(t, folder, { ...options, args: [...SMALL, "--limit", limit] });
  /** @type {import("../support/gateway.mjs").Usage[]} */
  const usages = [];
  let [sent, done, changes] = [0, 0, 0];
  const begun = performance.now();
  await atOnce(SESSIONS, async (worker) => {
    for (let round = 0; sent < TURNS; round += 1) {
      const id = `w${worker}-${round}`;
      for (let at = 0; at < TURNS_OF_A_SESSION && sent < TURNS; at += 1) {
        sent += 1;
        const isSample = sent % (TURNS / 5) === 0;
        const { error, events } = await turn(one.url, id, textOf(id, at), at);
        assert.equal(error, undefined);
        done += 1;
        changes += events.filter(({ event }) => event === "context").length;
        if (isSample) usages.push(await one.usage());
      }
    }
  });
  const seconds = (performance.now() - begun) / 1000;
  assert.deepEqual(model.seen.refused, []);
  assert.equal(done, TURNS);
  const [first, ...later] = usages;
  assert.ok(first && later.length === 4);
  const grown = (/** @type {"heapUsed" | "rss"} */ part) =>
    (Math.max(...later.map((usage) => usage[part])) - first[part]) / MB;
  const last = later.at(-1) ?? first;
  const cpu = (last.cpuMs - first.cpuMs) / (TURNS * 0.8);
  const heaps = usages.map(({ heapUsed }) => (heapUsed / MB).toFixed(1)).join(", ");
  const sizes = usages.map(({ rss }) => (rss / MB).toFixed(0)).join(", ");
  console.log(
    `${kind}: ${TURNS} turns of ${SESSIONS} sessions at once in ${seconds.toFixed(0)} s, ${model.seen.requests} requests, none refused, ${changes} changes of a context\n` +
      `a turn's context work: p50 ${last.p50.toFixed(2)} ms, p99 ${last.p99.toFixed(2)} ms; processor time of the gateway: ${cpu.toFixed(2)} ms a turn (load average ${loadavg()[0]?.toFixed(1)})\n` +
      `heap after a collection at each fifth: ${heaps} MB; process: ${sizes} MB`,
  );
  assert.ok(
    grown("heapUsed") < 20,
    `the heap grew by ${grown("heapUsed")} MB after the first fifth`,
  );
  assert.ok(grown("rss") < 100, `the process grew by ${grown("rss")} MB after the first fifth`);
});

test(`a gateway killed ${KILLS} times under load has every committed turn exactly once`, {
  skip: skip("file"),
}, async (t) => {
  const [workers, turns] = long ? [100, 50] : [8, 12];
  const model = await modelServer(t, { strictEach: 10, pauseMs: 2 });
  const options = { store: await storeOf(t, "file"), model: model.url, args: SMALL };
  const roll = dice(7);
  let one = await gateway(t, folder, options);
  let isOver = false;
  let unacknowledged = 0;
  let acknowledged = 0;
  const killed = (async () => {
    for (let kills = 0; kills < KILLS; kills += 1) {
      const next = ((kills + 1) * workers * turns) / (KILLS + 2);
      while (!isOver && acknowledged + unacknowledged < next) await sleep(1);
      if (isOver) return kills;
      await sleep(roll(10));
      await one.end("SIGKILL");
      one = await gateway(t, folder, options);
    }
    return KILLS;
  })();
  await atOnce(workers, async (worker) => {
    for (let at = 0; at < turns; ) {
      const { done, error } = await turn(one.url, `k${worker}`, textOf(`k${worker}`, at), at);
      // It was committed, and the process was killed before the client heard of it.
      const isThere = error?.code === "CONFLICT" && error.turns === at + 1;
      assert.ok(done || isThere || ["BROKEN", "CONFLICT"].includes(error.code), error?.message);
      if (done) acknowledged += 1;
      if (isThere) unacknowledged += 1;
      if (done || isThere) at += 1;
      else await sleep(10);
    }
  });
  isOver = true;
  assert.equal(await killed, KILLS);
  await atOnce(workers, async (worker) => {
    const id = `k${worker}`;
    const wanted = Array.from({ length: turns }, (_, at) => textOf(id, at));
    assert.deepEqual(asked(await session(one.url, id)), wanted);
  });
  assert.deepEqual(model.seen.refused, []);
  console.log(
    `${KILLS} kills: ${acknowledged} turns acknowledged, ${unacknowledged} committed without the client hearing of it, none lost, none twice`,
  );
});

test("two gateways on one Redis serve the same sessions without losing a turn", {
  skip: skip("redis"),
}, async (t) => {
  const [sessions, clients, turns] = long ? [50, 4, 20] : [6, 2, 6];
  const model = await modelServer(t, { strictEach: 10, pauseMs: 2 });
  const options = { store: await storeOf(t, "redis"), model: model.url, args: SMALL };
  const both = await Promise.all([0, 1].map(() => gateway(t, folder, options)));
  const roll = dice(11);
  let conflicts = 0;
  await atOnce(sessions * clients, async (worker) => {
    const id = `s${worker % sessions}`;
    for (let at = 0; at < turns; ) {
      const url = both[roll(2)]?.url ?? "";
      const { done, error } = await turn(url, id, textOf(`client ${worker}`, at));
      if (!done) assert.equal(error.code, "CONFLICT", JSON.stringify(error));
      if (done) at += 1;
      else await sleep(roll(20));
      conflicts += done ? 0 : 1;
    }
  });
  for (let at = 0; at < sessions; at += 1) {
    const [here, there] = await Promise.all(both.map(({ url }) => session(url, `s${at}`)));
    assert.deepEqual(here, there);
    assert.equal(here?.turns, clients * turns);
    const texts = asked(/** @type {any} */ (here));
    assert.equal(texts.length, clients * turns);
    for (let client = at; client < sessions * clients; client += sessions) {
      const own = texts.filter((text) => text.includes(`client ${client} `));
      const wanted = Array.from({ length: turns }, (_, turn) => textOf(`client ${client}`, turn));
      assert.deepEqual(own, wanted, "each turn once, in the client's order");
    }
  }
  assert.deepEqual(model.seen.refused, []);
  assert.ok(conflicts > 0, "clients of one session got in each other's way");
  console.log(
    `${sessions} sessions, ${clients} clients each, two gateways: ${sessions * clients * turns} turns, ${conflicts} conflicts, none lost`,
  );
});
