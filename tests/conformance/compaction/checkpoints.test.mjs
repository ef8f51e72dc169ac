// @ts-check
/** Summaries that are made ahead (F123 to F125), those that are still wanting (F118), and what of a compaction goes on (G23, F112, F130). */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  api,
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
} from "../support/agent-session.mjs";

const JSON_OF = (/** @type {string} */ words) =>
  JSON.stringify({
    summary: words,
    topics: ["zebras", "src/f3.rs"],
    keyDecisions: ["keep src/f3.rs"],
    openQuestions: ["when?"],
  });
const isCheckpoint = (/** @type {any} */ job) => job.system.includes('"keyDecisions"');

/** A session that fills, turn by turn. @param {(job: any) => any} summarize @param {any} [checkpoints] @param {any} [more] */
function filling(summarize, checkpoints = { minimumTokens: 500 }, more = {}) {
  /** @type {any[]} */
  const jobs = [];
  const informed = manager(
    async (/** @type {any} */ job) => {
      jobs.push(job);
      return summarize(job);
    },
    { summary: { minimumTokens: 0, contextTokens: 200_000, checkpoints }, ...more },
  );
  /** @type {any[]} */
  const history = [];
  let at = 0;
  const turn = async () => {
    history.push(...step(at));
    at += 1;
    history.push(user(`go on, ${at}`));
    const prepared = await informed.context.prepare(history);
    await quiet(informed.context);
    history.push({ role: "assistant", content: "yes" });
    return prepared;
  };
  const of = (/** @type {string} */ type) =>
    informed.events.filter((/** @type {any} */ event) => event.type === type);
  return { ...informed, jobs, history, turn, of };
}
/** Until the background is quiet. @param {any} context */
async function quiet(context) {
  for (let tries = 0; tries < 5; tries += 1) await new Promise((resolve) => setTimeout(resolve, 2));
  await idle(context);
}

test("a checkpoint is made once at each threshold, from the last one and the new messages (F123)", {
  skip,
}, async () => {
  let made = 0;
  const { context, jobs, turn, of, history } = filling((job) => {
    made += 1;
    assert.ok(isCheckpoint(job));
    return JSON_OF(`Checkpoint ${made} of Zebra_One.`);
  });
  const pcts = [];
  while (jobs.length < 3) {
    const before = jobs.length;
    await turn();
    if (jobs.length > before) pcts.push(context.status().usedPct);
    assert.ok(jobs.length <= before + 1);
  }
  for (const [at, least] of [25, 50, 75].entries()) {
    const pct = pcts[at] ?? 0;
    assert.ok(pct >= least && pct < least + 6, `${pcts}`);
  }
  assert.equal(of("checkpoint").length, 3);
  assert.equal(jobs[0].previousSummary, null);
  assert.match(jobs[2].previousSummary, /^Checkpoint 2 of Zebra_One\.\n\nTopics discussed: zebras/);
  assert.ok(!jobs[1].prompt.includes("step 0:") && jobs[0].prompt.includes("step 0:"));
  const { type, id, timestamp, checkpoint } = of("checkpoint")[2].record;
  assert.deepEqual(
    [type, typeof id, timestamp],
    ["checkpoint", "string", "1970-01-01T00:16:40.000Z"],
  );
  assert.deepEqual(checkpoint, context.checkpoint());
  assert.equal(checkpoint.messageCountAtCheckpoint, history.length - 1);
  assert.deepEqual(checkpoint.keyDecisions, ["keep src/f3.rs"]);
  const ids = of("checkpoint").map((event) => event.record.id);
  assert.deepEqual(ids.toSorted(), ids);
});

test("a checkpoint is read from JSON, from JSON inside text and from plain text, and fails if empty (F123)", {
  skip,
}, async () => {
  for (const [answer, topics] of /** @type {Array<[string, number | null]>} */ ([
    [JSON_OF("All is well."), 2],
    [`Here it is:\n\`\`\`json\n${JSON_OF("All is well.")}\n\`\`\`\nDone.`, 2],
    ["All is well.", 0],
    ["", null],
  ])) {
    const { context, turn, of, jobs } = filling(() => answer);
    while (jobs.length === 0) await turn();
    const kept = context.checkpoint();
    if (topics === null) {
      assert.equal(kept, null);
      assert.equal(of("checkpoint-failed").length, 1);
      assert.notEqual(of("checkpoint-failed")[0].reason, "");
    } else assert.deepEqual([kept.summary, kept.topics.length], ["All is well.", topics]);
  }
});

test("no checkpoint is made below the minimum, when switched off, or within 15 turns of the last (F123)", {
  skip,
}, async () => {
  const low = filling(() => JSON_OF("x"), true);
  while (low.context.status().used < 9_000) await low.turn();
  assert.equal(low.jobs.length, 0, "under 10,000 tokens");
  const none = filling(() => JSON_OF("x"), false);
  for (let at = 0; at < 20; at += 1) await none.turn();
  assert.ok(none.jobs.every((job) => !isCheckpoint(job)));
  const turns = filling(
    () => JSON_OF("x"),
    { minimumTokens: 1, thresholds: [] },
    { window: { contextTokens: 900_000 } },
  );
  for (let at = 0; at < 31; at += 1) await turns.turn();
  // A step and the words after it are two turns: after 15, 31 and 47 at the latest.
  assert.equal(turns.jobs.length, 3);
});

test("a request that would not fit uses a checkpoint of half its tokens without calling the summarizer (F124)", {
  skip,
}, async () => {
  for (const half of [true, false]) {
    const thresholds = half ? [75] : [25];
    const { context, jobs, turn, history, of } = filling(
      (job) => (isCheckpoint(job) ? JSON_OF("All of Zebra_One.") : good(job)),
      { minimumTokens: 500, thresholds, turns: 1_000 },
    );
    while (jobs.length === 0) await turn();
    const asked = jobs.length;
    history.push(
      user(prose(half ? 4_400 : 10_500)),
      { role: "assistant", content: "yes" },
      user("and now?"),
    );
    const prepared = await context.prepare(history);
    const { record } = prepared.compaction;
    assert.equal(jobs.length === asked, half);
    assert.deepEqual([record.degraded, record.fromCheckpoint ?? false], [false, half]);
    assert.ok(prepared.fits && sentText(prepared).includes("Zebra_One"));
    const update = jobs.find(({ previousSummary }) => previousSummary !== null);
    if (!half) assert.match(update.previousSummary, /^All of Zebra_One/);
    assert.equal(of("compaction-failed").length, 0);
    // The fold's head is newer.
    assert.equal(context.checkpoint()?.summary ?? "All of Zebra_One.", "All of Zebra_One.");
  }
});

test("a requested checkpoint is known at once, through failures, folds and a restart (F125)", {
  skip,
}, async () => {
  const { context, jobs, turn, history, pass } = filling(() => {
    throw new Error("503");
  });
  while (jobs.length === 0) await turn();
  const first = jobs.length;
  pass(10_000_000);
  await turn();
  assert.equal(jobs.length, first, "a threshold is asked for once");
  const options = {
    window: { contextTokens: 20_000, maxOutputTokens: 1_000 },
    format: "anthropic",
    estimator: "chars/4",
    clock: () => 90_000_000,
    summarize: async (/** @type {any} */ job) => {
      jobs.push(job);
      return JSON_OF("x");
    },
    summary: { minimumTokens: 0, contextTokens: 200_000, checkpoints: { minimumTokens: 500 } },
  };
  const woken = api.ContextManager.restore(context.snapshot(), options);
  await woken.prepare([...history, user("more")]);
  await quiet(woken);
  assert.equal(jobs.length, first, "nor after a restart");
  await woken.compact([...history, user("more")], { force: true });
  const folded = jobs.length;
  await woken.prepare([...history, user("more")]);
  await quiet(woken);
  assert.equal(jobs.length, folded, "what a fold leaves is not new");
});

/** A session with a checkpoint of its first messages, as the lines of its file. */
async function written() {
  const { context, jobs, turn, history, of } = filling(() => JSON_OF("All of Zebra_One."), {
    minimumTokens: 500,
    thresholds: [75],
    turns: 1_000,
  });
  while (jobs.length === 0) await turn();
  const [{ record }] = of("checkpoint");
  const entries = history.map((message, at) =>
    JSON.stringify({ type: "message", id: `e${at}`, message }),
  );
  const header = JSON.stringify({ type: "session", version: 3, id: "s", cwd: "/" });
  return { context, history, record, lines: [header, ...entries, api.recordLine(record)] };
}
const ahead = (/** @type {any} */ last) => ({
  minimumTokens: 0,
  contextTokens: 200_000,
  checkpoints: { minimumTokens: 500, thresholds: [75], turns: 1_000, last },
});

test("a checkpoint is restored from a session file and from a snapshot (F119)", {
  skip,
}, async () => {
  const { context, record, lines } = await written();
  const file = api.readSession(lines.join("\n"));
  assert.deepEqual(file.checkpoints, [record]);
  assert.deepEqual([file.receipt.unknown, file.receipt.broken], [0, []]);
  const woken = api.ContextManager.restore(context.snapshot(), {
    window: { contextTokens: 20_000, maxOutputTokens: 1_000 },
    format: "anthropic",
  });
  assert.deepEqual(woken.checkpoint(), record.checkpoint);
});

test("a session without a snapshot folds with its file's checkpoint, without calling the summarizer (F119)", {
  skip,
}, async () => {
  const { history, record, lines } = await written();
  const { checkpoint } = api.readSession(lines.join("\n")).checkpoints.at(-1);
  /** @type {any[]} */
  const jobs = [];
  const summarize = async (/** @type {any} */ job) => {
    jobs.push(job);
    return isCheckpoint(job) ? JSON_OF("Another.") : good(job);
  };
  const begun = (/** @type {any} */ last) => manager(summarize, { summary: ahead(last) }).context;
  const context = begun(checkpoint);
  assert.equal(context.checkpoint(), null, "there is no history yet");
  await context.prepare(history);
  await quiet(context);
  assert.deepEqual(context.checkpoint(), record.checkpoint);
  assert.equal(jobs.length, 0, "the threshold was reached before");
  const full = [...history, user(prose(4_400)), { role: "assistant", content: "yes" }, user("so?")];
  const { compaction, messages } = await context.prepare(full);
  assert.deepEqual([compaction.record.fromCheckpoint, jobs.length], [true, 0]);
  assert.ok(JSON.stringify(messages).includes("All of Zebra_One."));
  const none = begun(null);
  await none.prepare(history);
  await quiet(none);
  assert.equal(jobs.length, 1, "without it one is made");
  const longer = { ...checkpoint, messageCountAtCheckpoint: history.length + 9 };
  const other = begun(longer);
  await other.prepare(history);
  assert.notEqual(other.checkpoint()?.messageCountAtCheckpoint, longer.messageCountAtCheckpoint);
});

test("a wrong checkpoint is refused with the name of its member", { skip }, () => {
  for (const [last, expected] of /** @type {Array<[any, RegExp]>} */ ([
    [7, /^summary\.checkpoints\.last: /],
    [{ summary: "x" }, /^summary\.checkpoints\.last: .*tokensAtCheckpoint/],
    [
      { summary: "x", tokensAtCheckpoint: 1, messageCountAtCheckpoint: -1 },
      /^summary\.checkpoints\.last\.messageCountAtCheckpoint: expected 0 or more, got -1/,
    ],
  ]))
    assert.throws(() => manager(good, { summary: ahead(last) }), {
      code: "INVALID_ARGUMENT",
      message: expected,
    });
});

test("a compaction cancels a running checkpoint and loses nothing", { skip }, async () => {
  const { opened } = gate();
  /** @type {AbortSignal | undefined} */
  let signal;
  const { context, events } = manager(
    (/** @type {any} */ job, /** @type {any} */ control) => {
      if (!isCheckpoint(job)) return good(job);
      signal = control.signal;
      return opened;
    },
    {
      summary: {
        minimumTokens: 0,
        contextTokens: 200_000,
        checkpoints: { minimumTokens: 500, thresholds: [25] },
      },
    },
  );
  const history = talk(12);
  await context.prepare(history);
  await quiet(context);
  assert.equal(signal?.aborted, false);
  assert.equal((await context.compact(history, { force: true })).status, "summarized");
  assert.equal(signal?.aborted, true);
  assert.ok(events.every((event) => event.type !== "checkpoint-failed"));
});

test("a missing summary is made later in the background, in at most three tries (F118)", {
  skip,
}, async () => {
  for (const recovers of [true, false]) {
    let works = false;
    /** @type {any[]} */
    const jobs = [];
    const { context, pass, events } = manager(async (/** @type {any} */ job) => {
      jobs.push(job);
      if (!works) throw new Error("503");
      return good(job);
    });
    const history = talk(20);
    const outcome = await context.compact(history, { force: true });
    assert.equal(outcome.record.degraded, true);
    context.request(history);
    const asked = jobs.length;
    history.push({ role: "assistant", content: "ok" }, user("go on"));
    await context.prepare(history);
    await idle(context);
    assert.equal(jobs.length, asked, "not during the cool-down");
    works = recovers;
    const tries = [];
    for (let round = 0; round < 8; round += 1) {
      pass(1_000_000);
      const before = jobs.length;
      history.push({ role: "assistant", content: "ok" }, user(`and ${round}`));
      const prepared = await context.prepare(history);
      assert.ok(prepared.fits);
      context.observe({ input_tokens: 5_000, output_tokens: 5 });
      await quiet(context);
      if (jobs.length > before) tries.push(round);
    }
    const sent = context.request(history);
    assert.equal(sentText(sent).includes("Zebra_One"), recovers);
    assert.equal(sentText(sent).includes("An extract:"), !recovers);
    assert.ok(tries.length >= 1 && tries.length <= (recovers ? 1 : 3), `${tries}`);
    const last = events.findLast((event) => event.type?.startsWith("compaction-"));
    assert.equal(last.type, recovers ? "compaction-end" : "compaction-failed");
    if (recovers) assert.ok(last.outcome.tokensAfter < last.outcome.tokensBefore);
    assert.deepEqual(api.validate(sent.messages, "anthropic"), []);
  }
});

test("a digest collects files over all compactions, and commands and errors of the last one (G23)", {
  skip,
}, async () => {
  const { context } = manager(async (/** @type {any} */ job) => good(job));
  const history = talk(20);
  const first = await context.compact(history, { force: true });
  context.request(history);
  for (let at = 100; at < 112; at += 1) history.push(...step(at));
  history.push(user("again"));
  const second = await context.compact(history, { force: true });
  const files = second.record.details.modifiedFiles;
  for (const file of first.record.details.modifiedFiles) assert.ok(files.includes(file), file);
  assert.ok(files.includes("src/f101.rs") && files.length === new Set(files).size);
});

test("a fold too small for a summary is done by the request itself, in one epoch", {
  skip,
}, async () => {
  const { context, events } = manager(() => assert.fail("nobody is asked"), {
    summary: { minimumTokens: 1_000_000 },
  });
  /** @type {any[]} */
  const history = [];
  let folds = 0;
  for (let at = 0; at < 40; at += 1) {
    history.push(...step(at), user(`go on, ${at}`));
    const prepared = await context.prepare(history);
    const again = await context.prepare(history);
    assert.deepEqual([again.epoch, again.firstChanged], [prepared.epoch, null]);
    assert.deepEqual(again.messages, prepared.messages);
    if (prepared.compaction?.record) folds += 1;
    history.push({ role: "assistant", content: "yes" });
  }
  assert.ok(folds > 0);
  const others = events.filter((event) => (event.type ?? event) !== "pressure");
  assert.deepEqual([...new Set(others)], ["epoch"]);
});

test("a host that reports no usage gets summaries in a small window too (F112)", {
  skip,
}, async () => {
  const { context } = manager(async (/** @type {any} */ job) => good(job), {
    window: { contextTokens: 8_000, maxOutputTokens: 500 },
    summary: { minimumTokens: 0 },
  });
  /** @type {any[]} */
  const history = [];
  const statuses = [];
  for (let at = 0; at < 40; at += 1) {
    history.push(user(`step ${at}: ${prose(200)}`));
    const prepared = await context.prepare(history);
    if (prepared.compaction?.record) statuses.push(prepared.compaction.record.degraded);
    await idle(context);
    history.push({ role: "assistant", content: prose(900) });
  }
  assert.ok(statuses.length > 5 && statuses.every((degraded) => !degraded), `${statuses}`);
});

test("a fold tells the host that the provider's stored conversation is outdated (F130)", {
  skip,
}, async () => {
  /** @type {any[]} */
  const epochs = [];
  const { context } = manager(async (/** @type {any} */ job) => good(job), {
    format: "openai-responses",
    on: (/** @type {any} */ event) => event.type === "epoch" && epochs.push(event),
  });
  const history = Array.from({ length: 60 }, (_, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: prose(200),
  })).slice(0, -1);
  context.request(history);
  assert.deepEqual(epochs, []);
  await context.compact(history, { force: true });
  const { firstChanged } = context.request(history);
  assert.equal(firstChanged, 0);
  assert.deepEqual(
    epochs.map(({ reason, firstChanged }) => [reason, firstChanged]),
    [["fold", 0]],
  );
  history.push({ role: "assistant", content: "ok" }, user("on"));
  assert.equal(context.request(history).firstChanged, null);
  assert.equal(epochs.length, 1);
});

test("a request that can never fit is reported with its figures, and no summarizer is called", {
  skip,
}, async () => {
  const { context } = manager(() => assert.fail("nobody is asked"));
  const system = prose(20_000);
  for (const force of [true, false]) {
    const { status, floor, attempts } = await context.compact(talk(20), { force, system });
    assert.deepEqual([status, attempts.length], ["failed", 0]);
    assert.ok(floor.systemTokens > floor.windowTokens - floor.reserveTokens);
    const names = ["systemTokens", "toolTokens", "pinnedTokens", "thinkingTokens"];
    names.push("lastTurnTokens", "otherTokens");
    assert.deepEqual(
      Object.keys(floor).slice().sort(),
      [...names, "reserveTokens", "windowTokens"].sort(),
    );
  }
  const prepared = await context.prepare(talk(20), { system });
  assert.equal(prepared.fits, false);
});
