// @ts-check
/** Child process of the store tests: the task and its store come as JSON, its answers go out as JSON lines. */
import { existsSync, readdirSync, readlinkSync, realpathSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { wasmBytes } from "../support/wasm-memory.mjs";
import { page } from "./killed.mjs";
import { closed, opened, subpath } from "./stores.mjs";

const { task, spec, ...taskInput } = JSON.parse(process.argv[2] ?? "{}");
const say = (/** @type {unknown} */ line) => void process.stdout.write(`${JSON.stringify(line)}\n`);

/** @type {Record<string, () => Promise<void>>} */
const tasks = {
  /** Runs the store through the suite. */
  conformance: async () => {
    const { storeConformance } = await subpath("store/conformance");
    for await (const check of storeConformance(() => opened(spec))) say(check);
  },
  /** Opens what cannot be opened; says why not, and how many handles are open all the same. */
  unopened: async () => {
    const { sqliteStore } = await subpath("store/sqlite");
    const errors = taskInput.paths.map((/** @type {any} */ path) => {
      try {
        sqliteStore(path);
        return "none";
      } catch (error) {
        return /** @type {Error} */ (error).message;
      }
    });
    const open = existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd") : [];
    const isOurs = (/** @type {string} */ name) => {
      try {
        return readlinkSync(`/proc/self/fd/${name}`) === realpathSync(spec.place);
      } catch {
        return false;
      }
    };
    say({ errors, handles: open.filter(isOurs).length });
  },
  /** Commits while another connection holds the database: one that goes on committing, then one that does not. */
  locked: async () => {
    const store = await opened(spec);
    const bytes = new Uint8Array(9);
    await store.commit("one", bytes, null);
    const { DatabaseSync } = await import("node:sqlite");
    const other = new DatabaseSync(spec.place);
    other.exec("CREATE TABLE others (number INTEGER); BEGIN IMMEDIATE");
    const clock = Date.now;
    let passed = 0;
    Date.now = () => clock() + passed;
    const waitFor = async (/** @type {number} */ ms) => {
      await sleep(250);
      passed += ms;
      await sleep(250);
    };
    /** @type {number | null} */
    let revision = 0;
    const waiting = store.commit("one", bytes, 1).then((/** @type {any} */ it) => {
      revision = it;
    });
    for (let round = 0; round < 3; round += 1) {
      await waitFor(20_000);
      other.exec("INSERT INTO others VALUES (1); COMMIT; BEGIN IMMEDIATE");
    }
    const before = revision;
    other.exec("COMMIT");
    await waiting;
    other.exec("BEGIN IMMEDIATE");
    const refused = store.commit("one", bytes, 2).then(
      () => null,
      (/** @type {any} */ error) => ({ info: error.info, message: error.message }),
    );
    await waitFor(31_000);
    say({ before, revision, refused: await refused });
    other.close();
  },
  /** Commits so many revisions, trying again where another was first. */
  write: async () => {
    const store = await opened(spec);
    const { key, commits, name } = taskInput;
    const made = [];
    let conflicts = 0;
    while (made.length < commits) {
      const stored = await store.load(key);
      const bytes = new TextEncoder().encode(`${name} ${made.length}`);
      const revision = await store.commit(key, bytes, stored?.revision ?? null);
      if (revision === null) conflicts += 1;
      else made.push(revision);
    }
    say({ made, conflicts });
  },
  /** Commits without end, and says what is acknowledged: to be killed. Each byte of a record tells its revision. */
  forever: async () => {
    const store = await opened(spec);
    for (;;) {
      const stored = await store.load(taskInput.key);
      const next = (stored?.revision ?? 0) + 1;
      const made = await store.commit(taskInput.key, page(next), stored?.revision ?? null);
      if (made !== null) say(made);
    }
  },
  /** What the store holds, each time that it is asked. */
  look: async () => {
    const store = await opened(spec);
    for await (const _ of createInterface({ input: process.stdin })) {
      const stored = await store.load(taskInput.key);
      const isComplete =
        stored !== null && page(stored.revision).every((byte, at) => byte === stored.bytes[at]);
      say({ revision: stored?.revision ?? 0, isComplete, length: stored?.bytes.length ?? 0 });
    }
  },
  /** A commit or a deletion that is killed at the n-th call to the file system: before an even one, after an odd one. */
  killed: async () => {
    const store = await opened(spec);
    const { key, of, point } = taskInput;
    const stored = await store.load(key);
    await deadly(point);
    if (of === "delete") await store.delete(key);
    else await store.commit(key, page((stored?.revision ?? 0) + 1), stored?.revision ?? null);
  },
  /** Stands still while it holds the lock. */
  stopped: async () => {
    const store = await opened(spec);
    const fs = await import("node:fs");
    fs.promises.rename = () => {
      say("held");
      return new Promise(() => setInterval(() => {}, 1000));
    };
    syncBuiltinESMExports();
    await store.commit(taskInput.key, page(2), 1);
  },
  /** What a session holds in the end: pins that are not there, pins that are there again, compactions. */
  last: async () => {
    const { checkAccepted } = await import("../conformance/faults/rows.mjs");
    const { api, WINDOW } = await import("../conformance/support/agent-session.mjs");
    const { historyOf } = await import("./gateway.mjs");
    const store = await opened(spec);
    const options = { window: WINDOW, format: "anthropic", estimator: "chars/4" };
    const context = await api.ContextManager.open(store, taskInput.key, options);
    const prepared = context.request(historyOf(taskInput.steps));
    checkAccepted(prepared);
    const has = (/** @type {string} */ id) => context.unpin(id);
    const lost = taskInput.ids.filter((/** @type {string} */ id) => !has(id));
    const back = taskInput.gone.filter(has);
    const { compactions } = context.status();
    say({ revision: (await store.load(taskInput.key)).revision, lost, back, compactions });
  },
  /** Many operations of each kind, over sessions that come and go. */
  operate: async () => {
    const { api, talk, WINDOW } = await import("../conformance/support/agent-session.mjs");
    const store = await opened(spec);
    const options = { window: WINDOW, format: "anthropic", estimator: "chars/4" };
    const history = talk(30);
    /** @type {Record<string, number>} */
    const counts = {};
    let done = 0;
    const count = (/** @type {string} */ name) => {
      counts[name] = (counts[name] ?? 0) + 1;
      done += 1;
    };
    const session = async (/** @type {number} */ at) => {
      const key = `session ${at % 20}`;
      const context = await api.ContextManager.open(store, key, options);
      count("open");
      for (let sent = 9; sent <= history.length; sent += 4) {
        const prepared = context.request(history.slice(0, sent));
        count("request");
        context.observe({ inputTokens: prepared.tokens + 100, outputTokens: 5 }, prepared);
        count("observe");
        const id = context.pin({ index: 0 });
        count("pin");
        context.status();
        context.explain(1);
        count("explain");
        context.unpin(id);
        count("unpin");
        context.snapshot();
        count("snapshot");
      }
      await context.save();
      count("save");
      context[Symbol.dispose]();
      if (at % 20 === 19) await store.delete(key);
    };
    // The allocator takes its last page after about 150 sessions, and none in 400,000 operations after that.
    for (let at = 0; at < 200; at += 1) await session(at);
    const before = await memory();
    const end = done + taskInput.operations;
    for (let at = 0; done < end; at += 1) await session(at);
    const after = await memory();
    say({
      operations: done,
      counts,
      before: before.core,
      after: after.core,
      heapBefore: before.heap,
      heapAfter: after.heap,
      rssBefore: before.rss,
      rssAfter: after.rss,
    });
  },
  /** Managers that are dropped without a word; and a quarter as many that are kept. */
  forget: async () => {
    const { api, talk } = await import("../conformance/support/agent-session.mjs");
    const history = talk(25);
    const options = {
      window: { contextTokens: 200_000 },
      format: "anthropic",
      estimator: "chars/4",
    };
    const make = () => {
      const context = new api.ContextManager(options);
      context.request(history);
      return context;
    };
    const drop = async (/** @type {number} */ managers) => {
      for (let at = 0; at < managers; at += 1) {
        make();
        if (at % 50 === 49) await memory();
      }
      return (await memory()).core;
    };
    const before = await drop(200);
    const after = await drop(taskInput.managers - 200);
    const kept = Array.from({ length: taskInput.managers / 4 }, make);
    const { core } = await memory();
    say({ before, after, kept: kept.length > 0 ? core : 0 });
  },
  gateway: async () => (await import("./gateway.mjs")).gateway(spec, taskInput, say),
};

/** What is held once what nobody holds is gone. */
async function memory() {
  for (let round = 0; round < 2; round += 1) {
    /** @type {any} */ (globalThis).gc();
    // Collected handles are told of in a turn of their own.
    await new Promise((done) => setTimeout(done, 1));
  }
  const { heapUsed: heap, rss } = process.memoryUsage();
  return { core: wasmBytes(), heap, rss };
}

/** From now on the process kills itself at this point. @param {number} point */
async function deadly(point) {
  const fs = await import("node:fs");
  const handle = await fs.promises.open(".", "r");
  /** @type {any} */
  const files = Object.getPrototypeOf(handle);
  await handle.close();
  let calls = 0;
  /** @param {any} on @param {string} name */
  const deadlyOn = (on, name) => {
    const real = on[name];
    /** @this {any} @param {any[]} args */
    on[name] = async function (...args) {
      const at = calls;
      calls += 2;
      if (at === point) process.kill(process.pid, "SIGKILL");
      try {
        return await real.apply(this, args);
      } finally {
        // Also where it failed: of a file that need not be there.
        if (at + 1 === point) process.kill(process.pid, "SIGKILL");
      }
    };
  };
  for (const name of ["mkdir", "writeFile", "link", "unlink", "open", "rename"])
    deadlyOn(fs.promises, name);
  for (const name of ["writeFile", "sync", "close"]) deadlyOn(files, name);
  syncBuiltinESMExports();
}

await tasks[task]?.();
await closed();
