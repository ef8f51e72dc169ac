// @ts-check
/**
 * Hosts that branch, slide, copy, rename, store our requests as their history, restart, pin and compact, in any order: whatever
 * they do, the next request is one that the strict provider takes, and a second look at it changes nothing
 * unless the host renames calls.
 *
 * PLIMSOLL_HOSTS: how many hosts of each kind.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { strictFor } from "../providers/pairs.mjs";
import { loadPackage } from "../support/package.mjs";
import { makeHost } from "./host-habits.mjs";

/** @typedef {import("./host-habits.mjs").Habit} Habit */

const { api, why } = await loadPackage();
const skip = api ? false : why;
const count = Number(process.env.PLIMSOLL_HOSTS ?? sized({ short: 40, ci: 400, long: 4_000 }));
const STEPS = 12;

/** Each with the seeds that once broke a rule. @type {Array<[string, Habit[], number[]]>} */
const KINDS = [
  ["edit their history", ["late", "missing", "repeated", "branch", "slide", "copy", "pin"], [166]],
  ["store our requests", ["late", "missing", "repeated", "branch", "copy", "store", "compact"], []],
  [
    "rename calls in copies",
    ["late", "missing", "repeated", "branch", "slide", "rename", "pin"],
    [48, 677],
  ],
  ["restart", ["late", "missing", "branch", "slide", "copy", "restart", "store", "compact"], []],
  [
    "have keys and restart",
    ["key", "late", "missing", "branch", "slide", "copy", "restart", "pin"],
    [112],
  ],
  [
    "have keys and rename",
    ["key", "late", "missing", "repeated", "branch", "rename", "compact"],
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

/** Requests of one host. @param {number} seed @param {readonly Habit[]} habits */
async function checkHost(seed, habits) {
  const host = makeHost(seed, habits);
  const { messages, options, log } = host;
  const strict = strictFor(host.format, host.provider);
  let manager = new api.ContextManager(options);
  for (let step = 0; step < STEPS; step += 1) {
    host.change();
    if (host.has("restart", 0.4)) {
      const measures = host.next() < 0.5;
      const bytes = manager.snapshot({ measures });
      manager[Symbol.dispose]();
      manager = api.ContextManager.restore(bytes, options);
      log.push("restart");
    }
    const passed = host.passed();
    const sent = manager.request(passed, { system: "You are an agent." });
    const where = `seed ${seed}, ${host.format} to ${host.provider}: ${log.join(", ")}`;
    assert.deepEqual(strict(sent.messages).slice(0, 1), [], where);
    // A pin may bring back a message whose calls the host has just renamed: it goes out under the old ids first.
    if (!habits.includes("rename")) {
      const again = manager.request(passed, { system: "You are an agent." });
      assert.deepEqual(again.messages, sent.messages, where);
    }
    if (host.has("pin", 0.2)) {
      manager.pin({ index: Math.floor(host.next() * passed.length) });
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
  }
  manager[Symbol.dispose]();
  return STEPS;
}
