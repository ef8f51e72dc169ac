// @ts-check
/** A manager to live with: usage, another model, pins, what was cut, the agent's own tools, and a store. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const window = { contextTokens: 30_000 };

/** @param {number} count @param {string} of */
const words = (count, of) => Array.from({ length: count }, (_, at) => `${of}${at}`).join(" ");

/** A history that grows by a call and its result. */
class Work {
  /** @type {any[]} */
  history = [{ role: "user", content: "find it, and note 4711" }];
  at = 0;

  step() {
    const id = `c${this.at}`;
    const use = { type: "tool_use", id, name: "read", input: { path: `src/f${this.at}.rs` } };
    const text = words(500, `x${this.at}y`);
    this.history.push({ role: "assistant", content: [use] });
    this.history.push({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id, content: text }],
    });
    this.at += 1;
  }

  /** @param {any} context @param {number} count @param {object} [parts] */
  run(context, count, parts) {
    let last;
    for (let step = 0; step < count; step++) {
      this.step();
      last = context.request(this.history, parts);
    }
    return last;
  }
}

/** @param {any[]} messages */
const estimateOf = (messages) => api.estimateRequest({ messages }).tokens;

test("reported usage makes the figures the provider's, and the window is kept by them", {
  skip,
}, () => {
  const context = new api.ContextManager({ window });
  const work = new Work();
  const first = work.run(context, 2);
  assert.equal(first.tokensSource, "estimate");
  context.observe({
    input_tokens: 10,
    cache_read_input_tokens: first.tokens + 4_990,
    output_tokens: 9,
  });
  assert.equal(context.status().used, first.tokens + 5_000);
  assert.equal(context.status().source, "usage+estimate");
  const second = work.run(context, 1);
  assert.equal(second.tokensSource, "usage+estimate");
  // The provider counts half as much again for what comes: by and by new messages are taken for that.
  const roomy = new api.ContextManager({ window: { contextTokens: 900_000 }, preset: "capacity" });
  const other = new Work();
  let used = other.run(roomy, 1).tokens;
  let taken = 0;
  for (let at = 0; at < 12; at++) {
    roomy.observe({ promptTokenCount: used });
    const { tokens } = other.run(roomy, 1);
    const grown = estimateOf(other.history.slice(-2));
    taken = (tokens - used) / grown;
    used += Math.round(1.5 * grown);
  }
  assert.ok(Math.abs(taken - 1.5) < 0.1, `${taken}`);
  let largest = 0;
  for (let at = 0; at < 60; at++) {
    const { tokens, fits } = work.run(context, 1);
    assert.ok(fits);
    largest = Math.max(largest, tokens);
  }
  assert.ok(largest <= window.contextTokens && largest > 15_000, `${largest}`);
});

test("observe() assigns usage to its request and ignores other values", { skip }, () => {
  const context = new api.ContextManager({ window });
  const work = new Work();
  const first = work.run(context, 1);
  const second = work.run(context, 1);
  for (const nothing of [null, undefined, {}, { tokens: "many" }, [], { input_tokens: -1 }]) {
    context.observe(nothing);
    assert.equal(context.status().source, "estimate");
  }
  context.observe({ prompt_tokens: first.tokens + 100 }, first);
  assert.equal(context.status().used, second.tokens + 100);
  context.observe({ prompt_tokens: 9_999 }, { ...first });
  assert.equal(context.status().used, second.tokens + 100);
});

test("a smaller model gets a smaller request, and a larger one keeps it", { skip }, () => {
  const context = new api.ContextManager({
    window: { contextTokens: 200_000 },
    preset: "capacity",
  });
  const work = new Work();
  const before = work.run(context, 25);
  assert.equal(before.edits.length, 0);
  context.setModel({ window: { contextTokens: 12_000 } });
  const small = context.request(work.history);
  assert.ok(small.fits && small.tokens <= 12_000 && small.epoch === before.epoch + 1);
  context.setModel({ window: { contextTokens: 200_000 }, estimator: "o200k" });
  const large = context.request(work.history);
  assert.deepEqual(large.messages, small.messages);
  context.setModel({ provider: "mistral" });
  const other = context.request(work.history);
  assert.deepEqual(api.validate(other.messages, "mistral"), []);
  assert.throws(() => context.setModel({ preset: "economy" }), /Unknown option "preset"/);
  assert.throws(() => context.setModel({ window: { contextTokens: -1 } }), /contextTokens/);
  assert.throws(() => context.setModel(null), { code: "INVALID_ARGUMENT" });
  for (const nothing of [null, {}, { text: " " }, { text: 7 }, { index: -1 }]) {
    assert.throws(() => context.pin(nothing), { code: "INVALID_ARGUMENT" });
  }
  assert.deepEqual(context.request(work.history).messages, other.messages);
});

test("cache breakpoints are after the head, after the shared part and at the end", { skip }, () => {
  const context = new api.ContextManager({ window });
  const work = new Work();
  const first = work.run(context, 1);
  assert.deepEqual(first.cacheBreakpoints, [2]);
  const second = work.run(context, 1);
  assert.deepEqual(second.cacheBreakpoints, [2, 4]);
  assert.deepEqual(context.request(work.history).cacheBreakpoints, [2, 4]);
  let folds = 0;
  for (let at = 0; at < 260; at++) {
    const { cacheBreakpoints, messages, source, firstChanged } = work.run(context, 1);
    assert.equal(cacheBreakpoints.at(-1), messages.length - 1);
    assert.ok(cacheBreakpoints.length <= 3);
    if (firstChanged > 0) assert.ok(cacheBreakpoints.includes(firstChanged - 1));
    if (source[0] !== null) continue;
    folds += 1;
    assert.equal(cacheBreakpoints[0], 0);
  }
  assert.ok(folds > 0);
  const other = new api.ContextManager({ window, provider: "mistral" });
  assert.deepEqual(new Work().run(other, 2).cacheBreakpoints, []);
});

test("pins stay verbatim, once, through edits and folds", { skip }, () => {
  const context = new api.ContextManager({ window });
  const work = new Work();
  work.run(context, 1);
  const id = context.pin({ index: 2 });
  context.pin({ text: "note 4711" });
  context.pin({ text: "the ship sails at dawn" });
  let folds = 0;
  for (let at = 0; at < 250; at++) {
    const prepared = work.run(context, 1);
    folds += prepared.compaction?.record ? 1 : 0;
    const sent = JSON.stringify(prepared.messages);
    for (const text of [words(500, "x0y"), "note 4711"]) {
      assert.equal(sent.split(text).length, 2, `${at}: ${text.slice(0, 20)}`);
    }
    assert.equal(sent.split("the ship sails at dawn").length, prepared.epoch > 0 ? 2 : 1);
  }
  assert.ok(folds > 1, `${folds}`);
  assert.equal(context.unpin(id), true);
  assert.equal(context.unpin(id), false);
});

test("a cut result can be recalled by its stub or by the agent's tool", { skip }, async () => {
  const context = new api.ContextManager({ window });
  const tools = context.agentTools();
  assert.deepEqual(
    tools.map((/** @type {any} */ { name, parameters }) => [
      name,
      parameters.type,
      parameters.required,
    ]),
    [
      ["context_status", "object", []],
      ["context_compact", "object", []],
      ["context_recall", "object", ["ref"]],
    ],
  );
  const parts = { tools };
  const work = new Work();
  let edited;
  for (let at = 0; at < 40 && !edited; at++) edited = work.run(context, 1, parts).edits[0];
  const { content } = work.history[edited.index];
  const original = content[0].content ?? JSON.stringify(content[0].input);
  assert.equal(context.recall(edited.ref), original);
  const stub = JSON.stringify(context.request(work.history, parts).messages);
  assert.ok(stub.includes(`context_recall ${edited.ref}`), edited.ref);
  assert.equal(await context.callAgentTool("context_recall", { ref: edited.ref }), original);
  const asText = JSON.stringify({ ref: edited.ref });
  assert.equal(await context.callAgentTool("context_recall", asText), original, "as OpenAI has it");
  assert.match(await context.callAgentTool("context_recall", { ref: "r999999" }), /nothing under/);
  assert.match(await context.callAgentTool("context_status", undefined), /of 30000 usable tokens/);
  await assert.rejects(context.callAgentTool("rm", {}), /name: expected one of context_status/);
  await context.callAgentTool("context_compact", {});
  assert.ok(context.request(work.history, parts).compaction?.record);
  // A host that has dropped the original gets none.
  const changed = structuredClone(work.history);
  changed[edited.index].content = [{ type: "text", text: "gone" }];
  assert.equal(context.recall("no such reference"), null);
  work.history[edited.index].content = changed[edited.index].content;
  assert.equal(context.recall(edited.ref), null);
  const lost = await context.callAgentTool("context_recall", { ref: edited.ref });
  assert.equal(lost, "The original is not there any more.");
});

test("stubs do not mention recall once the agent lacks the tool", { skip }, () => {
  const context = new api.ContextManager({ window, clock: () => 0 });
  const work = new Work();
  const parts = { tools: context.agentTools() };
  const before = work.run(context, 30, parts);
  const promises = (/** @type {any} */ { messages }) =>
    JSON.stringify(messages).split("context_recall r").length - 1;
  assert.ok(promises(before) > 5);
  const tools = [{ name: "read", description: "reads a file" }];
  const without = context.request(work.history, { tools });
  assert.deepEqual([promises(without), without.firstChanged], [0, -1]);
  assert.deepEqual(context.request(work.history, { tools }).messages, without.messages);
  assert.deepEqual(context.request(work.history, parts).messages, before.messages);
});

test("the remedy that explain() names brings a message back", { skip }, () => {
  const context = new api.ContextManager({ window, clock: () => 0 });
  const work = new Work();
  work.run(context, 30);
  const index = work.history.findIndex((_, at) => context.explain(at).state === "stubbed");
  assert.match(context.explain(index).restore, /^a pin, with the next epoch/);
  context.pin({ index });
  const { epoch } = context.request(work.history);
  let now = epoch;
  while (now === epoch) now = work.run(context, 1).epoch;
  assert.equal(context.explain(index).state, "kept");
});

test("the thinking option decides whether thinking is kept, removed or hinted", { skip }, () => {
  const think = (/** @type {number} */ at) => {
    const content = [
      { type: "thinking", thinking: `thought ${at}`, signature: `s${at}` },
      { type: "tool_use", id: `c${at}`, name: "read", input: {} },
    ];
    const result = words(200, `x${at}y`);
    const gave = { type: "tool_result", tool_use_id: `c${at}`, content: result };
    return [
      { role: "assistant", content },
      { role: "user", content: [gave] },
    ];
  };
  const run = (/** @type {any} */ options) => {
    const context = new api.ContextManager({
      window: { contextTokens: 10_000 },
      format: "anthropic",
      clock: () => 0,
      ...options,
    });
    /** @type {any[]} */
    const history = [{ role: "user", content: "go" }];
    const hints = [];
    for (let at = 0; at < 26; at++) {
      history.push(...think(at));
      hints.push(Object.keys(context.request(history).hints).length);
    }
    return { context, history, hinted: Math.max(...hints) > 0 };
  };
  const sent = (/** @type {any} */ view) =>
    JSON.stringify(view.messages).match(/"type":"thinking"/g)?.length ?? 0;
  assert.deepEqual([run({}).hinted, run({ thinking: "free" }).hinted], [true, false]);
  const { context, history } = run({ thinking: "free" });
  assert.ok(sent(context.request(history)) > 1);
  context.setModel({ thinking: "bound" });
  const bound = context.request(history);
  assert.equal(sent(bound), 1, "the newest stays, and the provider is told");
  assert.ok(bound.hints.headers);
  context.setModel({ thinking: "none" });
  const none = context.request(history);
  assert.deepEqual([sent(none), none.hints, none.epoch], [0, {}, bound.epoch + 1]);
  assert.equal(none.edits.at(-1).rule, "no-thinking");
  assert.throws(() => context.setModel(/** @type {any} */ ({ thinking: "off" })), {
    message: 'thinking: expected one of bound, drop, free, none, got "off"',
  });
});

test("status() says whether requests grow or shrink", { skip }, () => {
  const context = new api.ContextManager({ window, clock: () => 0 });
  assert.equal(context.status().trend, "unknown");
  const work = new Work();
  const trends = Array.from({ length: 60 }, () => {
    work.run(context, 1);
    return context.status().trend;
  });
  assert.equal(trends[0], "unknown");
  for (const trend of ["rising", "falling"]) assert.ok(trends.includes(trend), trends.join(" "));
});

test("a session disposed during a save is saved completely, and then never again", {
  skip,
}, async () => {
  const { memoryStore } = await import(new URL("./store/memory.js", api.url ?? entry()).href);
  const store = memoryStore();
  const wasPinned = async () => (await api.ContextManager.open(store, "one", { window })).unpin(id);
  const save = async () => {
    const context = await api.ContextManager.open(store, "one", { window });
    new Work().run(context, 3);
    id ||= context.pin({ index: 0 });
    // Both are asked for; nobody waits for them before it is disposed of.
    context.save();
    const saved = context.save();
    context[Symbol.dispose]();
    return { saved, context };
  };
  let id = "";
  const { saved, context } = await save();
  assert.deepEqual(await saved, { revision: 2, rebased: false });
  assert.equal(await wasPinned(), true);
  await assert.rejects(context.save(), {
    code: "DISPOSED",
    message: "save: the session was disposed of; make a new one",
  });
  // Also after another's commit, which it takes in.
  const behind = await api.ContextManager.open(store, "one", { window });
  await (await save()).saved;
  const late = behind.save();
  behind[Symbol.dispose]();
  behind[Symbol.dispose]();
  assert.equal((await late).rebased, true);
  assert.equal(await wasPinned(), true);
});

test("a session continues from a store, also in another process", { skip }, async () => {
  const { memoryStore } = await import(new URL("./store/memory.js", api.url ?? entry()).href);
  const store = memoryStore();
  const here = await api.ContextManager.open(store, "one", { window });
  const work = new Work();
  work.run(here, 30);
  assert.deepEqual(await here.save(), { revision: 1, rebased: false });
  const there = await api.ContextManager.open(store, "one", { window });
  assert.deepEqual(there.request(work.history).messages, here.request(work.history).messages);
  work.run(there, 10);
  assert.deepEqual(await there.save(), { revision: 2, rebased: false });
  // This one is older: it goes on from the other's.
  assert.deepEqual(await here.save(), { revision: 2, rebased: true });
  assert.deepEqual(here.request(work.history).messages, there.request(work.history).messages);
  work.run(here, 5);
  assert.deepEqual(await here.save(), { revision: 3, rebased: false });
  await assert.rejects(new api.ContextManager({ window }).save(), /save: expected a session from/);
  const busy = { ...store, commit: async () => null };
  const never = await api.ContextManager.open(busy, "one", { window });
  work.run(never, 5);
  await assert.rejects(never.save(), { code: "CONFLICT" });
});

function entry() {
  return new URL("../../../npm/dist/index.node.js", import.meta.url);
}
