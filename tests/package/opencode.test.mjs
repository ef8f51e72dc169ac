/** `plimsoll/opencode` on messages as opencode has them; in opencode itself it is tested by `cargo xtask test --hosts`. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { project } from "../support/project.mjs";

const entry = join(project(), "node_modules/plimsoll/dist/entry/opencode.js");
const { plugin } = await import(pathToFileURL(entry).href);

const sessionID = "ses_1";
const FACT = "The audit number is ZX-4471.";
const BODY = "const berth = ledger.find(ship);\n".repeat(60);
const limit = { context: 16_000, output: 1_000 };
/** What opencode's client knows of its models. */
const client = {
  config: {
    providers: async () => ({
      data: { providers: [{ id: "local", models: { strict: { limit, api: { npm: "openai" } } } }] },
    }),
  },
};
const part = (at, fields) => ({ id: `prt_${at}`, messageID: `msg_${at}`, sessionID, ...fields });
const user = (at, text) => ({
  info: {
    id: `msg_${at}`,
    sessionID,
    role: "user",
    model: { providerID: "local", modelID: "strict" },
  },
  parts: [
    part(at, { type: "text", text }),
    part(at, { type: "text", text: "unsent", ignored: true }),
  ],
});
const step = (at, tokens = 0) => {
  const output = `src/berth${at}.js\n${BODY}`;
  const attachments = [
    part(at, { type: "file", mime: "image/png", url: "data:image/png;base64,AA" }),
  ];
  const state = { status: "completed", input: { path: `src/berth${at}.js` }, output, attachments };
  const counted = { input: tokens, output: 20, reasoning: 0, cache: { read: 0, write: 0 } };
  return {
    info: { id: `msg_${at}`, sessionID, role: "assistant", tokens: counted },
    parts: [
      part(at, { type: "step-start" }),
      part(at, { type: "tool", tool: "read", callID: `call_${at}`, state }),
      part(at, { type: "step-finish", reason: "tool-calls" }),
    ],
  };
};
const transform = async (hooks, messages) => {
  const output = { messages: [...messages] };
  await hooks["experimental.chat.messages.transform"]({}, output);
  return output.messages;
};
const tokensOf = (messages) =>
  Math.ceil(JSON.stringify(messages.map(({ parts }) => parts)).length / 4);

test("a long session fits a small window, and opencode's objects stay unchanged", async () => {
  const hooks = await plugin()({ client });
  const history = [user(0, `${FACT} Read every berth's file.`)];
  let sent = [];
  for (let at = 1; at <= 50; at += 1) {
    history.push(step(at, tokensOf(sent)));
    const before = structuredClone(history);
    sent = await transform(hooks, history);
    assert.deepEqual(history, before);
    assert.ok(JSON.stringify(sent).includes(FACT));
    assert.ok(tokensOf(sent) <= limit.context, `${tokensOf(sent)}`);
    for (const { info, parts } of sent) {
      assert.ok(info.id && info.sessionID === sessionID && parts.length > 0);
      for (const one of parts.filter(({ type }) => type === "tool")) {
        assert.equal(typeof one.state.output, "string");
        // The image of a result goes with its text.
        assert.equal(one.state.output.includes(BODY), "attachments" in one.state);
      }
    }
  }
  assert.ok(tokensOf(history) > limit.context, "all of it would not fit");
  assert.equal(sent.at(-1), history.at(-1), "what is sent whole is opencode's own object");
});

test("a failed answer that opencode does not send is not sent", async () => {
  const hooks = await plugin({ window: { contextTokens: 16_000 } })({ client });
  const failed = { ...step(1), parts: [part(1, { type: "step-start" })] };
  failed.info = { ...failed.info, error: { name: "APIError" } };
  const sent = await transform(hooks, [user(0, FACT), failed, user(2, "Once more.")]);
  assert.ok(sent.every(({ info }) => info.id !== "msg_1"));
});

test("summaries by opencode are kept, and its prompt lists what was removed", async () => {
  const hooks = await plugin({ window: { contextTokens: 8_000, maxOutputTokens: 500 } })({
    client,
  });
  const history = [user(0, FACT)];
  for (let at = 1; at <= 60; at += 1) {
    history.push(step(at));
    await transform(hooks, history);
  }
  const output = { context: [] };
  await hooks["experimental.session.compacting"]({ sessionID }, output);
  assert.equal(output.context.length, 1, "a fold");
  assert.deepEqual(await transform(hooks, history), history);
  assert.notDeepEqual(await transform(hooks, history), history);
});

test("a model that opencode could not tell of at first is known from the next call on", async () => {
  let asked = 0;
  const providers = async () => {
    asked += 1;
    return asked === 1 ? { error: "not yet" } : client.config.providers();
  };
  const hooks = await plugin()({ client: { config: { providers } } });
  const history = [user(0, FACT), ...Array.from({ length: 50 }, (_, at) => step(at + 1))];
  assert.deepEqual(await transform(hooks, history), history, "the window is unknown");
  for (const _ of [1, 2]) {
    const sent = await transform(hooks, history);
    assert.ok(tokensOf(sent) <= limit.context, `${tokensOf(sent)}`);
  }
  assert.equal(asked, 2);
});
