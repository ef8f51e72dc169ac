// @ts-check
/** Messages of ours have the time of the first message that they replace, and `create` receives it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, manager, skip, words } from "../support/small-history.mjs";

const ask = (/** @type {number} */ at) => ({ role: "user", content: `next ${at}`, timestamp: at });
const say = (/** @type {number} */ at) => ({
  role: "assistant",
  content: [{ type: "text", text: words(150, `s${at}_`) }],
  stopReason: "stop",
  timestamp: at,
});
const T = 1_700_000_000_000;
const long = () => {
  const history = [];
  for (let at = 0; at < 60; at += 2) history.push(ask(T + at), say(T + at + 1));
  return [...history, ask(T + 99)];
};
const options = {
  window: { contextTokens: 4000 },
  format: "pi",
  estimator: "chars/4",
  clock: () => 1,
};

test("the head of a fold has the time of the first message it replaces", { skip }, () => {
  const own = manager(options);
  const history = long();
  const prepared = own.request(history);
  assert.equal(prepared.source[0], null);
  assert.equal(prepared.messages[0].timestamp, T);
  const woken = api.ContextManager.restore(own.snapshot(), options);
  const again = woken.request(history);
  assert.equal(JSON.stringify(again.messages), JSON.stringify(prepared.messages));
  assert.equal(again.epoch, prepared.epoch);
});

test("a head keeps its time if the stored history has lost its times", {
  skip,
}, () => {
  const own = manager(options);
  const history = long();
  const prepared = own.request(history);
  const stored = history.map(({ timestamp: _, ...rest }) => rest);
  const again = api.ContextManager.restore(own.snapshot(), options).request(stored);
  assert.equal(again.messages[0].timestamp, T);
  assert.equal(JSON.stringify(again.messages[0]), JSON.stringify(prepared.messages[0]));
  assert.equal(again.epoch, prepared.epoch);
});

test("the head has the time of the first message after the system message", { skip }, () => {
  const system = { role: "system", content: "Be brief.", timestamp: T - 9 };
  const { messages, source } = manager(options).request([system, ...long()]);
  assert.deepEqual([source[0], source[1], messages[1].timestamp], [0, null, T]);
});

test("a synthetic result has the time of its call, and a filler the time of its neighbour", {
  skip,
}, () => {
  const call = { type: "toolCall", id: "c", name: "bash", arguments: {} };
  const history = [
    { ...say(T + 1), content: [call], stopReason: "toolUse" },
    ask(T + 5),
    say(T + 7),
  ];
  const prepared = manager({ ...options, window: { contextTokens: 0 } }).request(history);
  const ours = prepared.messages.filter(
    (/** @type {any} */ _, /** @type {number} */ at) => prepared.source[at] === null,
  );
  assert.deepEqual(
    ours.map((/** @type {any} */ it) => [it.role, it.timestamp]),
    [
      ["user", T + 1],
      ["toolResult", T + 1],
      ["user", T + 7],
    ],
  );
});

test("create receives the time and the index of the first message that ours replaces", {
  skip,
}, () => {
  /** @type {any[]} */
  const received = [];
  const create = (/** @type {any} */ { role, content, at, index }) => {
    received.push([role, at, index]);
    return { role, content, timestamp: at ?? 0 };
  };
  const own = manager({ ...options, create });
  const prepared = own.request(long());
  assert.deepEqual(received, [["user", T, 0]]);
  assert.equal(prepared.messages[0].timestamp, T);
  received.length = 0;
  manager({ window: { contextTokens: 0 }, format: "anthropic", create }).request([
    { role: "user", content: "go" },
    { role: "assistant", content: "so" },
  ]);
  assert.deepEqual(received, [["user", null, 1]], "a format without times has none");
});

test("a placeholder at the end keeps its time when the history grows", { skip }, () => {
  const own = manager({ window: { contextTokens: 0 }, format: "pi", provider: "mistral" });
  const start = [ask(T), say(T + 1)];
  const times = (/** @type {any} */ prepared) =>
    prepared.messages.map((/** @type {any} */ it) => it.timestamp);
  const first = own.request(start);
  assert.deepEqual(times(first), [T, T + 1, T + 1]);
  const grown = own.request([...start, say(T + 5), ask(T + 9)]);
  assert.deepEqual(times(grown), [T, T + 1, T + 1, T + 5, T + 9]);
  assert.equal(grown.epoch, first.epoch);
});
