// @ts-check
/** Extracted facts: kept for everything that leaves a request, with and without a summarizer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, prose, skip } from "../support/agent-session.mjs";

const STEPS = 14;

/** Steps of an agent: it says so many words, reads a file, runs a command, and every third fails. Then a person asks for more. */
const work = (steps = STEPS, words = 0) => [
  { role: "user", content: "make the parser faster" },
  ...Array.from({ length: steps }, (_, at) => [
    {
      role: "assistant",
      content: [
        { type: "text", text: `Step ${at}. ${prose(words)}` },
        { type: "tool_use", id: `r${at}`, name: "read", input: { path: `src/part${at}.rs` } },
        {
          ...{ type: "tool_use", id: `b${at}`, name: "bash" },
          input: { command: `cargo test --package part${at}` },
        },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: `r${at}`,
          content: `fn part${at}_of() {} ${prose(400)}`,
        },
        {
          ...{ type: "tool_result", tool_use_id: `b${at}`, is_error: at % 3 === 1 },
          content: at % 3 === 1 ? `error in part${at}: ${prose(300)}` : prose(300),
        },
      ],
    },
  ]).flat(),
  { role: "assistant", content: "That was all." },
  { role: "user", content: "and now finish it" },
];

/** @param {object} more */
const manager = (more) =>
  new api.ContextManager({
    ...{ window: { contextTokens: 10_000 }, format: "anthropic", estimator: "chars/4" },
    ...{ clock: () => 1_000_000 },
    ...more,
  });

/** @param {any} outcome @param {string} status */
function checkSummaryOfTheStart(outcome, status) {
  assert.equal(outcome?.status, status, outcome?.reason);
  const { readFiles, commands, errors, identifiers } = outcome.extracted;
  assert.ok(readFiles.includes("src/part0.rs"), JSON.stringify(readFiles));
  assert.ok(commands.includes("cargo test --package part0"), JSON.stringify(commands));
  assert.ok(
    errors.some((/** @type {string} */ text) => text.startsWith("error in part1: alpha")),
    JSON.stringify(errors),
  );
  assert.ok(identifiers.length > 0, "identifiers");
  assert.ok(!readFiles.includes(`src/part${STEPS - 1}.rs`), "the newest stayed");
}

test("a request lists what its pruned results were about", { skip }, () => {
  const context = manager({ preset: "aceclaw" });
  const { compaction } = context.request(work());
  checkSummaryOfTheStart(compaction, "pruned");
  assert.equal(compaction.record, null);
  // Once told, it is not told again.
  assert.equal(context.request(work()).compaction, null);
});

test("a manual compaction that only prunes, and its plan, list the same", {
  skip,
}, async () => {
  const context = manager({ preset: "aceclaw" });
  const plan = context.plan(work());
  assert.equal(plan.outcome, "prune");
  const outcome = await context.compact(work());
  checkSummaryOfTheStart(outcome, "pruned");
  assert.deepEqual(plan.extracted, outcome.extracted);
  assert.deepEqual(context.request(work()).compaction.extracted, outcome.extracted);
});

for (const [name, more] of /** @type {const} */ ([
  ["without a summarizer", {}],
  ["with a summarizer that is not asked", { summarize: async () => "x" }],
]))
  test(`a request's own fold ${name} lists what it removed`, { skip }, () => {
    const context = manager({ preset: "retention", ...more });
    /** @type {any} */
    let fold = null;
    const history = work(40, 300);
    for (let end = 3; end <= history.length && !fold; end += 2) {
      const { compaction } = context.request(history.slice(0, end));
      if (compaction?.record) fold = compaction;
    }
    assert.equal(fold?.status, "folded");
    const { readFiles, commands, errors, identifiers } = fold.extracted;
    assert.ok(readFiles.includes("src/part0.rs"), JSON.stringify(readFiles));
    assert.ok(commands.includes("cargo test --package part0"), JSON.stringify(commands));
    assert.ok(errors.length > 0 && identifiers.length > 0);
    assert.deepEqual(fold.record.details, fold.extracted);
  });

test("each pruned result is listed once", { skip }, () => {
  const context = manager({ preset: "aceclaw" });
  const history = work(40);
  /** @type {Map<string, number>} */
  const seen = new Map();
  for (let end = 3; end <= history.length; end += 2) {
    const { compaction } = context.request(history.slice(0, end));
    for (const path of compaction?.status === "pruned" ? compaction.extracted.readFiles : [])
      seen.set(path, (seen.get(path) ?? 0) + 1);
  }
  assert.ok(seen.size > 5, `${seen.size} files`);
  assert.deepEqual(
    [...seen].filter(([, times]) => times > 1),
    [],
  );
});

test("secrets are redacted from the description of a pruned call", { skip }, () => {
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const history = JSON.parse(
    JSON.stringify(work()).replace("cargo test --package part0", `curl -H token:${secret} host`),
  );
  for (const [redact, leaks] of /** @type {const} */ ([
    [true, false],
    [false, true],
  ])) {
    const context = manager({ preset: "aceclaw", summary: { redact } });
    const { compaction } = context.request(history);
    assert.equal(compaction.status, "pruned");
    assert.equal(JSON.stringify(compaction.extracted).includes(secret), leaks);
  }
});

test("a getter that throws while a pruned call is read affects neither the request nor the list", {
  skip,
}, () => {
  const history = work();
  const call = /** @type {any} */ (history[1]).content[1];
  let throws = false;
  const input = call.input;
  Object.defineProperty(call, "input", {
    enumerable: true,
    get: () => {
      if (throws) throw new Error("of the host's own");
      return input;
    },
  });
  const context = manager({ preset: "aceclaw" });
  context.request(history.slice(0, 3));
  throws = true;
  assert.throws(() => context.request(history), /of the host's own/);
  throws = false;
  checkSummaryOfTheStart(context.request(history).compaction, "pruned");
});
