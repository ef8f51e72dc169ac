// @ts-check
/**
 * Hosts that pass only the newest part of a history: a sliding window of their transcript, with or without a first message of
 * their own. The session goes on as if they passed all of it, and what it costs is measured against a host that does.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);
const skip = !api && why;

const NEED = "ZX-4471";
const WINDOW = 110;
const MOST_EPOCHS = 1.25;
const MOST_LOST = 1.15;

/** @typedef {(list: any[], all: any[]) => any[]} Passed what a host passes of its transcript */

/** @type {Record<string, Passed>} */
const ways = {
  objects: (list) => list,
  "structured clones": (list) => structuredClone(list),
  "copies through JSON": (list) => JSON.parse(JSON.stringify(list)),
};

/** The last messages, from a user's on. @param {any[]} all */
function newest(all) {
  const list = all.slice(-WINDOW);
  while (list[0].role !== "user") list.shift();
  return list;
}

let clock = 0;
/** The last messages wherever they begin, after a message that is another each time. @param {any[]} all */
function bootstrapped(all) {
  const list = all.slice(-WINDOW);
  if (list.length === all.length || list[0].role === "user") return list;
  clock += 1;
  const content = `(session bootstrap ${clock})`;
  return [{ role: "user", content, timestamp: clock }, ...list];
}

/**
 * 60 turns of an agent with tools in a small window.
 * @param {{ cut: (all: any[]) => any[], through: (list: any[]) => any[], pinBy?: string, restoreEvery?: number }} host
 */
function live({ cut, through, pinBy, restoreEvery = 0 }) {
  let seed = 5;
  const roll = (/** @type {number} */ below) => {
    seed = (seed * 1_103_515_245 + 12_345) & 0x7f_ff_ff_ff;
    return seed % below;
  };
  const spent = { calls: 0, epochs: 0, lost: 0, missing: 0, forgotten: 0, wrongSource: 0 };
  const options = {
    window: { contextTokens: 24_000 },
    format: "pi",
    provider: "openai-chat",
    clock: () => spent.calls * 1000,
    on: (/** @type {any} */ event) => {
      if (event.type !== "epoch") return;
      spent.epochs += 1;
      spent.lost += event.cachedTokensLost;
    },
  };
  let context = new api.ContextManager(options);
  /** @type {any[]} */
  const all = [];
  let pinned = false;
  for (let turn = 1; turn <= 60; turn += 1) {
    const content = turn === 3 ? `PIN phrase ${NEED}` : `Step ${turn}`;
    all.push({ role: "user", content, timestamp: turn });
    for (let step = 0; step < 1 + roll(3); step += 1) {
      const passed = through(cut(all));
      const prepared = context.request(passed, { unseenTokens: 10_000 });
      spent.calls += 1;
      spent.forgotten = prepared.forgotten;
      for (const [at, place] of prepared.source.entries()) {
        if (place === null || prepared.messages[at] === passed[place]) continue;
        if (prepared.messages[at].role !== passed[place]?.role) spent.wrongSource += 1;
      }
      if (turn === 4 && pinBy && !pinned) {
        const index = passed.findIndex((message) => JSON.stringify(message).includes(NEED));
        context.pin(pinBy === "index" ? { index } : { text: `PIN phrase ${NEED}` });
        pinned = true;
      }
      if (turn > 4 && !JSON.stringify(prepared.messages).includes(NEED)) spent.missing += 1;
      const id = `c${turn}_${step}`;
      const call = {
        type: "toolCall",
        id,
        name: "exec",
        arguments: { command: `cat f${roll(15)}` },
      };
      all.push({ role: "assistant", content: [call], stopReason: "toolUse", timestamp: turn });
      const text = `l${turn} of src/f${step}.js `.repeat(40 + roll(120));
      all.push({
        role: "toolResult",
        toolCallId: id,
        toolName: "exec",
        content: [{ type: "text", text }],
        isError: false,
        timestamp: turn,
      });
      if (restoreEvery && spent.calls % restoreEvery === 0) {
        context = api.ContextManager.restore(context.snapshot(), options);
      }
    }
    const done = [{ type: "text", text: `done ${turn}` }];
    all.push({ role: "assistant", content: done, stopReason: "stop", timestamp: turn });
  }
  return { ...spent, messages: all.length };
}

const uncut = (/** @type {any[]} */ all) => all.slice();

for (const [name, through] of Object.entries(ways)) {
  for (const [kind, cut] of Object.entries({
    "a sliding window": newest,
    "a sliding window behind a first message that changes": bootstrapped,
  })) {
    for (const pinBy of ["index", "text"]) {
      test(`${kind} of ${name} causes as few epochs as the whole history, pinned by ${pinBy}`, {
        skip,
      }, () => {
        const wanted = live({ cut: uncut, through: ways.objects, pinBy });
        const got = live({ cut, through, pinBy });
        console.log(
          `${kind}, ${name}: ${got.epochs} epochs (${wanted.epochs}), ${Math.round(got.lost / got.calls)} cached tokens lost a call (${Math.round(wanted.lost / wanted.calls)})`,
        );
        assert.equal(wanted.forgotten, 0);
        assert.ok(got.epochs <= MOST_EPOCHS * wanted.epochs, `${got.epochs} epochs`);
        assert.ok(got.lost <= MOST_LOST * wanted.lost, `${got.lost} cached tokens lost`);
        assert.equal(got.missing, 0, "the pinned message is in every request");
        assert.equal(got.wrongSource, 0);
        assert.ok(got.forgotten >= got.messages - WINDOW - 6, `${got.forgotten} forgotten`);
      });
    }
  }
}

/** @param {string} content */
const user = (content) => ({ role: "user", content });
/** @param {string} content */
const assistant = (content) => ({ role: "assistant", content });
/** @param {number} turns */
const talk = (turns, word = "word") =>
  Array.from({ length: turns }, (_, at) => [
    user(`question ${at} ${`${word} `.repeat(20)}`),
    assistant(`answer ${at} ${`${word} `.repeat(20)}`),
  ]).flat();
const small = { window: { contextTokens: 100_000 }, format: "anthropic", clock: () => 0 };

test("messages that the host no longer passes are still sent and counted", {
  skip,
}, () => {
  const history = talk(20);
  const context = new api.ContextManager(small);
  const before = context.request([...history, user("now")]);
  const later = [...history.slice(10), user("now"), assistant("yes"), user("and then?")];
  const prepared = context.request(later);
  assert.equal(prepared.epoch, before.epoch);
  assert.equal(prepared.forgotten, 10);
  assert.deepEqual(prepared.messages.slice(0, 41), before.messages);
  assert.equal(prepared.messages.length, 43);
  assert.equal(prepared.source[0], null, "the host does not hold it");
  assert.equal(prepared.source[10], 0, "a position in the history passed last");
  const all = context.request([...history, ...later.slice(30)]);
  assert.deepEqual([all.epoch, all.forgotten, all.source[0]], [before.epoch, 0, 0], "it came back");
});

test("messages that the host no longer passes are dropped in one epoch once they outweigh the rest", {
  skip,
}, () => {
  const history = talk(400);
  let epochs = 0;
  const on = (/** @type {any} */ event) => {
    if (event.type === "epoch") epochs += 1;
  };
  const context = new api.ContextManager({ ...small, on });
  let most = 0;
  for (let end = 1; end < history.length; end += 2) {
    const passed = history.slice(Math.max(0, end - 41), end);
    const { messages, forgotten } = context.request(passed);
    assert.equal(forgotten, end - passed.length);
    most = Math.max(most, messages.length);
  }
  console.log(
    `41 of ${history.length} messages passed: ${epochs} epochs, at most ${most} messages sent`,
  );
  assert.ok(epochs <= history.length / 41 && epochs > 0, `${epochs} epochs`);
  assert.ok(most <= 2.2 * 41, `${most} messages`);
});

test("a turn with the same objects measures only new messages", { skip }, () => {
  const history = talk(300);
  const context = new api.ContextManager(small);
  for (let end = 1; end <= 401; end += 2) context.request(history.slice(0, end));
  context.request(history.slice(100, 403));
  const before = context.counters().bytesMeasured;
  const fresh = history.slice(403, 501);
  for (let end = 405; end <= 501; end += 2) context.request(history.slice(100, end));
  const measured = context.counters().bytesMeasured - before;
  const most = fresh.reduce((sum, message) => sum + JSON.stringify(message).length, 0);
  console.log(`${measured} bytes measured of ${most} new`);
  assert.equal(measured, most);
});

test("a history that slides by one turn each time measures only new messages", { skip }, () => {
  const history = talk(300);
  const context = new api.ContextManager(small);
  for (let end = 1; end <= 201; end += 2) context.request(history.slice(0, end));
  const before = context.counters().bytesMeasured;
  for (let end = 203; end <= 401; end += 2) context.request(history.slice(end - 201, end));
  const measured = context.counters().bytesMeasured - before;
  const most = history
    .slice(201, 401)
    .reduce((sum, message) => sum + JSON.stringify(message).length, 0);
  console.log(`${measured} bytes measured of ${most} new`);
  // One known message a turn is compared before it is seen that the window slides.
  assert.ok(measured <= 1.6 * most, `${measured} of ${most}`);
});

test("a history that begins with a result of a forgotten call continues the session", {
  skip,
}, () => {
  /** @type {any[]} */
  const history = [user("start")];
  for (let at = 0; at < 30; at += 1) {
    const id = `t${at}`;
    const call = { type: "tool_use", id, name: "read", input: { path: `src/f${at}.rs` } };
    const content = `text of src/f${at}.rs `.repeat(20);
    history.push({ role: "assistant", content: [call] });
    history.push({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] });
  }
  const context = new api.ContextManager(small);
  const before = context.request(history);
  const grown = [...history, assistant("done"), user("go on")];
  const prepared = context.request(grown.slice(20));
  assert.equal(prepared.epoch, before.epoch);
  assert.equal(prepared.forgotten, 20);
  assert.deepEqual(prepared.messages.slice(0, before.messages.length), before.messages);
});

test("another history or a branch is not mistaken for a later part", { skip }, () => {
  const history = talk(20);
  const strange = (/** @type {any[]} */ passed) => {
    const context = new api.ContextManager(small);
    context.request([...history, user("now")]);
    const prepared = context.request(passed);
    assert.equal(prepared.forgotten, 0);
    assert.deepEqual(prepared.messages, passed);
  };
  strange([user("something else"), assistant("yes"), user("now")]);
  strange([...talk(5, "other"), user("now")]);
  strange([...history.slice(0, 10), user("no, the other one")]);
  strange(history.slice(10, 25));
  strange([user("now")]);
  strange([
    user("a summary of all that was before ".repeat(20)),
    ...history.slice(30),
    user("now"),
  ]);
});

test("repeated messages are aligned with the newest ones", { skip }, () => {
  const history = Array.from({ length: 10 }, () => [user("ok"), assistant("ok")]).flat();
  const context = new api.ContextManager(small);
  const before = context.request([...history, user("ok")]);
  const prepared = context.request(
    structuredClone([...history.slice(10), user("ok"), assistant("now"), user("else")]),
  );
  assert.equal(prepared.epoch, before.epoch);
  assert.equal(prepared.messages.length, 23);
  assert.equal(prepared.forgotten, 10);
});

test("a leading system message stays the first", { skip }, () => {
  const system = { role: "system", content: "be brief" };
  const history = talk(20);
  const context = new api.ContextManager({ ...small, format: "openai-chat" });
  const before = context.request([system, ...history, user("now")]);
  const passed = [system, ...history.slice(20), user("now"), assistant("yes"), user("then?")];
  const prepared = context.request(structuredClone(passed));
  assert.deepEqual([prepared.epoch, prepared.forgotten], [before.epoch, 20]);
  assert.deepEqual(prepared.messages.slice(0, before.messages.length), before.messages);
  assert.equal(prepared.source[0], 0);
});

for (const [name, through] of Object.entries(ways)) {
  test(`a restored session continues with a later part of ${name}`, { skip }, () => {
    const wanted = live({ cut: uncut, through: ways.objects, pinBy: "text" });
    const got = live({ cut: newest, through, pinBy: "text", restoreEvery: 50 });
    console.log(`restored: ${got.epochs} epochs (${wanted.epochs})`);
    assert.ok(got.epochs <= MOST_EPOCHS * wanted.epochs, `${got.epochs} epochs`);
    assert.equal(got.missing, 0, "the pinned text is in every request");
    assert.equal(got.wrongSource, 0);
  });
}

test("a session restored before each call drops forgotten messages in batches", {
  skip,
}, () => {
  const wanted = live({ cut: uncut, through: ways.objects });
  const got = live({ cut: newest, through: ways.objects, restoreEvery: 1 });
  console.log(
    `restored before each of ${got.calls} calls: ${got.epochs} epochs (${wanted.epochs})`,
  );
  assert.ok(got.epochs <= MOST_EPOCHS * wanted.epochs, `${got.epochs} epochs`);
  assert.ok(got.lost <= MOST_LOST * wanted.lost, `${got.lost} cached tokens lost`);
});

test("a later part that contains everything sent continues after a restart with the same bytes", {
  skip,
}, () => {
  const options = { ...small, window: { contextTokens: 12_000, maxOutputTokens: 500 } };
  // A user's text is too long to be kept across a fold.
  const history = Array.from({ length: 120 }, (_, at) => [
    user(`question ${at} ${"word ".repeat(1500)}`),
    assistant(`answer ${at} in src/file_${at}.rs`),
  ]).flat();
  const context = new api.ContextManager(options);
  let first = 0;
  let restarts = 0;
  for (let end = 1; end < history.length; end += 2) {
    const all = history.slice(0, end);
    const wanted = context.request(all);
    first = Math.min(...wanted.source.filter((/** @type {any} */ place) => place !== null));
    if (end % 20 !== 1 || first < 4) continue;
    const restored = api.ContextManager.restore(context.snapshot(), options);
    const grown = history.slice(0, end + 2);
    const later = structuredClone(grown.slice(first - 3));
    const got = restored.request(later.slice(0, -2));
    const text = (/** @type {any} */ it) => JSON.stringify(it.messages);
    assert.ok(text(got) === text(wanted), "the same request again");
    assert.deepEqual([got.epoch, got.firstChanged, got.forgotten], [wanted.epoch, null, first - 3]);
    const next = restored.request(later);
    const uncut = api.ContextManager.restore(context.snapshot(), options);
    const expected = uncut.request(grown);
    assert.equal(next.epoch, expected.epoch);
    // A fold may choose other names, since how often those of forgotten messages were used is not known any more.
    if (expected.epoch === wanted.epoch) assert.ok(text(next) === text(expected), "and the next");
    else
      assert.equal(text(next).includes("src/file_0.rs"), text(expected).includes("src/file_0.rs"));
    restarts += 1;
  }
  assert.ok(restarts > 5, `${restarts} restarts`);
});

test("an approval is dropped with its forgotten call", {
  skip,
}, () => {
  const call = { type: "tool-call", toolCallId: "c1", toolName: "edit", input: { path: "a" } };
  const request = { type: "tool-approval-request", approvalId: "ap1", toolCallId: "c1" };
  const response = { type: "tool-approval-response", approvalId: "ap1", approved: true };
  const output = { type: "text", value: "done" };
  const result = { type: "tool-result", toolCallId: "c1", toolName: "edit", output };
  const history = [
    user("Edit it."),
    assistant([{ type: "text", text: "long ".repeat(400) }, call, request]),
    { role: "tool", content: [response, result] },
    assistant("It is done."),
    user("Thank you."),
  ];
  for (const through of Object.values(ways)) {
    const context = new api.ContextManager({ window: { contextTokens: 12_000 }, format: "ai-sdk" });
    context.request(history.slice(0, 4));
    const got = context.request(through(history.slice(2)));
    const text = JSON.stringify(got.messages);
    assert.equal(
      text.includes("tool-approval-response"),
      text.includes("tool-approval-request"),
      text,
    );
    assert.equal(got.forgotten, 2);
  }
});
