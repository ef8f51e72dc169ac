// @ts-check
/** A host that says nothing of its `max_tokens`: as the window fills it learns, once, that nothing is kept free for the answer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manager, skip, talk } from "../support/agent-session.mjs";

/** Events of a session that fills its window. @param {object} window */
function filled(window) {
  const { context, events } = manager(undefined, { window });
  const types = [];
  for (let steps = 1; steps <= 40; steps += 1) {
    context.request(talk(steps));
    if (steps === 1) types.push(...events.map(({ type }) => type));
  }
  return {
    early: types,
    events: events.filter(({ type }) => type === "output-unreserved"),
    context,
  };
}

test("a window without maxOutputTokens is reported once when it fills", { skip }, () => {
  const { early, events, context } = filled({ contextTokens: 20_000 });
  assert.ok(!early.includes("output-unreserved"), "not while there is room");
  assert.equal(events.length, 1);
  assert.match(events[0].reason, /window\.maxOutputTokens/);
  assert.match(events[0].reason, /capOutput\(\)/);
  context.setModel({ window: { contextTokens: 10_000 } });
  context.request(talk(40));
  assert.equal(events.length, 1);
});

test("a window with maxOutputTokens, even 0, is not reported", { skip }, () => {
  for (const maxOutputTokens of [0, 1_000])
    assert.deepEqual(filled({ contextTokens: 20_000, maxOutputTokens }).events, []);
});
