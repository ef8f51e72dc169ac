// @ts-check
/** Prompts for a summarizer: the user's words that stay, their language, and why an answer was rejected. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, count, good, manager, prose, skip, talk } from "../support/agent-session.mjs";

const GERMAN = "Bitte behebe den Fehler im Parser, der Build ist nicht grün und ich weiß nicht wie";

/** An agent's work in English on what a person asked for once. */
const work = (steps = 30, asked = GERMAN) => [
  { role: "user", content: asked },
  ...Array.from({ length: steps }, (_, at) => [
    {
      role: "assistant",
      content: [
        { type: "text", text: `I look at the file and it is part ${at} of that: ${prose(150)}` },
        { type: "tool_use", id: `c${at}`, name: "read", input: { path: `src/f${at}.rs` } },
      ],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: `c${at}`, content: prose(120) }],
    },
  ]).flat(),
  { role: "assistant", content: "That was all." },
  { role: "user", content: "weiter" },
];

/** @param {unknown} history @param {object} [more] @returns {Promise<any[]>} */
async function jobsOf(history, more = {}) {
  /** @type {any[]} */
  const jobs = [];
  const { context } = manager(async (/** @type {any} */ job) => {
    jobs.push(job);
    return good(job);
  }, more);
  const outcome = await context.compact(history, { force: true });
  assert.equal(outcome.status, "summarized", outcome.reason);
  return jobs;
}

test("the summarizer sees user texts, marked as kept", { skip }, async () => {
  const [job] = await jobsOf(work());
  assert.equal(count(job.prompt, GERMAN), 1);
  assert.match(job.prompt, /#0 user, kept\n {2}Bitte behebe/);
  assert.match(job.system, /marked "kept"[^\n]*do not repeat/);
  assert.ok(!job.system.includes("Bitte"), "no word of the transcript is system text");
});

test("a summary is requested in the user's language, also if user texts stay", {
  skip,
}, async () => {
  const [job] = await jobsOf(work());
  assert.match(job.system, /write in German, the language of the user/);
  const [firstJob] = await jobsOf(work(), { summary: { minimumTokens: 0, language: "fr" } });
  assert.match(firstJob.system, /write in French/);
});

test("kept user texts are shortened in the prompt, and only some of many are shown", {
  skip,
}, async () => {
  const long = `${GERMAN}. ${prose(200)}`;
  const history = [
    ...work(20, long),
    ...Array.from({ length: 60 }, (_, at) => [
      { role: "assistant", content: `answer ${at}` },
      { role: "user", content: `question ${at}: ${prose(60)}` },
    ]).flat(),
  ];
  const [job] = await jobsOf(history, { window: { contextTokens: 60_000 } });
  const kept = job.prompt.match(/user, kept/g) ?? [];
  assert.ok(kept.length > 5 && kept.length <= 16, `${kept.length} messages`);
  assert.ok(job.prompt.includes(GERMAN), "the first request is among them");
  assert.match(job.prompt, /user, kept\n {2}question 1\d:/, "and the newest before the cut");
  assert.ok(!job.prompt.includes(long), "clipped");
});

test("an extract does not repeat user texts that stay", {
  skip,
}, async () => {
  const { context } = manager(async () => {
    throw new Error("no");
  });
  const outcome = await context.compact(work(), { force: true });
  assert.equal(outcome.record?.degraded, true, outcome.reason);
  assert.ok(!outcome.record.summary.includes("Bitte behebe"), outcome.record.summary);
  const { messages } = context.request(work());
  assert.equal(count(JSON.stringify(messages), GERMAN), 1);
});

test("user texts alone need no summary", { skip }, async () => {
  const { context } = manager(async () => assert.fail("nothing is to be summarized"));
  const history = Array.from({ length: 40 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: at % 2 === 0 ? `question ${at}` : "ok",
  }));
  const outcome = await context.compact(history, { force: true });
  assert.notEqual(outcome.status, "summarized");
});

test("a retry and its attempt name the headings that were missing", {
  skip,
}, async () => {
  /** @type {any[]} */
  const jobs = [];
  const { context } = manager(async (/** @type {any} */ job) => {
    jobs.push(job);
    const goodSummary = good(job);
    return jobs.length > 1
      ? goodSummary
      : goodSummary.replace("## Done\nfine\n", "").replace("## Errors\nfine\n", "");
  });
  const { status, attempts } = await context.compact(talk(20), { force: true });
  assert.equal(status, "summarized");
  const why = 'the headings "## Done", "## Errors" are missing';
  assert.deepEqual(attempts[0], {
    kind: "whole",
    summarizer: 0,
    result: "unverified",
    detail: why,
  });
  assert.ok(!jobs[0].prompt.includes("rejected"));
  assert.ok(
    jobs[1].prompt.includes(`Your previous answer was rejected: ${why}.`),
    jobs[1].prompt.slice(-300),
  );
  assert.equal(jobs[1].system, jobs[0].system);
});

for (const [name, answer, why] of /** @type {const} */ ([
  [
    "one heading",
    (/** @type {any} */ job) => good(job).replace("## Goal\n", ""),
    'the heading "## Goal" is missing',
  ],
  ["a refusal", () => "I'm sorry, but I can't help with that.", "a refusal came"],
  [
    "a text that is too long",
    (/** @type {any} */ job) => good(job, prose(7_000)),
    "it is too long",
  ],
  [
    "a text that was cut",
    (/** @type {any} */ job) => ({ text: good(job), finishReason: "length" }),
    "it ran out of tokens",
  ],
]))
  test(`a retry says that the answer was rejected: ${name}`, { skip }, async () => {
    /** @type {any[]} */
    const jobs = [];
    const { context } = manager(async (/** @type {any} */ job) => {
      jobs.push(job);
      return jobs.length > 1 ? good(job) : answer(job);
    });
    await context.compact(talk(30), { force: true });
    assert.ok(
      jobs[1]?.prompt.includes(`Your previous answer was rejected: ${why}`),
      jobs[1]?.prompt.slice(-200),
    );
  });

/** A session of an agent whose results are so large that old ones are shortened before anything is folded. */
const large = (steps = 40) => [
  { role: "user", content: "make the parser faster" },
  ...Array.from({ length: steps }, (_, at) => [
    {
      role: "assistant",
      content: [
        { type: "text", text: `step ${at}` },
        { type: "tool_use", id: `c${at}`, name: "read", input: { path: `src/f${at}.rs` } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: `c${at}`, content: `Body_${at} ${prose(900)}` },
      ],
    },
  ]).flat(),
  { role: "assistant", content: "done" },
  { role: "user", content: "and now finish it" },
];

test("messages that the model saw shortened are summarized from the shortened text", {
  skip,
}, async () => {
  /** @type {any[]} */
  const jobs = [];
  const { context } = manager(async (/** @type {any} */ job) => {
    jobs.push(job);
    return good(job);
  });
  const history = large();
  for (let end = 3; end < history.length; end += 2) context.request(history.slice(0, end));
  const { messages } = context.request(history);
  const cut = JSON.stringify(messages).match(/\[result cut, \d+ tokens/g) ?? [];
  assert.ok(cut.length > 20, `${cut.length} results are cut`);
  const outcome = await context.compact(history, { force: true });
  assert.equal(outcome.status, "summarized", outcome.reason);
  const [job] = jobs;
  assert.ok(job.prompt.includes("[result cut, "), "as the model saw it last");
  assert.ok(job.inputTokens < 20_000, `${job.inputTokens} tokens`);
  assert.equal(jobs.length, 1);
  assert.ok(outcome.extracted.readFiles.includes("src/f0.rs"), "and yet it is extracted in full");
});

for (const [name, contextTokens, most] of /** @type {const} */ ([
  ["a summarizer whose window holds all of it", 200_000, 1],
  ["a small summarizer", 8_000, 12],
]))
  test(`a plan says how many calls a summary takes: ${name}`, { skip }, async () => {
    let calls = 0;
    let open = 0;
    let mostOpen = 0;
    const { context } = manager(
      async (/** @type {any} */ job) => {
        calls++;
        mostOpen = Math.max(mostOpen, ++open);
        await new Promise((resolve) => setTimeout(resolve, 5));
        open--;
        return good(job);
      },
      { summary: { minimumTokens: 0, contextTokens } },
    );
    const plan = context.plan(talk(30), { force: true });
    const outcome = await context.compact(talk(30), { plan });
    assert.equal(outcome.status, "summarized", outcome.reason);
    assert.ok(plan.calls >= 1 && plan.calls <= most, `${plan.calls} planned`);
    assert.equal(calls, plan.calls);
    assert.equal(mostOpen, Math.min(2, calls), "two at a time");
    assert.equal(outcome.attempts.length, calls);
  });

test("a plan without a summary takes no calls", { skip }, () => {
  const context = new api.ContextManager({ window: { contextTokens: 20_000 } });
  assert.equal(context.plan(talk(20), { force: true }).calls, 0);
});

/** @param {any} job */
const fenceOf = (job) => /=== BEGIN [^\n]*?([0-9a-f]{32}) ===/.exec(job.prompt)?.[1];

test("every compaction fences the transcript by another nonce", { skip }, async () => {
  const [first] = await jobsOf(work());
  const [second] = await jobsOf(work());
  assert.match(fenceOf(first) ?? "", /^[0-9a-f]{32}$/, first.prompt.slice(0, 300));
  assert.notEqual(fenceOf(second), fenceOf(first));
});

test("a platform without random numbers is named when a summarizer is to be asked", {
  skip,
}, async () => {
  const own = /** @type {PropertyDescriptor} */ (
    Object.getOwnPropertyDescriptor(globalThis, "crypto")
  );
  Object.defineProperty(globalThis, "crypto", { value: undefined, configurable: true });
  try {
    const { context } = manager(good);
    await assert.rejects(context.compact(work(), { force: true }), (/** @type {any} */ error) => {
      assert.equal(error.info.argument, "globalThis.crypto");
      return true;
    });
  } finally {
    Object.defineProperty(globalThis, "crypto", own);
  }
});
