// @ts-check
/** Objects that were disposed of say so at every call, also where the call was under way. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, good, manager, pausedSession, skip, talk } from "../support/agent-session.mjs";

const over = (/** @type {string} */ during, what = "session") => ({
  code: "DISPOSED",
  info: { code: "DISPOSED", during },
  message: `${during}: the ${what} was disposed of; make a new one`,
});
const overflow = { status: 400, message: "prompt is too long: 250000 tokens > 200000 maximum" };

test("every method of a disposed session throws DISPOSED", { skip }, async () => {
  const { context } = manager(null);
  const history = talk(3);
  const prepared = context.request(history);
  context[Symbol.dispose]();
  context[Symbol.dispose]();
  /** @type {Record<string, () => any>} */
  const calls = {
    request: () => context.request(history),
    prepare: () => context.prepare(history),
    plan: () => context.plan(history),
    compact: () => context.compact(history),
    recover: () => context.recover(history, overflow),
    observe: () => context.observe({ inputTokens: 10 }, prepared),
    note: () => context.note({ source: "planner" }),
    setModel: () => context.setModel({ window: { contextTokens: 1000 } }),
    status: () => context.status(),
    statusLine: () => context.statusLine(),
    hint: () => context.hint(),
    inspect: () => context.inspect(),
    flushPrompt: () => context.flushPrompt(),
    checkpoint: () => context.checkpoint(),
    explain: () => context.explain(0),
    snapshot: () => context.snapshot(),
    save: () => context.save(),
    pin: () => context.pin({ index: 0 }),
    unpin: () => context.unpin("p1"),
    recall: () => context.recall("r1"),
    agentTools: () => context.agentTools(),
    callAgentTool: () => context.callAgentTool("context_status", {}),
    counters: () => context.counters(),
  };
  const members = Object.getOwnPropertyDescriptors(api.ContextManager.prototype);
  const methods = Object.entries(members).filter(([, { value }]) => typeof value === "function");
  assert.deepEqual(
    methods
      .map(([name]) => name)
      .filter((name) => name !== "constructor")
      .sort(),
    Object.keys(calls).sort(),
  );
  for (const [name, call] of Object.entries(calls))
    await assert.rejects(async () => call(), over(name));
});

test("a running compaction rejects when its session is disposed", {
  skip,
}, async () => {
  const { context, open } = pausedSession();
  const compacting = context.compact(talk(20), { force: true });
  context[Symbol.dispose]();
  open();
  await assert.rejects(compacting, over("compact"));
});

test("a request that waits for a compaction rejects when its session is disposed", {
  skip,
}, async () => {
  const { context, open } = pausedSession();
  const preparing = context.prepare(talk(60));
  context[Symbol.dispose]();
  open();
  await assert.rejects(preparing, over("prepare"));
});

test("a getter may dispose the session: the call ends, and later ones are refused", {
  skip,
}, async () => {
  for (const during of ["request", "prepare", "compact", "plan", "pin", "recall"]) {
    const { context } = manager(async (/** @type {any} */ job) => good(job));
    const history = talk(40);
    let armed = during === "request" || during === "prepare";
    const last = history.length - 1;
    const shown = { ...history[last] };
    const spy = Object.defineProperty(shown, "content", {
      enumerable: true,
      get: () => {
        if (armed) context[Symbol.dispose]();
        return "and now finish it";
      },
    });
    const spied = [...history.slice(0, -1), spy];
    const calls = /** @type {Record<string, () => any>} */ ({
      request: () => context.request(spied),
      prepare: () => context.prepare(spied),
      compact: () => context.compact(spied, { force: true }),
      plan: () => context.plan(spied),
      pin: () => context.pin({ text: "nowhere to be found" }),
      recall: () => context.recall("r1"),
    });
    if (!armed) context.request(spied);
    armed = true;
    const outcome = await Promise.resolve()
      .then(calls[during])
      .then(
        () => "ended",
        (/** @type {any} */ error) => error.code ?? `${error}`,
      );
    assert.ok(["ended", "DISPOSED"].includes(outcome), `${during}: ${outcome}`);
    if (during !== "recall") assert.throws(() => context.status(), over("status"), during);
  }
});

test("a callback that disposes the session leaves memory unchanged", { skip }, () => {
  const history = talk(80);
  for (const name of ["clock", "on", "create", "key", "estimator"]) {
    /** @type {any} */
    let context;
    let armed = false;
    const callback = (/** @type {any} */ first) => {
      if (armed) context[Symbol.dispose]();
      if (name === "clock") return 1;
      if (name === "key") return JSON.stringify(first).slice(0, 20) + JSON.stringify(first).length;
      return name === "estimator" ? first.length / 4 : undefined;
    };
    context = manager(null, { [name]: callback }).context;
    armed = true;
    try {
      context.request(history.slice(0, 100));
      context.request(history);
    } catch (error) {
      assert.equal(/** @type {any} */ (error).code, "DISPOSED", name);
    }
    const isCalled = (() => {
      try {
        context.status();
        return false;
      } catch (error) {
        assert.equal(/** @type {any} */ (error).code, "DISPOSED", name);
        return true;
      }
    })();
    assert.ok(isCalled, `${name} was called`);
  }
});

test("a disposed replay throws DISPOSED", { skip }, () => {
  const session = api.readSession(JSON.stringify(talk(10)));
  const run = api.replay(session, { window: { contextTokens: 32_000 } });
  const { totals } = run;
  run[Symbol.dispose]();
  run[Symbol.dispose]();
  assert.equal(run.totals, totals, "what it came to is a plain value");
  for (const name of ["composition", "messages", "report"])
    assert.throws(() => run[name](), over(name, "replay"));
  assert.throws(() => run.text(0), over("text", "replay"));
});
