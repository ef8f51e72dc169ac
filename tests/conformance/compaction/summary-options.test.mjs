// @ts-check
/** Options of summaries, and what a session says if no summary can be made: nothing is switched off without a word. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { test } from "node:test";
import { api, manager, skip, talk, WINDOW } from "../support/agent-session.mjs";
import { packagePath } from "../support/package.mjs";

const OK = { window: WINDOW, summarize: async () => "a summary" };

/** @type {Array<[any, string, RegExp]>} */
const WRONG = [
  [{ template: "x" }, "summary.template", /"plimsoll", "aceclaw".* got "x"/],
  [{ template: 5 }, "summary.template", /a string/],
  [{ template: () => "plimsoll" }, "summary.template", /not a function/],
  [{ tempalte: "plimsoll" }, "summary.tempalte", /Did you mean "summary.template"/],
  [{ maxToken: 2_000 }, "summary.maxToken", /maxTokens/],
  [{ maxTokens: -5 }, "summary.maxTokens", /tokens/],
  [{ maxTokens: "many" }, "summary.maxTokens", /number/],
  [{ maxTokens: Number.NaN }, "summary.maxTokens", /number/],
  [{ maxTokens: 1e10 }, "summary.maxTokens", /tokens/],
  [{ prefix: 7 }, "summary.prefix", /a string/],
  [{ language: 5 }, "summary.language", /a string/],
  [{ instructions: ["be brief"] }, "summary.instructions", /a string/],
  [{ redact: "yes" }, "summary.redact", /a boolean/],
  [{ contextTokens: -1 }, "summary.contextTokens", /tokens/],
  [{ contextTokens: 1.5 }, "summary.contextTokens", /number/],
  [{ parallel: "no" }, "summary.parallel", /a boolean/],
  [{ minimumTokens: -1 }, "summary.minimumTokens", /number/],
  [{ silenceMs: -1 }, "summary.silenceMs", /1 to 2147483647/],
  [{ totalMs: 0 }, "summary.totalMs", /1 to 2147483647/],
  [{ checkpoints: "often" }, "summary.checkpoints", /true, false or/],
  [
    { checkpoints: { treshold: [5] } },
    "summary.checkpoints.treshold",
    /Did you mean "summary.checkpoints.thresholds"/,
  ],
  [{ checkpoints: { thresholds: 5 } }, "summary.checkpoints.thresholds", /expected an array/],
  [{ checkpoints: { thresholds: [0] } }, "summary.checkpoints.thresholds", /1 to 100/],
  [{ checkpoints: { turns: 0 } }, "summary.checkpoints.turns", /1 or more/],
  [{ checkpoints: { minimumTokens: -1 } }, "summary.checkpoints.minimumTokens", /0 or more/],
  ["brief", "summary", /an object/],
  [null, "summary", /an object/],
];

/** @param {string} argument @param {RegExp} message */
const checkNames = (argument, message) => (/** @type {any} */ error) => {
  assert.equal(error.code, "INVALID_ARGUMENT", String(error));
  assert.equal(error.info.argument, argument, error.message);
  assert.match(error.message, message);
  return true;
};

for (const [summary, argument, message] of WRONG) {
  const shown =
    typeof summary?.template === "function" ? "{template: a function}" : JSON.stringify(summary);
  test(`summary: ${shown} is refused by name when a session is made`, { skip }, async () => {
    const options = { ...OK, summary };
    const refused = checkNames(argument, message);
    assert.throws(() => new api.ContextManager(options), refused);
    const bytes = new api.ContextManager(OK).snapshot();
    assert.throws(() => api.ContextManager.restore(bytes, options), refused);
    const store = { multiWriter: false, load: async () => null, commit: async () => 1 };
    await assert.rejects(api.ContextManager.open(store, "k", options), refused);
    await assert.rejects(api.compact(talk(2), options), refused);
  });
}

test("every summary option is accepted, also as undefined", { skip }, async () => {
  const summary = {
    minimumTokens: 0,
    template: "hermes",
    prefix: "Before:",
    maxTokens: 0,
    language: "de",
    instructions: "names",
    redact: (/** @type {string} */ text) => text,
    contextTokens: 200_000,
    parallel: true,
    checkpoints: { thresholds: [10, 20], turns: 3, minimumTokens: 500 },
    silenceMs: 1_000,
    totalMs: 2_000,
  };
  new api.ContextManager({ ...OK, summary });
  for (const name of Object.keys(summary)) {
    new api.ContextManager({ ...OK, summary: { ...summary, [name]: undefined } });
  }
  for (const redact of [true, false]) new api.ContextManager({ ...OK, summary: { redact } });
  for (const checkpoints of [true, false, {}]) {
    new api.ContextManager({ ...OK, summary: { checkpoints } });
  }
});

test("a summarizer is told the instructions and the focus as data", { skip }, async () => {
  const jobs = /** @type {any[]} */ ([]);
  const context = new api.ContextManager({
    window: WINDOW,
    summary: { minimumTokens: 0, instructions: `${"x".repeat(3_990)}keep ports` },
    summarize: async (/** @type {any} */ job) => {
      jobs.push(job);
      return "a summary";
    },
  });
  await context.compact(talk(12), { force: true, focus: "the pilot" });
  assert.ok(jobs.length > 0);
  for (const wish of ["keep ports", "the pilot"]) {
    assert.ok(jobs[0].prompt.includes(wish), wish);
    assert.ok(!jobs[0].system.includes(wish), wish);
  }
});

test("a focus that is no text is refused by name, also where nobody is asked for a summary", {
  skip,
}, async () => {
  for (const options of [OK, { window: WINDOW }]) {
    const context = new api.ContextManager(options);
    const compacted = context.compact(talk(12), { force: true, focus: 42 });
    await assert.rejects(compacted, checkNames("options.focus", /expected a string, got 42/));
  }
});

for (const [what, redact] of /** @type {const} */ ([
  ["nothing", () => undefined],
  ["a promise", async (/** @type {string} */ text) => text],
])) {
  test(`nothing is sent to a summarizer if summary.redact returns ${what}`, {
    skip,
  }, async () => {
    const asked = /** @type {any[]} */ ([]);
    const summarize = async (/** @type {any} */ job) => String(asked.push(job));
    const { context } = manager(summarize, { summary: { redact } });
    const { reason } = await context.compact(talk(12), { force: true });
    assert.deepEqual(asked, []);
    assert.match(reason, /summary\.redact: expected a function that returns a string, got/);
  });
}

for (const name of ["on", "clock", "create", "key"]) {
  test(`${name} that is not a function is refused by name`, { skip }, () => {
    for (const value of ["x", 5, {}, null]) {
      assert.throws(
        () => new api.ContextManager({ ...OK, [name]: value }),
        checkNames(name, /expected a function/),
      );
    }
  });
}

test("a request without a summary names the summarizers that failed", {
  skip,
}, async () => {
  const { context, events } = manager(async () => {
    throw new Error("no summarizer today");
  });
  const outcome = await context.compact(talk(12), { force: true });
  assert.equal(outcome.attempts.length, 2);
  assert.match(outcome.reason, /no summarizer today|threw/);
  assert.equal(events.at(-1).outcome.reason, outcome.reason);
});

const SLIM = `
import { ContextManager, initSync } from "./slim.js";
import { readFileSync } from "node:fs";
const load = (name) => initSync(readFileSync(name));
const history = ${JSON.stringify(talk(12))};
load("plimsoll.wasm");
const events = [];
let asked = 0;
const context = new ContextManager({
  window: ${JSON.stringify(WINDOW)},
  summary: { minimumTokens: 0, contextTokens: 200_000 },
  on: (event) => events.push(event),
  summarize: async (job) => {
    asked += 1;
    return job.requiredHeadings.map((name) => "## " + name + "\\nfine\\n").join("") || "part";
  },
});
const thrown = await context.compact(history, { force: true }).catch((error) => error);
const refused = { name: thrown.name, code: thrown.code, argument: thrown.info?.argument, message: thrown.message };
const unchanged = context.request(history).compaction;
const without = await context.compact(history, { force: true });
const reported = context.request(history).compaction;
load("compact.wasm");
const more = [...history, { role: "assistant", content: "done" }, ...history];
const withIt = await context.compact(more, { force: true });
console.log(JSON.stringify({ refused, unchanged, without, reported, events, asked, withIt }));
`;

test("compact() without plimsoll/compact.wasm throws, later events say so, and with it there is a summary", {
  skip,
}, () => {
  const entry = packagePath();
  assert.ok(entry);
  const out = execFileSync(process.execPath, ["--input-type=module", "-e", SLIM], {
    cwd: dirname(entry),
    encoding: "utf8",
  });
  const { refused, unchanged, without, reported, events, withIt, asked } = JSON.parse(out);
  assert.deepEqual([refused.name, refused.code], ["PlimsollError", "INVALID_ARGUMENT"]);
  assert.equal(refused.argument, "plimsoll/compact.wasm");
  assert.match(refused.message, /init\(source\)/);
  assert.notEqual(unchanged?.status, "summarized");
  assert.equal(without.status, "folded");
  assert.match(without.reason, /plimsoll\/compact\.wasm/);
  assert.equal(reported.reason, without.reason);
  const failed = events.filter((/** @type {any} */ { type }) => type === "compaction-failed");
  assert.equal(failed.length, 2);
  for (const { outcome } of failed) assert.match(outcome.reason, /plimsoll\/compact\.wasm/);
  assert.equal(withIt.status, "summarized", withIt.reason);
  assert.ok(asked > 0);
});

test("a compaction without a summarizer says so in its reason", { skip }, async () => {
  const { context, types } = manager(undefined);
  const outcome = await context.compact(talk(12), { force: true });
  assert.equal(outcome.reason, "fold by digest and hot set");
  assert.deepEqual(types(), ["compaction-start", "compaction-end"]);
});

test("a fold that is too small for a summary says so in its reason", { skip }, async () => {
  const summarize = async () => assert.fail("no summary is worth a call");
  const { context } = manager(summarize, { summary: { minimumTokens: 1_000_000 } });
  /** @type {any[]} */
  const outcomes = [];
  for (let steps = 1; steps <= 40; steps += 1)
    outcomes.push((await context.prepare(talk(steps))).compaction);
  const folds = outcomes.filter((outcome) => outcome?.record);
  assert.ok(folds.length > 0);
  for (const { status, reason } of folds) {
    assert.equal(status, "folded");
    assert.match(reason, /less than `summary\.minimumTokens`/);
  }
});
