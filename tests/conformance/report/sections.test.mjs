// @ts-check
/** Reports on an assembled prompt, and on a session while its summarizer works. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) test("sections in reports", { skip: why }, () => {});
else suite();

function suite() {
  const long = "Use table tests. ".repeat(500);
  const focus = api.requestFocus("continue: fix `Parser` in src/parser.ts");
  const plan = api.assemblePrompt(
    [
      { key: "base", content: "You are an engineer.\n", priority: 95, protected: true },
      ...api.memoryTiers([
        { tier: "soul", content: "be kind 文脈 😀" },
        { tier: "auto", content: "tests first" },
        { tier: "journal", content: "Parser was split. ".repeat(300) },
      ]),
      ...api.matchRules(
        [{ path: "rules/tests.md", content: `---\npaths: ['src/**']\n---\n${long}` }],
        ["src/parser.ts"],
      ),
      { key: "git", content: "on branch main\n", priority: 40 },
      { key: "skills", content: "skill: parse\n", priority: 50 },
      { key: "candidates", content: "- run the tests\n", priority: 45 },
      { key: "notes", content: "odd\n", priority: 30 },
    ],
    { budget: { maxPerTierChars: 4_000, maxTotalChars: 6_000 }, focus },
  );
  const context = new api.ContextManager({ window: { contextTokens: 20_000 }, id: "s" });
  context.request([{ role: "user", content: "go" }], { system: plan });
  const report = context.inspect();
  const of = (/** @type {string} */ key) =>
    report.sections.find((/** @type {any} */ it) => it.key === key);

  test("a report lists the plan's sections with the session's token counts (A98, A99)", () => {
    assert.deepEqual(report.requestFocus, focus);
    assert.deepEqual(report.budget, plan.budget);
    assert.deepEqual(report.truncatedSectionKeys, plan.truncatedSectionKeys);
    assert.equal(report.totalChars, plan.prompt.length);
    for (const [at, section] of report.sections.entries()) {
      const { estimatedTokens: _, ...rest } = section;
      const { estimatedTokens: __, ...planned } = plan.sections[at];
      assert.deepEqual(rest, planned);
    }
    const sum = (/** @type {string} */ name) =>
      report.sections.reduce(
        (/** @type {number} */ all, /** @type {any} */ it) => all + it[name],
        0,
      );
    assert.equal(sum("finalChars"), report.totalChars);
    assert.equal(sum("estimatedTokens"), report.estimatedTokens);
  });

  test("a report says where a section is from and whether this request has it (A100)", () => {
    const reported = [
      ["base", "base", "always-on"],
      ["memory:soul", "memory", "always-on"],
      ["memory:auto", "learned-signals", "task-local"],
      ["memory:journal", "memory", "always-on"],
      ["rules:tests", "rules", "task-local"],
      ["git", "git", "task-local"],
      ["skills", "skills", "always-on"],
      ["candidates", "candidates", "task-local"],
      ["notes", "notes", "always-on"],
    ];
    assert.deepEqual(
      report.sections.map((/** @type {any} */ it) => [it.key, it.sourceType, it.scopeType]),
      reported,
    );
  });

  test("a report names the evidence that raised a section's priority (A101, A102)", () => {
    assert.ok(of("rules:tests").priority > of("rules:tests").basePriority);
    assert.match(of("rules:tests").evidence.join(), /src\/parser\.ts/);
    assert.match(of("memory:journal").evidence.join(), /Parser/);
    assert.deepEqual(of("base").evidence, []);
  });

  test("the system bucket is split into the prompt's sections (A104)", () => {
    const buckets = Object.fromEntries(
      report.buckets.map((/** @type {any} */ it) => [it.bucket, it]),
    );
    for (const name of ["core", "rules", "memory", "learned", "skills", "candidates"])
      assert.ok(buckets[name], name);
    assert.equal(buckets.system, undefined);
    const { originalChars, finalChars } = of("rules:tests");
    assert.equal(buckets.rules.retainedPct, Math.round((1e6 * finalChars) / originalChars) / 1e4);
  });

  test("the text of each section is the one in the prompt (A105)", () => {
    const texts = plan.sections.map((/** @type {any} */ it) => {
      const { detail } = context.inspect({ detailKey: it.key });
      assert.equal(detail.content.length, it.finalChars, it.key);
      return detail.content;
    });
    assert.equal(texts.join(""), plan.prompt);
    assert.equal(context.inspect({ detailKey: "system" }).detail.content, plan.prompt);
  });

  test("inspecting a session during a compaction does not change the outcome", async () => {
    const outcomes = [];
    for (const looks of [false, true]) {
      /** @type {any} */
      let now;
      const summarize = async () => {
        if (looks) {
          now.inspect({ detailKey: "message:0" });
          assert.deepEqual(now.inspect().status.blocked, { reason: "running" });
        }
        return `## Goal\n${"kept. ".repeat(20)}`;
      };
      const window = { contextTokens: 8_000 };
      now = new api.ContextManager({
        window,
        summarize,
        clock: () => 5,
        summary: { minimumTokens: 0 },
      });
      const history = Array.from({ length: 80 }, (_, at) => ({
        role: at % 2 === 0 ? "user" : "assistant",
        content: `step ${at}: ${"words of it ".repeat(20)}`,
      })).concat({ role: "user", content: "and now" });
      const outcome = await now.compact(history, { force: true });
      const { messages } = now.request(history);
      const { compactions, monitor } = now.inspect();
      assert.equal(compactions.length, 1);
      assert.deepEqual(compactions[0].summary, outcome.record?.summary);
      assert.deepEqual(compactions[0], outcome.record);
      assert.equal(monitor.requests.bySource.compaction_summary, outcome.attempts.length);
      outcomes.push({ outcome, messages });
    }
    assert.deepEqual(outcomes[0], outcomes[1]);
  });
}
