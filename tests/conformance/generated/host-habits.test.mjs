// @ts-check
/**
 * Hosts that branch, slide, copy, rename, store our requests as their history, restart, pin and compact, in any order: whatever
 * they do, the next request is one that the strict provider takes, a second look at it changes nothing
 * unless the host renames calls, and what changes of the request before is said by epoch and `firstChanged`.
 *
 * PLIMSOLL_HOSTS: how many hosts of each kind; half as many of those of any format.
 */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { strictFor } from "../providers/pairs.mjs";
import { loadPackage, packagePath } from "../support/package.mjs";
import { unpaired } from "./additions.mjs";
import { makeHost } from "./host-habits.mjs";
import { approvalsOfCalls } from "./laws.mjs";
import { seen } from "./play.mjs";
import { landed } from "./supported-pairs.mjs";

/** @typedef {import("./host-habits.mjs").Habit} Habit @typedef {import("./host-habits.mjs").Pair} Pair */

const { api, why } = await loadPackage();
const skip = api ? false : why;
const { memoryStore } = api
  ? await import(`${dirname(packagePath() ?? "")}/store/memory.node.js`)
  : { memoryStore: null };
const count = Number(process.env.PLIMSOLL_HOSTS ?? sized({ short: 40, ci: 400, long: 4_000 }));
const STEPS = 12;

/** Each with the seeds that once broke a rule. @type {Array<[string, Habit[], number[]]>} */
const KINDS = [
  ["edit their history", ["late", "missing", "repeated", "branch", "slide", "copy", "pin"], [166]],
  ["store our requests", ["late", "missing", "repeated", "branch", "copy", "store", "compact"], []],
  [
    "rename calls in copies",
    ["late", "missing", "repeated", "branch", "slide", "rename", "pin"],
    [48, 49, 677],
  ],
  ["restart", ["late", "missing", "branch", "slide", "copy", "restart", "store", "compact"], []],
  [
    "have keys and restart",
    ["key", "late", "missing", "branch", "slide", "copy", "restart", "pin"],
    [112],
  ],
  [
    "have keys and store our requests",
    ["key", "late", "missing", "repeated", "branch", "copy", "store", "restart", "compact"],
    [],
  ],
  [
    "have keys and rename",
    ["key", "late", "missing", "repeated", "branch", "rename", "compact"],
    [],
  ],
  [
    "shorten old messages",
    ["late", "missing", "branch", "shorten", "copy", "restart", "pin"],
    [106, 187, 563],
  ],
  [
    "put messages elsewhere",
    ["late", "missing", "shorten", "disorder", "copy", "restart", "pin", "compact"],
    [],
  ],
];
for (const [kind, habits, found] of KINDS) {
  test(`every request of hosts that ${kind} is valid`, { skip }, async () => {
    const seeds = [...found, ...Array.from({ length: count }, (_, at) => at + 1)];
    let requests = 0;
    for (const seed of seeds) requests += await checkHost(seed, habits);
    console.log(`${requests} requests of ${seeds.length} hosts`);
    assert.equal(requests, seeds.length * STEPS);
  });
}

/** The same of any format, with all that generated histories hold. @type {Array<[string, Habit[]]>} */
const WIRE_KINDS = [
  ["edit their history", ["branch", "slide", "copy", "pin", "model"]],
  ["store our requests", ["branch", "copy", "store", "compact", "restart", "model"]],
  ["have keys and store our requests", ["key", "branch", "copy", "store", "compact", "restart"]],
  ["rename calls in copies", ["branch", "slide", "rename", "pin"]],
  ["have keys and restart", ["key", "branch", "slide", "copy", "restart", "pin"]],
  ["shorten old messages", ["branch", "shorten", "copy", "restart", "pin"]],
  ["put messages elsewhere", ["shorten", "disorder", "copy", "restart", "pin", "compact"]],
  ["are two processes over one store", ["branch", "copy", "two", "pin", "compact"]],
];
for (const [kind, habits] of WIRE_KINDS) {
  test(`every request of hosts of any format that ${kind} is valid`, { skip }, async () => {
    const pairs = landed(api);
    for (let seed = 1; seed <= count / 2; seed += 1) await checkHost(seed, habits, pairs);
  });
}

/** Requests of one host. @param {number} seed @param {readonly Habit[]} habits @param {readonly Pair[]} [pairs] */
async function checkHost(seed, habits, pairs) {
  const host = makeHost(seed, habits, pairs);
  const { messages, options, log } = host;
  const strict = strictFor(host.format, host.provider);
  const session = await openSessions(options, habits.includes("two"));
  /** @type {ReturnType<typeof seen> | null} */
  let last = null;
  for (let step = 0; step < STEPS; step += 1) {
    const did = host.change();
    let isNew = false;
    if (host.has("two", 0.5)) {
      session.other();
      log.push("other");
    }
    if (host.has("restart", 0.4)) {
      log.push("restart");
      // How its last request ended is not known of a history that was cut or stored before.
      isNew = did !== "grow" || log.includes("store") || log.includes("slide");
      session.restart(host.next() < 0.5);
    }
    if (host.has("model", 0.2)) {
      options.window = host.window();
      session.manager().setModel({ window: options.window });
      log.push("model");
    }
    const manager = session.manager();
    const passed = host.passed();
    const sent = manager.request(passed, { system: "You are an agent." });
    const where = `seed ${seed}, ${host.format} to ${host.provider}: ${log.join(", ")}`;
    assert.deepEqual(strict(sent.messages).slice(0, 1), [], where);
    const alone = host.format === "ai-sdk" ? unpaired(sent.messages) : null;
    assert.equal(alone ?? approvalsOfCalls(host, sent.messages), null, where);
    const { contextTokens, maxOutputTokens } = options.window;
    const isOver = sent.fits && sent.tokens > contextTokens - maxOutputTokens;
    assert(!isOver, `${where}: ${sent.tokens} tokens`);
    const view = seen(sent);
    if (last && !isNew && !habits.includes("two")) {
      const changed = last.sent.findIndex((own, at) => own !== view.sent[at]);
      const isReported = changed < 0 || (view.epoch > last.epoch && sent.firstChanged <= changed);
      assert(isReported, `${where}: message ${changed} changed, reported was ${sent.firstChanged}`);
    }
    // A pin may bring back a message whose calls the host has just renamed: it goes out under the old ids first.
    if (!habits.includes("rename")) {
      const again = manager.request(passed, { system: "You are an agent." });
      assert.deepEqual(again.messages, sent.messages, where);
    }
    last = view;
    if (host.has("pin", 0.2)) {
      const index = Math.floor(host.next() * passed.length);
      // The first message of a history that starts late may be a placeholder, which is none of the session.
      if (index > 0 || sent.forgotten === 0) manager.pin({ index });
      log.push("pin");
    }
    if (host.has("store", 0.2)) {
      messages.splice(0, messages.length, ...structuredClone(sent.messages));
      log.push("store");
    }
    if (host.has("compact", 0.1)) {
      await manager.callAgentTool("context_compact", {});
      log.push("compact");
    }
    if (host.has("two", 0.7)) {
      await manager.save();
      log.push("save");
    }
  }
  session.end();
  return STEPS;
}

/**
 * The session of a host: one manager, or those of two processes over one store.
 * @param {any} options @param {boolean} two
 */
async function openSessions(options, two) {
  const store = two ? memoryStore() : null;
  const open = () =>
    two ? api.ContextManager.open(store, "s", options) : new api.ContextManager(options);
  const managers = [await open(), ...(two ? [await open()] : [])];
  return {
    manager: () => managers[0],
    other: () => managers.reverse(),
    /** @param {boolean} measures */
    restart(measures) {
      const bytes = managers[0].snapshot({ measures });
      managers[0][Symbol.dispose]();
      managers[0] = api.ContextManager.restore(bytes, options);
    },
    end() {
      for (const manager of managers) manager[Symbol.dispose]();
    },
  };
}
