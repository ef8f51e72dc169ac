// @ts-check
/**
 * Sessions of hosts in miniature, each twice: one goes on, the other is restarted between requests, with saved measures or without,
 * and gets copies of the messages. Both send the same, say the same of it, and compact to the same.
 *
 * PLIMSOLL_RESTARTS: how many hosts of each kind.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { idle } from "../support/agent-session.mjs";
import { loadPackage } from "../support/package.mjs";
import { makeHost } from "./host-habits.mjs";
import { landed } from "./supported-pairs.mjs";

/** @typedef {import("./host-habits.mjs").Habit} Habit */
/** @typedef {{ habits: Habit[], isAny?: boolean, more?: any }} Kind */

const { api, why } = await loadPackage();
const skip = api ? false : why;
const count = Number(process.env.PLIMSOLL_RESTARTS ?? sized({ short: 20, ci: 100, long: 2_000 }));
const STEPS = 14;
const SYSTEM = { system: "You are an agent." };

/** Says how much it was given, after as many turns of the event loop's queue as the text has characters beyond seven. */
async function summarize(/** @type {{ prompt: string }} */ { prompt }) {
  for (let turns = prompt.length % 7; turns > 0; turns -= 1) await null;
  return `They work on src/alpha.rs, where ERR_4821 stands: ${prompt.length} characters.`;
}

/** @type {Record<string, Kind>} */
const KINDS = {
  "histories that break rules": {
    habits: ["copy", "pin", "compact", "late", "missing", "repeated", "model", "key"],
  },
  "any format": {
    habits: ["copy", "pin", "compact", "model"],
    isAny: true,
  },
  "any format, with keys": {
    habits: ["copy", "pin", "compact", "model", "key"],
    isAny: true,
  },
  "any format, with a summarizer": {
    habits: ["copy", "pin", "compact"],
    isAny: true,
    more: { summarize },
  },
};
for (const [kind, { habits, isAny, more }] of Object.entries(KINDS)) {
  test(`restarts change nothing of ${kind}`, { skip }, async () => {
    const pairs = isAny ? landed(api) : undefined;
    const seeds = Array.from({ length: count }, (_, at) => at + 1);
    let restarts = 0;
    for (const seed of seeds) restarts += await checkRestarts(makeHost(seed, habits, pairs), more);
    console.log(`${restarts} restarts of ${seeds.length} sessions`);
    assert.ok(restarts > seeds.length);
  });
}

/** How often one of the two was restarted. @param {import("./host-habits.mjs").Host} host @param {any} more */
async function checkRestarts(host, more) {
  const { log, next, has } = host;
  const options = { ...host.options, ...more };
  const one = new api.ContextManager(options);
  let other = new api.ContextManager(options);
  let restarts = 0;
  for (let step = 0; step < STEPS; step += 1) {
    host.change();
    // A compaction that was not sent is decided once more.
    if (next() < 0.5 && log.at(-2) !== "compact") {
      const bytes = other.snapshot({ measures: next() < 0.5 });
      other[Symbol.dispose]();
      other = api.ContextManager.restore(bytes, options);
      restarts += 1;
      log.push("restart");
    }
    const both = [one, other];
    if (has("model", 0.2)) {
      options.window = host.window();
      for (const manager of both) manager.setModel({ window: options.window });
      log.push("model");
    }
    const passed = host.passed();
    const lists = [passed, next() < 0.5 ? structuredClone(passed) : passed];
    const sent = [];
    for (const [at, manager] of both.entries())
      sent.push(await manager.prepare(lists[at], { ...SYSTEM }));
    // A summary that is being made is lost with its process.
    for (const manager of both) await idle(manager);
    const where = `${host.format} to ${host.provider}: ${log.join(", ")}`;
    const answers = both.map((manager, at) => ({
      ...sent[at],
      explained: passed.map((_, index) => manager.explain(index)),
    }));
    for (const name of ["messages", "epoch", "firstChanged", "tokens", "fits", "explained"])
      assert.deepEqual(answers[1]?.[name], answers[0]?.[name], `${name}, ${where}`);
    if (next() < 0.3) {
      const usage = { input_tokens: Math.round(sent[0].tokens * 1.3), output_tokens: 50 };
      for (const [at, manager] of both.entries()) manager.observe(usage, sent[at]);
      log.push("usage");
    }
    if (has("pin", 0.2)) {
      const index = Math.floor(next() * passed.length);
      if (index > 0 || sent[0].forgotten === 0) for (const manager of both) manager.pin({ index });
      log.push("pin");
    }
    if (has("compact", 0.15)) {
      const outcomes = [];
      for (const manager of both) {
        const { status, tokensAfter, record } = await manager.compact(passed, { ...SYSTEM });
        outcomes.push([status, tokensAfter, record?.head]);
      }
      log.push("compact");
      assert.deepEqual(outcomes[1], outcomes[0], where);
    }
  }
  for (const manager of [one, other]) manager[Symbol.dispose]();
  return restarts;
}
