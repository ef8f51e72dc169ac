// @ts-check
/** A request that does not fit says why: what cannot be removed, how large each part is, and what would help. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, good, prose, skip, talk } from "../support/agent-session.mjs";

const window = { contextTokens: 4_000, maxOutputTokens: 500 };
const manager = (/** @type {any} */ more = {}) =>
  new api.ContextManager({ window, format: "anthropic", estimator: "chars/4", ...more });
const tool = { name: "read", description: prose(3_000), input_schema: { type: "object" } };
const user = (/** @type {string} */ content) => [{ role: "user", content }];
const PARTS = [
  "systemTokens",
  "toolTokens",
  "pinnedTokens",
  "thinkingTokens",
  "lastTurnTokens",
  "otherTokens",
];

/** What was sent with it, a name for what is largest, and what the first advice must say. */
/** @type {Array<[string, any, any, string, RegExp]>} */
const CASES = [
  ["the system prompt", user("hello"), { system: prose(4_000) }, "systemTokens", /system prompt/],
  [
    "the system's own message",
    [{ role: "system", content: prose(4_000) }, ...user("hello")],
    { format: "openai-chat" },
    "systemTokens",
    /system prompt/,
  ],
  ["what we are not shown", user("hello"), { unseenTokens: 5_000 }, "systemTokens", /unseenTokens/],
  ["the tools", user("hello"), { tools: [tool] }, "toolTokens", /trimToolDescriptions/],
  ["the last turn", [...talk(3), ...user(prose(4_000))], {}, "lastTurnTokens", /last message/],
];

for (const [name, messages, { format = "anthropic", ...parts }, largest, help] of CASES) {
  test(`a request that is too large because of ${name} says so, with its tokens`, { skip }, () => {
    const { fits, why, tokens } = manager({ format }).request(messages, parts);
    assert.equal(fits, false);
    const { overTokens, floor } = why;
    assert.equal(overTokens, tokens - 3_500);
    assert.deepEqual([floor.windowTokens, floor.reserveTokens], [4_000, 500]);
    const sizes = PARTS.map((part) => floor[part]);
    assert.equal(
      sizes.reduce((sum, size) => sum + size, 0),
      tokens,
      "the parts are the request",
    );
    assert.equal(floor[largest], Math.max(...sizes));
    assert.match(why.help[0], help);
    assert.match(why.help.at(-1), /larger window/);
    assert.equal(new Set(why.help).size, why.help.length);
  });
}

test("a request that is too large because of pins says so", { skip }, () => {
  const context = manager();
  const messages = [...talk(3), ...user(`keep this: ${prose(4_000)}`)];
  context.request(messages);
  context.pin({ index: messages.length - 1 });
  const more = [...messages, { role: "assistant", content: "fine" }, ...user("go on")];
  const { fits, why } = context.request(more);
  assert.equal(fits, false);
  assert.ok(why.floor.pinnedTokens > 3_500);
  assert.match(why.help[0], /unpin/);
});

test("a request that is too large because of reasoning that must stay says so", { skip }, () => {
  const call = { type: "tool_use", id: "c1", name: "read", input: { path: "a" } };
  const thinking = { type: "thinking", thinking: prose(4_000), signature: "c2ln" };
  const messages = [
    ...user("look"),
    { role: "assistant", content: [thinking, call] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "a" }] },
  ];
  const { fits, why } = manager().request(messages);
  assert.equal(fits, false);
  assert.ok(why.floor.thinkingTokens > 3_500, JSON.stringify(why));
  assert.match(why.help[0], /thinking: "none"/);
  assert.equal(manager({ thinking: "none" }).request(messages).fits, true);
});

test("reasoning stays until a later turn was answered without any", { skip }, () => {
  const context = manager();
  const thinking = { type: "thinking", thinking: prose(4_000), signature: "c2ln" };
  const words = { type: "text", text: "fine" };
  const messages = [
    ...user("look"),
    { role: "assistant", content: [thinking, words] },
    ...user("go on"),
  ];
  assert.equal(context.request(messages).fits, false);
  const more = [...messages, { role: "assistant", content: "done" }, ...user("next")];
  const { fits, why, messages: sent } = context.request(more);
  assert.deepEqual([fits, why], [true, null]);
  assert.deepEqual(sent[1], { role: "assistant", content: [words] });
});

test("an output reserve that is too large is named if a smaller one would fit", { skip }, () => {
  const context = manager({ window: { contextTokens: 4_000, maxOutputTokens: 3_000 } });
  const { fits, why } = context.request(user(prose(1_000)));
  assert.equal(fits, false);
  assert.ok(why.help.some((/** @type {string} */ it) => it.includes("maxOutputTokens")));
});

test("a request that fits or has no window has no floor to explain", { skip }, () => {
  assert.equal(manager().request(talk(20)).why, null);
  const all = manager({ window: { contextTokens: 0 } });
  assert.deepEqual(
    [all.request(talk(20)).fits, all.request(talk(20), { system: prose(4_000) }).why],
    [true, null],
  );
});

test("a plan and a compaction's outcome have the same floor", {
  skip,
}, async () => {
  const parts = { system: prose(4_000) };
  const context = manager({ summarize: async (/** @type {any} */ job) => good(job) });
  const messages = user("hello");
  const { why } = context.request(messages, parts);
  assert.deepEqual(context.plan(messages, parts).floor, why.floor);
  assert.deepEqual((await context.compact(messages, parts)).floor, why.floor);
});

/** So many calls with long results, each in a turn of its own. @param {number} turns */
const reading = (turns) =>
  Array.from({ length: turns }, (_, at) => [
    { role: "user", content: `read ${at}` },
    { role: "assistant", content: [{ type: "tool_use", id: `c${at}`, name: "read", input: {} }] },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: `c${at}`, content: prose(500) }],
    },
    { role: "assistant", content: prose(60) },
  ]).flat();

test("pruneForRequest says whether its result fits and whether shortening was enough", {
  skip,
}, () => {
  const at = (/** @type {number} */ contextTokens, messages = reading(12)) => {
    const options = { preset: "aceclaw", format: "anthropic", estimator: "chars/4" };
    return api.pruneForRequest(messages, { ...options, window: { contextTokens } });
  };
  const roomy = at(100_000);
  assert.deepEqual(
    [roomy.applied, roomy.fits, roomy.isEnough, roomy.why],
    [false, true, true, null],
  );
  const shortened = at(7_500);
  assert.deepEqual(
    [shortened.applied, shortened.fits, shortened.isEnough, shortened.why],
    [true, true, true, null],
  );
  assert.ok(shortened.prunedTokens <= 7_500);
  // Turns had to go: a host that compacts by itself does so now, from its own history.
  const dropped = at(1_500);
  assert.deepEqual([dropped.applied, dropped.fits, dropped.isEnough], [true, true, false]);
  assert.ok(dropped.messages.length < reading(12).length);
  const floor = at(100, user(prose(4_000)));
  assert.deepEqual([floor.fits, floor.isEnough], [false, false]);
  assert.ok(floor.why.floor.lastTurnTokens > 1_000);
});
