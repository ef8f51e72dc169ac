// @ts-check
/** LangChain histories: the package returns LangChain's own messages, which classes, converters and stores accept. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { inconsistent, liveMessages } from "./langchain-histories.mjs";
import { dice, load, objects } from "./sdks.mjs";

const { api, why } = await loadPackage();
const cores = [];
for (const [name, testing] of [
  ["@langchain/core", "@langchain/core/utils/testing"],
  ["langchain-core-v0", "langchain-core-v0/utils/testing"],
]) {
  const modules = api ? await load(`${name}/messages`, testing) : null;
  if (modules) cores.push({ name, core: modules[0], testing: modules[1] });
}
const skip = api ? (cores.length > 0 ? false : "skipped: @langchain/core is not installed") : why;
const seeds = process.env.PLIMSOLL_LONG ? 60 : 12;

const plain = (/** @type {any} */ value) => JSON.parse(JSON.stringify(value));
/** @param {any} core @param {any[]} messages */
const coerced = (core, messages) =>
  messages.map((message) => (message.getType ? message : core.coerceMessageLikeToMessage(message)));
const written = {
  live: (/** @type {any[]} */ messages) => messages,
  constructor: (/** @type {any[]} */ messages) => plain(messages),
  stored: (/** @type {any[]} */ messages) => plain(messages.map((message) => message.toDict())),
  dicts: (/** @type {any[]} */ messages) =>
    plain(messages.map((message) => ({ ...message.toJSON().kwargs, type: message.getType() }))),
};
/** The same back as instances. @param {any} core @param {string} form @param {any[]} messages */
const live = (core, form, messages) =>
  form === "stored" ? core.mapStoredMessagesToChatMessages(messages) : coerced(core, messages);

const manager = (/** @type {any} */ options = {}) =>
  new api.ContextManager({
    window: { contextTokens: 6_000, maxOutputTokens: 500 },
    clock: () => 1_700_000_000_000,
    ...options,
  });

for (const { name, core, testing } of cores) {
  for (const form of /** @type {const} */ (["live", "constructor", "stored", "dicts"])) {
    test(`requests of growing histories are valid messages of ${name} (${form})`, {
      skip,
    }, async () => {
      const all = { edits: 0, folds: 0 };
      for (let seed = 0; seed < seeds; seed += 1) {
        const instances = liveMessages(core, dice(seed), 14);
        const history = written[form](instances);
        const before = plain(history);
        const shared = objects(history);
        const context = manager({ preset: seed % 2 ? "economy" : "balanced" });
        for (let end = 1; end <= history.length; end += 1) {
          const next = instances[end]?.getType();
          if (end < history.length && next !== "ai") continue;
          const view = context.request(history.slice(0, end));
          assert.deepEqual(view.repairs, []);
          all.edits += view.edits.length;
          all.folds += view.compaction?.record ? 1 : 0;
          for (const [at, message] of view.messages.entries()) {
            const from = view.source[at];
            if (from === null) continue;
            const host = history[from];
            assert.equal(Object.getPrototypeOf(message), Object.getPrototypeOf(host));
            if (message === host) continue;
            assert.ok(!shared.has(message));
            // An artifact is none of ours, and what a class was made from is not shared with a copy.
            assert.equal(message.artifact, host.artifact);
            if (form === "live") assert.notEqual(message.lc_kwargs, host.lc_kwargs);
          }
          const sent = live(core, form, view.messages);
          assert.deepEqual(inconsistent(sent), [], `seed ${seed} at ${end}`);
          core.mapStoredMessagesToChatMessages(core.mapChatMessagesToStoredMessages(sent));
          core.getBufferString(sent);
          if (form === "live" && end === history.length) {
            const model = new testing.FakeListChatModel({ responses: ["ok"] });
            assert.equal((await model.invoke(sent)).content, "ok");
            const trimmed = await core.trimMessages(sent, {
              maxTokens: 5,
              strategy: "last",
              tokenCounter: (/** @type {any[]} */ m) => m.length,
            });
            assert.ok(trimmed.length > 0);
          }
        }
        assert.deepEqual(plain(history), before);
      }
      console.log(`${name} ${form}: ${JSON.stringify(all)}`);
      assert.ok(all.edits > 0 && all.folds > 0);
    });
  }

  test(`histories of ${name} with holes are repaired consistently`, { skip }, () => {
    let repairs = 0;
    for (let seed = 0; seed < seeds * 3; seed += 1) {
      const by = dice(1_000 + seed);
      const history = liveMessages(core, by, 5)
        .filter(() => !by.chance(0.12))
        .map((message) => {
          if (by.chance(0.05) && message.tool_call_id) message.tool_call_id = "again";
          if (by.chance(0.1) && message.getType() === "tool") message.content = "";
          return message;
        });
      const before = plain(history);
      const mended = api.repair(history, "openai-chat", { format: "langchain" });
      repairs += mended.repairs.length;
      assert.deepEqual(plain(history), before);
      assert.deepEqual(api.validate(mended.messages, "openai-chat", { format: "langchain" }), []);
      assert.deepEqual(
        api.repair(mended.messages, "openai-chat", { format: "langchain" }).repairs,
        [],
      );
      assert.deepEqual(inconsistent(coerced(core, mended.messages)), [], `seed ${seed}`);
    }
    assert.ok(repairs > 20, `${repairs}`);
  });

  test(`a reused id is renamed in every place of its call (${name})`, { skip }, () => {
    const calls = [{ id: "c", name: "read", args: { a: 1 }, type: "tool_call" }];
    const raw = { id: "c", type: "function", function: { name: "read", arguments: '{"a":1}' } };
    const turn = () => [
      new core.AIMessage({
        content: [{ type: "tool_use", id: "c", name: "read", input: { a: 1 } }],
        tool_calls: calls,
        additional_kwargs: { tool_calls: [raw] },
      }),
      new core.ToolMessage({ content: "x", tool_call_id: "c" }),
    ];
    const history = [new core.HumanMessage("go"), ...turn(), ...turn()];
    const { messages } = api.repair(history, "anthropic", { format: "langchain" });
    const [, , , again, result] = messages;
    assert.ok(again instanceof core.AIMessage && result instanceof core.ToolMessage);
    const ids = [
      again.tool_calls[0].id,
      again.content[0].id,
      again.additional_kwargs.tool_calls[0].id,
      again.lc_kwargs.tool_calls[0].id,
      again.toJSON().kwargs.tool_calls[0].id,
      result.tool_call_id,
      result.lc_kwargs.tool_call_id,
    ];
    assert.deepEqual(ids, Array(7).fill("c_2"));
    assert.equal(history[3].lc_kwargs.tool_calls[0].id, "c");
    assert.equal(messages[1], history[1]);
  });

  test(`\`create\` makes synthetic messages in the host's class (${name})`, { skip }, () => {
    const history = liveMessages(core, dice(3), 20);
    const view = manager({
      create: (/** @type {any} */ made) =>
        made.role === "user"
          ? new core.HumanMessage({ content: made.content })
          : new core.ToolMessage({
              content: made.content,
              tool_call_id: made.toolCallId,
              name: made.toolName,
            }),
    }).request(history);
    assert.ok(view.source.includes(null));
    assert.ok(view.messages.every((/** @type {any} */ message) => core.isBaseMessage(message)));
    assert.deepEqual(inconsistent(view.messages), []);
  });

  test(`persisted messages are recognized (${name})`, { skip }, () => {
    const history = liveMessages(core, dice(5), 10);
    for (const form of /** @type {const} */ (["live", "constructor", "stored"])) {
      const context = manager();
      const first = context.request(written[form](history));
      const again = context.request(
        written[form](
          form === "live"
            ? core.mapStoredMessagesToChatMessages(plain(history.map((it) => it.toDict())))
            : history,
        ),
      );
      assert.deepEqual([again.epoch, again.firstChanged], [first.epoch, null], form);
      assert.deepEqual(
        plain(again.messages),
        plain(first.messages).map((/** @type {any} */ it) => it),
        form,
      );
    }
    // Written in another shape it is measured again, and edited where it now stands.
    const context = manager();
    const before = context.request(history);
    const after = context.request(written.constructor(history));
    assert.ok(before.edits.length > 0 && after.edits.length > 0);
    assert.deepEqual(inconsistent(coerced(core, after.messages)), []);
    // That is told once: what branches off later in the new shape is no other shape again.
    const branch = [...written.constructor(history).slice(0, -1), written.constructor(history)[0]];
    assert.ok(context.request(branch).edits.length < after.edits.length);
  });
}
