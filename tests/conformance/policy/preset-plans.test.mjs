// @ts-check
/** Plans of every preset against the figures of the system that it is named for: what stays at both ends, in messages and in tokens. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, count, good, manager, prose, sentText, skip } from "../support/agent-session.mjs";

const SEEDS = ["aceclaw", "aiclaw", "openclaw", "goclaw", "context-budget", "hermes"];
/** Each message costs 400 tokens. */
const TOKENS = 400;
const words = (/** @type {number} */ length) =>
  Array.from({ length }, (_, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: `${at} `.padEnd(4 * (TOKENS - 4), "word "),
  }));
const window = (/** @type {number} */ contextTokens) => ({ contextTokens, maxOutputTokens: 1_000 });
const planned = (
  /** @type {string} */ preset,
  /** @type {number} */ contextTokens,
  /** @type {any[]} */ history,
) =>
  new api.ContextManager({
    ...{ preset, window: window(contextTokens), format: "anthropic", estimator: "chars/4" },
  }).plan(history);

/**
 * Window, messages; the first that is kept, and how many stay at the beginning. A cut before a reply goes back to its request.
 * @type {Array<[string, number, number, number, number]>}
 */
const FIGURES = [
  // A75: the last five messages of the user's.
  ["aceclaw", 20_000, 61, 52, 0],
  ["aceclaw", 200_000, 601, 592, 0],
  // I1: the first message and the last twenty.
  ["aiclaw", 20_000, 61, 40, 1],
  ["aiclaw", 200_000, 601, 580, 1],
  // G23: 20,000 tokens; of a small window half of what it acts above, 4,750.
  ["openclaw", 20_000, 61, 50, 0],
  ["openclaw", 64_000, 201, 150, 0],
  ["openclaw", 200_000, 601, 550, 0],
  // B4, B5: the first five and the last fifteen.
  ["context-budget", 20_000, 61, 46, 5],
  ["context-budget", 200_000, 601, 586, 5],
  // H8, H10, H12: the first three, and 1.5 times a fifth of 16,150, 53,550 and 149,250 tokens.
  ["hermes", 20_000, 61, 48, 3],
  ["hermes", 64_000, 201, 160, 3],
  ["hermes", 200_000, 601, 490, 3],
];

test("presets protect both ends by count and by tokens (F080)", { skip }, () => {
  for (const [preset, contextTokens, length, firstKept, head] of FIGURES) {
    const plan = planned(preset, contextTokens, words(length));
    const name = `${preset} ${contextTokens}`;
    assert.deepEqual([plan.outcome, plan.firstKept], ["summarize", firstKept], name);
    const [first] = plan.kept;
    assert.equal(first?.[0] === 0 ? first[1] : 0, head, name);
    assert.equal(plan.tokensBefore, length * TOKENS);
    const kept = (length - firstKept + head) * TOKENS;
    assert.ok(plan.tokensAfterEstimate >= kept && plan.tokensAfterEstimate < plan.tokensBefore);
  }
});

test("chunks take 0.4 of the window less a fifth, or 0.15 if messages are large (F090)", {
  skip,
}, () => {
  for (const preset of SEEDS) {
    const plan = planned(preset, 64_000, words(201));
    const most = (64_000 * 0.4) / 1.2;
    assert.ok(plan.chunks.length > 1);
    for (const { from, to, tokens } of plan.chunks)
      assert.ok(from < to && tokens <= most, `${preset}: ${tokens} of ${most}`);
    const gone = plan.chunks.reduce((/** @type {number} */ sum, { tokens }) => sum + tokens, 0);
    const kept = plan.kept.reduce((/** @type {number} */ sum, [from, to]) => sum + to - from, 0);
    assert.equal(gone, (plan.firstKept - kept) * TOKENS, preset);
  }
  const large = words(41).map((message) => ({ ...message, content: prose(1_500) }));
  for (const { from, to, tokens } of planned("context-budget", 20_000, large).chunks)
    assert.ok(tokens <= (20_000 * 0.15) / 1.2 || to - from <= 2, `${from} to ${to}: ${tokens}`);
});

test("preset hermes protects the first messages until the first fold (F081)", {
  skip,
}, async () => {
  const { context } = manager(async (/** @type {any} */ job) => good(job), { preset: "hermes" });
  const history = words(61);
  assert.deepEqual(context.plan(history).kept[0], [0, 3]);
  await context.compact(history);
  assert.ok(context.request(history).source.includes(1), "the first reply is sent as it is");
  history.push(...words(140).slice(1), { role: "user", content: "and on" });
  assert.ok(context.plan(history).kept.every(([from]) => from > 0));
});

test("a plan says that four messages between the ends, or 26 in all, are too few to fold (F082, F088, I4)", {
  skip,
}, () => {
  for (const [length, outcome] of /** @type {Array<[number, string]>} */ ([
    [24, "none"],
    [26, "none"],
    [28, "summarize"],
  ])) {
    const { outcome: found, reason } = planned("aiclaw", 13_000, words(length));
    assert.equal(found, outcome, `${length}: ${reason}`);
    if (outcome === "none")
      assert.equal(reason, "too few messages stand between what is protected");
  }
});

test("a cut turn keeps its request, and its removed part is summarized separately (F083, F089)", {
  skip,
}, async () => {
  for (const preset of ["balanced", "openclaw", "context-budget"]) {
    /** @type {any[]} */
    const jobs = [];
    const { context } = manager(
      async (/** @type {any} */ job) => {
        jobs.push(job);
        return good(job);
      },
      { preset, window: window(30_000) },
    );
    /** @type {any[]} */
    const history = words(12).map((message) => ({ ...message, content: prose(200) }));
    history.push({ role: "user", content: "THE REQUEST" });
    for (let at = 0; at < 40; at += 1) {
      const call = { type: "tool_use", id: `c${at}`, name: "read", input: { at } };
      const content = `RESULT_${at}. ${prose(300)}`;
      const gave = { type: "tool_result", tool_use_id: call.id, content };
      history.push({ role: "assistant", content: [call] }, { role: "user", content: [gave] });
    }
    const plan = context.plan(history, { force: true });
    assert.ok(plan.firstKept > 12 && plan.firstKept < history.length, "within the turn");
    assert.equal(history[plan.firstKept].role, "assistant", "a result keeps its call");
    const { record } = await context.compact(history, { force: true });
    assert.deepEqual(
      jobs.map(({ kind }) => kind),
      ["whole", "turn-prefix"],
    );
    assert.equal(count(jobs[0].prompt, "RESULT_"), 0);
    assert.ok(jobs[1].prompt.includes("RESULT_0."));
    assert.match(record.summary, /## Turn Context \(split turn\)/);
    const sent = context.request(history);
    assert.equal(count(sentText(sent), "THE REQUEST"), 1);
    assert.deepEqual(api.validate(sent.messages, "anthropic"), []);
  }
});
