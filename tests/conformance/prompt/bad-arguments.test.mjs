// @ts-check
/** Bad input to the system prompt: a typed error that names the place, or the right answer, and never for long. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, attempt, boom, checkTypedError, describe, skip } from "../support/sound-history.mjs";

const section = { key: "a", content: "x", priority: 1 };
const budget = { maxPerTierChars: 10, maxTotalChars: 10 };

/** What is called, and the place that the error names. @type {Array<[string, () => any, string]>} */
const REFUSED = [
  ["sections that are none", () => api.assemblePrompt("x"), "sections"],
  ["a section that is null", () => api.assemblePrompt([section, null]), "sections[1]"],
  [
    "content that is a number",
    () => api.assemblePrompt([{ ...section, content: 1 }]),
    "sections[0].content",
  ],
  ["no priority", () => api.assemblePrompt([{ key: "a", content: "x" }]), "sections[0].priority"],
  [
    "half a priority",
    () => api.assemblePrompt([{ ...section, priority: 0.5 }]),
    "sections[0].priority",
  ],
  [
    "a priority that is no number",
    () => api.assemblePrompt([{ ...section, priority: Number.NaN }]),
    "sections[0].priority",
  ],
  [
    "an unknown member",
    () => api.assemblePrompt([{ ...section, colour: 1 }]),
    "sections[0].colour",
  ],
  [
    "evidence that is no list",
    () => api.assemblePrompt([{ ...section, evidence: "x" }]),
    "sections[0].evidence",
  ],
  [
    "evidence that is no text",
    () => api.assemblePrompt([{ ...section, evidence: ["x", 1] }]),
    "sections[0].evidence[1]",
  ],
  [
    "F014 a budget of nothing",
    () => api.assemblePrompt([], { budget: { ...budget, maxTotalChars: 0 } }),
    "budget.maxTotalChars",
  ],
  [
    "F014 a budget below nothing",
    () => api.assemblePrompt([], { budget: { ...budget, maxPerTierChars: -1 } }),
    "budget.maxPerTierChars",
  ],
  [
    "a budget without end",
    () => api.assemblePrompt([], { budget: { ...budget, maxTotalChars: Infinity } }),
    "budget.maxTotalChars",
  ],
  ["an order there is not", () => api.assemblePrompt([], { order: "random" }), "order"],
  ["a protection there is not", () => api.assemblePrompt([], { protect: "maybe" }), "protect"],
  ["a focus that is text", () => api.assemblePrompt([], { focus: "x" }), "focus"],
  ["a locale there is not", () => api.assemblePrompt([], { locale: "tlh" }), "locale"],
  ["options that are null", () => api.assemblePrompt([], null), "options"],
  [
    "a getter that throws",
    () =>
      api.assemblePrompt([
        {
          ...section,
          get content() {
            return boom();
          },
        },
      ]),
    "assemblePrompt",
  ],
  ["a text that is none", () => api.truncateText(null, 1), "text"],
  ["less than nothing", () => api.truncateText("x", -1), "maxChars"],
  ["a share over one", () => api.truncateText("x", 1, { head: 2 }), "head"],
  ["a marker that is none", () => api.truncateText("x", 1, { marker: 7 }), "marker"],
  ["a query that is none", () => api.requestFocus(7), "query"],
  ["a message that is none", () => api.requestFocus("x", { recent: ["x", 7] }), "recent[1]"],
  ["a root that is none", () => api.requestFocus("x", { projectRoot: 7 }), "projectRoot"],
  ["a language there is not", () => api.requestFocus("x", { languages: ["tlh"] }), "languages"],
  [
    "a tier there is not",
    () =>
      api.memoryTiers([
        { tier: "soul", content: "x" },
        { tier: "x", content: "" },
      ]),
    "files[1].tier",
  ],
  ["a file without content", () => api.memoryTiers([{ tier: "soul" }]), "files[0]"],
  ["a rule without a path", () => api.matchRules([{ path: 1, content: "" }], []), "rules[0].path"],
  ["a path that is none", () => api.matchRules([], ["a", 1]), "activeFilePaths[1]"],
  ["rules that are none", () => api.matchRules({}, []), "rules"],
  ["a tool that is null", () => api.trimToolDescriptions([null], 1), "tools[0]"],
  [
    "a description that is none",
    () => api.trimToolDescriptions([{ name: "a", description: 7 }], 1),
    "tools[0].description",
  ],
  ["a memory that is none", () => api.buildContext([1], "x", 1), "memories[0]"],
  ["a budget that is no number", () => api.buildContext([], "x", Number.NaN), "budgetTokens"],
  [
    "a locale in part",
    () => api.buildContext([], "x", 1, { locale: { memoryHeader: "x" } }),
    "locale",
  ],
  ["no characters a token", () => api.compressText("x", 1, { charsPerToken: 0 }), "charsPerToken"],
  ["a window that is null", () => api.promptBudget(null), "window"],
  ["a window of text", () => api.promptBudget({ contextTokens: "x" }), "window.contextTokens"],
  [
    "a window to check against that is null",
    () => api.checkBudget({ messages: [] }, null),
    "window",
  ],
];

for (const [name, run, place] of REFUSED) {
  test(`${name} is refused by name`, { skip }, async () => {
    const { value, error } = await attempt(run);
    assert.equal(value, null, `refused: ${JSON.stringify(value)}`);
    checkTypedError(error, ["INVALID_ARGUMENT"]);
    assert.equal(error.info.argument, place, describe(error));
    assert.equal(api.assemblePrompt([section]).prompt, "x", "and the next call is answered");
  });
}

test("half a surrogate pair becomes U+FFFD and keeps its length", { skip }, () => {
  const plan = api.assemblePrompt([{ ...section, content: "a\ud800b \\ud800 \udfff" }]);
  assert.deepEqual([plan.prompt, plan.totalChars], ["a\ufffdb \\ud800 \ufffd", 12]);
  assert.equal(api.requestFocus("fix \ud83d").querySummary, "fix \ufffd");
  assert.equal(api.truncateText("\ud83d".repeat(500), 100).text.length, 100);
});

/** Milliseconds of `work`. @param {() => void} work */
function time(work) {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

test("100 MB of memory text are cut, and more than the limit is refused before it is copied", {
  skip,
}, () => {
  const memory = "a line of a memory\n".repeat(5_300_000);
  const [file] = api.memoryTiers([{ tier: "auto", content: memory }]);
  const plan = api.assemblePrompt([file]);
  assert.deepEqual([plan.totalChars, plan.sections[0].originalChars > 100e6], [20_000, true]);
  const text = "x".repeat(300_000_000);
  const took = time(() =>
    assert.throws(
      () => api.truncateText(text, 1),
      (error) => checkTypedError(error, ["TOO_LARGE"]),
    ),
  );
  assert.ok(took < 1_000, `${took} ms`);
});

test("100,000 rules and 10,000 sections take time in proportion", { skip }, () => {
  const rules = (/** @type {number} */ count) =>
    Array.from({ length: count }, (_, at) => ({
      path: `rules/${at}.md`,
      content: `---\npaths:\n  - "src/**/f${at}.{ts,tsx}"\n---\nbody ${at}`,
    }));
  const many = rules(100_000);
  assert.equal(api.matchRules(many, ["src/a/f7.ts", "src/f99999.tsx"]).length, 2);
  const few = many.slice(0, 10_000);
  const [short, long] = [few, many].map((list) =>
    Math.min(...[1, 2].map(() => time(() => api.matchRules(list, ["src/f7.ts"])))),
  );
  assert.ok(Number(long) < 40 * Number(short), `${long} ms for ten times what took ${short} ms`);
  const all = many.map(({ path, content }) => ({ path, content: content.replace(/src.*}/, "**") }));
  assert.equal(api.matchRules(all, ["a.ts"]).length, 100_000);
  const sections = Array.from({ length: 10_000 }, (_, at) => ({
    ...section,
    key: `k${at}`,
    priority: at % 100,
  }));
  assert.equal(api.assemblePrompt(sections).sections.length, 10_000);
});

test("no glob or path takes exponential time", { skip }, () => {
  const globs = [
    `${"{a,".repeat(150)}b${"}".repeat(150)}`,
    "{a,{a,{a,{a,{a,{a,{a,{a,b}}}}}}}}",
    "{a,b,c}".repeat(60),
    `${"{a,b}".repeat(8)}${"*".repeat(15)}x`,
    `${"*a".repeat(15)}b`,
    `${"*".repeat(15)}b`,
    `${"**/".repeat(60)}b`,
    `${"**/*a".repeat(15)}b`,
    `${"[a-z]*".repeat(50)}B`,
    `${"{*a,*b}".repeat(8)}c`,
    `${"{**/a*,**/b*}".repeat(7)}c`,
    `${"?".repeat(400)}`,
    "{".repeat(400),
    "[".repeat(400),
    "\\".repeat(401),
  ];
  const rules = globs.map((glob, at) => ({
    path: `${at}.md`,
    content: `---\npaths: ['${glob}']\n---\nx`,
  }));
  const paths = [
    "a".repeat(4_000),
    "a/".repeat(2_000),
    "/a".repeat(2_000),
    `${"ab".repeat(1_000)}c`,
    "/".repeat(1_000_000),
    "a/".repeat(1_000_000),
  ];
  for (const [at, rule] of rules.entries()) {
    for (const path of paths) {
      const took = time(() => api.matchRules([rule], [path]));
      assert.ok(
        took < 1_000,
        `${took} ms: ${globs[at]} and ${path.slice(0, 9)}… of ${path.length}`,
      );
    }
  }
});

test("malformed front matter is skipped, and other rules still apply", { skip }, () => {
  const good = { path: "good.md", content: "---\npaths: a\n---\nx" };
  for (const content of [
    "---",
    "---\npaths: [",
    "---\npaths:\n  - '",
    "\0".repeat(1_000),
    "---\n".repeat(10_000),
    `---\npaths: ${"a,".repeat(1_000_000)}\n---\nx`,
  ]) {
    const keys = api
      .matchRules([{ path: "bad.md", content }, good], ["a"])
      .map((/** @type {any} */ one) => one.key);
    assert.ok(keys.includes("rules:good"), content.slice(0, 20));
  }
});

test("a long query takes time in proportion", { skip }, () => {
  const words = "look at `parseLine()` in src/a.ts, v1.2 and Ledger. ";
  const of = (/** @type {number} */ count) =>
    Math.min(...[1, 2].map(() => time(() => api.requestFocus(words.repeat(count)))));
  const [short, long] = [of(4_000), of(40_000)];
  assert.ok(long < 40 * short, `${long} ms for ten times what took ${short} ms`);
});

test("a budget that is no finite number is named as it was passed", () => {
  const endless = { budget: { ...budget, maxTotalChars: Infinity } };
  assert.throws(() => api.assemblePrompt([section], endless), /maxTotalChars: .*, got Infinity/);
  const none = { contextTokens: Number.NaN };
  assert.throws(() => api.promptBudget(none), /window\.contextTokens: .*, got NaN/);
});
