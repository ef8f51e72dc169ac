// @ts-check
/** Messages above the largest that is taken: refused by name before anything of them is copied. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, skip, WINDOW } from "../support/agent-session.mjs";

const CAP = 32 * 1024 * 1024;
const user = (/** @type {unknown} */ content) => ({ role: "user", content });
const manager = () => new api.ContextManager({ window: WINDOW, format: "anthropic" });

/** @param {any} error */
const checkRefused = (error) => {
  assert.equal(error.code, "TOO_LARGE", String(error));
  assert.equal(error.info.cap, CAP);
  assert.ok(error.info.size > CAP);
  assert.match(error.info.what, /message 1/);
  return true;
};

test("a message of more than 32 Mi characters is refused, and the session goes on without it", {
  skip,
}, () => {
  const context = manager();
  const history = [user("hello"), user("x".repeat(CAP))];
  context.request([history[0]]);
  const before = context.counters().bytesMeasured;
  assert.throws(() => context.request(history), checkRefused);
  assert.equal(context.counters().bytesMeasured, before, "nothing was measured");
  assert.equal(context.request([user("hello"), user("again")]).messages.length, 2);
});

test("a message whose parts exceed the limit together is refused before it is written as JSON", {
  skip,
}, () => {
  let isWritten = false;
  const { stringify } = JSON;
  JSON.stringify = (/** @type {any[]} */ ...args) => {
    isWritten ||= Array.isArray(args[0]?.content);
    return stringify.apply(JSON, /** @type {any} */ (args));
  };
  try {
    const text = "x".repeat(CAP / 4);
    const parts = Array.from({ length: 5 }, () => ({ type: "text", text }));
    assert.throws(() => manager().request([user("hello"), user(parts)]), checkRefused);
    assert.equal(isWritten, false);
  } finally {
    JSON.stringify = stringify;
  }
});

test("bytes and texts of a message count together towards its limit", { skip }, () => {
  const data = new Uint8Array(CAP / 2);
  const content = [
    { type: "image", data },
    { type: "image", data },
    { type: "text", text: "x" },
  ];
  assert.throws(() => manager().request([user("hello"), user(content)]), checkRefused);
});

test("a message whose JSON exceeds the limit is refused although its texts do not", {
  skip,
}, () => {
  assert.throws(
    () => manager().request([user("hello"), user("\u0001".repeat(CAP / 5))]),
    checkRefused,
  );
});
