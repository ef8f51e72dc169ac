// @ts-check
/**
 * Carried out for real: every request of every session, as the package would have sent it, at several windows.
 *
 *     PLIMSOLL=path/to/dist/index.js node --test tests/conformance/replay.test.mjs
 *
 * PLIMSOLL_PRESET    balanced by default
 * PLIMSOLL_WINDOWS   32000,64000,128000 by default
 * PLIMSOLL_SESSIONS  a regular expression over the names, e.g. ^pi/
 * PLIMSOLL_ESTIMATE  all: every request measured again, not a sample
 * PLIMSOLL_LOG       a file that gets one JSON line each; what stands there without violations is not done again
 */
import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import { carryOut, strictFor } from "./carry.mjs";
import { loadPackage } from "./package.mjs";
import { sessionFiles } from "./sessions.mjs";

const { api, why } = await loadPackage();
const preset = process.env.PLIMSOLL_PRESET ?? "balanced";
const only = new RegExp(process.env.PLIMSOLL_SESSIONS ?? "");
const asked = process.env.PLIMSOLL_WINDOWS?.split(",").map(Number);
const log = process.env.PLIMSOLL_LOG;
const done = readLog();
const total = {
  sessions: 0,
  calls: 0,
  epochs: 0,
  edits: 0,
  folds: 0,
  unfit: 0,
  inherited: 0,
  bill: 0,
  violations: 0,
  ms: 0,
};
const started = performance.now();

if (!api) test("every session is carried out", { skip: why }, () => {});
else {
  for (const { name, bytes, windows = [32_000, 64_000, 128_000] } of sessionFiles()) {
    if (!only.test(name)) continue;
    test(name, async (t) => {
      const data = bytes();
      const format = api.readSession(data).messageFormat;
      if (!strictFor[format]) {
        console.log(`${name}: skipped, its messages are ${format}`);
        return t.skip(`no strict provider for ${format}`);
      }
      for (const contextTokens of asked ?? windows) {
        const key = `${name} ${contextTokens} ${preset}`;
        if (done.has(key)) continue;
        await t.test(`${contextTokens}`, () => carry(key, name, data, contextTokens));
      }
    });
  }
  after(() => {
    const { bill, ms, ...counts } = total;
    console.log(
      `total ${preset}: ${shown({ ...counts, bill, ms, wall: Math.round(performance.now() - started) })}`,
    );
  });
}

/** @param {string} key @param {string} name @param {Uint8Array} data @param {number} contextTokens */
function carry(key, name, data, contextTokens) {
  // Read anew: the messages are frozen, and one manager must not profit from what another left.
  const session = api.readSession(data);
  const report = carryOut(api, session, {
    contextTokens,
    preset,
    estimateAll: process.env.PLIMSOLL_ESTIMATE === "all",
  });
  const { failures, violations, ms, ...counts } = report;
  console.log(
    `${name} @${contextTokens / 1000}k: ${shown({ messages: session.messages.length, ...counts, violations, ms })}`,
  );
  for (const field of /** @type {const} */ ([
    "calls",
    "epochs",
    "edits",
    "folds",
    "unfit",
    "inherited",
    "bill",
    "violations",
    "ms",
  ])) {
    total[field] += report[field];
  }
  total.sessions += 1;
  if (log) appendFileSync(log, `${JSON.stringify({ key, ...report })}\n`);
  assert.equal(
    violations,
    0,
    failures
      .map((one) => `call ${one.call} ${one.rule} [${one.index}]${one.path}: ${one.message}`)
      .join("\n"),
  );
}

/** @param {Record<string, number>} counts */
function shown(counts) {
  return Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(" · ");
}

function readLog() {
  if (!log || !existsSync(log)) return new Set();
  const lines = readFileSync(log, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));
  return new Set(lines.filter((line) => line.violations === 0).map((line) => line.key));
}
