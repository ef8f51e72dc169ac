// @ts-check
/** A member of the name `__proto__`, as JSON.parse makes it, in what is edited: it stays a member, and no prototype changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { api, prose, skip } from "../support/agent-session.mjs";
import { packagePath } from "../support/package.mjs";

const own = (/** @type {string} */ json) => JSON.parse(json);
const words = (/** @type {any} */ value) => JSON.stringify(value);

test("an edited copy keeps members named __proto__ at every depth", { skip }, async () => {
  const { edited } = await import(
    new URL("core/edit.js", pathToFileURL(String(packagePath()))).href
  );
  const arguments_ = own(
    '{"__proto__":{"b":1},"deep":{"__proto__":{"c":[1,2]},"text":"old"},"a":1}',
  );
  const message = { role: "assistant", content: [{ type: "tool_use", input: arguments_ }] };
  const before = words(message);
  const edits = [
    [{ op: "replace", path: "/content/0/input/a", value: 2 }, '"a":2'],
    [{ op: "replace", path: "/content/0/input/deep/text", value: "new" }, '"text":"new"'],
    [{ op: "replace", path: "/content/0/input/__proto__/b", value: 2 }, '{"b":2}'],
    [{ op: "replace", path: "/content/0/input/deep/__proto__/c/0", value: 7 }, '{"c":[7,2]}'],
    [{ op: "remove", path: "/content/0/input/deep/text" }, '"deep":{"__proto__":{"c":[1,2]}}'],
    [{ op: "add", path: "/content/0/__proto__", value: { d: 1 } }, '"__proto__":{"d":1}'],
    [{ op: "replace", path: "/content/0/input/__proto__", value: null }, '"__proto__":null'],
  ];
  for (const [op, shown] of /** @type {[any, string][]} */ (edits)) {
    const copy = edited(message, [op]);
    assert.ok(words(copy).includes(shown), `${words(op)}: ${words(copy)}`);
    assert.equal(words(copy).split("__proto__").length - 1, op.op === "add" ? 3 : 2, words(op));
    for (const at of [copy, copy.content[0], copy.content[0].input, copy.content[0].input.deep])
      assert.equal(Object.getPrototypeOf(at), Object.prototype, words(op));
  }
  assert.equal(words(message), before);
  assert.equal(/** @type {any} */ ({}).d, undefined);
});

test("a call whose arguments are cut keeps its other members", { skip }, () => {
  const context = new api.ContextManager({ window: { contextTokens: 3000 }, format: "anthropic" });
  const call = own('{"type":"tool_use","id":"a","name":"write","__proto__":{"kept":true}}');
  call.input = { path: "a.txt", text: prose(9000) };
  const history = [
    { role: "user", content: "write it" },
    { role: "assistant", content: [call] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "ok" }] },
    { role: "assistant", content: "written" },
    { role: "user", content: "and now?" },
  ];
  const { messages } = context.request(history);
  const sent = messages
    .flatMap((/** @type {any} */ it) => it.content)
    .find((/** @type {any} */ it) => it.id === "a");
  assert.notEqual(sent, undefined);
  assert.notEqual(sent, call, "it is edited");
  assert.ok(words(sent).includes('"__proto__":{"kept":true}'), words(sent));
});
