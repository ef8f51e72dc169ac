// @ts-check
/** Rows of what a compaction does that stand in no other file: its figures, its ids, overflows that nobody throws, the last line before one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { strictFor } from "../providers/pairs.mjs";
import {
  api,
  count,
  good,
  idle,
  manager,
  prose,
  skip,
  step,
  talk,
  user,
} from "../support/agent-session.mjs";

const summarize = async (/** @type {any} */ job) => good(job);

test("an outcome has its figures, also if nothing was done (F113)", { skip }, async () => {
  const { context } = manager(summarize);
  const none = await context.compact([], { force: true });
  assert.deepEqual(
    [none.status, none.tokensBefore, none.tokensAfter, none.reductionPct, none.record],
    ["none", 0, 0, 0, null],
  );
  assert.notEqual(none.reason, "");
  const history = talk(20);
  const { tokensBefore, tokensAfter, reductionPct, record } = await context.compact(history, {
    force: true,
  });
  assert.equal(reductionPct, Math.floor((100 * (tokensBefore - tokensAfter)) / tokensBefore));
  assert.deepEqual([record.tokensBefore, record.tokensAfter], [tokensBefore, tokensAfter]);
  const sent = context.request(history);
  assert.equal(sent.tokens, tokensAfter);
});

test("an overflow visible only in usage makes the next request smaller (F114)", {
  skip,
}, async () => {
  for (const usage of [
    { input_tokens: 21_000, output_tokens: 1 },
    { input_tokens: 1_000, cache_read_input_tokens: 20_000, output_tokens: 1 },
  ]) {
    const { context } = manager(summarize);
    const history = talk(20);
    const first = await context.prepare(history);
    assert.ok(first.fits && first.tokens < 19_000);
    context.observe(usage, first);
    assert.ok(context.status().used >= 20_000);
    history.push({ role: "assistant", content: "ok" }, user("go on"));
    const next = await context.prepare(history);
    assert.ok(next.fits && next.tokens <= 19_000, `${next.tokens}`);
    assert.ok(next.messages.length < history.length);
  }
});

test("a request above 95 % of the usable window is made smaller before it is sent (F115)", {
  skip,
}, () => {
  const { context } = manager(undefined);
  /** @type {any[]} */
  const history = [];
  let most = 0;
  for (let at = 0; at < 60; at += 1) {
    history.push(...step(at), user(`on, ${at}`));
    const { tokens, fits } = context.request(history);
    assert.ok(fits);
    most = Math.max(most, tokens);
    history.push({ role: "assistant", content: "yes" });
  }
  assert.ok(most <= 0.95 * 19_000 && most > 0.6 * 19_000, `${most}`);
});

test("a joined compaction ends for all callers, and status reports a running one (F117)", {
  skip,
}, async () => {
  const { context } = manager(summarize);
  const history = talk(20);
  const first = context.compact(history, { force: true });
  assert.deepEqual(context.status().blocked, { reason: "running" });
  const prepared = await context.prepare(history);
  assert.ok(prepared.fits);
  await first;
  await idle(context);
  assert.equal(context.status().compactions, 1);
});

test("prompts for notes stand at the end of a request, once for each threshold (F126, F127)", {
  skip,
}, () => {
  for (const provider of ["anthropic", "bedrock"]) {
    const wide = { contextTokens: 200_000, maxOutputTokens: 1_000 };
    const { context } = manager(undefined, { provider, preset: "openclaw", window: wide });
    const strict = strictFor("anthropic", provider);
    /** @type {any[]} */
    const history = [user("begin")];
    /** @type {number[]} */
    const lines = [];
    let reported = 0;
    for (let at = 0; at < 400 && lines.length < 6; at += 1) {
      let { messages, epoch } = context.request(history);
      const prompt = context.flushPrompt();
      if (prompt) {
        lines.push(prompt.threshold);
        const before = epoch;
        ({ messages, epoch } = context.request([...history, user(prompt.text)]));
        if (provider === "anthropic") assert.equal(epoch, before, "the request grows at its end");
        const last = messages.at(-1).content;
        assert.equal(typeof last === "string" ? last : last.at(-1).text, prompt.text);
      }
      // What a model is given.
      assert.deepEqual(strict(messages), []);
      reported += count(JSON.stringify(messages), "notes and nothing else");
      const call = { type: "tool_use", id: `n${at}`, name: "edit", input: {} };
      if (prompt) Object.assign(call, { input: { file_path: "memory/2026-11-22.md" } });
      const gave = { type: "tool_result", tool_use_id: call.id, content: prose(1_200) };
      history.push({ role: "assistant", content: [call] }, { role: "user", content: [gave] });
      if (prompt) {
        context.request(history);
        assert.deepEqual(context.status().flush, { threshold: prompt.threshold, acted: true });
      }
    }
    assert.deepEqual(lines.slice(0, 4), [50, 75, 90, 50], provider);
    assert.equal(reported, lines.length, "each once, and in no later request");
  }
});

test("record ids sort in the order of creation, also within a millisecond (F128)", {
  skip,
}, async () => {
  const { context } = manager(summarize);
  const history = talk(20);
  const ids = [];
  for (let round = 0; round < 12; round += 1) {
    const { record } = await context.compact(history, { force: true });
    if (record) ids.push(record.id);
    context.request(history);
    for (let at = 0; at < 6; at += 1) history.push(...step(100 * (round + 1) + at));
    history.push(user(prose(5)));
  }
  assert.ok(ids.length >= 10);
  assert.deepEqual(ids.toSorted(), ids);
  assert.equal(new Set(ids).size, ids.length);
});

test("notes never enter the system text, which would cost the cache (F101)", {
  skip,
}, async () => {
  const { context } = manager(summarize, { format: "openai-chat" });
  const system = { role: "system", content: "You are careful." };
  const history = [
    system,
    ...Array.from({ length: 60 }, (_, at) => ({
      role: at % 2 ? "assistant" : "user",
      content: prose(200),
    })).slice(0, -1),
  ];
  context.request(history);
  await context.compact(history, { force: true });
  const { messages } = context.request(history);
  assert.equal(messages[0], system);
  assert.ok(messages.slice(1).every((/** @type {any} */ it) => it.role !== "system"));
  assert.ok(api.validate(messages, "openai-chat", { format: "openai-chat" }).length === 0);
});

test("a one-off message is absent from the next request, also if it was joined to its neighbour", {
  skip,
}, () => {
  for (const provider of ["anthropic", "bedrock"])
    for (const folds of [false, true]) {
      const { context } = manager(undefined, { provider });
      const history = folds ? talk(40) : [user("begin")];
      /** @param {string} id */
      const work = (id) => {
        const call = { type: "tool_use", id, name: "read", input: {} };
        const gave = { type: "tool_result", tool_use_id: id, content: `given by ${id}` };
        history.push({ role: "assistant", content: [call] }, { role: "user", content: [gave] });
      };
      for (const id of ["one", "two", "three"]) {
        work(id);
        context.request(history);
        const once = context.request([...history, user(`only once, ${id}`)]);
        assert.equal(count(JSON.stringify(once.messages), "only once"), 1);
      }
      work("four");
      const { messages, repairs } = context.request(history);
      const sent = JSON.stringify(messages);
      assert.equal(count(sent, "only once"), 0, provider);
      for (const id of ["one", "two", "three", "four"])
        assert.equal(count(sent, `given by ${id}`), 1);
      assert.deepEqual(repairs, []);
      assert.deepEqual(strictFor("anthropic", provider)(messages), []);
      assert.equal(context.status().compactions, folds ? 1 : 0);
    }
});
