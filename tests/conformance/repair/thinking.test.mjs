// @ts-check
/** Reasoning goes back as it came, or not at all: what the two checks of it find, and a session whose edits void it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  answer,
  ask,
  assistant,
  valid as host,
  think,
  use,
  user,
} from "../providers/strict/cases/anthropic.mjs";
import { replaced, text } from "../providers/strict/cases/shared.mjs";
import { carriedThinking, strictAnthropic, unchangedThinking } from "../providers/strict.mjs";
import { boundThinking } from "../replay/message-laws.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;

test("the newest thinking is sent unchanged (I10)", () => {
  const source = host.map((_, at) => at);
  assert.deepEqual(unchangedThinking(host, host, source), []);
  assert.deepEqual(unchangedThinking(structuredClone(host), host, source), []);
  const cases = /** @type {Array<[string, any[]]>} */ ([
    ["a changed thought", replaced(host, [5, "content", 0, "thinking"], "x")],
    ["a changed signature", replaced(host, [5, "content", 0, "signature"], "x")],
    ["a changed neighbour", replaced(host, [5, "content", 1, "input", "path"], "x")],
  ]);
  for (const [name, sent] of cases) {
    assert.equal(unchangedThinking(sent, host, source)[0]?.rule, "I10", name);
  }
  assert.equal(
    unchangedThinking(
      host,
      host,
      host.map((_, at) => (at === 5 ? null : at)),
    )[0]?.rule,
    "I10",
    "made by nobody",
  );
});

test("the thinking before it becomes the newest when the newest is removed (I10)", () => {
  const kept = host.slice(0, 5);
  const source = kept.map((_, at) => at);
  assert.deepEqual(unchangedThinking(kept, host, source), []);
  const without = kept.with(1, assistant(kept[1]?.content.slice(0, 3)));
  assert.equal(unchangedThinking(without, host, source)[0]?.index, 1);
});

test("a run of assistant messages counts as one for the newest thinking (I10)", () => {
  const own = [
    ask,
    assistant([think()]),
    assistant([text("x")]),
    assistant([use("a")]),
    user([answer("a")]),
  ];
  const source = [0, 1, 3, 4];
  const sent = source.map((at) => own[at]);
  assert.match(unchangedThinking(sent, own, source)[0]?.message ?? "", /neighbour/);
});

test("a thinking block is never invented (I10)", () => {
  const source = host.map((_, at) => at);
  assert.deepEqual(carriedThinking(structuredClone(host), host, source), []);
  assert.equal(
    carriedThinking(replaced(host, [1, "content", 0, "thinking"], "x"), host, source)[0]?.index,
    1,
  );
});

test("neighbours are joined for providers that alternate, with the newest thinking whole (I10)", () => {
  const own = [
    ask,
    assistant([think(), text("x")]),
    assistant([think({ thinking: "then" }), use("a")]),
    user([answer("a")]),
  ];
  const source = [0, null, 3];
  const joined = [...own[1].content, ...own[2].content];
  const find = (/** @type {any[]} */ content) => {
    const sent = [ask, assistant(content), own[3]];
    return [
      ...unchangedThinking(sent, own, source, true),
      ...carriedThinking(sent, own, source, true),
    ].map((one) => one.message);
  };
  assert.deepEqual(find(joined), []);
  const never = "thinking in a message that the host never had";
  assert.deepEqual(find(joined.slice(0, -1)), [never], "its end is missing");
  assert.deepEqual(find([...joined].reverse()), [never], "in another order");
  const changed = joined.with(0, think({ thinking: "other" }));
  assert.deepEqual(find(changed), ["a thinking block that the host never had"]);
});

/**
 * A session of calls with thinking, requested before each call, as a provider that binds thinking sees it: how often void
 * thinking was sent, and with a hint, how often the newest went, and how many requests had thinking at all.
 * @param {any} options
 */
function lived(options) {
  const window = { contextTokens: 12_000, maxOutputTokens: 1_000 };
  const context = new api.ContextManager({
    window,
    format: "anthropic",
    clock: () => 0,
    ...options,
  });
  /** @type {any[]} */
  const history = [ask];
  const bound = boundThinking(history);
  const seen = { stale: 0, hints: 0, thinking: 0, newestGone: 0, epochs: 0 };
  /** @type {any} */
  let previous = null;
  for (let at = 0; at < 80; at += 1) {
    const thought = think({ thinking: `thought ${at}`, signature: `s${at}` });
    const words = Array.from({ length: 250 }, (_, word) => `x${at}y${word}`).join(" ");
    history.push(assistant([thought, use(`c${at}`)]), user([answer(`c${at}`, { content: words })]));
    if (at % 9 === 8) history.push(assistant([text("done")]), user([text(`and now ${at}`)]));
    const view = context.request(history);
    assert.deepEqual(strictAnthropic(view.messages), [], `call ${at}`);
    assert.deepEqual(unchangedThinking(view.messages, history, view.source), []);
    const changed = view.firstChanged ?? previous?.messages.length ?? 0;
    const hasHint = Object.keys(view.hints).length > 0;
    if (bound.next(view, previous, changed) >= 0 && !hasHint) seen.stale += 1;
    if (hasHint) seen.hints += 1;
    if (JSON.stringify(view.messages).includes('"signature"')) seen.thinking += 1;
    if (view.firstChanged !== null && !JSON.stringify(view.messages).includes(`"s${at}"`)) {
      seen.newestGone += 1;
    }
    seen.epochs = view.epoch;
    previous = view;
  }
  return seen;
}

test('thinking: "drop" sends neither invalid thinking nor hints (I12)', {
  skip,
}, () => {
  const bound = lived({ thinking: "bound" });
  assert.equal(bound.stale, 0);
  assert.ok(bound.hints > 0 && bound.newestGone === 0, "the newest is saved by a hint");
  const drop = lived({ thinking: "drop" });
  assert.deepEqual([drop.stale, drop.hints], [0, 0]);
  assert.ok(drop.epochs > 2 && drop.newestGone > 0 && drop.thinking > 40, JSON.stringify(drop));
  const free = lived({ thinking: "free" });
  assert.ok(free.stale > 0, "the check finds void thinking");
});

test('a session that changes to thinking "drop" sends no invalid thinking from then on (I12)', {
  skip,
}, () => {
  const window = { contextTokens: 12_000 };
  const context = new api.ContextManager({ window, format: "anthropic", clock: () => 0 });
  /** @type {any[]} */
  const history = [ask];
  let request = context.request(history);
  for (let at = 0; Object.keys(request.hints).length === 0; at += 1) {
    const words = Array.from({ length: 250 }, (_, word) => `x${at}y${word}`).join(" ");
    history.push(assistant([think({ signature: `s${at}` }), use(`c${at}`)]));
    history.push(user([answer(`c${at}`, { content: words })]));
    request = context.request(history);
  }
  context.setModel({ thinking: "drop" });
  request = context.request(history);
  assert.deepEqual(request.hints, {});
  assert.ok(!JSON.stringify(request.messages).includes('"signature"'));
});
