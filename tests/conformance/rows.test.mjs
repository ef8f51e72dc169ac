// @ts-check
/** Rows of what a compaction does that stand in no other file: its figures, its ids, overflows that nobody throws, the last line before one. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, good, idle, manager, prose, skip, step, talk } from "./talk.mjs";

const user = (/** @type {string} */ content) => ({ role: "user", content });
const summarize = async (/** @type {any} */ job) => good(job);

test("F113 an outcome has its figures, also where there was nothing", { skip }, async () => {
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

test("F114 an overflow that no provider told of makes the next request smaller", {
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

test("F115 beyond 95 % of what is usable something goes before it is sent", { skip }, () => {
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

test("F117 one that was joined ends for all, and a running one is told of", { skip }, async () => {
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

test("F128 ids of records sort as they came, within a millisecond too", { skip }, async () => {
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

test("F101 no note stands in the system text, which costs the whole cache", { skip }, async () => {
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
