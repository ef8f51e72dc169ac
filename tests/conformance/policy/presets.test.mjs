// @ts-check
/** A preset is a whole system: its headings, what stands before its summaries, its note, and what it keeps. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { count, good, manager, prose, sentText, skip, talk } from "../support/agent-session.mjs";

/** @type {Array<[string, string[], RegExp]>} */
const SYSTEMS = [
  ["aceclaw", ["Task Overview", "Context to Preserve"], /\[COMPACTED\]/],
  ["aiclaw", ["Goal", "Critical Context"], /\[Context Compression Summary\]/],
  ["openclaw", ["Decisions", "Exact identifiers"], /\[Previous context summary\]/],
  [
    "context-budget",
    ["Historical Task Snapshot", "Critical Context"],
    /\[CONTEXT SUMMARY — reference only\]/,
  ],
  ["hermes", ["Historical Task Snapshot", "Critical Context"], /REFERENCE ONLY\]/],
  ["goclaw", ["Topics", "Pending Items"], /\[Previous context summary\]/],
];
/** @type {Record<string, number>} */
const COUNTS = { aceclaw: 6, aiclaw: 7, openclaw: 5, "context-budget": 13, hermes: 13, goclaw: 4 };

/** A manager with no options of summaries, and the jobs that its summarizer was asked. @param {object} options */
function asked(options) {
  /** @type {any[]} */
  const jobs = [];
  const summarize = async (/** @type {any} */ job) => {
    jobs.push(job);
    return good(job);
  };
  const { context } = manager(summarize, { summary: undefined, ...options });
  return { context, jobs };
}

for (const [preset, [first, last], before] of SYSTEMS) {
  test(`preset ${preset} uses its system's headings and summary markers`, {
    skip,
  }, async () => {
    const { context, jobs } = asked({ preset });
    const history = talk(50);
    const { status, reason } = await context.compact(history, { force: true });
    assert.equal(status, "summarized", reason);
    const headings = jobs.at(-1).requiredHeadings;
    assert.deepEqual(
      [headings.length, headings[0], headings.at(-1)],
      [COUNTS[preset], first, last],
    );
    assert.match(sentText(context.request(history)), before);
  });
}

test("the host's summary options override the preset's", { skip }, async () => {
  for (const summary of [
    { template: "hermes", prefix: "[MINE]" },
    { template: undefined, prefix: "[MINE]" },
  ]) {
    const { context, jobs } = asked({ preset: "aiclaw", summary });
    const history = talk(50);
    await context.compact(history, { force: true });
    assert.equal(jobs.at(-1).requiredHeadings.length, summary.template ? 13 : 7);
    const sent = sentText(context.request(history));
    assert.ok(sent.includes("[MINE]") && !sent.includes("[Context Compression Summary]"));
  }
});

test("a change of model keeps the preset's headings", { skip }, async () => {
  const { context, jobs } = asked({ preset: "aceclaw" });
  context.setModel({ window: { contextTokens: 24_000, maxOutputTokens: 1_000 } });
  await context.compact(talk(50), { force: true });
  assert.equal(jobs.at(-1).requiredHeadings.length, 6);
});

test("other systems' presets summarize folds that are too small for `balanced`", {
  skip,
}, async () => {
  // What AceClaw and Hermes fold at this window is larger.
  for (const preset of ["aiclaw", "openclaw", "goclaw", "context-budget"]) {
    const { context, jobs } = asked({ preset });
    let steps = 8;
    let outcome = await context.compact(talk(steps));
    for (; outcome.status !== "summarized" && steps < 40; steps += 1)
      outcome = await context.compact(talk(steps));
    const { status, record, tokensBefore, tokensAfter } = outcome;
    assert.equal(status, "summarized", preset);
    assert.ok(tokensBefore - tokensAfter < 11_314, `${preset} ${tokensBefore} ${tokensAfter}`);
    assert.ok(jobs.length > 0 && record.summary !== "", preset);
  }
});

test("preset aiclaw has one system note after two folds, and apply() adds it once", {
  skip,
}, async () => {
  const { context } = asked({ preset: "aiclaw" });
  const history = talk(50);
  assert.equal(context.request(history.slice(0, 9)).systemNote, null);
  for (let fold = 1; fold <= 2; fold += 1) {
    const { status } = await context.compact(history, { force: true });
    assert.equal(status, "summarized");
    const prepared = context.request(history);
    const note = prepared.systemNote;
    assert.match(note, /compressed into a summary/);
    assert.equal(count(sentText(prepared), note), 0);
    const system = "You are careful.";
    assert.equal(prepared.apply({ system }).system, `${system}\n\n${note}`);
    assert.equal(prepared.apply({ instructions: system }).instructions, `${system}\n\n${note}`);
    // Once, also on a body that has it already.
    const twice = prepared.apply(prepared.apply({ system }));
    assert.equal(count(twice.system, note), 1);
    const blocks = [{ type: "text", text: system }];
    assert.deepEqual(prepared.apply({ system: blocks }).system, [
      ...blocks,
      { type: "text", text: note },
    ]);
    assert.deepEqual(blocks.length, 1, "the host's own list is not modified");
    assert.equal("system" in prepared.apply({}), false);
    for (let at = 0; at < 30; at += 1)
      history.push(
        { role: "assistant", content: prose(250) },
        { role: "user", content: `on ${at}` },
      );
  }
});

test("only aiclaw has a system note, and summary.systemNote sets one for any preset", {
  skip,
}, async () => {
  for (const [preset] of [...SYSTEMS, ["balanced"]]) {
    for (const systemNote of [undefined, true, false]) {
      const { context } = asked({ preset, summary: { minimumTokens: 0, systemNote } });
      const history = talk(50);
      await context.compact(history, { force: true });
      const has = typeof context.request(history).systemNote === "string";
      assert.equal(has, systemNote ?? preset === "aiclaw", `${preset} ${systemNote}`);
    }
  }
  assert.throws(() => asked({ summary: { systemNote: "yes" } }), /summary\.systemNote/);
});

test("preset goclaw makes checkpoints without an option", { skip }, async () => {
  /** @type {any[]} */
  const records = [];
  const summarize = async (/** @type {any} */ job) =>
    job.requiredHeadings.length > 0 ? good(job) : JSON.stringify({ summary: prose(40) });
  const window = { contextTokens: 40_000 };
  /** @param {object} more */
  const made = async (more) => {
    records.length = 0;
    const { context } = manager(summarize, {
      preset: "goclaw",
      window,
      on: (/** @type {any} */ event) => event.type === "checkpoint" && records.push(event.record),
      ...more,
    });
    await context.prepare(talk(25));
    await new Promise((resolve) => setTimeout(resolve, 200));
    return records.length;
  };
  assert.equal(await made({ summary: undefined }), 1);
  assert.equal(await made({ summary: { checkpoints: false } }), 0);
});

test("preset goclaw keeps half of the messages, at least 20, and folds from 501 messages on", {
  skip,
}, async () => {
  const window = { contextTokens: 200_000 };
  /** @param {number} messages @param {number} words */
  const folded = async (messages, words) => {
    const { context } = asked({ preset: "goclaw", window });
    const history = Array.from({ length: messages }, (_, at) => ({
      role: at % 2 ? "assistant" : "user",
      content: `${at}: ${prose(words)}`,
    }));
    const plan = context.plan(history);
    return [plan.outcome, plan.firstKept];
  };
  assert.deepEqual(await folded(499, 100), ["none", 499]);
  assert.deepEqual(await folded(501, 100), ["summarize", 250]);
  // Over the window less 4,000 with few messages: the last 20 stay.
  const [outcome, firstKept] = await folded(31, 5_000);
  assert.deepEqual([outcome, firstKept], ["summarize", 10]);
});
