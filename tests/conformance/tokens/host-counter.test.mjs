// @ts-check
/** A counter of the host's: asked outside the core, once for each text, and what it says is what counts. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, ask, grow, skip, words, work } from "../support/small-history.mjs";

const window = { contextTokens: 6_000, maxOutputTokens: 500 };
/** Equal to the ratio `chars/4`, so that the core's own count is at hand. */
const quarter = (/** @type {string} */ text) => Math.ceil(text.length / 4);
const parts = {
  system: "You help with files.",
  tools: [{ name: "read", description: "reads a file", input_schema: { type: "object" } }],
};

test("an estimator function gives the same counts as the same ratio, kind by kind", {
  skip,
}, () => {
  const request = { ...parts, messages: work(6) };
  const ours = api.estimateRequest(request, { estimator: "chars/4" });
  assert.deepEqual(api.estimateRequest(request, { estimator: quarter }), ours);
  const double = api.estimateRequest(request, {
    estimator: (/** @type {string} */ text) => 2 * quarter(text),
  });
  assert.equal(double.byKind.text, 2 * ours.byKind.text);
  assert.equal(double.byKind.overhead - ours.byKind.overhead > 0, true);
});

test("a host's counter is called once for each text of a session", { skip }, () => {
  const history = work(20);
  /** @type {string[]} */
  const asked = [];
  const estimator = (/** @type {string} */ text) => {
    asked.push(text);
    return quarter(text);
  };
  const context = new api.ContextManager({ window: { contextTokens: 1_000_000 }, estimator });
  for (let end = 1; end <= history.length; end += 1) context.request(history.slice(0, end));
  const growing = asked.splice(0);
  const uncounted = new api.ContextManager({ window: { contextTokens: 1_000_000 }, estimator });
  uncounted.request(history);
  assert.ok(growing.length >= history.length);
  assert.deepEqual(growing, asked);
});

test("another counter function counts all messages again, the same one none", { skip }, () => {
  const [history, large] = [work(20), { contextTokens: 1_000_000 }];
  let asked = 0;
  const double = (/** @type {string} */ text) => {
    asked += 1;
    return 2 * quarter(text);
  };
  const context = new api.ContextManager({ window: large, estimator: quarter });
  context.request(history, parts);
  context.setModel({ estimator: double });
  const { tokens } = context.request(history, parts);
  const fresh = new api.ContextManager({ window: large, estimator: double });
  assert.equal(tokens, fresh.request(history, parts).tokens);
  assert.ok(asked > history.length);
  asked = 0;
  context.setModel({ estimator: double, window: { contextTokens: 900_000 } });
  assert.equal(context.request(history, parts).tokens, tokens);
  assert.ok(asked < history.length, `${asked} texts`);
});

test("requests fit the window by the host's counter, through edits and folds", { skip }, () => {
  // A tokenizer that sees three times as much as the default profile.
  const estimator = (/** @type {string} */ text) => Math.ceil(text.length * 0.75);
  const context = new api.ContextManager({ window, estimator });
  const history = work(60);
  const answers = grow(context, history);
  assert.ok(answers.some((/** @type {any} */ one) => one.edits.length > 0 || one.compaction));
  for (const answer of answers) {
    assert.equal(answer.fits, true);
    const counted = api.estimateRequest({ messages: answer.messages }, { estimator }).tokens;
    assert.ok(counted <= 5_500, `${counted} tokens by the host's counter`);
  }
});

test("a counter that returns no number fails its call, and the next call works", {
  skip,
}, () => {
  const history = [ask(`look ${words(20, "q")}`)];
  let answer = () => Number.NaN;
  const context = new api.ContextManager({ window, estimator: () => answer() });
  assert.throws(() => context.request(history), {
    code: "INVALID_ARGUMENT",
    message: /estimator: expected a function that gives a finite number, 0 or more, got NaN/,
  });
  answer = () => 40;
  assert.equal(context.request(history).tokens, 40 + 4);
  assert.throws(() => new api.ContextManager({ window, estimator: null }), {
    code: "INVALID_ARGUMENT",
  });
});

test("a replay with an estimator function equals one with the same ratio", { skip }, () => {
  const messages = work(40);
  const calls = messages.map((_, at) => ({ sent: at + 1, at: at * 1000 }));
  const session = { format: "", messageFormat: "anthropic", messages, calls, compactions: [] };
  const big = { window: { contextTokens: 1_000_000 } };
  const ours = api.replay(session, { ...big, estimator: "chars/4" });
  const theirs = api.replay(session, { ...big, estimator: quarter });
  const sizes = (/** @type {any} */ run) =>
    run.calls.map((/** @type {any} */ call) => call.unmanaged);
  assert.deepEqual(sizes(theirs), sizes(ours));
});
