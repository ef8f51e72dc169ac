// @ts-check
/** `noop`: a history comes back as it was passed, whatever is wrong with it and however large it is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, good, manager, prose, skip, talk } from "../support/agent-session.mjs";

const WRONG = [
  { role: "assistant", content: [{ type: "tool_use", id: "a", name: "ls", input: {} }] },
  { role: "user", content: "no result came" },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "z", content: "of no call" }] },
  { role: "user", content: [{ type: "text", text: "" }] },
];

test("noop returns an invalid history unchanged", {
  skip,
}, () => {
  const { context } = manager(undefined, { noop: true });
  const same = context.request(WRONG);
  assert.equal(same.messages.length, WRONG.length);
  for (const [at, message] of same.messages.entries()) assert.equal(message, WRONG[at]);
  assert.deepEqual([same.repairs, same.edits, same.compaction], [[], [], null]);
  for (const [at] of WRONG.entries()) {
    const { state, rule, evidence, tokensBefore, tokensAfter } = context.explain(at);
    assert.deepEqual({ state, rule, evidence }, { state: "kept", rule: "keep", evidence: [] });
    assert.equal(tokensAfter, tokensBefore, `message ${at}`);
  }
  const { messages, repairs } = manager(undefined).context.request(WRONG);
  assert.ok(repairs.length > 0);
  assert.notDeepEqual(messages, WRONG);
});

test("noop removes nothing from a history over its window and calls no summarizer", {
  skip,
}, async () => {
  let asked = 0;
  const { context } = manager(
    async (/** @type {any} */ job) => {
      asked += 1;
      return good(job);
    },
    { noop: true },
  );
  const history = talk(60);
  for (let turn = 0; turn < 3; turn += 1) {
    const prepared = await context.prepare(history);
    assert.deepEqual(prepared.messages, history);
    assert.equal(prepared.epoch, 0);
    assert.ok(!prepared.fits && prepared.tokens > 19_000);
    history.push(
      { role: "assistant", content: prose(200) },
      { role: "user", content: `go on, ${turn}` },
    );
  }
  const outcome = await context.compact(history, { force: true });
  assert.deepEqual([outcome.status, asked], ["none", 0]);
  assert.match(outcome.reason, /noop/);
  assert.equal(context.request(history).messages.length, history.length);
});

test("noop must be a boolean, and replay has no such option", {
  skip,
}, () => {
  assert.throws(() => manager(undefined, { noop: 1 }), /noop/);
  const session = api.readSession(
    new TextEncoder().encode(`${JSON.stringify({ role: "user", content: "x" })}\n`),
  );
  const window = { contextTokens: 1_000 };
  assert.throws(() => api.replay(session, { window, noop: true }), /noop/);
});
