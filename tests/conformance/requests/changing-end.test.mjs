// @ts-check
/**
 * Hosts whose history ends otherwise each turn: a reminder or a prompt for notes after it, which is in no later history. Only
 * the end that is another is measured again, and the request is that of a session which reads all of it.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);
const skip = !api && why;
const MOST = 2.2;

/** @param {string} content */
const user = (content) => ({ role: "user", content });
/** @param {string} content */
const assistant = (content) => ({ role: "assistant", content });

/** A host's own class, whose instances are read each time. */
class Message {}

/** @param {any[]} messages */
const instances = (messages) =>
  messages.map((message) => Object.assign(new Message(), structuredClone(message)));

/** @param {any[]} messages @returns {any[]} */
const plain = (messages) => messages.map((message) => ({ ...message }));

/**
 * Turns with a last message that is in no later request.
 * @param {number} turns @param {(list: any[]) => any[]} through
 */
function reminded(turns, through = (list) => list) {
  const context = new api.ContextManager({ window: { contextTokens: 1e6 }, format: "anthropic" });
  /** @type {any[]} */
  const history = [];
  for (let turn = 0; turn < turns; turn += 1) {
    history.push(user(`question ${turn}`));
    const passed = [...history, user(`reminder ${turn}`)];
    const { messages } = context.request(through(passed));
    assert.deepEqual(messages.slice(-1), passed.slice(-1));
    history.push(assistant(`answer ${turn}`));
  }
  return context.counters();
}

test("a last message that changes each turn takes time in proportion to the turns", {
  skip,
}, () => {
  const [once, twice] = [reminded(300), reminded(600)];
  for (const name of ["bytesMeasured", "blocksVisited", "itemsWritten"]) {
    const ratio = twice[name] / once[name];
    console.log(`${name}: ${once[name]} in 300 turns, ${twice[name]} in 600: ${ratio.toFixed(2)}`);
    assert.ok(ratio <= MOST, `${name}: ${ratio}`);
  }
});

test("a last message that changes each turn replaces the previous one", {
  skip,
}, () => {
  const options = { window: { contextTokens: 1e6 }, format: "anthropic" };
  const context = new api.ContextManager(options);
  const history = [user("start"), assistant("yes")];
  for (let turn = 0; turn < 30; turn += 1) {
    history.push(user(`question ${turn}`));
    const ends = turn % 3 === 0 ? [] : [assistant("well"), user(`reminder ${turn}`)];
    const passed = [...history, ...ends];
    const fresh = new api.ContextManager(options).request(passed);
    const got = context.request(passed);
    assert.deepEqual(got.messages, fresh.messages);
    assert.deepEqual([got.tokens, got.forgotten], [fresh.tokens, 0]);
    // Asked again without it, as after a prompt for notes.
    const again = context.request(history);
    assert.deepEqual(again.messages, history);
    history.push(assistant(`answer ${turn}`));
  }
});

test("a session whose last message changes decides like one that reads the whole history", {
  skip,
}, () => {
  const options = { window: { contextTokens: 8_000 }, format: "anthropic", clock: () => 0 };
  const context = new api.ContextManager(options);
  const history = [user("start")];
  const reader = new api.ContextManager(options);
  let folds = 0;
  for (let turn = 0; turn < 120; turn += 1) {
    const id = `t${turn}`;
    history.push(
      { role: "assistant", content: [{ type: "tool_use", id, name: "read", input: { turn } }] },
      user(
        /** @type {any} */ ([
          {
            type: "tool_result",
            tool_use_id: id,
            content: `src/f${turn % 9}.rs `.repeat(60 + turn),
          },
        ]),
      ),
    );
    const passed = [...history, user(`reminder ${turn}`)];
    const got = context.request(passed);
    const other = reader.request(instances(passed));
    assert.deepEqual(got.messages, plain(other.messages), `turn ${turn}`);
    assert.deepEqual([got.epoch, got.tokens], [other.epoch, other.tokens]);
    assert.ok(got.fits);
    folds += got.compaction?.record ? 1 : 0;
  }
  assert.ok(folds > 1, `${folds} folds`);
  const [{ bytesMeasured }, all] = [context.counters(), reader.counters()];
  console.log(`${bytesMeasured} bytes measured, ${all.bytesMeasured} by the other`);
  assert.ok(5 * bytesMeasured < all.bytesMeasured);
});

test("user texts that a fold kept are still sent after an earlier message was removed", {
  skip,
}, () => {
  const options = {
    window: { contextTokens: 6_000, maxOutputTokens: 500 },
    format: "anthropic",
    clock: () => 0,
  };
  const long = assistant("word ".repeat(3_400));
  const aside = assistant("well");
  const [one, other] = [user("first"), user("keep this")];
  const rest = [long, user("and this"), long, user("now"), long, user("so")];
  const history = [one, assistant("yes"), user("second"), aside, other, ...rest];
  const without = history.filter((message) => message !== aside);
  const context = new api.ContextManager(options);
  for (const passed of [history, without, history, without]) {
    const got = context.request(structuredClone(passed));
    const fresh = new api.ContextManager(options).request(passed);
    assert.deepEqual(got.messages, fresh.messages);
    assert.match(JSON.stringify(got.messages[0]), /were removed.*second.*keep this/);
  }
});

test("two results with the same text are distinguished by their calls", {
  skip,
}, () => {
  const call = (/** @type {string} */ id) => ({
    id,
    type: "function",
    function: { name: "write", arguments: "{}" },
  });
  const done = (/** @type {string} */ id) => ({ role: "tool", tool_call_id: id, content: "ok" });
  const asked = [
    user("write both"),
    { role: "assistant", content: null, tool_calls: [call("a"), call("b")] },
  ];
  const options = { window: { contextTokens: 1e5 }, format: "openai-chat" };
  const context = new api.ContextManager(options);
  context.request([...asked, done("a")]);
  const passed = [...asked, done("b"), done("a")];
  const fresh = new api.ContextManager(options).request(passed);
  assert.deepEqual(context.request(passed).messages, fresh.messages);
});

test("a pending provider-run call is sent again after what followed it was removed", {
  skip,
}, () => {
  const call = { type: "server_tool_use", id: "s1", name: "web_search", input: { query: "tides" } };
  const waits = { role: "assistant", content: [{ type: "text", text: "One moment." }, call] };
  const history = [user("When is high tide?"), waits];
  const options = { window: { contextTokens: 1e5 }, format: "anthropic" };
  const context = new api.ContextManager(options);
  const followed = context.request([...history, user("Never mind.")]);
  assert.doesNotMatch(JSON.stringify(followed.messages), /server_tool_use/);
  const fresh = new api.ContextManager(options).request(history);
  assert.deepEqual(context.request(structuredClone(history)).messages, fresh.messages);
  assert.match(JSON.stringify(fresh.messages), /server_tool_use/);
});

/** A call and its result. @type {Record<string, [call: (id: string) => any, result: (id: string) => any]>} */
const CALLS = {
  anthropic: [
    (id) => assistantWith({ type: "tool_use", id, name: "read", input: { path: "a" } }),
    (id) => ({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content: id }] }),
  ],
  "openai-chat": [
    (id) => ({
      role: "assistant",
      content: null,
      tool_calls: [{ id, type: "function", function: { name: "read", arguments: "{}" } }],
    }),
    (id) => ({ role: "tool", tool_call_id: id, content: id }),
  ],
  "openai-responses": [
    (id) => ({ type: "function_call", call_id: id, name: "read", arguments: "{}" }),
    (id) => ({ type: "function_call_output", call_id: id, output: id }),
  ],
};
/** @param {object} block */
const assistantWith = (block) => ({ role: "assistant", content: [block] });

for (const [format, [call, result]] of Object.entries(CALLS))
  test(`a repeated call under another id gets its own result (${format})`, {
    skip,
  }, () => {
    const options = { window: { contextTokens: 100_000 }, format, clock: () => 0 };
    const done = [user("a"), call("one"), result("one"), user("go on")];
    for (const histories of [
      [[call("a")], [call("b"), result("b")]],
      [[call("a"), result("a")], [call("b")], [call("b"), result("b")]],
      [[call("a")], [call("b")], [call("c"), result("c")], [call("d"), result("d"), user("so?")]],
      // A call of an id that is known, which goes out under one of ours.
      [[call("one")], [call("b"), result("b")]],
      [[user("?")], [user("!"), call("a")], [user("!"), call("b"), result("b")]],
    ]) {
      const context = new api.ContextManager(options);
      for (const history of histories) {
        const passed = JSON.parse(JSON.stringify([...done, ...history]));
        const { messages } = context.request(passed);
        assert.deepEqual(messages, new api.ContextManager(options).request(passed).messages);
        assert.deepEqual(api.validate(messages, format), []);
      }
    }
  });

/** A reading agent's turn. @param {number} turn */
function read(turn) {
  const id = `t${turn}`;
  const text = `src/f${turn % 9}.rs part_${turn} `.repeat(40 + (turn % 50));
  return [
    user(`look at src/f${turn % 9}.rs`),
    assistantWith({ type: "tool_use", id, name: "read", input: { turn } }),
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: text }] },
    assistant(`part_${turn} is as src/f${(turn + 1) % 9}.rs says`),
  ];
}

/** The message with another text. @param {any} message @param {string} text */
function edited({ role, content }, text) {
  if (typeof content === "string") return { role, content: text };
  const [part] = content;
  if (part.type === "tool_use") return { role, content: [{ ...part, input: { path: text } }] };
  return { role, content: [{ ...part, content: text }] };
}

for (const contextTokens of [9_000, 1_000_000])
  test(`a message that is edited anywhere is decided as if all were read again (${contextTokens} tokens)`, {
    skip,
  }, () => {
    const window = { contextTokens, maxOutputTokens: 500 };
    const options = { window, format: "anthropic", clock: () => 0 };
    const [context, copied, reader] = [0, 1, 2].map(() => new api.ContextManager(options));
    /** @type {any[]} */
    let history = [];
    for (let turn = 0; turn < 160; turn += 1) {
      history = [...history, ...read(turn)];
      const back = [1, 2, 3, 4, 7, 10, 13, 33, 400][turn % 9] ?? 0;
      const at = history.length - back;
      const message = history[at];
      if (turn % 4 === 3 && message) {
        // The same object with something else in it counts where an older message is another.
        if (back > 9 && at > 4) Object.assign(history[at - 4], edited(history[at - 4], "in place"));
        history = history.with(at, edited(message, `edited ${turn}`));
        if (turn % 12 === 3) history = history.toSpliced(at, 1);
      }
      const requests = [
        context.request(history),
        copied.request(structuredClone(history)),
        reader.request(instances(history)),
      ];
      const [one, other, fresh] = requests.map(({ messages, epoch, tokens, why, edits }) => ({
        ...{ messages: plain(messages), epoch, tokens, why, edits },
      }));
      assert.deepEqual(one, fresh, `turn ${turn}`);
      assert.deepEqual(other, fresh, `turn ${turn}`);
    }
    const [one, other, all] = [context, copied, reader].map((it) => it.counters().bytesMeasured);
    console.log(`${one} and ${other} bytes measured, ${all} where all are read`);
    assert.ok(5 * one < all && 5 * other < all);
  });

test("a call that is cut while it has no result costs what stands in place of that, and the request fits", {
  skip,
}, () => {
  const text = Array.from({ length: 3_000 }, (_, at) => `word${at}`).join(" ");
  const call = (/** @type {string} */ toolCallId) => {
    return { type: "tool-write", toolCallId, state: "input-available", input: { text } };
  };
  const history = [
    { id: "m0", role: "user", parts: [{ type: "text", text: "Write it." }] },
    { id: "m1", role: "assistant", parts: [{ type: "step-start" }, call("c0"), call("c1")] },
    { id: "m2", role: "user", parts: [{ type: "text", text: "Go on." }] },
  ];
  const window = { contextTokens: 4_000, maxOutputTokens: 500 };
  const options = { format: "ai-sdk", provider: "openai-chat", window };
  for (const messages of [history.slice(0, 2), history]) {
    const context = new api.ContextManager(options);
    const sent = context.request(messages);
    const { tokens } = api.estimateRequest({ messages: sent.messages }, { format: "ai-sdk" });
    assert.deepEqual([sent.tokens, sent.fits, tokens <= 3_500], [tokens, true, true]);
    const again = api.ContextManager.restore(context.snapshot(), options).request(messages);
    assert.deepEqual([again.tokens, again.messages], [tokens, sent.messages]);
  }
});
