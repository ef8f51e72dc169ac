// @ts-check
/** System messages in pi's transcript: pi replays them itself, and refuses a transcript without the leading one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { copy, manager, skip, words } from "../support/small-history.mjs";

const leading = {
  role: "system",
  content: "",
  sections: { base: words(300, "rule"), tools: null },
  toolsAdded: [{ name: "bash", description: words(100, "does"), parameters: {} }],
  timestamp: 1,
};
const later = { role: "system", content: "\ud83d", toolsRemoved: [{ name: "bash" }], timestamp: 9 };
const ask = (/** @type {number} */ at) => ({
  role: "user",
  content: words(150, `a${at}_`),
  timestamp: at,
});
const say = (/** @type {number} */ at) => ({
  role: "assistant",
  content: [{ type: "text", text: words(150, `s${at}_`) }],
  stopReason: "stop",
  timestamp: at,
});
const options = { window: { contextTokens: 6000 }, estimator: "chars/4", clock: () => 1 };

for (const format of ["pi", "auto"]) {
  test(`system messages stay unchanged through folds (format ${format})`, { skip }, () => {
    const history = [leading, ask(2), say(3), later];
    for (let at = 4; at < 40; at += 2) history.push(ask(at), say(at + 1));
    history.push(ask(99));
    const before = copy(history);
    const own = manager({ ...options, format });
    const prepared = own.request(history);
    assert.ok(prepared.fits);
    assert.ok(prepared.messages.length < history.length, "something was folded");
    assert.equal(prepared.messages[0], leading);
    assert.ok(prepared.messages.includes(later));
    assert.deepEqual(prepared.repairs, []);
    assert.deepEqual(history, before);
    const system = own.inspect().buckets.find((/** @type {any} */ it) => it.bucket === "system");
    assert.ok(system.tokens > 700, `sections and tools are counted: ${system.tokens}`);
  });
}
