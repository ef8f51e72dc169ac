// @ts-check
/** The system prompt through the package, by the rows of the feature table (F013 and on). What a single rule does stands beside it in src/prompt. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const user = (/** @type {string} */ content) => ({ role: "user", content });
const section = (
  /** @type {string} */ key,
  /** @type {number} */ priority,
  chars = 100,
  more = {},
) => ({
  key,
  priority,
  content: `${key}:`.padEnd(chars, "x"),
  ...more,
});

test("a prompt budget is a quarter of the window, within its bounds (F013)", { skip }, () => {
  const of = (/** @type {number} */ contextTokens, /** @type {number} */ maxOutputTokens) => {
    const { maxPerTierChars, maxTotalChars } = api.promptBudget({ contextTokens, maxOutputTokens });
    return [maxPerTierChars, maxTotalChars];
  };
  assert.deepEqual(of(200_000, 16_384), [20_000, 150_000]);
  assert.deepEqual(of(32_768, 4_096), [7_168, 28_672]);
  assert.deepEqual(of(4_096, 8_192), [1_000, 1_000]);
  assert.deepEqual(api.promptBudget(), { maxPerTierChars: 20_000, maxTotalChars: 150_000 });
});

test("checkBudget reports six figures and whether the request is over (F015)", { skip }, () => {
  const request = {
    system: "You are kind.",
    tools: [{ name: "read", description: "reads" }],
    messages: [user("hello there")],
  };
  const { tokens, byKind } = api.estimateRequest(request, { format: "anthropic" });
  const check = api.checkBudget(request, { contextTokens: 20 }, { format: "anthropic" });
  const { systemPromptTokens, toolDefinitionTokens, messageTokens, ...rest } = check;
  assert.deepEqual([systemPromptTokens, toolDefinitionTokens], [byKind.system, byKind.tools]);
  assert.equal(systemPromptTokens + toolDefinitionTokens + messageTokens, tokens);
  const over = {
    totalEstimated: tokens,
    availableTokens: 20,
    overBudget: true,
    excessTokens: tokens - 20,
  };
  assert.deepEqual(rest, over);
  const none = api.checkBudget(request, { contextTokens: 4_096, maxOutputTokens: 8_192 });
  assert.deepEqual([none.availableTokens, none.overBudget], [0, true]);
  const counted = api.checkBudget(
    request,
    { contextTokens: 9 },
    { estimator: (/** @type {string} */ text) => text.length },
  );
  assert.ok(counted.totalEstimated > tokens);
});

test("sections keep their order, and the report says what became of each (F028 to F031, F036)", {
  skip,
}, () => {
  const sections = [
    section("git", 40, 1_000),
    section("base", 95, 1_000, { protected: true, source: "host", reason: "always" }),
    section("blank", 99, 0, { content: " \n" }),
    section("skills", 58, 1_000, { scope: "task-local", evidence: ["skills/a.md"] }),
  ];
  const budget = { maxPerTierChars: 800, maxTotalChars: 2_000 };
  const plan = api.assemblePrompt(sections, { budget });
  assert.deepEqual(
    plan.sections.map((/** @type {any} */ one) => [one.key, one.finalChars]),
    [
      ["git", 200],
      ["base", 1_000],
      ["skills", 800],
    ],
  );
  assert.deepEqual(plan.truncatedSectionKeys, ["git", "skills"]);
  assert.equal(plan.prompt.length, plan.totalChars);
  assert.equal(plan.prompt.slice(200, 1_200), sections[1]?.content);
  assert.deepEqual(plan.sections[2], {
    key: "skills",
    sourceType: "skills",
    scopeType: "task-local",
    inclusionReason: "cut to the most that a section may have",
    priority: 58,
    basePriority: 58,
    protected: false,
    originalChars: 1_000,
    finalChars: 800,
    estimatedTokens: api.estimateTokens(plan.prompt.slice(1_200)),
    offset: 1_200,
    included: true,
    truncated: true,
    evidence: ["skills/a.md"],
    wholeFromTotalChars: 1_800,
  });
  assert.deepEqual(plan.budget, budget);
  assert.equal(plan.focus, null);
  const tight = { maxPerTierChars: 800, maxTotalChars: 600 };
  assert.equal(api.assemblePrompt(sections, { budget: tight }).totalChars, 600);
  assert.ok(api.assemblePrompt(sections, { budget: tight, protect: "never" }).totalChars >= 1_000);
  assert.throws(
    () => api.assemblePrompt(sections, { budget: tight, protect: "error" }),
    /protected sections of at most 600 chars/,
  );
});

test("the stable prefix has the same length and key whatever the request (F047, F163)", {
  skip,
}, () => {
  const stable = section("base", 95, 300, { stable: true });
  const plan = (/** @type {string} */ query) =>
    api.assemblePrompt([section("git", 40, query.length + 50), stable], {
      focus: api.requestFocus(query),
      order: "stable-first",
    });
  const [one, two] = [plan("fix it"), plan("continue with src/a.ts, please")];
  assert.equal(one.stablePrefixChars, 300);
  assert.equal(one.prompt.slice(0, 300), two.prompt.slice(0, 300));
  assert.equal(one.stablePrefixKey, two.stablePrefixKey);
  stable.content = stable.content.replace("x", "y");
  assert.notEqual(plan("fix it").stablePrefixKey, one.stablePrefixKey);
});

test("a text is cut once, to the exact length, around its marker (F032 to F035, F044)", {
  skip,
}, () => {
  const text = `${"head ".repeat(8_000)}${"tail ".repeat(8_000)}`;
  const capped = api.truncateText(text, 30_000, {
    head: 0.4,
    tail: 0.6,
    marker: "[{original} chars]",
  });
  assert.deepEqual(
    [capped.text.length, capped.originalChars, capped.truncated],
    [30_000, 80_000, true],
  );
  const [head, tail] = capped.text.split("[80000 chars]");
  assert.ok(Math.abs(head.length / 29_987 - 0.4) < 0.01 && head.length + tail.length === 29_987);
  assert.ok(text.startsWith(head) && text.endsWith(tail));
  const usual = api.truncateText(text, 1_000).text;
  assert.match(usual, /\n\n<!-- \[TRUNCATED\] Original: 80000 chars -->\n\n/);
  const family = "👩‍👩‍👧".repeat(200);
  for (let most = 0; most < 200; most += 1) {
    const cut = api.truncateText(family, most).text;
    assert.ok(cut.length <= most && cut.isWellFormed());
    assert.equal(cut.replace(/\n\n<!--.*-->\n\n/, "").length % 8, 0, "whole families only");
  }
  for (let most = 1; most <= 80; most += 1)
    assert.ok(!api.truncateText("x".repeat(500), most).text.includes("<!"));
});

test("a manager without a window or budget changes nothing (F049)", { skip }, () => {
  const manager = new api.ContextManager({ window: { contextTokens: 0 }, format: "anthropic" });
  const history = Array.from({ length: 41 }, (_, at) =>
    at % 2 ? { role: "assistant", content: "a".repeat(9_000) } : user("b".repeat(9_000)),
  );
  const { messages, edits, fits, firstChanged } = manager.request(history);
  assert.ok(
    messages.every((/** @type {any} */ one, /** @type {number} */ at) => one === history[at]),
  );
  assert.deepEqual([messages.length, edits, fits, firstChanged], [41, [], true, null]);
  const text = "tiếng Việt ".repeat(10_000);
  assert.equal(api.compressText(text, Number.POSITIVE_INFINITY), text);
  assert.equal(api.truncateText(text, Number.POSITIVE_INFINITY).text, text);
});

test("memory tiers become sections in their order (F037, F038)", { skip }, () => {
  const lines = Array.from({ length: 201 }, (_, at) => `line ${at + 1}`).join("\n");
  const sections = api.memoryTiers([
    { tier: "markdown", content: lines, path: "/w/MEMORY.md" },
    { tier: "soul", content: "kind" },
    { tier: "user", content: " " },
  ]);
  assert.deepEqual(
    sections.map((/** @type {any} */ one) => [one.key, one.priority, one.protected]),
    [
      ["memory:soul", 100, true],
      ["memory:markdown", 55, false],
    ],
  );
  assert.ok(
    sections[1].content.endsWith(
      "line 200\n<!-- Truncated at 200 lines. Full file has 201 lines. -->\n\n",
    ),
  );
  assert.deepEqual(sections[1].evidence, ["/w/MEMORY.md"]);
});

test("rules apply to the files that their paths name (F039, F040)", { skip }, () => {
  const rule = (/** @type {string} */ name, /** @type {string} */ front) => ({
    path: `.aceclaw/rules/${name}.md`,
    content: `---\n${front}\n---\nBe ${name}.`,
  });
  const rules = [
    rule("z", "paths:\n  - '**/*.ts'"),
    rule("a", 'paths: ["src/*.rs", "*.ts"]'),
    rule("none", "paths: []"),
  ];
  const keys = (/** @type {string[]} */ ...files) =>
    api.matchRules(rules, files).map((/** @type {any} */ one) => one.key);
  assert.deepEqual(keys("root.ts"), ["rules:a", "rules:z"]);
  assert.deepEqual(keys("./src/a.rs"), ["rules:a"]);
  assert.deepEqual(keys("C:\\w\\src\\a.rs"), ["rules:a"]);
  assert.deepEqual(keys(), []);
  assert.match(
    api.matchRules(rules, ["a.ts"])[0].content,
    /Applies to: src\/\*\.rs, \*\.ts\n\nBe a\./,
  );
});

test("OneClaw's texts come in a chosen language or the host's words (F045, F046, F165, F166, F168)", {
  skip,
}, () => {
  const memories = Array.from(
    { length: 100 },
    (_, at) => `Memory entry ${at} with a lot of content to fill up space`,
  );
  const text = api.buildContext(memories, "query", 50, { locale: "vi" });
  assert.ok(text.length <= 200);
  assert.ok(text.startsWith("Dữ liệu liên quan từ bộ nhớ:\n- Memory entry 0"));
  assert.ok(text.endsWith("(… còn nữa nhưng đã cắt bớt)\n\nCâu hỏi/yêu cầu: query"));
  const own = { memoryHeader: "M", truncated: "T", compressed: "C", question: "Q" };
  assert.equal(api.buildContext(["a"], "why", 50, { locale: own }), "M\n- a\n\nQ why");
  assert.match(api.buildContext(["a"], "why", 50), /^Related data from memory:/);
  assert.match(api.buildContext(["a"], "why", 50, { locale: "zh" }), /^记忆中的相关资料：/);
  const vietnamese = "Đường dẫn của tệp ".repeat(100);
  for (let target = 0; target < 60; target += 1) {
    const cut = api.compressText(vietnamese, target, { locale: "vi" });
    assert.ok(cut.length <= 4 * target && cut.isWellFormed());
  }
  assert.ok(api.compressText(vietnamese, 50, { locale: "vi" }).endsWith("... (đã rút gọn)"));
  assert.equal(api.compressText("abcdef", 1, { charsPerToken: 3.5 }), "abc");
});

test("requestFocus finds a request's files, names and intents in ten languages (F050 to F058)", {
  skip,
}, () => {
  assert.deepEqual(
    api.requestFocus("Fix `parseLine()` in /w/src/a.ts, not v1.2 or 3.5; see the latest prefix", {
      projectRoot: "/w",
      recent: ["was at lib/b.rs:12"],
    }),
    {
      querySummary: "Fix `parseLine()` in /w/src/a.ts, not v1.2 or 3.5; see the latest prefix",
      activeFilePaths: ["src/a.ts", "lib/b.rs"],
      inferredFilePaths: ["src/a.ts", "lib/b.rs"],
      activeSymbols: ["parseLine"],
      planSignals: ["code change requested"],
    },
  );
  for (const query of [
    "sửa lỗi này",
    "修复这个错误",
    "corrige el error",
    "behebe den Fehler",
    "corrige l'erreur",
    "修正してください",
    "수정해 주세요",
    "исправь ошибку",
    "corrige o erro",
  ]) {
    assert.ok(api.requestFocus(query).planSignals.includes("code change requested"), query);
  }
  assert.deepEqual(api.requestFocus("sửa lỗi này", { languages: ["en"] }).planSignals, []);
  assert.equal(api.requestFocus("x".repeat(161)).querySummary.length, 160);
});

test("a truncation marker is in the locale's language", { skip }, () => {
  const budget = { maxPerTierChars: 500, maxTotalChars: 500 };
  const plan = api.assemblePrompt([section("a", 1, 900)], { budget, locale: "vi" });
  assert.ok(plan.prompt.includes("\n\n(… còn nữa nhưng đã cắt bớt)\n\n"));
  assert.equal(plan.totalChars, 500);
});

test("the same arguments give the same bytes (F048)", { skip }, () => {
  const once = () =>
    JSON.stringify(
      api.assemblePrompt([section("b", 5), section("a", 5)], { focus: api.requestFocus("go on") }),
    );
  assert.equal(once(), once());
});

test("a manager accepts a prompt plan as `system`, and only a changed prompt opens an epoch", {
  skip,
}, () => {
  /** @type {any[]} */
  const events = [];
  const manager = new api.ContextManager({
    window: { contextTokens: 100_000 },
    format: "anthropic",
    clock: () => 1_700_000_000_000,
    on: (/** @type {any} */ event) => events.push(event),
  });
  const sections = [section("base", 95, 4_000), section("git", 40, 400)];
  const plan = (/** @type {string} */ query) =>
    api.assemblePrompt(sections, { focus: api.requestFocus(query) });
  const history = [user("hello")];
  const first = manager.request(history, { system: plan("fix it") });
  const text = manager.request(history, { system: plan("fix it").prompt });
  assert.equal(first.tokens, text.tokens);
  const other = plan("continue with src/a.ts");
  assert.notDeepEqual(other.sections, plan("fix it").sections);
  const again = manager.request(history, { system: other });
  assert.deepEqual(
    [text.epoch, again.epoch, again.firstChanged, events],
    [first.epoch, first.epoch, null, []],
  );
  sections[1] = section("git", 40, 500);
  const changed = manager.request(history, { system: plan("fix it") });
  assert.equal(changed.epoch, first.epoch + 1);
  assert.deepEqual(
    events.map(({ type, reason }) => [type, reason]),
    [["epoch", "parts"]],
  );
  assert.ok(changed.tokens > first.tokens);
  const { byKind } = api.estimateRequest({ messages: history, system: plan("fix it") });
  assert.equal(
    byKind.system,
    api.estimateRequest({ messages: history, system: plan("fix it").prompt }).byKind.system,
  );
  manager[Symbol.dispose]();
});
