// @ts-check
/**
 * What happens at every await of a compaction and of a checkpoint. Summarizers answer at once, so that only our own awaits are
 * left; one run for each of them aborts, appends, changes, joins, parks or disposes there. A session is then what it was or what
 * it came to, never something between.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkAccepted } from "../faults/rows.mjs";
import {
  api,
  count,
  good,
  idle,
  manager,
  reply,
  sentText,
  skip,
  step,
  talk,
  user,
  WINDOW,
} from "../support/agent-session.mjs";

const isCheckpoint = (/** @type {any} */ job) => job.system.includes('"keyDecisions"');
const answer = (/** @type {any} */ job) =>
  isCheckpoint(job) ? JSON.stringify({ summary: "All of Zebra_One." }) : good(job);
const CHUNKS = { summary: { minimumTokens: 0, contextTokens: 5_000 } };
const STOP = new Error("the host stops");
/** More awaits than any of these has. */
const MOST = 400;
const macrotask = () => new Promise((resolve) => setImmediate(resolve));

/** What came of it, as soon as it has settled. @param {Promise<any>} promise */
function watched(promise) {
  /** @type {{ now: null | { value?: any, error?: any } }} */
  const watch = { now: null };
  const settled = promise.then(
    (value) => (watch.now = { value }),
    (error) => (watch.now = { error }),
  );
  return Object.assign(watch, { settled });
}

/**
 * Runs once for each await, until one is over before its await has come. `begin` says what is waited for, `then` what is done
 * at the await and what must hold after it.
 * @template T
 * @param {() => Promise<T & { call: Promise<any> }>} begin
 * @param {(own: T & { call: Promise<any>, watch: ReturnType<typeof watched> }) => Promise<void>} then
 */
async function atEachAwait(begin, then) {
  /** @type {unknown[]} */
  const loose = [];
  const note = (/** @type {unknown} */ error) => loose.push(error);
  process.on("unhandledRejection", note);
  // The driver is loaded where it is first wanted: not here.
  await manager(answer).context.compact(talk(20), { force: true });
  let at = 0;
  for (let over = false; !over; at += 1) {
    assert.ok(at < MOST, "it does not end");
    const own = await begin();
    const watch = watched(own.call);
    for (let tick = 0; tick < at && !watch.now; tick += 1) await Promise.resolve();
    over = watch.now !== null;
    await then({ ...own, watch });
    await macrotask();
  }
  process.off("unhandledRejection", note);
  assert.deepEqual(loose, []);
  return at;
}

/** One at a time, and each beginning has its end. @param {any[]} events */
function checkPaired(events) {
  let open = 0;
  for (const { type } of events) {
    if (type === "compaction-start") open += 1;
    if (type === "compaction-end" || type === "compaction-failed") open -= 1;
    assert.ok(open === 0 || open === 1, `${open} at once`);
  }
  assert.equal(open, 0);
}

/**
 * A talk, and a call that compacts it: by hand, or because the request would not fit.
 * @param {"compact" | "prepare"} way @param {AbortSignal} [signal] @param {any} [more]
 */
function begun(way, signal, more = CHUNKS) {
  const own = manager(answer, more);
  const history = talk(way === "compact" ? 20 : 40);
  const before = own.context.request(way === "compact" ? history : history.slice(0, 4));
  const parked = own.context.snapshot();
  const call =
    way === "compact"
      ? own.context.compact(history, { force: true, signal })
      : own.context.prepare(history, { signal });
  return { ...own, history, before, parked, call };
}

/** A request now: taken by its provider, the last words there once. @param {any} context @param {any[]} history */
function checkSound(context, history) {
  const prepared = context.request(history);
  checkAccepted(prepared);
  assert.equal(count(sentText(prepared), "and now finish it"), 1);
  assert.ok(count(sentText(prepared), "Zebra_One") <= 1);
  return prepared;
}

/** @type {Array<"compact" | "prepare">} */
const WAYS = ["compact", "prepare"];
for (const way of WAYS) {
  test(`${way} aborted at any await either rejects without a change or completes (F17)`, {
    skip,
  }, async () => {
    let [stopped, done] = [0, 0];
    const awaits = await atEachAwait(
      () => {
        const host = new AbortController();
        return { host, ...begun(way, host.signal) };
      },
      async ({ host, context, history, before, parked, events, watch }) => {
        host.abort(STOP);
        await macrotask();
        assert.ok(watch.now, "it settles at once");
        await idle(context);
        checkPaired(events);
        const { error, value } = watch.now;
        assert.equal(context.status().compactions, error ? 0 : 1);
        if (error) {
          stopped += 1;
          assert.equal(error, STOP);
          assert.equal(context.status().blocked, null);
          if (way === "compact") {
            assert.deepEqual(context.snapshot(), parked);
            assert.deepEqual(context.request(history).messages, before.messages);
          }
        } else {
          done += 1;
          assert.equal((way === "compact" ? value : value.compaction).status, "summarized");
          checkSound(context, history);
        }
        history.push(reply("ok"), ...step(90), user("more"));
        const next = await context.compact(history, { force: true });
        assert.equal(next.status, "summarized", next.reason);
      },
    );
    assert.ok(stopped > 20 && done > 0, `${stopped} of ${awaits}`);
    console.log(`F17 ${way}: ${awaits} awaits: ${stopped} aborts reject, ${done} come too late`);
  });

  test(`messages appended at any await of ${way} are sent once and in order (F16)`, {
    skip,
  }, async () => {
    const awaits = await atEachAwait(
      () => begun(way),
      async ({ context, history, events, call }) => {
        history.push(reply("late answer."), user("late wish."));
        const meanwhile = checkSound(context, history);
        assert.equal(count(sentText(meanwhile), "late wish."), 1);
        await call;
        const sent = sentText(checkSound(context, history));
        assert.equal(count(sent, "late answer."), 1);
        assert.equal(count(sent, "late wish."), 1);
        assert.ok(sent.indexOf("late wish.") > sent.indexOf("late answer."));
        await idle(context);
        checkPaired(events);
      },
    );
    console.log(`F16 ${way}: appended at ${awaits} awaits`);
  });

  test(`callers at any await of ${way} join it, whoever aborts (F14)`, {
    skip,
  }, async () => {
    const awaits = await atEachAwait(
      () => {
        const host = new AbortController();
        return { host, ...begun(way, host.signal) };
      },
      async ({ host, context, history, events, call, watch }) => {
        const late = [];
        for (let caller = 0; caller < 7; caller += 1) {
          late.push(caller % 2 ? context.prepare(history) : context.compact(history, {}));
          await Promise.resolve();
        }
        host.abort(STOP);
        await Promise.all([...late, call.catch(() => {})]);
        assert.ok(!watch.now?.error || watch.now.error === STOP);
        await idle(context);
        checkPaired(events);
        assert.equal(events.filter(({ type }) => type === "compaction-start").length, 1);
        assert.equal(context.status().compactions, 1);
        checkSound(context, history);
      },
    );
    console.log(`F14 ${way}: 8 callers at ${awaits} awaits`);
  });
}

test("a plan is refused if the history changes at any await (F16)", {
  skip,
}, async () => {
  let [refused, done] = [0, 0];
  const awaits = await atEachAwait(
    () => begun("compact"),
    async ({ context, history, events, call }) => {
      const other = [user("another start"), ...history.slice(1)];
      context.request(other);
      const { status, reason, record } = await call;
      if (status === "failed") {
        refused += 1;
        assert.equal(record, null);
        assert.match(reason, /^the history has changed/);
        assert.equal(context.status().compactions, 0);
      } else done += 1;
      assert.equal(count(sentText(checkSound(context, other)), "another start"), 1);
      checkPaired(events);
    },
  );
  assert.ok(refused > 20 && done > 0, `${refused} of ${awaits}`);
  console.log(`F16: another prefix at ${awaits} awaits: ${refused} refused, ${done} were done`);
});

test("a snapshot taken at any await restores the old state or the new one (F15)", {
  skip,
}, async () => {
  let [old, now] = [0, 0];
  await atEachAwait(
    () => begun("compact"),
    async ({ context, history, before, call }) => {
      const bytes = context.snapshot();
      await call;
      const same = { window: WINDOW, format: "anthropic", estimator: "chars/4" };
      const woken = api.ContextManager.restore(bytes, { ...same, summarize: answer });
      const { messages } = woken.request(history);
      const isNew = count(JSON.stringify(messages), "Zebra_One") === 1;
      assert.deepEqual(messages, isNew ? context.request(history).messages : before.messages);
      if (isNew) now += 1;
      else old += 1;
    },
  );
  assert.ok(old > 20 && now > 0, `${old} old, ${now} new`);
});

test("a session disposed at any await ends its compaction (F18)", {
  skip,
}, async () => {
  for (const way of WAYS)
    await atEachAwait(
      () => begun(way),
      async ({ context, watch }) => {
        context[Symbol.dispose]();
        await macrotask();
        assert.ok(watch.now, "it settles");
      },
    );
});

/** A request that has a checkpoint made after it. */
async function behind() {
  const summary = { ...CHUNKS.summary, checkpoints: { minimumTokens: 500, thresholds: [25] } };
  let prompts = "";
  const asked = (/** @type {any} */ job) => {
    prompts += job.prompt;
    return answer(job);
  };
  const own = manager(asked, { summary });
  const history = talk(9);
  const checkpointEvents = () => own.events.filter(({ type }) => type?.startsWith("checkpoint"));
  await own.context.prepare(history);
  // Nothing says when it is over but its event.
  const call = new Promise((resolve) => {
    const look = async () => {
      for (let tick = 0; tick < MOST && checkpointEvents().length === 0; tick += 1)
        await Promise.resolve();
      resolve(checkpointEvents()[0]);
    };
    void look();
  });
  return { ...own, history, checkpointEvents, call, prompts: () => prompts };
}

test("a checkpoint survives messages, another history, a compaction and disposal at every await", {
  skip,
}, async () => {
  const counts = { appended: 0, changed: 0, compacted: 0, disposed: 0, kept: 0 };
  await atEachAwait(behind, async ({ context, history, checkpointEvents: events, call }) => {
    history.push(reply("late answer."), user("late wish."));
    checkSound(context, history);
    await call;
    assert.deepEqual([events().length, events()[0]?.type], [1, "checkpoint"]);
    assert.equal(context.checkpoint().summary, "All of Zebra_One.");
    const checkpointEvents = context.checkpoint().messageCountAtCheckpoint;
    assert.ok(
      [history.length - 2, history.length].includes(checkpointEvents),
      "of what had come when it was asked for",
    );
    counts.appended += 1;
  });
  await atEachAwait(behind, async ({ context, history, checkpointEvents, prompts, call }) => {
    const isMade = checkpointEvents().length > 0;
    context.request([user("another start"), ...history.slice(1)]);
    await macrotask();
    await call;
    const isOfTheOther = prompts().includes("another start");
    assert.equal(checkpointEvents().length, isMade || isOfTheOther ? 1 : 0);
    assert.equal(
      context.checkpoint() !== null,
      isOfTheOther,
      "of the history before nothing is kept",
    );
    counts.changed += 1;
  });
  await atEachAwait(behind, async ({ context, history, checkpointEvents, events }) => {
    const { status, record } = await context.compact(history, { force: true });
    assert.deepEqual([status, record.degraded], ["summarized", false]);
    await macrotask();
    assert.ok(
      checkpointEvents().every(({ type }) => type === "checkpoint"),
      "given up is no failure",
    );
    counts.kept += checkpointEvents().length;
    checkPaired(events);
    checkSound(context, history);
    counts.compacted += 1;
  });
  await atEachAwait(behind, async ({ context, checkpointEvents }) => {
    const before = checkpointEvents().length;
    context[Symbol.dispose]();
    await macrotask();
    assert.equal(checkpointEvents().length, before, "nobody is told behind the end");
    counts.disposed += 1;
  });
  for (const [name, awaits] of Object.entries(counts)) assert.ok(awaits > 0, name);
  console.log(`checkpoints: ${JSON.stringify(counts)}`);
});
