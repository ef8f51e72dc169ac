// @ts-check
/** Thresholds mean what they say: a share of the window, whatever part of a request only its provider counts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;

/** Windows, and tokens of them that the host does not show: a system prompt, tools. */
const settings = [
  [200_000, 20_000],
  [200_000, 60_000],
  [128_000, 60_000],
  [64_000, 30_000],
  [32_000, 20_000],
];
/** What acts at which share of the window. @type {Array<[string, number]>} */
const systems = [
  ["aiclaw", 0.5],
  ["aceclaw", 0.85],
  ["context-budget", 0.85],
  ["capacity", 0.95],
];

/** A provider counts what we estimate and what is hidden. @param {readonly any[]} messages @param {number} hidden */
const counted = (messages, hidden) => api.estimateRequest({ messages }).tokens + hidden;

/** Words of about so many tokens, each its own. @param {number} tokens @param {number} call */
function words(tokens, call) {
  let text = "";
  for (let at = 0; text.length < 3.2 * tokens; at += 1) text += `value ${call} is ${at * 7919} `;
  return text;
}

/**
 * A session whose provider tells its usage: tokens of the last request before something was done, and of the first that
 * something was done to, as it would have been.
 * @param {object} options @param {number} contextTokens @param {number} hidden @param {number} step tokens of a call @param {boolean} shows
 */
function acts(options, contextTokens, hidden, step, shows = false) {
  const context = new api.ContextManager({
    window: { contextTokens },
    format: "anthropic",
    clock: () => 0,
    ...options,
  });
  /** @type {any[]} */
  const history = [{ role: "user", content: "go" }];
  let before = 0;
  for (let call = 0; call < 2_000; call += 1) {
    const input = { path: `src/f${call}.rs` };
    const use = { type: "tool_use", id: `c${call}`, name: "read", input };
    const result = { type: "tool_result", tool_use_id: `c${call}`, content: words(step, call) };
    history.push({ role: "assistant", content: [use] }, { role: "user", content: [result] });
    const request = context.request(history, shows ? { unseenTokens: hidden } : {});
    const now = counted(history, hidden);
    const { trigger, target, used } = context.inspect().window;
    assert.ok(trigger <= contextTokens && target <= trigger, `${target} ${trigger}`);
    if (request.firstChanged !== null && call > 0) return { before, now };
    before = now;
    const inputTokens = counted(request.messages, hidden);
    context.observe({ inputTokens, outputTokens: 0 }, request);
    const reported = context.inspect().window;
    assert.ok(
      reported.trigger <= contextTokens && reported.target <= reported.trigger,
      "after a usage",
    );
    assert.ok(used >= 0);
  }
  throw new Error("nothing was done");
}

test("tokens known only from usage count as content: each preset acts at its share of the window", {
  skip,
}, () => {
  const rows = [
    ["", ...settings.map(([window, hidden]) => `${window / 1000}k, ${hidden / 1000}k`)],
  ];
  for (const [preset, share] of systems) {
    const row = [`${preset} (${100 * share} %)`];
    for (const [window, hidden] of /** @type {Array<[number, number]>} */ (settings)) {
      const line = share * window;
      const step = Math.max((line - hidden) / 40, 200);
      const { before, now } = acts({ preset }, window, hidden, step);
      row.push(`${((100 * now) / window).toFixed(1)} %`);
      const where = `${preset}, ${window}, ${hidden}: ${before}, ${now} for ${line}`;
      // One call more or less. Where messages have less than a quarter of the window, there has to be enough first that a fold
      // makes smaller: a digest, and what the system protects, are larger than that.
      const call = now - before;
      const small = line - hidden < window / 4 ? Math.max(hidden, line) + window / 6 : 0;
      const most = Math.max(line + 1.5 * call, small);
      assert.ok(now >= line - 1.5 * call && now <= most, where);
    }
    rows.push(row);
  }
  for (const row of rows) console.log(row.map((cell) => cell.padEnd(22)).join(""));
});

test("tokens that only the provider counts act like tokens in messages", { skip }, () => {
  for (const [preset] of systems) {
    const hidden = acts({ preset }, 64_000, 20_000, 600);
    const shown = acts({ preset }, 64_000, 20_000, 600, true);
    assert.ok(Math.abs(hidden.now - shown.now) <= 700, `${preset}: ${hidden.now}, ${shown.now}`);
  }
});

test("a cap in tokens applies if the share of the window is larger", { skip }, () => {
  for (const preset of ["aceclaw", "capacity", "hermes"]) {
    const { before, now } = acts({ preset, triggerTokens: 60_000 }, 1_000_000, 10_000, 1_500);
    assert.ok(before <= 61_000 && now >= 59_000, `${preset}: ${before}, ${now}`);
    const { trigger, target } = new api.ContextManager({
      window: { contextTokens: 1_000_000 },
      preset,
      triggerTokens: 60_000,
    }).inspect().window;
    assert.ok(trigger === 60_000 && target < 60_000, `${trigger} ${target}`);
    const more = new api.ContextManager({
      window: { contextTokens: 100_000 },
      preset,
      triggerTokens: 10_000_000,
    });
    const plain = new api.ContextManager({ window: { contextTokens: 100_000 }, preset });
    assert.deepEqual(more.inspect().window, plain.inspect().window);
  }
});

test("thresholds can be set for each model", { skip }, () => {
  const context = new api.ContextManager({
    window: { contextTokens: 100_000 },
    preset: "capacity",
  });
  const lines = () => {
    const { trigger, target } = context.inspect().window;
    return [trigger, target];
  };
  assert.deepEqual(lines(), [95_000, 52_250]);
  context.setModel({ trigger: 0.5 });
  assert.deepEqual(lines(), [50_000, 27_500]);
  context.setModel({ target: 0.2, triggerTokens: 40_000 });
  assert.deepEqual(lines(), [40_000, 20_000]);
  context.setModel({ target: 0.45 });
  assert.deepEqual(lines(), [40_000, 22_000], "at most its usual share of a trigger in tokens");
  context.setModel({ target: 0.2 });
  context.setModel({ window: { contextTokens: 20_000 } });
  assert.deepEqual(lines(), [10_000, 4_000], "a window of another size keeps them");
  assert.throws(() => context.setModel({ trigger: 2 }), { code: "INVALID_ARGUMENT" });
  assert.deepEqual(lines(), [10_000, 4_000], "nothing has changed");
});

test("the longest key contained in the model's name chooses the thresholds (H7)", { skip }, () => {
  const models = {
    "gpt-5": { trigger: 0.5 },
    "gpt-5-mini": { triggerTokens: 30_000 },
    claude: { trigger: 0.8, target: 0.5 },
  };
  const window = { contextTokens: 100_000 };
  const context = new api.ContextManager({ window, preset: "capacity", trigger: 0.9, models });
  const lines = (/** @type {object} */ model) => {
    context.setModel(model);
    const { trigger, target } = context.inspect().window;
    return [trigger, target];
  };
  assert.deepEqual(lines({}), [90_000, 49_500], "no name, no thresholds of its own");
  assert.deepEqual(lines({ model: "openai/gpt-5-2026" }), [50_000, 27_500]);
  assert.deepEqual(lines({ model: "openai/gpt-5-mini-2026" }), [30_000, 16_500]);
  assert.deepEqual(lines({ model: "claude-sonnet" }), [80_000, 50_000]);
  assert.deepEqual(lines({ model: "another" }), [90_000, 49_500]);
  assert.throws(
    () => context.setModel({ models: { other: { trigger: 2 } } }),
    /models\.other\.trigger/,
  );
  assert.throws(
    () => context.setModel({ models: { other: { triger: 1 } } }),
    /models\.other\.triger.*Did you mean "models\.other\.trigger"/,
  );
  assert.deepEqual(lines({}), [90_000, 49_500], "nothing has changed");
});

test("a margin multiplies estimates once and never provider counts", { skip }, () => {
  const plain = { preset: "capacity", trigger: 0.5 };
  const history = [{ role: "user", content: "go" }];
  const reported = (/** @type {object} */ options) =>
    new api.ContextManager({ window: { contextTokens: 60_000 }, ...plain, ...options });
  assert.equal(reported({}).inspect().window.trigger, 30_000);
  assert.equal(reported({ margin: 1.2 }).inspect().window.trigger, 25_000);

  /** Tokens at which something is first done, with usage or without. @param {object} options @param {boolean} observes */
  const at = (options, observes) => {
    const context = reported({ format: "anthropic", clock: () => 0, ...options });
    const grown = history.slice();
    for (let call = 0; ; call += 1) {
      const use = { type: "tool_use", id: `c${call}`, name: "read", input: {} };
      const result = { type: "tool_result", tool_use_id: `c${call}`, content: words(300, call) };
      grown.push({ role: "assistant", content: [use] }, { role: "user", content: [result] });
      const request = context.request(grown);
      const now = counted(grown, 0);
      if (request.firstChanged !== null && call > 0) return now;
      if (observes) {
        const inputTokens = counted(request.messages, 0);
        context.observe({ inputTokens, outputTokens: 0 }, request);
      }
    }
  };
  const near = (/** @type {number} */ tokens, /** @type {number} */ line) =>
    assert.ok(Math.abs(tokens - line) <= 700, `${tokens} for ${line}`);
  near(at({}, false), 30_000);
  near(at({ margin: 1.2 }, false), 25_000);
  near(at({ margin: 1.2 }, true), 30_000);
  for (const margin of [0.9, 3.1, "1"]) {
    assert.throws(() => reported({ margin }), { code: "INVALID_ARGUMENT" });
  }
});

test("capOutput limits an answer to what the window has left", { skip }, () => {
  const { capOutput } = api;
  assert.equal(capOutput(8_192, 128_000, 10_000), 8_192);
  assert.equal(capOutput(64_000, 128_000, 90_000), 19_900);
  assert.equal(capOutput(8_192, 32_000, 30_000), 100);
  assert.equal(capOutput(8_192, 0, 30_000), 8_192);
  assert.equal(capOutput(4_096, 1_000, 333), 501);
  assert.equal(capOutput(8_192, 10_000, 5_000, { margin: 1, buffer: 0 }), 5_000);
  assert.throws(() => capOutput(8_192, 10_000, 5_000, { marign: 1 }), {
    code: "INVALID_ARGUMENT",
  });
  assert.throws(() => capOutput(-1, 10_000, 5_000), { code: "INVALID_ARGUMENT" });
});

test("without maxOutputTokens a request is never refused, and its output is limited to what is left", {
  skip,
}, () => {
  for (const hidden of [0, 6_000]) {
    for (const preset of ["balanced", "capacity", "openclaw"]) {
      const contextTokens = 32_000;
      const context = new api.ContextManager({
        window: { contextTokens },
        preset,
        format: "anthropic",
        clock: () => 0,
      });
      /** @type {any[]} */
      const history = [{ role: "user", content: "go" }];
      for (let call = 0; call < 80; call += 1) {
        const request = context.request(history);
        const input = counted(request.messages, hidden);
        const answer = api.capOutput(8_192, contextTokens, request.tokens, { margin: 1 });
        // The first request is the one whose hidden part nobody knows yet.
        assert.ok(input + answer <= contextTokens || answer === 100, `${preset} ${call}: ${input}`);
        assert.ok(input <= contextTokens, `${preset} ${call}: ${input}`);
        context.observe({ inputTokens: input, outputTokens: 0 }, request);
        const use = { type: "tool_use", id: `c${call}`, name: "read", input: { at: call } };
        const content = words(call % 7 === 3 ? 3_000 : 700, call);
        const result = { type: "tool_result", tool_use_id: `c${call}`, content };
        history.push({ role: "assistant", content: [use] }, { role: "user", content: [result] });
      }
    }
  }
});
