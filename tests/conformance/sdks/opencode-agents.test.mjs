// @ts-check
/**
 * Generated sessions of opencode around its plugin: every request is valid, fits, keeps what opencode has summarized and what the user
 * said last, and only grows within an epoch. PLIMSOLL_AGENTS: how many.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";
import { adapter, requestsOf } from "./agent-runs.mjs";
import { client, playOpencode, toUi, writer } from "./opencode-agents.mjs";
import { load } from "./sdks.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const made = api ? requestsOf(api) : [];
const count = Number(process.env.PLIMSOLL_AGENTS ?? sized({ short: 6, ci: 60, long: 600 }));
const { plugin } = api ? await adapter("opencode") : { plugin: null };

test("requests of generated sessions are valid", { skip }, async () => {
  const modules = await load("ai");
  if (!modules) return;
  const all = { calls: 0, epochs: 0, compactions: 0, errors: 0 };
  for (let seed = 1; seed <= count; seed += 1) {
    const played = await playOpencode({ plugin, made, sdk: modules[0], seed });
    assert.deepEqual(played.problems.slice(0, 1), [], `seed ${seed}`);
    for (const key of /** @type {const} */ (["calls", "epochs", "compactions", "errors"]))
      all[key] += played[key];
  }
  console.log(`opencode: ${JSON.stringify(all)}`);
  assert.ok(all.epochs > 0 && all.compactions > count && all.calls > 20 * count);
});

test("what an interrupted call had put out is counted and shortened as a result", {
  skip,
}, async () => {
  const { request } = await started();
  const metadata = { interrupted: true, output: "berth ".repeat(900) };
  const stopped = () =>
    call({ status: "error", input: {}, error: "Tool execution aborted", metadata });
  const history = [
    user(text("The task.")),
    ...Array.from({ length: 30 }, () => answer([stopped()], 9)),
  ];
  const sent = await request([...history, user(text("Go on."))]);
  const outputs = toUi(sent, "local").flatMap(({ parts }) =>
    parts.flatMap((/** @type {any} */ { output }) => output ?? []),
  );
  assert.ok(outputs.length > 0 && outputs.every((one) => typeof one === "string"));
  assert.ok(
    outputs.join("").length < 60_000,
    `${outputs.join("").length} characters in 12,000 tokens`,
  );
});

/** A plugin of its own, and the request that it makes of a history. */
async function started() {
  const hooks = await plugin()({ client });
  const request = async (/** @type {any[]} */ history) => {
    const output = { messages: structuredClone(history) };
    await hooks["experimental.chat.messages.transform"]({}, output);
    return output.messages;
  };
  return { hooks, request };
}
const { user, answer, call } = writer();
const text = (/** @type {string} */ of) => [{ type: "text", text: of }];
const read = (/** @type {any} */ more = {}) =>
  call({ status: "completed", input: { path: "a" }, output: "berth ".repeat(600), ...more });

test("a request after a compaction in which the hook saw no session is made as any other", {
  skip,
}, async () => {
  const long = [user(text("The task.")), ...Array.from({ length: 60 }, () => answer([read()], 9))];
  const history = [...long, user(text("Go on."))];
  for (const head of [[], long.slice(1, 5)]) {
    const { hooks, request } = await started();
    await hooks["experimental.session.compacting"]({ sessionID: "s" }, { context: [] });
    assert.deepEqual(await request(head), head, "opencode summarizes what it has");
    const { info } = answer([], 0, { summary: true });
    await hooks.event({ event: { type: "message.updated", properties: { info } } });
    const sent = JSON.stringify(await request(history)).length;
    assert.ok(sent < JSON.stringify(history).length / 2, `${sent} characters`);
  }
});

test("only the answer to the last request tells its usage", { skip }, async (t) => {
  const observe = t.mock.method(api.ContextManager.prototype, "observe");
  const inputs = () => observe.mock.calls.map(({ arguments: [usage] }) => usage?.inputTokens);
  const { request } = await started();
  const history = [user(text("The task."))];
  for (const tokens of [1_000, 2_000]) {
    await request(history);
    history.push(answer([read()], tokens));
  }
  await request(history);
  assert.deepEqual(inputs(), [1_000, 2_000]);
  await request([...history.slice(0, 2), user(text("Another way."))]);
  assert.deepEqual(inputs(), [1_000, 2_000], "the user went back to an older answer");
  const asks = user([{ type: "compaction" }]);
  await request([asks, answer(text("A summary."), 9_000, { summary: true }), user(text("Go on."))]);
  assert.deepEqual(inputs(), [1_000, 2_000], "a summary answers a request of opencode's own");
});

test("what opencode does not send is not counted", { skip }, async () => {
  const tokens = async (/** @type {any} */ message) => {
    const { request } = await started();
    await request([user(text("The task.")), message, user(text("Go on."))]);
    return made.at(-1).tokens;
  };
  assert.ok((await tokens(answer([read()], 9))) > 500);
  assert.ok((await tokens(answer([read({ time: { compacted: 1 } })], 9))) < 100);
  assert.ok((await tokens(answer([read()], 9, { error: { name: "APIError" } }))) < 100);
  assert.ok((await tokens(answer([read()], 9, { error: { name: "MessageAbortedError" } }))) > 500);
});

test("the user's first and last words stay, however often opencode compacts", {
  skip,
}, async () => {
  const { hooks, request } = await started();
  const compacts = async (/** @type {any[]} */ history) => {
    await request(history);
    await hooks["experimental.session.compacting"]({ sessionID: "s" }, { context: [] });
    await request(history);
    const summary = answer(text("A summary."), 9, { summary: true });
    return [
      user([{ type: "compaction" }]),
      summary,
      user([{ ...text("Go on.")[0], synthetic: true }]),
    ];
  };
  let history = [user(text("The task."))];
  for (let at = 0; at < 5; at += 1) {
    history = await compacts([...history, answer([read()], 9), user(text(`Question ${at}.`))]);
    // The next one has opencode's own line only.
    history = await compacts([...history, answer([read()], 9)]);
    const sent = JSON.stringify(await request(history));
    assert.ok(sent.includes("The task."));
    assert.deepEqual(sent.match(/Question \d/g), [`Question ${at}`]);
  }
});
