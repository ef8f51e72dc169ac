// @ts-check
/** Configurations of other systems in their own words: what they set here, and what is refused by name. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, good, manager, skip, talk } from "../support/agent-session.mjs";

const BUDGET = {
  agents: {
    defaults: {
      contextTokens: 64_000,
      compaction: {
        enabled: true,
        strategy: "truncate",
        thresholdPct: 70,
        headProtection: 12,
        tailProtection: 4,
        summaryPrefix: "[FOR REFERENCE]",
      },
    },
  },
};

/** Whose configuration, and what it becomes. @type {Array<[string, object, object]>} */
const CONFIGS = [
  [
    "context-budget",
    BUDGET,
    {
      options: {
        preset: "context-budget",
        window: { contextTokens: 64_000 },
        noop: false,
        strategy: "truncate",
        trigger: 0.7,
        // The comments of its document: the head is the last messages, the tail the first.
        protectLast: 12,
        protectFirst: 4,
        summary: { prefix: "[FOR REFERENCE]" },
      },
    },
  ],
  [
    "context-budget",
    BUDGET.agents.defaults.compaction,
    {
      options: {
        preset: "context-budget",
        noop: false,
        strategy: "truncate",
        trigger: 0.7,
        protectLast: 12,
        protectFirst: 4,
        summary: { prefix: "[FOR REFERENCE]" },
      },
    },
  ],
  [
    "goclaw",
    {
      session: { compaction: { ollama: { url: "http://127.0.0.1:1234", model: "small" } } },
      promptCache: { pollInterval: 30 },
      channels: { telegram: { historyTurns: 40 } },
    },
    {
      options: { preset: "goclaw" },
      summarizer: { baseUrl: "http://127.0.0.1:1234", model: "small" },
      workspace: { poll: 30 },
      channels: { telegram: { historyTurns: 40 } },
    },
  ],
  [
    "openclaw",
    { channels: { signal: { historyTurns: 9 } }, agents: { defaults: { contextTokens: 9_000 } } },
    {
      options: { preset: "openclaw", window: { contextTokens: 9_000 } },
      channels: { signal: { historyTurns: 9 } },
    },
  ],
  [
    "aceclaw",
    {
      contextTokens: 100_000,
      maxOutput: 9_000,
      threshold: 0.8,
      pruneTarget: 0.5,
      protectedTurns: 4,
      maxPerTierChars: 10_000,
      maxTotalChars: 90_000,
    },
    {
      options: {
        preset: "aceclaw",
        window: { contextTokens: 100_000, maxOutputTokens: 9_000 },
        trigger: 0.8,
        target: 0.5,
        protectTurns: 4,
      },
      budget: { maxPerTierChars: 10_000, maxTotalChars: 90_000 },
    },
  ],
  [
    "aiclaw",
    { FastModelName: "small" },
    { options: { preset: "aiclaw" }, summarizer: { model: "small" } },
  ],
  [
    "oneclaw",
    { chars_per_token: 4, budget_tokens: 2_000 },
    { options: { estimator: "chars/4", window: { contextTokens: 2_000 } } },
  ],
  [
    "hermes",
    { context_length: 200_000, threshold_percent: 0.6, protect_first_n: 2, protect_last_n: 9 },
    {
      options: {
        preset: "hermes",
        window: { contextTokens: 200_000 },
        trigger: 0.6,
        protectFirst: 2,
        protectLast: 9,
      },
    },
  ],
];

for (const [system, config, expected] of CONFIGS) {
  test(`a configuration of ${system} becomes options: ${Object.keys(config)}`, { skip }, () => {
    const before = structuredClone(config);
    const { options, ...rest } = api.optionsFrom(system, config);
    assert.deepEqual({ options, ...rest }, expected);
    assert.deepEqual(config, before, "the configuration is not modified");
    new api.ContextManager({ window: { contextTokens: 100_000 }, ...options });
  });
}

test("a session with another system's configuration keeps the messages that its comments name", {
  skip,
}, async () => {
  const { options } = api.optionsFrom("context-budget", {
    contextTokens: 20_000,
    compaction: { headProtection: 10, tailProtection: 3, thresholdPct: 50 },
  });
  const { context } = manager(async (/** @type {any} */ job) => good(job), options);
  const history = talk(25);
  const { firstKept, kept } = context.plan(history);
  assert.deepEqual(kept[0], [0, 3]);
  assert.ok(firstKept >= history.length - 12 && firstKept <= history.length - 10, `${firstKept}`);
});

test("a configuration that switches compaction off changes nothing", { skip }, () => {
  const compaction = { enabled: false };
  const { options } = api.optionsFrom("context-budget", { contextTokens: 2_000, compaction });
  const history = talk(25);
  assert.deepEqual(manager(undefined, options).context.request(history).messages, history);
});

/** @type {Array<[string, any, string, RegExp]>} */
const WRONG = [
  [
    "context-budget",
    { compaction: { tresholdPct: 80 } },
    "compaction.tresholdPct",
    /Did you mean "compaction.thresholdPct"/,
  ],
  [
    "context-budget",
    { thresholdPct: 80, keepTail: 4 },
    "keepTail",
    /The options are enabled, strategy/,
  ],
  [
    "context-budget",
    { compaction: { thresholdPct: "80" } },
    "compaction.thresholdPct",
    /type number/,
  ],
  ["context-budget", { compaction: true }, "compaction", /an object/],
  [
    "goclaw",
    { session: { compaction: { keepPercent: 40 } } },
    "session.compaction.keepPercent",
    /preset `goclaw` has/,
  ],
  [
    "goclaw",
    { session: { compaction: { ollama: { url: 7 } } } },
    "session.compaction.ollama.url",
    /type string/,
  ],
  ["aceclaw", { systemPromptTokens: 4 }, "systemPromptTokens", /`system`/],
  ["oneclaw", { chars_per_token: 3 }, "chars_per_token", /4 or 2.1/],
  ["aiclaw", { fastModel: "x" }, "fastModel", /FastModelName/],
  ["nanoclaw", {}, "system", /one of aceclaw, aiclaw/],
  ["constructor", {}, "system", /one of aceclaw, aiclaw/],
  ["goclaw", null, "config", /an object/],
  ["goclaw", [], "config", /an object/],
];

for (const [system, config, argument, message] of WRONG) {
  test(`${system}: ${JSON.stringify(config)} is refused by name`, { skip }, () => {
    assert.throws(
      () => api.optionsFrom(system, config),
      (/** @type {any} */ error) => {
        assert.deepEqual([error.code, error.info.argument], ["INVALID_ARGUMENT", argument]);
        assert.match(error.message, message);
        return true;
      },
    );
  });
}
