// @ts-check
/**
 * Carried out for real: every request of every session, as the package would have sent it, at several windows: in the
 * session's own messages for each of its providers, and written in every other format for each of theirs.
 *
 *     PLIMSOLL=path/to/dist/index.node.js node --test tests/conformance/replay/replay.test.mjs
 *
 * PLIMSOLL_PRESET    balanced by default, and each session through one of the other systems' ways (all of them with
 *                    PLIMSOLL_LONG)
 * PLIMSOLL_WINDOWS   32000,64000,128000 by default
 * PLIMSOLL_SESSIONS  a regular expression over the names, e.g. ^pi/; without it half of the sessions
 * PLIMSOLL_PAIRS     a regular expression over the pairs, e.g. ^ai-sdk x gemini$
 * PLIMSOLL_ESTIMATE  all: every request measured again, not a sample
 * PLIMSOLL_LOG       a file that gets one JSON line each; what stands there without violations is not done again
 * PLIMSOLL_PREFIXES  some: besides, asked after every message, not only where the session asked, at 32,000: every session in its own
 *                    format under every preset, in the others under one that changes from session to session and pair to
 *                    pair. all: under every preset in the others too
 * PLIMSOLL_CI        1: every session, in some pairs, not in few, and at each window in its own format, not at one of them
 * PLIMSOLL_LONG      1: every session in every pair at every window, not a part of them; and PLIMSOLL_PREFIXES=some
 */
import assert from "node:assert/strict";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { after, test } from "node:test";
import { size, sized } from "../../support/size.mjs";
import { landed } from "../generated/supported-pairs.mjs";
import { createLangchain } from "../providers/convert/sdk.mjs";
import { isReadable, rendered, turnsOfSession } from "../providers/convert/session.mjs";
import { loadPackage } from "../support/package.mjs";
import { someSessionFiles } from "../support/session-files.mjs";
import { carryOut, ownProvider } from "./check-session.mjs";

const { api, why } = await loadPackage();
const chosenPreset = process.env.PLIMSOLL_PRESET;
const preset = chosenPreset ?? "balanced";
const ours = ["balanced", "economy", "retention", "capacity"];
/** The other systems' ways. */
const seeds = ["aceclaw", "aiclaw", "openclaw", "goclaw", "context-budget", "hermes"];
const only = new RegExp(process.env.PLIMSOLL_SESSIONS ?? "");
const onlyPairs = new RegExp(process.env.PLIMSOLL_PAIRS ?? "");
const asked = process.env.PLIMSOLL_WINDOWS?.split(",").map(Number);
const long = size === "long";
const prefixes = process.env.PLIMSOLL_PREFIXES ?? (long ? "some" : "");
const log = process.env.PLIMSOLL_LOG;
const done = readLog();
/** Of the sessions in formats that are not theirs, and of those with providers that are not their format's own: one in so many. */
const [oneIn, ownOneIn] = sized({ short: [20, 6], ci: [5, 2], long: [1, 1] });
const other = 64_000;
const fields = /** @type {const} */ ([
  "calls",
  "epochs",
  "edits",
  "folds",
  "unfit",
  "inherited",
  "bill",
  "violations",
  "ms",
]);
/** @type {Map<string, any>} */
const totals = new Map();
/** @type {Map<string, any>} */
const byPreset = new Map();
const started = performance.now();

if (!api) test("every recorded session is replayed within the laws", { skip: why }, () => {});
else {
  const known = landed(api).map((pair) => ({ ...pair, name: `${pair.format} x ${pair.provider}` }));
  for (const [number, source] of someSessionFiles(2)) {
    const { name, bytes, windows = [32_000, 64_000, 128_000] } = source;
    if (!only.test(name)) continue;
    test(`every request of ${name} keeps the laws`, async (t) => {
      const data = bytes();
      const session = read(data);
      if (typeof session === "string" || !isReadable(session.messageFormat)) {
        const reason =
          typeof session === "string" ? session : `its messages are ${session.messageFormat}`;
        console.log(`skipped: ${name}: ${reason}`);
        return t.skip(reason);
      }
      const format = session.messageFormat;
      const turns = turnsOfSession(session);
      const isRun = windows.length > 3;
      for (const [at, pair] of known.entries()) {
        if (!onlyPairs.test(pair.name)) continue;
        const isOwn = pair.format === format;
        const isDefault = isOwn && pair.provider === ownProvider(format);
        const chosen = isDefault || (number + at) % (isOwn ? ownOneIn : oneIn) === 0;
        // A benchmark's many short runs are alike: in other formats a few of them are enough.
        if (!chosen || (isRun && !isDefault && !long && number % 20 !== 0)) continue;
        const own = size === "short" ? [windows[number % windows.length] ?? other] : windows;
        const runs = (asked ?? (isDefault || long ? own : [other])).map((contextTokens) => ({
          contextTokens,
          preset,
          every: "",
        }));
        if (isDefault && !chosenPreset)
          for (const [which, preset] of seeds.entries())
            if (long || number % seeds.length === which)
              runs.push({ contextTokens: 32_000, preset, every: "" });
        for (const preset of prefixes && (!isRun || isDefault) ? presetsOf(isOwn, number + at) : [])
          runs.push({
            contextTokens: isRun ? 8_000 : 32_000,
            preset,
            every: " every prefix",
          });
        for (const { contextTokens, preset, every } of runs) {
          const key = `${name} ${pair.name} ${contextTokens} ${preset}${every}`;
          if (done.has(key)) continue;
          const way = (number + at) % 4;
          const make = () =>
            isOwn ? read(data) : rendered(turns, session, pair.format, pair.provider, way);
          await t.test(`${pair.name} ${contextTokens} ${preset}${every}`, () =>
            carry(key, name, pair, make(), { contextTokens, way, preset, every }),
          );
        }
      }
    });
  }
  after(() => {
    const sum = sumUp([...totals.values()]);
    console.log(
      `${"pair".padEnd(36)}${["sessions", ...fields].map((field) => field.padStart(11)).join("")}`,
    );
    for (const [name, row] of [...totals, ["total", sum], ...byPreset]) {
      const cells = ["sessions", ...fields]
        .map((field) => String(row[field]).padStart(11))
        .join("");
      console.log(`${String(name).padEnd(36)}${cells}`);
    }
    console.log(
      `total ${preset}: ${shown({ ...sum, wall: Math.round(performance.now() - started) })}`,
    );
  });
}

/** The presets that are asked after every message. @param {boolean} isOwn @param {number} turn */
function presetsOf(isOwn, turn) {
  if (chosenPreset) return [preset];
  const all = [...ours, ...seeds];
  return isOwn || prefixes === "all" ? all : [all[turn % all.length] ?? preset];
}

/** A session, or why it cannot be read. Read anew: the messages are frozen, and one manager must not profit from another. @param {Uint8Array} data */
function read(data) {
  try {
    return api.readSession(data);
  } catch (error) {
    if (/** @type {any} */ (error).code !== "UNKNOWN_FORMAT") throw error;
    return "the package does not read this file yet";
  }
}

/**
 * @param {string} key @param {string} name @param {{ format: string, provider: string, name: string }} pair
 * @param {any} session @param {{ contextTokens: number, way: number, preset: string, every: string }} run
 */
async function carry(key, name, pair, session, { contextTokens, way, preset, every }) {
  const report = await carryOut(api, session, {
    contextTokens,
    provider: pair.provider,
    preset,
    estimateAll: process.env.PLIMSOLL_ESTIMATE === "all",
    everyPrefix: every !== "",
    create: pair.format === "langchain" && way === 0 ? createLangchain : undefined,
  });
  const { failures, violations, ms, ...all } = report;
  const { summarized: _, behind: __, degraded: ___, ...counts } = all;
  const windows = `@${contextTokens / 1000}k`;
  console.log(
    `${name} ${pair.name} ${windows} ${preset}${every}: ${shown({ messages: session.messages.length, ...counts, violations, ms })}`,
  );
  const nothing = Object.fromEntries(["sessions", ...fields].map((field) => [field, 0]));
  for (const [rows, row] of /** @type {const} */ ([
    [totals, pair.name],
    [byPreset, preset + every],
  ]))
    rows.set(row, sumUp([rows.get(row) ?? nothing, { sessions: 1, ...report }]));
  if (log) appendFileSync(log, `${JSON.stringify({ key, ...report })}\n`);
  assert.equal(
    violations,
    0,
    failures
      .map((one) => `call ${one.call} ${one.rule} [${one.index}]${one.path}: ${one.message}`)
      .join("\n"),
  );
}

/** @param {any[]} rows */
const sumUp = (rows) =>
  Object.fromEntries(
    ["sessions", ...fields].map((field) => [field, rows.reduce((sum, row) => sum + row[field], 0)]),
  );

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
