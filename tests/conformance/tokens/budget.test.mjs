// @ts-check
/** `ContextBudget`, member by member, and the events of pressure. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) test("budgets of ContextBudget", { skip: why }, () => {});
else suite();

function suite() {
  const make = (/** @type {object} */ more = {}) =>
    new api.ContextBudget({ contextTokens: 131_072, ...more });

  test("a budget has every member of the original class (B1)", () => {
    const budget = make();
    assert.deepEqual(
      [budget.estimatedTokens, budget.thresholdTokens, budget.contextWindow],
      [0, 104_858, 131_072],
    );
    assert.equal(new api.ContextBudget({}).contextWindow, 131_072, "the usual window");
    assert.equal(new api.ContextBudget({ contextTokens: 0 }).contextWindow, 0, "not known");
    assert.equal(budget.shouldCompress(), false);
    budget.updateFromResponse(45_000, 231);
    assert.equal(budget.estimatedTokens, 45_231);
    assert.deepEqual(budget.getStatus(), {
      used: 45_231,
      budget: 131_072,
      remaining: 85_841,
      usedPct: 34,
      promptTokens: 45_000,
      completionTokens: 231,
      source: "usage",
      band: "ok",
    });
    assert.equal(budget.statusLine(), "📚 Context: 45,231/131,072 (34%)");
    assert.equal(budget.statusLine("short"), "[Context: 45k/131k tokens (34%)]");
  });

  test("a budget estimates messages by any estimator (B2, B8)", () => {
    const messages = [{ role: "user", content: "x".repeat(400) }];
    for (const [estimator, tokens] of /** @type {const} */ ([
      ["chars/4", 104],
      [(/** @type {string} */ text) => text.length, 404],
    ])) {
      const budget = make({ estimator });
      assert.equal(budget.estimateFromMessages(messages), tokens);
      assert.equal(budget.estimatedTokens, tokens);
      assert.equal(budget.statusLine(), `📚 Context: ~${tokens}/131,072 (0%)`);
      budget.updateFromResponse(1000, 0);
      assert.equal(budget.estimateFromMessages(messages), tokens, "told, and not counted");
      assert.equal(budget.estimatedTokens, 1000);
    }
  });

  test("a result after the last usage is added to it by estimate (F008)", () => {
    const words = (/** @type {number} */ chars) => "x".repeat(chars);
    const history = [{ role: "user", content: words(28_000) }];
    const result = { role: "user", content: words(39_984) };
    for (const estimates of [true, false]) {
      const budget = make({ contextTokens: 10_000, estimator: "chars/4" });
      const messages = [...history];
      if (estimates) budget.estimateFromMessages(messages);
      budget.updateFromResponse(7_000, 200);
      assert.equal(budget.shouldCompress(), false);
      messages.push({ role: "assistant", content: words(784) });
      budget.estimateFromMessages(messages);
      assert.equal(budget.getStatus().used, 7_200, "the answer is counted");
      messages.push(result);
      budget.estimateFromMessages(messages);
      const { used, band, promptTokens, completionTokens, source } = budget.getStatus();
      assert.deepEqual(
        [used, band, promptTokens, completionTokens, source],
        [17_200, "force", 7_000, 200, "usage"],
      );
      assert.equal(budget.shouldCompress(), true);
      assert.equal(budget.statusLine(), "📚 Context: 17,200/10,000 (172%)");
    }
  });

  test("a disabled budget counts and triggers nothing (F019)", () => {
    const budget = make({ enabled: false, contextTokens: 1_000 });
    budget.updateFromResponse(2_000, 0);
    assert.deepEqual(
      [budget.getStatus().used, budget.getStatus().band, budget.shouldCompress(), budget.hint()],
      [2_000, "ok", false, null],
    );
    assert.throws(() => make({ thresholdPct: 85 }), /thresholdPct/);
  });

  test("a system prompt of 100 tokens counts 100 in every figure (F015)", () => {
    const system = "x".repeat(400);
    const options = { estimator: "chars/4", format: "anthropic" };
    const messages = [{ role: "user", content: "go" }];
    const check = api.checkBudget({ system, messages }, { contextTokens: 9_000 }, options);
    const { byKind } = api.estimateRequest({ system, messages }, options);
    const context = new api.ContextManager({ window: { contextTokens: 9_000 }, ...options });
    context.request(messages, { system });
    const bucket = context
      .inspect()
      .buckets.find((/** @type {any} */ it) => it.bucket === "system");
    assert.deepEqual([check.systemPromptTokens, byKind.system, bucket.tokens], [100, 100, 100]);
  });

  test("a budget limits messages and the tokens of a run (G29, I24)", () => {
    const messages = Array.from({ length: 3 }, () => ({ role: "user", content: "go" }));
    const budget = make({ maxMessages: 2, maxRunTokens: 1000 });
    budget.estimateFromMessages(messages.slice(1));
    assert.equal(budget.shouldCompress(), false);
    budget.estimateFromMessages(messages);
    assert.equal(budget.shouldCompress(), true);
    const runs = [300, 699, 1].map((used) => {
      budget.updateFromResponse(used, 0);
      return budget.getStatus().run;
    });
    assert.deepEqual(runs, [
      { consumed: 300, remaining: 700, exceeded: false },
      { consumed: 999, remaining: 1, exceeded: false },
      { consumed: 1000, remaining: 0, exceeded: true },
    ]);
    assert.equal("run" in make().getStatus(), false);
  });

  test("impossible usage is ignored (B17)", () => {
    for (const [prompt, completion] of [
      [undefined, undefined],
      [null, null],
      [Number.NaN, 5],
      [-5, 5],
      [Number.POSITIVE_INFINITY, 0],
      ["many", 0],
      [9e15, 0],
    ]) {
      const budget = make();
      budget.updateFromResponse(500, 5);
      budget.updateFromResponse(prompt, completion);
      assert.deepEqual(
        [budget.estimatedTokens, budget.getStatus().source],
        [505, "estimate"],
        String(prompt),
      );
    }
    const odd = make();
    odd.updateFromResponse(99.9, -1);
    assert.equal(odd.estimatedTokens, 99);
  });

  test("compaction is due before the window is full (B3, B10)", () => {
    const budget = make({ contextTokens: 1000 });
    const bands = [799, 800, 849, 850, 1000, 1200].map((used) => {
      budget.updateFromResponse(used, 0);
      return `${budget.getStatus().band} ${budget.shouldCompress()}`;
    });
    assert.deepEqual(bands, [
      "ok false",
      "warn false",
      "warn false",
      "compact true",
      "force true",
      "force true",
    ]);
  });

  test("a budget gives its hint once (B7)", () => {
    const budget = make({ contextTokens: 1000 });
    assert.equal(budget.hint(), null);
    budget.updateFromResponse(810, 0);
    assert.match(budget.hint(), /^\[Context: 81% of 1,000 tokens\. /);
    assert.equal(budget.hint(), null);
    budget.updateFromResponse(100, 0);
    budget.updateFromResponse(900, 0);
    assert.match(budget.hint(), /90%/);
  });

  test("options are checked, and an unknown window is never a divisor (B16, B18)", () => {
    for (const [options, argument] of [
      [null, "options"],
      [{ contextTokens: Number.NaN }, "contextTokens"],
      [{ contextTokens: -1 }, "contextTokens"],
      [{ contextTokens: 10, maxOutputTokens: 10 }, "maxOutputTokens"],
      [{ contextTokens: 10, warn: 80 }, "warn"],
      [{ contextTokens: 10, warn: 0.9, compact: 0.8 }, "compact"],
      [{ contextTokens: 10, thresholdPct: 80 }, "thresholdPct"],
    ]) {
      assert.throws(
        () => new api.ContextBudget(options),
        (/** @type {any} */ error) =>
          error.code === "INVALID_ARGUMENT" && error.info.argument === argument,
      );
    }
    const unknown = new api.ContextBudget({ contextTokens: 0 });
    unknown.updateFromResponse(5000, 0);
    assert.equal(unknown.statusLine(), "📚 Context: 5,000/? (?%)");
    assert.deepEqual(unknown.getStatus(), {
      used: 5000,
      budget: 0,
      remaining: 0,
      usedPct: 0,
      promptTokens: 5000,
      completionTokens: 0,
      source: "usage",
      band: "ok",
    });
    assert.equal(unknown.hint(), null);
  });

  test("pressure is reported once, and again after a compaction (A109)", () => {
    /** @type {any[]} */
    const pressures = [];
    const on = (/** @type {any} */ event) => event.type === "pressure" && pressures.push(event);
    const context = new api.ContextManager({ window: { contextTokens: 1000 }, on });
    context.request([{ role: "user", content: "words ".repeat(200) }]);
    for (const input_tokens of [600, 720, 730, 960, 860]) context.observe({ input_tokens });
    context.note({ phase: "mine", tokensBefore: 960, tokensAfter: 300 });
    for (const input_tokens of [300, 860]) context.observe({ input_tokens });
    assert.deepEqual(pressures, [
      { type: "pressure", from: "low", to: "medium", usedPct: 72 },
      { type: "pressure", from: "medium", to: "critical", usedPct: 96 },
      { type: "pressure", from: "low", to: "high", usedPct: 86 },
    ]);
  });

  test("note() records requests and compactions outside the session (A107)", () => {
    const context = new api.ContextManager({ window: { contextTokens: 1000 } });
    context.note({ source: " Planner ", requests: 2 });
    context.note({ source: "planner" });
    context.note({ phase: "\u001b[31mmine", tokensBefore: 900, tokensAfter: 300 });
    const { requests, compactions } = context.inspect().monitor;
    assert.deepEqual(requests, { total: 3, bySource: { planner: 3 } });
    assert.deepEqual(compactions, {
      total: 1,
      byPhase: { MINE: 1 },
      tokensSaved: 600,
      last: { phase: "MINE", at: null, tokensBefore: 900, tokensAfter: 300 },
    });
    assert.throws(() => context.note(/** @type {any} */ ({ sauce: 1 })), {
      code: "INVALID_ARGUMENT",
    });
  });
}
