// @ts-check
/** Sessions in which one member of one message has a value of another type: only that message is lost, whatever the member is. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { history, render } from "../generated/histories.mjs";
import { pairs } from "../providers/pairs.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);

const formats = new Map(pairs.map(({ format, provider }) => [format, provider]));
/** The first generated history that no rule refuses. */
const clean = Array.from({ length: 60 }, (_, at) => history(at + 1)).find((one) => one.clean);
const VALUES = [-5.5, "x", null, [], {}, true];
/** So many damages are left out for each that is tried. */
const oneIn = sized({ short: 127, ci: 23, long: 1 });

/** Every member of a message, as the path to it. @param {any} value @returns {string[][]} */
const pathsOf = (value) =>
  Object.entries(value ?? {}).flatMap(([name, inner]) => [
    [name],
    ...(typeof inner === "object" ? pathsOf(inner).map((path) => [name, ...path]) : []),
  ]);

/** The message with another value at a path. @param {any} message @param {string[]} path @param {unknown} value */
function damaged(message, [name = "", ...rest], value) {
  const copy = Array.isArray(message) ? [...message] : { ...message };
  copy[name] = rest.length > 0 ? damaged(copy[name], rest, value) : value;
  return copy;
}

/** What the package says of the messages without a session: the error, if it refuses one. @param {any[]} messages */
function refused(messages, /** @type {string} */ format, /** @type {string} */ provider) {
  try {
    api.repair(messages, provider, { format });
    return undefined;
  } catch (error) {
    return /** @type {any} */ (error).info;
  }
}

for (const [format, provider] of formats) {
  test(`a session in ${format} with a malformed message is shown and replayed without it`, {
    skip: !api && why,
  }, (t) => {
    // As a file has them.
    const messages = JSON.parse(JSON.stringify(render(clean, format, provider)));
    const calls = messages.map((_, at) => ({ sent: at + 1 }));
    let [tried, unread] = [0, 0];
    for (const [index, message] of messages.entries())
      for (const path of pathsOf(message))
        for (const value of VALUES) {
          tried += 1;
          if (tried % oneIn !== 0) continue;
          const what = `message ${index}, /${path.join("/")}: ${JSON.stringify(value)}`;
          const all = messages.with(index, damaged(message, path, value));
          const error = refused(all, format, provider);
          const receipt = { lines: all.length, read: all.length, unknown: 0, broken: [] };
          const session = {
            format,
            messageFormat: format,
            messages: all,
            calls,
            compactions: [],
            receipt,
          };
          const view = api.recordedView(session);
          const run = api.replay(session, {
            window: { contextTokens: 400, maxOutputTokens: 0 },
            provider,
          });
          const { unreadable = [] } = /** @type {any} */ (receipt);
          assert.deepEqual(
            unreadable.map((/** @type {any} */ one) => one.index),
            error ? [index] : [],
            what,
          );
          let content = "";
          for (const shown of [view, run]) {
            assert.equal(shown.calls.length, calls.length, what);
            assert.equal(shown.messages().length, all.length, what);
            shown.find("x");
            shown.layers();
            shown.changes();
            const { detail } = shown.report(undefined, { detailKey: `message:${index}` });
            content = shown.text(index);
            assert.equal(detail.content, content, what);
          }
          run.next();
          const { source } = run.sent();
          for (const shown of [view, run]) shown[Symbol.dispose]();
          if (!error) continue;
          unread += 1;
          assert.equal(error.code, "MALFORMED_MESSAGE");
          assert.equal(
            unreadable[0].reason,
            `message ${index}, at ${error.path}: expected ${error.expected}`,
          );
          assert.deepEqual(JSON.parse(content), all[index], "it is shown as it is");
          assert.ok(!source.includes(index), what);
        }
    t.diagnostic(`${tried} damages, one in ${oneIn} tried, ${unread} messages unreadable`);
    assert.ok(unread > 0);
  });
}

test("a session that the host made, without a receipt or with a frozen one, is shown all the same", {
  skip: !api && why,
}, () => {
  const messages = [
    { role: "user", content: "go" },
    { role: "user", content: [{ type: "text", text: 7 }] },
  ];
  const beside = { format: "x", messageFormat: "anthropic", calls: [{ sent: 2 }], compactions: [] };
  const receipt = Object.freeze({ lines: 2, read: 2, unknown: 0, broken: [] });
  for (const made of [
    { ...beside, messages },
    { ...beside, messages, receipt },
  ]) {
    for (const shown of [
      api.recordedView(made),
      api.replay(made, { window: { contextTokens: 400 } }),
    ]) {
      assert.equal(shown.messages().length, 2);
      assert.deepEqual(JSON.parse(shown.text(1)), messages[1]);
    }
  }
});

test("a document is shown without what is nested too deeply in it and without tools that no request can have", {
  skip: !api && why,
}, () => {
  const deep = "[".repeat(200) + "]".repeat(200);
  const messages = `{"role":"user","content":"hi"},{"role":"assistant","content":${deep}},{"role":"assistant","content":"yes"}`;
  const tools = `{"name":"a"},{"name":"b","description":"\\ud800"},{"name":"c","input":${deep}}`;
  const session = api.readSession(`{"messages":[${messages}],"tools":[${tools}],"beside":${deep}}`);
  assert.equal(session.messageCount, 2);
  assert.deepEqual(session.tools, [{ name: "a" }]);
  assert.deepEqual(session.receipt.broken, [{ line: 2, reason: "nested deeper than 127 levels" }]);
  assert.equal(api.recordedView(session).calls.length, 1);
  const run = api.replay(session, { window: { contextTokens: 8_000 } });
  assert.equal(run.calls.length, 1);
});
