// @ts-check
/** Functions over a whole history, as a host calls them: `pruneForRequest`, `limitTurns`, shares, limits per session key. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { history as made, render } from "../generated/histories.mjs";
import { landed } from "../generated/supported-pairs.mjs";
import { strictFor } from "../providers/pairs.mjs";
import { strictAnthropic } from "../providers/strict.mjs";
import { sessionFiles } from "../support/session-files.mjs";
import { api, ask, copy, gave, say, skip, use, words } from "../support/small-history.mjs";

const presets = ["aceclaw", "aiclaw", "openclaw", "goclaw", "context-budget", "hermes"];
const ours = ["balanced", "economy", "retention", "capacity"];
const usable = { contextTokens: 12_000, maxOutputTokens: 2_000 };
const chars = /** @type {const} */ ({ format: "anthropic", estimator: "chars/4" });

/** Turns with a call each. @param {number} turns @param {number} size of a result in words */
function history(turns, size) {
  const messages = [];
  for (let at = 0; at < turns; at += 1)
    messages.push(
      ask(`question ${at}`),
      use(`c${at}`, { path: `src/${at}.rs` }),
      gave(`c${at}`, words(size, `x${at}y`)),
      say(`answer ${at}`),
    );
  messages.push(ask("and now?"));
  return messages;
}

/** @template T @param {T} value @returns {T} */
function frozen(value) {
  if (value && typeof value === "object") Object.values(Object.freeze(value)).forEach(frozen);
  return value;
}

test("pruneForRequest leaves its input unchanged and returns a smaller valid history (F059, A71)", {
  skip,
}, () => {
  for (const preset of [...presets, ...ours]) {
    const messages = frozen(history(20, 400));
    const before = JSON.stringify(messages);
    const pruneOptions = { ...chars, preset, window: usable, system: "be brief" };
    const result = api.pruneForRequest(messages, pruneOptions);
    assert.equal(JSON.stringify(messages), before);
    assert.equal(result.applied, true, preset);
    assert.ok(result.prunedTokens < result.originalTokens && result.edits.length > 0, preset);
    assert.ok(result.prunedTokens <= 10_000, `${preset}: ${result.prunedTokens}`);
    assert.deepEqual(strictAnthropic(result.messages), [], preset);
    assert.deepEqual(result.messages.at(-1), messages.at(-1));
    assert.ok(result.edits.every((/** @type {any} */ edit) => edit.rule !== "fold"));
    const again = api.pruneForRequest(messages, pruneOptions);
    assert.deepEqual(again, result, "the same again");
  }
});

test("every preset prunes above its trigger and not at it (F060, A70)", { skip }, () => {
  for (const preset of presets.filter((one) => one !== "hermes" && one !== "openclaw")) {
    const messages = history(30, 400);
    const roomy = { ...chars, preset, window: { contextTokens: 10_000_000 } };
    const { originalTokens } = api.pruneForRequest(messages, roomy);
    const at = {
      ...roomy,
      window: { contextTokens: originalTokens * 2 },
      trigger: 0.5,
      target: 0.3,
    };
    const still = api.pruneForRequest(messages, at);
    assert.deepEqual(
      [still.applied, still.edits, still.originalTokens, still.prunedTokens],
      [false, [], originalTokens, originalTokens],
    );
    assert.ok(
      still.messages.every(
        (/** @type {any} */ one, /** @type {number} */ i) => one === messages[i],
      ),
    );
    const over = { ...at, window: { contextTokens: originalTokens * 2 - 2 }, strategy: "truncate" };
    assert.equal(api.pruneForRequest(messages, over).applied, true, preset);
  }
});

test("a stub keeps 200 characters, the call's id and the error flag (A77)", { skip }, () => {
  const messages = history(8, 400);
  messages.splice(2, 1, {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "c0", content: words(500, "e"), is_error: true }],
  });
  const pruneOptions = { ...chars, preset: "aceclaw", window: { contextTokens: 6_000 } };
  const { messages: sent } = api.pruneForRequest(messages, pruneOptions);
  const [result] = /** @type {any} */ (sent[2]).content;
  assert.deepEqual([result.tool_use_id, result.is_error], ["c0", true]);
  assert.ok(result.content.startsWith(words(500, "e").slice(0, 200)), result.content);
  assert.match(result.content.slice(200), /^\n\n\[content pruned during context compaction/);
  const longer = api.pruneForRequest(messages, { ...pruneOptions, stubChars: 700 }).messages;
  assert.ok(/** @type {any} */ (longer[2]).content[0].content.length > 700);
});

test("pruneForRequest prunes nothing without a window and refuses bad options by name", {
  skip,
}, () => {
  const messages = history(8, 400);
  const still = api.pruneForRequest(messages, { ...chars, window: { contextTokens: 0 } });
  assert.deepEqual([still.applied, still.messages.length], [false, messages.length]);
  for (const [pruneOptions, argument] of [
    [{ preset: "aceclaw", retention: 1 }, "retention"],
    [{ preset: "balanced", strategy: "discard" }, "strategy"],
    [{ preset: "best" }, "preset"],
  ])
    assert.throws(
      () =>
        api.pruneForRequest(messages, {
          ...chars,
          window: usable,
          .../** @type {any} */ (pruneOptions),
        }),
      (/** @type {any} */ error) =>
        error.code === "INVALID_ARGUMENT" && error.info.argument === argument,
    );
});

test("limitTurns keeps the last n turns (F073, G21)", { skip }, () => {
  const messages = history(3, 10);
  assert.deepEqual(api.limitTurns(messages, 2), messages.slice(8));
  assert.deepEqual(api.limitTurns(messages, 3), messages.slice(4));
  for (const turns of [undefined, 0, -1, 99])
    assert.deepEqual(api.limitTurns(messages, turns), messages);
  assert.deepEqual(api.limitTurns([], 3), []);
  const system = { role: "system", content: "be brief" };
  const chat = [system, ask("a"), say("b"), ask("c")];
  assert.deepEqual(api.limitTurns(chat, 1, { format: "openai-chat" }), [system, ask("c")]);
  for (const turns of [1.5, Number.NaN, "2"])
    assert.throws(
      () => api.limitTurns(messages, /** @type {any} */ (turns)),
      (/** @type {any} */ error) => error.info.argument === "turns",
    );
});

test("tierHistory keeps three turns whole, five lightly, and question and answer of older ones (F072, I23)", {
  skip,
}, () => {
  const messages = frozen(history(10, 400));
  const { messages: loaded, applied, originalTokens, prunedTokens } = api.tierHistory(messages);
  assert.ok(applied && prunedTokens < originalTokens / 2, `${prunedTokens} of ${originalTokens}`);
  // The last question is the newest turn.
  const heavy = [0, 1, 2].flatMap((turn) => [messages[4 * turn], messages[4 * turn + 3]]);
  assert.deepEqual(loaded.slice(0, 6), heavy);
  const light = loaded.slice(6, 26);
  assert.deepEqual(light[0], messages[12]);
  const cut = light[2].content[0].content;
  assert.equal(cut, `${messages[14].content[0].content.slice(0, 300)}\n...(truncated)`);
  assert.deepEqual(loaded.slice(26), messages.slice(32));
  assert.deepEqual(strictAnthropic(loaded), []);
  assert.deepEqual(api.tierHistory(messages.slice(32)).messages, messages.slice(32));
  assert.deepEqual(api.tierHistory(messages, { fullTurns: 99 }).messages, messages);
  for (const [name, value] of [
    ["fullTurns", -1],
    ["fullTurns", 0],
    ["textChars", "many"],
    ["turns", 3],
  ])
    assert.throws(
      () => api.tierHistory(messages, /** @type {any} */ ({ [name]: value })),
      (/** @type {any} */ error) => error.info.argument === name,
    );
});

const SEEDS = sized({ short: 5, ci: 20, long: 20 });
test("tierHistory of generated histories is valid for the strict provider", { skip }, () => {
  let applied = 0;
  for (const { format, provider } of landed(api))
    for (let seed = 1; seed <= SEEDS; seed++) {
      const messages = render(made(seed), format, provider);
      const broken = (/** @type {any[]} */ sent) =>
        strictFor(format, provider)(sent, { cache: new WeakMap() }).map((one) => one.rule);
      // What nothing mends is not ours.
      const before = broken(api.repair(messages, provider, { format }).messages);
      for (const lightTurns of [0, 2]) {
        const tiers = { fullTurns: 1, lightTurns, resultChars: 20, textChars: 20 };
        const loaded = api.tierHistory(messages, { format, provider, ...tiers });
        applied += Number(loaded.applied);
        const rules = broken(loaded.messages).filter((rule) => !before.includes(rule));
        assert.deepEqual(rules, [], `${format} x ${provider}, seed ${seed}`);
      }
    }
  assert.ok(applied > 25 * SEEDS, `${applied}`);
});

test("historyLimitFromSessionKey looks up turn limits by channel and user (F074, G22)", {
  skip,
}, () => {
  const channels = {
    telegram: { dmHistoryLimit: 20, historyTurns: 50, dms: { 123: { historyLimit: 5 } } },
  };
  const limit = (/** @type {any} */ key) => api.historyLimitFromSessionKey(key, channels);
  assert.equal(limit("agent:main:telegram:dm:123:thread:9"), 5);
  assert.equal(limit("telegram:dm:7"), 20);
  assert.equal(limit("telegram:group:7"), 50);
  assert.equal(limit("slack:dm:7"), undefined);
  assert.equal(limit(undefined), undefined);
  assert.equal(api.historyLimitFromSessionKey("a:dm:b", undefined), undefined);
  const bad = { slack: { historyTurns: 1.5 } };
  assert.throws(
    () => api.historyLimitFromSessionKey("slack:dm:7", bad),
    (/** @type {any} */ error) => error.code === "INVALID_ARGUMENT",
  );
});

test("pruneHistoryForContextShare removes the oldest half until the history fits (F075, G20)", {
  skip,
}, () => {
  const messages = Array.from({ length: 8 }, (_, at) =>
    (at % 2 ? say : ask)(`${at}`.padEnd(100, "x")),
  );
  const share = (/** @type {number} */ maxContextTokens) =>
    api.pruneHistoryForContextShare({ messages, maxContextTokens, ...chars });
  const counts = (/** @type {any} */ { messages: _, droppedMessagesList: __, ...rest }) => rest;
  const none = { droppedChunks: 0, droppedMessages: 0, droppedTokens: 0 };
  assert.deepEqual(counts(share(464)), { ...none, keptTokens: 232, budgetTokens: 232 });
  const half = share(463);
  assert.deepEqual(half.messages, messages.slice(4));
  assert.deepEqual(half.droppedMessagesList, messages.slice(0, 4));
  const one = { droppedChunks: 1, droppedMessages: 4, droppedTokens: 116 };
  assert.deepEqual(counts(half), { ...one, keptTokens: 116, budgetTokens: 231 });
  assert.throws(
    () => api.pruneHistoryForContextShare(/** @type {any} */ ({ messages })),
    (/** @type {any} */ error) => error.info.argument === "maxContextTokens",
  );
});

test("protected tools are never pruned, and a fold with nothing to remove says so", {
  skip,
}, () => {
  const pruneOptions = { ...chars, preset: "aiclaw", window: usable, protectTools: ["re*"] };
  const context = new api.ContextManager({ ...pruneOptions, clock: () => 0 });
  const messages = history(4, 800);
  const view = context.request(messages);
  assert.ok(
    view.messages.every((/** @type {any} */ one, /** @type {number} */ at) => one === messages[at]),
  );
  assert.deepEqual([view.compaction.status, view.compaction.record], ["none", null]);
  assert.match(view.compaction.reason, /too few messages/);
});

test("pruneForRequest gives the same messages as a session before its first fold", { skip }, () => {
  for (const preset of ["aceclaw", "aiclaw"]) {
    const options = { ...chars, preset, window: { contextTokens: 40_000 } };
    const context = new api.ContextManager({ ...options, clock: () => 0 });
    const messages = history(40, 300);
    for (let end = 5; end <= messages.length; end += 4) {
      const part = messages.slice(0, end);
      const view = context.request(copy(part));
      if (view.compaction?.record) break;
      const alone = api.pruneForRequest(part, options);
      assert.deepEqual(view.messages, alone.messages, `${preset} at ${end}`);
    }
  }
});

const files = api ? sessionFiles() : [];
test("pruneForRequest never makes a recorded session larger", {
  skip: skip || (files.length === 0 && "skipped: ../shared is absent"),
}, () => {
  let applied = 0;
  for (const { name, bytes } of files.filter((_, at) => at % 7 === 0)) {
    let session;
    try {
      session = api.readSession(bytes());
    } catch {
      continue;
    }
    const { messageFormat: format, messages, system, tools } = session;
    for (const preset of [...presets, "balanced"]) {
      const window = { contextTokens: 32_000 };
      const result = api.pruneForRequest(messages, { preset, window, format, system, tools });
      applied += Number(result.applied);
      assert.ok(result.prunedTokens <= result.originalTokens, `${name} ${preset}`);
      assert.ok(result.prunedTokens <= 32_000, `${name} ${preset}: ${result.prunedTokens}`);
    }
  }
  assert.ok(applied > 0);
});
