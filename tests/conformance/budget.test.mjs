// @ts-check
/** `ContextBudget`, member by member, and the events of pressure. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "./package.mjs";

const { api, why } = await loadPackage();
if (!api) test("budgets", { skip: why }, () => {});
else suite();

function suite() {
  const make = (/** @type {object} */ more = {}) =>
    new api.ContextBudget({ contextTokens: 131_072, ...more });

  test("b1 every member of the request's class", () => {
    const budget = make();
    assert.deepEqual(
      [budget.estimatedTokens, budget.thresholdTokens, budget.contextWindow],
      [0, 104_858, 131_072],
    );
    assert.equal(new api.ContextBudget({}).contextWindow, 0, "not known");
    assert.equal(budget.shouldCompress(), false);
    budget.updateFromResponse(45_000, 231);
    assert.equal(budget.estimatedTokens, 45_231);
    assert.deepEqual(budget.getStatus(), {
      used: 45_231,
      budget: 131_072,
      remaining: 85_841,
      pct: 34,
      source: "usage",
      band: "ok",
    });
    assert.equal(budget.statusLine(), "📚 Context: 45,231/131,072 (34%)");
    assert.equal(budget.statusLine("short"), "[Context: 45k/131k tokens (34%)]");
  });

  test("b2 b8 an estimate is of the messages, by any estimator", () => {
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

  test("g29 i24 limits of messages and of a run's tokens", () => {
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

  test("b17 usage that cannot be is none", () => {
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

  test("b3 b10 compaction comes before the window is full", () => {
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

  test("b7 a hint once", () => {
    const budget = make({ contextTokens: 1000 });
    assert.equal(budget.hint(), null);
    budget.updateFromResponse(810, 0);
    assert.match(budget.hint(), /^\[Context: 81% of 1,000 tokens\. /);
    assert.equal(budget.hint(), null);
    budget.updateFromResponse(100, 0);
    budget.updateFromResponse(900, 0);
    assert.match(budget.hint(), /90%/);
  });

  test("b16 b18 options are checked, and an unknown window is none to divide by", () => {
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
      pct: 0,
      source: "usage",
      band: "ok",
    });
    assert.equal(unknown.hint(), null);
  });

  test("a109 pressure is told once, and again after a compaction", () => {
    /** @type {any[]} */
    const told = [];
    const on = (/** @type {any} */ event) => event.type === "pressure" && told.push(event);
    const context = new api.ContextManager({ window: { contextTokens: 1000 }, on });
    context.request([{ role: "user", content: "words ".repeat(200) }]);
    for (const input_tokens of [600, 720, 730, 960, 860]) context.observe({ input_tokens });
    context.record({ phase: "mine", tokensBefore: 960, tokensAfter: 300 });
    for (const input_tokens of [300, 860]) context.observe({ input_tokens });
    assert.deepEqual(told, [
      { type: "pressure", from: "low", to: "medium", pct: 72 },
      { type: "pressure", from: "medium", to: "critical", pct: 96 },
      { type: "pressure", from: "low", to: "high", pct: 86 },
    ]);
  });

  test("a107 what the session cannot see is recorded", () => {
    const context = new api.ContextManager({ window: { contextTokens: 1000 } });
    context.record({ source: " Planner ", requests: 2 });
    context.record({ source: "planner" });
    context.record({ phase: "\u001b[31mmine", tokensBefore: 900, tokensAfter: 300 });
    const { requests, compactions } = context.inspect().monitor;
    assert.deepEqual(requests, { total: 3, bySource: { planner: 3 } });
    assert.deepEqual(compactions, {
      total: 1,
      byPhase: { MINE: 1 },
      tokensSaved: 600,
      last: { phase: "MINE", at: null, tokensBefore: 900, tokensAfter: 300 },
    });
    assert.throws(() => context.record(/** @type {any} */ ({ sauce: 1 })), {
      code: "INVALID_ARGUMENT",
    });
  });
}
