// @ts-check
/** Pins: verbatim when their message is gone, the same after a restart, and cheap in a long history. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { random } from "../generated/histories.mjs";
import { api, count, sentText, skip } from "../support/agent-session.mjs";

const FACT = "the access phrase is ZX-4471";

/** An agent's turn, as pi has it. @param {number} turn @param {number} calls @param {(n: number) => number} below */
function worked(turn, calls, below) {
  const timestamp = turn;
  const all = [];
  for (let at = 0; at < calls; at++) {
    const id = `c${turn}_${at}`;
    const call = {
      type: "toolCall",
      id,
      name: "exec",
      arguments: { command: `cat f${below(15)}` },
    };
    const text = `l${turn} of src/f${at}.js `.repeat(40 + below(120));
    all.push({ role: "assistant", content: [call], stopReason: "toolUse", timestamp });
    const content = [{ type: "text", text }];
    const resultFields = { toolCallId: id, toolName: "exec", content, isError: false, timestamp };
    all.push({ role: "toolResult", ...resultFields });
  }
  const done = [{ type: "text", text: `done ${turn}` }];
  return [...all, { role: "assistant", content: done, stopReason: "stop", timestamp }];
}

/** The last messages of a history, from a user's on. @param {any[]} all @param {number} most */
function shown(all, most) {
  const last = all.slice(-most);
  return structuredClone(last.slice(last.findIndex(({ role }) => role === "user")));
}

const options = { window: { contextTokens: 24_000 }, format: "pi", provider: "openai-chat" };
const parts = { unseenTokens: 10_000 };

/**
 * Sixty turns of a host that passes its last messages: in how many of its requests from the pin on the fact is.
 * @param {number} most @param {"index" | "text"} by @param {boolean} restarts
 */
function slid(most, by, restarts) {
  const next = random(5);
  const below = (/** @type {number} */ n) => Math.floor(next() * n);
  /** @type {any[]} */
  const all = [];
  let context = new api.ContextManager({ ...options, clock: () => 0 });
  let id = "";
  let [requests, keptPins] = [0, 0];
  for (let turn = 1; turn <= 60; turn++) {
    const content = turn === 3 ? `Remember: ${FACT}` : `Step ${turn}`;
    all.push({ role: "user", content, timestamp: turn });
    if (restarts && turn > 3 && turn % 7 === 0)
      context = api.ContextManager.restore(context.snapshot(), { ...options, clock: () => 0 });
    const history = shown(all, most);
    const sent = context.request(history, parts);
    assert.deepEqual(api.validate(sent.messages, "openai-chat", { format: "pi" }), []);
    const index = history.findIndex((message) => JSON.stringify(message).includes(FACT));
    if (turn === 3) id = context.pin(by === "index" ? { index } : { text: FACT });
    requests += 1;
    keptPins += sentText(sent).includes(FACT) ? 1 : 0;
    all.push(...worked(turn, 1 + below(3), below));
  }
  return { requests: requests - 2, keptPins, context, all, id };
}

for (const [name, most] of /** @type {Array<[string, number]>} */ ([
  ["the whole history", 1e9],
  ["its last 110 messages", 110],
  ["its last 20 messages", 20],
]))
  for (const by of /** @type {const} */ (["index", "text"]))
    for (const restarts of [false, true])
      test(`a message pinned by ${by} is in every request of a host that passes ${name}${restarts ? ", also after restarts" : ""}`, {
        skip,
      }, () => {
        const { requests, keptPins } = slid(most, by, restarts);
        assert.equal(keptPins, requests, `${keptPins} of ${requests}`);
      });

test("a process that never saw a pinned message sends its text until unpin", { skip }, () => {
  const { context, all, id } = slid(110, "index", false);
  const other = api.ContextManager.restore(context.snapshot(), { ...options, clock: () => 0 });
  assert.equal(count(sentText(other.request(shown(all, 30), parts)), FACT), 1);
  assert.equal(other.unpin(id), true);
  assert.equal(count(sentText(other.request(shown(all, 24), parts)), FACT), 0);
  assert.equal(other.unpin(id), false);
});

test("the stored text of a pinned message is capped and has no secrets", { skip }, () => {
  const secret = "ghp_1234567890abcdefghijklmnopqrstuvwxyz";
  const context = new api.ContextManager({ ...options, clock: () => 0 });
  const content = `Remember: ${FACT}, token ${secret}. ${"more words ".repeat(1_000)}`;
  const history = [{ role: "user", content, timestamp: 1 }];
  context.request(history);
  context.pin({ index: 0 });
  const snapshot = context.snapshot();
  assert.ok(!Buffer.from(snapshot).includes(secret));
  assert.ok(snapshot.length < 3_000, `${snapshot.length} bytes`);
  const sent = context.request([{ role: "user", content: "something else", timestamp: 2 }]);
  assert.equal(count(sentText(sent), FACT), 1);
  assert.equal(count(sentText(sent), secret), 0);
  assert.ok(sentText(sent).length < 2_400);
});

test("a pinned message that comes back is sent once from the next epoch on", { skip }, () => {
  const context = new api.ContextManager({ ...options, clock: () => 0 });
  const fact = { role: "user", content: `Remember: ${FACT}`, timestamp: 1 };
  const other = { role: "user", content: "something else", timestamp: 2 };
  const answer = {
    role: "assistant",
    content: [{ type: "text", text: "yes" }],
    stopReason: "stop",
  };
  context.request([fact]);
  context.pin({ index: 0 });
  assert.equal(count(sentText(context.request([other])), FACT), 1);
  // Until then what was sent stays in front, for the provider has it in its cache.
  assert.equal(context.request([other, answer, fact]).firstChanged, null);
  const sent = context.request([fact, answer, other]);
  assert.equal(count(sentText(sent), FACT), 1);
});

/** Milliseconds of one pin of a text that no message holds, in a history of so many, and of the history's first request. @param {number} messages */
function pinTime(messages) {
  const history = Array.from({ length: messages }, (_, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: `${at} ${"plain words of a long talk ".repeat(60)}`,
  }));
  const context = new api.ContextManager({
    ...{ window: { contextTokens: 10_000_000 }, format: "anthropic", clock: () => 0 },
  });
  const begun = performance.now();
  context.request(history);
  const total = performance.now() - begun;
  const times = Array.from({ length: 9 }, (_, at) => {
    const started = performance.now();
    context.pin({ text: `nowhere ${at}` });
    return performance.now() - started;
  });
  return { total, pin: times.sort((a, b) => a - b)[1] ?? 0 };
}

test("pinning a text takes time in proportion to the texts", {
  skip,
}, () => {
  pinTime(500);
  const [some, more] = [pinTime(6_000), pinTime(12_000)];
  console.log(
    `pin({ text }): ${some.pin.toFixed(1)} ms at 6,000 messages, ${more.pin.toFixed(1)} at 12,000; the first request ${some.total.toFixed(1)} and ${more.total.toFixed(1)}`,
  );
  // The first request grows as the history does. To write all messages out as JSON took a third of it and more.
  for (const { pin, total } of [some, more]) assert.ok(pin < total / 5, `${pin} of ${total} ms`);
});

/** A talk in which results are cut, of so many steps. @param {number} seed */
function cutting(seed) {
  const next = random(seed);
  const below = (/** @type {number} */ n) => Math.floor(next() * n);
  return Array.from({ length: 40 }, (_, at) => [
    { role: "user", content: `Step ${at} of x${below(9)}`, timestamp: at },
    ...worked(at, 1 + below(3), below),
  ]);
}

const presets = ["balanced", "economy", "retention", "aceclaw", "aiclaw", "openclaw"];
const last = sized({ short: 15, ci: 120, long: 120 });
for (const when of /** @type {const} */ (["nothing", "a whole message", "a message that was cut"]))
  test(`a restored session sends the same bytes as one that went on, with ${when} pinned`, {
    skip,
  }, () => {
    let [sessions, different] = [0, 0];
    for (let seed = 1; seed <= last; seed++) {
      const turns = cutting(seed);
      const preset = presets[seed % presets.length];
      const now = () => 0;
      const own = {
        ...options,
        window: { contextTokens: 9_000 + 500 * (seed % 9) },
        preset,
        clock: now,
      };
      const live = new api.ContextManager(own);
      const at = 12 + (seed % 12);
      for (let turn = 1; turn <= at; turn++) live.request(turns.slice(0, turn).flat());
      const history = turns.slice(0, at).flat();
      const is = (/** @type {number} */ index) => live.explain(index).state;
      const places = history.map((_, index) => index);
      const cut = places.filter((index) => (is(index) === "kept") === (when === "a whole message"));
      if (when !== "nothing" && cut.length === 0) continue;
      if (when !== "nothing") live.pin({ index: cut[(seed * 7) % cut.length] });
      for (let turn = at + 1; turn <= at + 4; turn++) live.request(turns.slice(0, turn).flat());
      const restored = api.ContextManager.restore(live.snapshot(), own);
      sessions += 1;
      for (let turn = at + 4; turn <= turns.length; turn++) {
        const [one, other] = [live, restored].map((context) =>
          sentText(context.request(turns.slice(0, turn).flat())),
        );
        if (one === other) continue;
        different += 1;
        break;
      }
    }
    console.log(`${when} pinned: ${different} of ${sessions} restored sessions differ`);
    assert.ok(sessions > last / 2, `${sessions} sessions`);
    assert.equal(different, 0);
  });
