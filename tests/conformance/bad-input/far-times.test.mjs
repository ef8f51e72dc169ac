// @ts-check
/** Session files whose times are no dates: they are read as if there were none. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, skip } from "../support/agent-session.mjs";

/** A session of pi's with this time at every message. @param {number | string} timestamp */
function fileOf(timestamp) {
  /** @type {any[]} */
  const lines = [
    { type: "session", version: 3, id: "x", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/" },
  ];
  const add = (/** @type {object} */ message) => {
    const id = `m${lines.length}`;
    const parentId = lines.length > 1 ? `m${lines.length - 1}` : null;
    lines.push({ type: "message", id, parentId, timestamp, message: { ...message, timestamp } });
  };
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
  for (let at = 0; at < 60; at += 1) {
    const call = { type: "toolCall", id: `t${at}`, name: "read", arguments: { path: `f${at}` } };
    add({ role: "user", content: `q${at}` });
    add({ role: "assistant", content: [call], usage, stopReason: "toolUse" });
    const content = [{ type: "text", text: `line ${at} word `.repeat(300) }];
    add({ role: "toolResult", toolCallId: `t${at}`, toolName: "read", content, isError: false });
    add({ role: "assistant", content: [{ type: "text", text: "d" }], usage, stopReason: "stop" });
  }
  add({ role: "user", content: "z" });
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

for (const time of [
  9e15,
  -9e15,
  1e18,
  "+275761-01-01T00:00:00.000Z",
  "+275760-09-13T00:00:00.001Z",
]) {
  test(`a report treats a session file's time of ${time} as unknown`, { skip }, () => {
    const file = api.readSession(fileOf(time));
    assert.ok(file.calls.length > 0);
    for (const { at } of file.calls) assert.equal(at, undefined);
    const run = api.replay(file, { window: { contextTokens: 8_000 } });
    assert.ok(run.totals.folds > 0, "there is a compaction, whose time is told");
    const [{ timestamp }] = run.report().compactions;
    assert.match(timestamp, /^19\d\d-|^20\d\d-/);
  });
}

test("a call with an impossible date is replayed as a call without a time", { skip }, () => {
  const file = api.readSession(fileOf("2025-01-01T00:00:00.000Z"));
  const played = (/** @type {number | undefined} */ at) => {
    const calls = file.calls.map(({ sent }) => (at === undefined ? { sent } : { sent, at }));
    const run = api.replay({ ...file, calls }, { window: { contextTokens: 8_000 } });
    return { calls: run.calls, report: run.report() };
  };
  for (const at of [9e15, Number.MAX_SAFE_INTEGER]) assert.deepEqual(played(at), played(undefined));
});
