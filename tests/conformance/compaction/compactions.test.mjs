// @ts-check
/** Compaction by summarizers of the host's that do well, badly, late or never: the host's turn goes on, and nothing is lost. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  api,
  count,
  gate,
  good,
  idle,
  manager,
  prose,
  sentText,
  skip,
  step,
  talk,
  user,
  WINDOW,
} from "../support/agent-session.mjs";

test("the next request contains a manual compaction", { skip }, async () => {
  /** @type {any[]} */
  const jobs = [];
  const { context, types } = manager(async (/** @type {any} */ job) => {
    jobs.push(job);
    return good(job);
  });
  const history = talk(20);
  const before = context.request(history);
  const frozen = JSON.stringify(history);
  const outcome = await context.compact(history, { force: true, focus: "zebras" });
  assert.equal(outcome.status, "summarized");
  assert.equal(jobs.length, 1);
  assert.ok(outcome.tokensAfter < outcome.tokensBefore && outcome.reductionPct > 30);
  assert.equal(count(outcome.record.summary, "Zebra_One"), 1);
  assert.ok(outcome.extracted.modifiedFiles.includes("src/f0.rs"));
  assert.equal(outcome.extracted.errors.length, 1);
  const after = context.request(history);
  assert.deepEqual(after.compaction, outcome);
  assert.equal(after.epoch, before.epoch + 1);
  assert.equal(count(sentText(after), "Zebra_One"), 1);
  assert.equal(count(sentText(after), "and now finish it"), 1);
  assert.equal(JSON.stringify(history), frozen);
  assert.equal(context.request(history).compaction, null);
  assert.deepEqual(api.validate(after.messages, "anthropic"), []);
  assert.deepEqual(types(), ["pressure", "compaction-start", "compaction-end", "epoch"]);
});

test("a listener's error is printed once, and the compaction still counts as done", {
  skip,
}, async () => {
  /** @type {string[]} */
  const types = [];
  const context = new api.ContextManager({
    window: WINDOW,
    format: "anthropic",
    summarize: async (/** @type {any} */ job) => good(job),
    on: (/** @type {any} */ { type }) => {
      types.push(type);
      throw new Error(`of the host's own: ${type}`);
    },
  });
  const history = talk(20);
  const before = console.error;
  /** @type {any[]} */
  const printed = [];
  console.error = (...all) => printed.push(all.at(-1).message);
  const outcome = await context.compact(history, { force: true });
  assert.equal(outcome.status, "summarized");
  assert.deepEqual(
    types.filter((type) => type.startsWith("compaction")),
    ["compaction-start", "compaction-end"],
  );
  assert.equal(context.request(history).compaction.status, "summarized");
  console.error = before;
  assert.deepEqual(printed, [`of the host's own: ${types[0]}`]);
});

const bad = {
  "F2 throws": () => {
    throw new Error("no");
  },
  "F2 rejects": async () => Promise.reject(new Error("no")),
  "F4 answers nothing": async () => "",
  "F4 answers blanks": async () => " \n ",
};
for (const [name, summarize] of Object.entries(bad)) {
  test(`without a usable summary (${name}) a manual compaction keeps an extract, and a background one changes nothing`, {
    skip,
  }, async () => {
    const { context, types, events } = manager(summarize);
    const history = talk(20);
    const before = context.request(history);
    const parked = context.snapshot();
    const plain = await context.compact(history, {});
    assert.ok(["none", "failed"].includes(plain.status), plain.status);
    assert.deepEqual(context.request(history).messages, before.messages);
    if (plain.status === "none") assert.deepEqual(context.snapshot(), parked);
    const forced = await context.compact(history, { force: true });
    assert.ok(["summarized", "folded"].includes(forced.status));
    assert.equal(forced.record.degraded, true);
    assert.ok(context.request(history).fits);
    assert.ok(
      events.every((event) => event.type !== "compaction-failed" || event.outcome.reason !== ""),
    );
    assert.ok(types().includes("compaction-end"));
    assert.equal(context.status().blocked?.reason, "cooldown");
  });
}

test("a summary that is not smaller is refused, and a manual compaction reports an extract (F6)", {
  skip,
}, async () => {
  const words = Array.from({ length: 30_000 }, (_, at) => `word${at}`).join(" ");
  const { context, types } = manager(async (/** @type {any} */ job) => `${good(job)}\n${words}`);
  const history = talk(20);
  const before = context.request(history);
  const { status, attempts, record } = await context.compact(history, { force: true });
  assert.deepEqual(
    attempts.map((/** @type {any} */ tried) => tried.result),
    ["inflated", "inflated"],
  );
  assert.deepEqual([status, record.degraded], ["folded", true]);
  const after = context.request(history);
  assert.ok(after.tokens < before.tokens && !sentText(after).includes("word29999"));
  assert.deepEqual(types(), ["pressure", "compaction-start", "compaction-end", "epoch"]);
});

test("calls during a compaction join it (F14)", { skip }, async () => {
  for (const calls of [2, 8]) {
    let asked = 0;
    const { open, opened } = gate();
    const { context, types } = manager(async (/** @type {any} */ job) => {
      asked += 1;
      await opened;
      return good(job);
    });
    const history = talk(20);
    const all = Array.from({ length: calls }, () => context.compact(history, { force: true }));
    assert.equal(context.status().blocked.reason, "running");
    setTimeout(open, 5);
    const outcomes = await Promise.all(all);
    assert.equal(asked, 1);
    assert.ok(outcomes.every((outcome) => outcome === outcomes[0]));
    assert.equal(context.status().compactions, 1);
    assert.deepEqual(types(), ["compaction-start", "compaction-end"]);
  }
});

test("a listener of a compaction's start that calls compact() or prepare() joins that compaction", {
  skip,
}, async () => {
  for (const method of /** @type {const} */ (["compact", "prepare"])) {
    for (const joining of /** @type {const} */ (["compact", "prepare"])) {
      const history = talk(60);
      /** @type {Promise<any>[]} */
      const joined = [];
      /** @type {any[]} */
      const blocked = [];
      let [asked, starts] = [0, 0];
      const { context } = manager(
        async (/** @type {any} */ job) => {
          asked += 1;
          await new Promise((resolve) => setTimeout(resolve, 5));
          return good(job);
        },
        {
          on: (/** @type {any} */ { type }) => {
            // A limit, so that the test ends also where no call joins.
            if (type !== "compaction-start" || ++starts > 9) return;
            blocked.push(context.status().blocked?.reason);
            joined.push(context[joining](history));
          },
        },
      );
      await context[method](history);
      await Promise.all(joined);
      await idle(context);
      assert.deepEqual([starts, asked, blocked], [1, 1, ["running"]], `${method}, ${joining}`);
      assert.equal(context.status().compactions, 1);
    }
  }
});

test("a listener that compacts again when a compaction cannot start has the same outcome, once", {
  skip,
}, async () => {
  const history = [user("word ".repeat(4 * WINDOW.contextTokens))];
  /** @type {Promise<any>[]} */
  const joined = [];
  const { context } = manager(good, {
    on: (/** @type {any} */ { type }) => {
      // A limit, so that the test ends also where each starts another.
      if (type === "compaction-failed" && joined.length < 9)
        joined.push(context.compact(history, { force: true }));
    },
  });
  const outcome = await context.compact(history, { force: true });
  assert.equal(outcome.status, "failed");
  assert.deepEqual(await Promise.all(joined), [outcome]);
  await context.compact(history, { force: true });
  assert.equal(joined.length, 2);
});

test("a listener of a compaction's start that joins it and aborts leaves it to the first caller", {
  skip,
}, async () => {
  let starts = 0;
  const { context } = manager(async (/** @type {any} */ job) => good(job), {
    on: (/** @type {any} */ { type }) => {
      if (type !== "compaction-start" || ++starts > 1) return;
      const abort = new AbortController();
      const joined = context.compact(talk(20), { signal: abort.signal });
      abort.abort(new Error("of the listener's"));
      joined.catch(() => {});
    },
  });
  const { status } = await context.compact(talk(20), { force: true });
  assert.equal(status, "summarized");
});

test("a session that is disposed of after a listener joined a compaction aborts every summarizer", {
  skip,
}, async () => {
  for (const isAtOnce of [false, true]) {
    /** @type {AbortSignal[]} */
    const signals = [];
    let starts = 0;
    const { context } = manager(
      (/** @type {any} */ _, /** @type {any} */ { signal }) => {
        signals.push(signal);
        return new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
        });
      },
      {
        on: (/** @type {any} */ { type }) => {
          if (type !== "compaction-start" || ++starts > 1) return;
          context.compact(talk(20), { force: true }).catch(() => {});
          if (isAtOnce) context[Symbol.dispose]();
        },
      },
    );
    const ended = context.compact(talk(20), { force: true });
    ended.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 20));
    if (!isAtOnce) context[Symbol.dispose]();
    await assert.rejects(ended, { code: "DISPOSED" });
    assert.ok(signals.every(({ aborted }) => aborted));
    assert.equal(signals.length, isAtOnce ? 0 : 1);
  }
});

test("an aborted call rejects with its reason, and the compaction stops when no caller is left", {
  skip,
}, async () => {
  const { opened } = gate();
  const { open: begin, opened: begun } = gate();
  /** @type {AbortSignal | undefined} */
  let seen;
  const { context } = manager((/** @type {any} */ _, /** @type {any} */ control) => {
    seen = control.signal;
    begin();
    return new Promise((_, reject) => {
      seen?.addEventListener("abort", () => reject(seen?.reason));
      opened.then(() => reject(new Error("never")));
    });
  });
  const history = talk(20);
  context.request(history);
  const before = context.snapshot();
  const [one, other] = [new AbortController(), new AbortController()];
  const first = context.compact(history, { force: true, signal: one.signal });
  const second = context.compact(history, { force: true, signal: other.signal });
  await begun;
  const reasons = [new Error("first"), new Error("second")];
  one.abort(reasons[0]);
  await assert.rejects(first, (error) => error === reasons[0]);
  assert.equal(seen?.aborted, false, "the other still waits");
  other.abort(reasons[1]);
  await assert.rejects(second, (error) => error === reasons[1]);
  assert.equal(seen?.aborted, true);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(context.snapshot(), before);
  assert.equal(context.status().blocked, null);
  const gone = AbortSignal.abort(reasons[0]);
  await assert.rejects(context.prepare(history, { signal: gone }), (error) => error === reasons[0]);
  await assert.rejects(context.compact(history, { signal: gone }), (error) => error === reasons[0]);
});

test("an abort in the listener of a compaction's start rejects the call and aborts the summarizer", {
  skip,
}, async () => {
  for (const [method, options] of /** @type {const} */ ([
    ["compact", { force: true }],
    ["prepare", {}],
  ])) {
    const abort = new AbortController();
    const reason = new Error("stopped");
    /** @type {AbortSignal[]} */
    const seen = [];
    const { context } = manager(
      async (/** @type {any} */ job, /** @type {any} */ { signal }) => {
        seen.push(signal);
        await new Promise((resolve) => setTimeout(resolve, 5));
        return good(job);
      },
      {
        on: (/** @type {any} */ event) => {
          if (event.type === "compaction-start") abort.abort(reason);
        },
      },
    );
    const history = talk(60);
    await assert.rejects(
      context[method](history, { ...options, signal: abort.signal }),
      (error) => error === reason,
      method,
    );
    assert.ok(seen.every(({ aborted }) => aborted));
    assert.equal(context.status().blocked, null);
  }
});

test("a summary is used although the model changed while it was written", { skip }, async () => {
  for (const change of [
    { estimator: "o200k" },
    { provider: "bedrock" },
    { estimator: (/** @type {string} */ text) => text.length / 4 },
  ]) {
    const history = talk(20);
    const longer = [...history, { role: "assistant", content: "late answer" }, user("late wish")];
    const { context } = manager(async (/** @type {any} */ job) => {
      context.request(longer);
      context.setModel(change);
      return good(job);
    });
    context.request(history);
    const outcome = await context.compact(history, { force: true });
    assert.equal(outcome.status, "summarized", `${Object.keys(change)}: ${outcome.reason}`);
    const sent = sentText(context.request(longer));
    for (const text of ["Zebra_One", "late answer", "late wish"])
      assert.equal(count(sent, text), 1);
  }
});

test("messages appended while a summarizer works are sent once and in order (F16)", {
  skip,
}, async () => {
  for (const late of [1, 3]) {
    const history = talk(20);
    const { context } = manager(async (/** @type {any} */ job) => {
      for (let at = 0; at < late; at++) {
        history.push({ role: "assistant", content: `late answer ${at}` });
        history.push({ role: "user", content: `late wish ${at}` });
        context.request(history);
      }
      return good(job);
    });
    const pin = context.request(history) && context.pin({ text: "step 0" });
    const outcome = await context.compact(history, { force: true });
    assert.equal(outcome.status, "summarized");
    const sent = sentText(context.request(history));
    for (let at = 0; at < late; at++) {
      assert.equal(count(sent, `late answer ${at}`), 1);
      assert.equal(count(sent, `late wish ${at}`), 1);
    }
    assert.equal(count(sent, "and now finish it"), 1);
    assert.equal(count(sent, "step 0:"), 1);
    assert.ok(context.unpin(pin));
  }
});

test("a plan is refused if the history changed meanwhile (F16)", {
  skip,
}, async () => {
  const { context } = manager(async (/** @type {any} */ job) => good(job));
  const history = talk(20);
  const plan = context.plan(history, { force: true });
  assert.equal(plan.outcome, "summarize");
  const other = [{ role: "user", content: "something else" }, ...history.slice(1)];
  await assert.rejects(context.compact(other, { plan }), { code: "STALE_PLAN" });
  const outcome = await context.compact(history, { plan });
  assert.equal(outcome.status, "summarized");
  assert.equal(outcome.record.firstKeptIndex, plan.firstKept);
  assert.deepEqual(outcome.record.kept, plan.kept);
  await assert.rejects(context.compact(history, { plan }), { code: "STALE_PLAN" });
  const changes = manager(async (/** @type {any} */ job) => {
    changes.context.request(other);
    return good(job);
  });
  changes.context.request(history);
  const failed = await changes.context.compact(history, { force: true });
  assert.equal(failed.status, "failed");
  assert.match(failed.reason, /^the history has changed/);
});

test("plan changes nothing and says what a compaction would do", { skip }, async () => {
  const { context } = manager(async (/** @type {any} */ job) => good(job));
  const twin = manager(async (/** @type {any} */ job) => good(job)).context;
  const history = talk(20);
  for (const grown of [history, [...history, ...step(30)]]) {
    const [one, other] = [context.request(grown), twin.request(grown)];
    assert.deepEqual(one.messages, other.messages);
    const before = context.snapshot();
    const plan = context.plan(grown, { force: true });
    assert.deepEqual(context.plan(grown, { force: true }), plan);
    assert.deepEqual(context.snapshot(), before);
    assert.ok(plan.firstKept > 0 && plan.firstKept < grown.length);
    assert.ok(plan.chunks.length > 0 && plan.tokensAfterEstimate < plan.tokensBefore);
  }
  const fresh = (/** @type {object} */ options) => new api.ContextManager(options);
  const alone = fresh({ window: WINDOW, estimator: "chars/4" }).plan(history, { force: true });
  assert.equal(alone.outcome, "summarize");
  assert.equal(fresh({ window: { contextTokens: 0 } }).plan(history).outcome, "none");
});

test("prepare waits for a compaction only if the request would not fit", { skip }, async () => {
  let asked = 0;
  const { open: begin, opened: begun } = gate();
  const { open, opened } = gate();
  const { context, types } = manager(async (/** @type {any} */ job) => {
    asked += 1;
    begin();
    begin();
    await opened;
    return good(job);
  });
  /** @type {any[]} */
  const history = [];
  let running = false;
  for (let at = 0; at < 40 && !running; at++) {
    history.push(...step(at));
    const prepared = await context.prepare(history);
    assert.equal(prepared.compaction, null);
    running = context.status().blocked?.reason === "running";
  }
  assert.ok(running, "a fold was due");
  await begun;
  assert.equal(asked, 1);
  history.push({ role: "user", content: "small" });
  assert.equal((await context.prepare(history)).compaction, null, "still in the background");
  history.push({ role: "assistant", content: "yes" }, { role: "user", content: prose(12_000) });
  const waiting = context.prepare(history);
  let done = false;
  waiting.then(() => {
    done = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(done, false, "it waits: it would not fit");
  open();
  const prepared = await waiting;
  assert.ok(prepared.compaction && prepared.tokens < 20_000);
  assert.ok(types().includes("compaction-end"));
});

test("prepare starts another compaction if the running one is not enough", {
  skip,
}, async () => {
  let asked = 0;
  const { context, types } = manager(async (/** @type {any} */ job) => {
    asked += 1;
    return good(job, `Zebra_${asked} was there.`);
  });
  const history = talk(20);
  context.request(history);
  const first = context.compact(history, { force: true });
  for (let at = 20; at < 80; at += 1) history.push(...step(at));
  history.push({ role: "user", content: "so" });
  const prepared = await context.prepare(history);
  assert.equal((await first).status, "summarized");
  assert.deepEqual([asked, prepared.fits], [2, true]);
  const { status, record } = prepared.compaction;
  assert.deepEqual([status, record.degraded], ["summarized", false]);
  assert.equal(count(sentText(prepared), "Zebra_2 was there."), 1);
  assert.equal(types().filter((type) => type === "compaction-start").length, 2);
});

test("a failing summarizer is paused, the host is warned once, and requests fold without it", {
  skip,
}, async () => {
  let asked = 0;
  const { context, events, pass } = manager(async () => {
    asked += 1;
    throw new Error("no");
  });
  /** @type {any[]} */
  const history = [];
  let degraded = 0;
  let warned = 0;
  for (let at = 0; at < 60; at++) {
    history.push(...step(at));
    pass(1000);
    const { compaction, fits } = await context.prepare(history);
    assert.ok(fits);
    if (compaction?.record?.degraded) degraded += 1;
    if (compaction?.status === "none") warned += 1;
    await idle(context);
  }
  assert.ok(degraded > 0);
  assert.ok(warned >= 1 && warned <= 2, `${warned} warnings`);
  assert.ok(asked <= 3, `${asked} calls`);
  const ends = events.filter((event) => event.type?.startsWith("compaction-") && event.outcome);
  assert.ok(ends.every(({ outcome }) => outcome.reason !== ""));
});

test("a summarizer that does not help is called at most twice, also after a restart (F1)", {
  skip,
}, async () => {
  let asked = 0;
  const summarize = async (/** @type {any} */ job) => {
    asked += 1;
    return good(job);
  };
  const { context, pass } = manager(summarize);
  const pinned = { role: "user", content: prose(9_000) };
  /** @type {any[]} */
  const history = [pinned];
  context.request(history);
  context.pin({ index: 0 });
  let now = context;
  for (let at = 0; at < 60; at++) {
    history.push(...step(at));
    pass(1000);
    const prepared = await now.prepare(history);
    await idle(now);
    now.observe({ inputTokens: 18_500, outputTokens: 1 }, prepared);
    if (at === 30) {
      const bytes = now.snapshot();
      now = api.ContextManager.restore(bytes, {
        ...{ window: WINDOW, format: "anthropic", estimator: "chars/4" },
        ...{ summary: { minimumTokens: 0, contextTokens: 200_000 }, summarize },
      });
    }
  }
  assert.ok(asked <= 2, `${asked} calls`);
  assert.deepEqual(now.status().blocked, { reason: "ineffective" });
  const forced = await now.compact(history, { force: true });
  assert.doesNotMatch(forced.reason, /^ineffective/, "by hand it passes");
});

test("recover makes a refused request smaller twice, and ignores errors that are no overflow", {
  skip,
}, async () => {
  for (const summarize of [undefined, async (/** @type {any} */ job) => good(job)]) {
    const { context } = manager(summarize);
    const history = talk(20);
    const first = context.request(history);
    const overflow = new Error("prompt is too long: 210000 tokens > 200000 maximum");
    assert.equal(await context.recover(history, new Error("429 rate limit")), null);
    const sizes = [first.tokens];
    for (let at = 0; at < 2; at++) {
      const smaller = await context.recover(history, overflow);
      if (!smaller) break;
      sizes.push(smaller.tokens);
      assert.equal(count(sentText(smaller), "and now finish it"), 1);
    }
    assert.ok(sizes.length > 1 && sizes[1] <= first.tokens * 0.9, String(sizes));
    assert.equal(await context.recover(history, overflow), null);
    const small = manager(summarize).context;
    small.request([{ role: "user", content: "hi" }]);
    const none = await small.recover([{ role: "user", content: "hi" }], overflow);
    assert.equal(none, null, "nothing smaller can be sent");
  }
});

test("a request that cannot fit calls no summarizer and says why (F12, F13)", {
  skip,
}, async () => {
  let asked = 0;
  const { context } = manager(async (/** @type {any} */ job) => {
    asked += 1;
    return good(job);
  });
  const parts = { system: prose(20_000) };
  const outcome = await context.compact(talk(20), { force: true, ...parts });
  assert.equal(outcome.status, "failed");
  assert.match(outcome.reason, /^nothing that may go is left: \{"systemTokens":\d{5}/);
  const prepared = await context.prepare(talk(20), parts);
  assert.equal(prepared.fits, false);
  assert.equal(asked, 0);
});

test("facts of a summary, pins and the last request survive fifty compactions", {
  skip,
}, async () => {
  let round = 0;
  const { context, pass } = manager(async (/** @type {any} */ job) => {
    assert.equal(job.previousSummary?.includes(`round ${round - 1}`) ?? false, round > 0);
    return good(job, `round ${round} with Zebra_One`);
  });
  /** @type {any[]} */
  const history = [{ role: "user", content: "the rule: never touch prod" }];
  context.request(history);
  context.pin({ index: 0 });
  for (round = 0; round < 50; round++) {
    for (let at = 0; at < 6; at++) history.push(...step(1000 * round + at));
    history.push({ role: "user", content: `the wish of ${round}.` });
    pass(10_000);
    const outcome = await context.compact(history, { force: true });
    assert.equal(outcome.status, "summarized", outcome.reason);
    const prepared = await context.prepare(history);
    const sent = sentText(prepared);
    assert.equal(count(sent, "the rule: never touch prod"), 1);
    assert.equal(count(sent, `the wish of ${round}.`), 1);
    assert.equal(count(sent, "with Zebra_One"), 1);
    assert.ok(prepared.fits);
    history.push({ role: "assistant", content: "done" });
  }
  assert.equal(context.status().compactions, 50);
});

test("a compaction that was not sent before a restart is sent after it (F15)", {
  skip,
}, async () => {
  const { context } = manager(async (/** @type {any} */ job) => good(job));
  const history = talk(20);
  const outcome = await context.compact(history, { force: true });
  const bytes = context.snapshot();
  assert.ok(bytes.length < 8_192 + outcome.record.head.length, `${bytes.length} bytes`);
  const options = {
    window: WINDOW,
    format: "anthropic",
    estimator: "chars/4",
    summarize: async () => "",
  };
  const woken = api.ContextManager.restore(bytes, options).request(history);
  const live = context.request(history);
  assert.deepEqual(woken.messages, live.messages);
  assert.deepEqual({ ...woken.compaction.record }, { ...outcome.record });
});

test("the agent's context_compact tool starts a compaction with the summarizer", {
  skip,
}, async () => {
  const { context } = manager(async (/** @type {any} */ job) => good(job));
  const history = talk(20);
  await context.prepare(history);
  await context.callAgentTool("context_compact", {});
  history.push({ role: "assistant", content: "so" }, { role: "user", content: "next" });
  assert.equal((await context.prepare(history)).compaction, null);
  await idle(context);
  assert.equal((await context.prepare(history)).compaction.status, "summarized");
});

test("compact() summarizes a history without a session", { skip }, async () => {
  const options = {
    window: WINDOW,
    estimator: "chars/4",
    summarize: async (/** @type {any} */ job) => good(job),
    force: true,
  };
  const { messages, outcome } = await api.compact(talk(20), {
    ...options,
    summary: { minimumTokens: 0, contextTokens: 200_000 },
  });
  assert.equal(outcome.status, "summarized");
  assert.equal(count(JSON.stringify(messages), "Zebra_One"), 1);
  const without = await api.compact(talk(20), {
    window: WINDOW,
    estimator: "chars/4",
    force: true,
  });
  assert.equal(without.outcome.status, "folded");
  assert.ok(without.outcome.extracted.modifiedFiles.includes("src/f0.rs"));
  const nothing = await api.compact(talk(0), options);
  assert.equal(nothing.outcome.status, "none");
});

test("a summarizer that is not a function is refused", { skip }, () => {
  for (const summarize of [7, "x", [null], {}]) {
    assert.throws(() => new api.ContextManager({ window: WINDOW, summarize }), {
      code: "INVALID_ARGUMENT",
    });
  }
});
