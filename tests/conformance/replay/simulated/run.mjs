// @ts-check
/**
 * One session lived by a seeded scheduler: a host that appends, asks, compacts, aborts, pins and parks while summarizers
 * answer well, badly, late or never. Time stands still but where the scheduler moves it. What a run finds is a broken law.
 */
import { setImmediate } from "node:timers/promises";
import { random } from "../../generated/histories.mjs";
import { strictFor } from "../../providers/pairs.mjs";

/** @typedef {{ law: string, message: string, step: number }} Problem */

const WORDS = [
  "the",
  "parser",
  "reads",
  "src/lexer.rs",
  "tokenCount",
  "4711",
  "and",
  "stops",
  "there",
];
const headed = (/** @type {string[]} */ headings) =>
  headings.map((heading) => `${heading}\n- nothing of note\n`).join("\n");
/** What a summarizer may come to; the first is the only one that is a summary. */
const answers = [
  (/** @type {any} */ job) => ({
    text: headed(job.requiredHeadings) || "- nothing of note\n",
    finishReason: "stop",
  }),
  () => "",
  () => "  \n",
  () => null,
  () => ({ text: "## Goal\nThe user wan", finishReason: "length" }),
  () => "I'm sorry, but I can't help with that.",
  () => '<tool_call>{"name":"bash","arguments":{"command":"ls"}}</tool_call>',
  (/** @type {any} */ job) => job.prompt + job.prompt,
  () => {
    throw new Error("503 overloaded");
  },
];
const ENOUGH = 400;

/** A word that no other message has, and that is no identifier. @param {number} number */
function mark(number) {
  let word = "";
  for (let rest = number; word.length < 5; rest = Math.floor(rest / 21))
    word += "bcdfghjklmnpqrstvwxyz"[rest % 21];
  return `quo${word}qua`;
}

/** How often each mark stands in a text. @param {string} text */
function marksIn(text) {
  /** @type {Map<string, number>} */
  const found = new Map();
  for (const [own] of text.matchAll(/quo[bcdfghjklmnpqrstvwxyz]+qua/g))
    found.set(own, (found.get(own) ?? 0) + 1);
  return found;
}

/** @param {string} text @param {string} part */
const times = (text, part) => text.split(part).length - 1;

/**
 * @param {any} api the package
 * @param {number} seed
 * @param {{ steps?: number, timers: import("node:test").MockTimers }} given time of the thread, mocked
 */
export async function live(api, seed, { steps = 200, timers }) {
  const next = random(seed);
  for (let skip = 0; skip < 4; skip += 1) next();
  const below = (/** @type {number} */ n) => Math.floor(next() * n);
  const chance = (/** @type {number} */ share) => next() < share;
  const [format, provider] = /** @type {[string, string]} */ (
    [
      ["anthropic", "anthropic"],
      ["openai-chat", "openai-chat"],
      ["anthropic", "bedrock"],
    ][seed % 3]
  );
  const strict = strictFor(format, provider);
  const contextTokens = 4_000 + 2_000 * below(4);
  const usable = contextTokens - 500;
  /** Some summarizers are good, some are not, some change. */
  const honesty = [1, 0.7, 0.3, 0][below(4)] ?? 1;
  const count = {
    requests: 0,
    asked: 0,
    summarized: 0,
    failed: 0,
    degraded: 0,
    aborted: 0,
    parked: 0,
    ahead: 0,
  };
  let now = 1_700_000_000_000;
  let step = 0;
  /** @param {string} law @param {string} message */
  const problem = (law, message) =>
    Object.assign(new Error(message), { problem: { law, message, step } });
  /** @param {string} law @param {string} message */
  const broken = (law, message) => {
    throw problem(law, message);
  };
  /** @type {unknown[]} */
  const thrown = [];

  /** Summarizer calls that wait for the scheduler. @type {Array<() => void>} */
  const waiting = [];
  /** Calls that failed since one that did not, since the last compaction, since the host pressed, or for a minute. */
  let vain = 0;
  let failedAt = 0;
  const fail = () => {
    vain += 1;
    failedAt = now;
  };
  const summarize = async (/** @type {any} */ job, /** @type {any} */ { signal }) => {
    count.asked += 1;
    if (now - failedAt >= 60_000) vain = 0;
    // Not thrown here: the package would take it for the summarizer's own failure.
    if (vain >= 2) thrown.push(problem("progress", "a third summarizer call without progress"));
    // One that is silent has failed when it is given up, whatever it comes to later.
    signal.addEventListener("abort", () => signal.reason?.name === "TimeoutError" && fail());
    if (chance(0.5)) await new Promise((resolve) => waiting.push(() => resolve(undefined)));
    if (signal.aborted) throw signal.reason;
    if (chance(0.03)) await new Promise(() => {});
    const good = next() < honesty;
    if (good) vain = 0;
    else fail();
    const answer = /** @type {(job: any) => any} */ (
      answers[good ? 0 : 1 + below(answers.length - 1)]
    );
    return answer(job);
  };
  const options = {
    window: { contextTokens, maxOutputTokens: 500 },
    format,
    provider,
    clock: () => now,
    summarize: chance(0.3) ? [summarize, summarize] : summarize,
    summary: {
      minimumTokens: chance(0.2) ? 2_000 : 0,
      checkpoints: chance(0.3) && { minimumTokens: 500, turns: 4 },
    },
    on: (/** @type {any} */ event) => {
      if (event.type === "compaction-end") carried(event.outcome);
      if (event.type === "checkpoint") count.ahead += 1;
      // What the host itself stopped is no failure.
      if (event.type === "compaction-failed" && event.outcome.reason === "stopped") vain = 0;
    },
  };
  let manager = new api.ContextManager(options);

  /** @type {any[]} */
  const history = [];
  /** The mark of each message of the history; of what a person wrote, its text. @type {Array<{ mark: string, user: string | null }>} */
  const marks = [];
  let number = 0;
  /** Messages before this one may have gone into a fold. */
  let folded = 0;
  /** Of all folds: what was asked for before one may be looked at after it. @type {Set<string>} */
  const heads = new Set();
  /** Told as let go where even the floor is over the window, or beside pins of what was cut: a fold would make no room either. @type {Set<number>} */
  const letGo = new Set();
  /** @type {Array<{ text: string, index: number }>} */
  const pins = [];
  /** Messages that were pinned after they had been cut. */
  let late = 0;
  const words = (/** @type {number} */ most) =>
    Array.from({ length: 3 + below(most) }, () => WORDS[below(WORDS.length)]).join(" ");
  const add = (
    /** @type {any} */ message,
    /** @type {string} */ own,
    /** @type {string | null} */ user,
  ) => {
    history.push(Object.freeze(message));
    marks.push({ mark: own, user });
  };
  const text = () => {
    const own = mark(seed * 1000 + number);
    number += 1;
    return { own, text: `${own} ${words(60)}` };
  };
  const user = () => {
    const question = text();
    add({ role: "user", content: question.text }, question.own, question.text);
  };
  /** The model speaks, calls, and its tools answer: at once, so that no call is left open. */
  const model = () => {
    const calls = below(4);
    const question = text();
    const ids = Array.from({ length: calls }, (_, at) => `call${number}x${at}`);
    if (format === "anthropic") {
      const uses = ids.map((id) => ({
        type: "tool_use",
        id,
        name: "read",
        input: { path: `src/${id}.rs` },
      }));
      add(
        { role: "assistant", content: [{ type: "text", text: question.text }, ...uses] },
        question.own,
        null,
      );
      if (calls === 0) return;
      const found = ids.map(text);
      const content = ids.map((id, at) => ({
        type: "tool_result",
        tool_use_id: id,
        content: `${found[at]?.text} ${words(300)}`,
      }));
      add({ role: "user", content }, found[0]?.own ?? "", null);
      return;
    }
    const tool_calls = ids.map((id) => ({
      id,
      type: "function",
      function: { name: "read", arguments: JSON.stringify({ path: `src/${id}.rs` }) },
    }));
    add(
      { role: "assistant", content: question.text, ...(calls > 0 ? { tool_calls } : {}) },
      question.own,
      null,
    );
    for (const id of ids) {
      const found = text();
      add(
        { role: "tool", tool_call_id: id, content: `${found.text} ${words(300)}` },
        found.own,
        null,
      );
    }
  };
  const isTurnOfModel = () => history.at(-1)?.role !== "assistant" && history.length > 0;

  /** @param {any} outcome */
  const carried = ({ record }) => {
    vain = 0;
    if (!record) return;
    folded = Math.max(folded, record.firstKeptIndex);
    heads.add(JSON.stringify(record.head).slice(1, -1));
  };
  /** @param {any} outcome */
  const noteOutcome = (outcome) => {
    if (!outcome) return;
    if (outcome.status === "failed") {
      count.failed += 1;
      if (outcome.reason === "") broken("outcome", "a failure without a reason");
      return;
    }
    if (!outcome.record) return;
    carried(outcome);
    if (outcome.record.degraded) count.degraded += 1;
    else if (outcome.status === "summarized") count.summarized += 1;
    if (outcome.tokensAfter > outcome.tokensBefore)
      broken("smaller", `${outcome.tokensBefore} tokens became ${outcome.tokensAfter}`);
  };

  /** What was sent, against the history as it was when it was asked for. @param {any} view @param {number} size */
  const check = (view, size) => {
    count.requests += 1;
    noteOutcome(view.compaction);
    for (const { index, rule, tokensAfter } of view.fits && late === 0 ? [] : view.edits)
      if (rule === "hard-fit" && tokensAfter === 0) letGo.add(index);
    const [bad] = strict(view.messages);
    if (bad) broken(bad.rule, `[${bad.index}] ${bad.path} ${bad.message}`);
    if (view.fits && view.tokens > usable) broken("window", `${view.tokens} tokens in ${usable}`);
    // What a head quotes is sent no second time.
    let sent = JSON.stringify(view.messages);
    for (const head of heads) sent = sent.replace(head, "");
    const found = marksIn(sent);
    const has = new Set(view.source);
    for (let index = 0; index < size; index += 1) {
      const { mark: own, user: question } = /** @type {{ mark: string, user: string | null }} */ (
        marks[index]
      );
      const among = found.get(own) ?? 0;
      if (among > 1) broken("doubled", `message ${index} is sent ${among} times`);
      if (has.has(index)) continue;
      if (index >= folded && among === 0 && !letGo.has(index))
        broken("lost", `message ${index} is gone, and no fold took it`);
      if (question !== null && among === 1 && !sent.includes(JSON.stringify(question).slice(1, -1)))
        broken("verbatim", `message ${index} is sent in part`);
    }
    const last = marks.slice(0, size).findLastIndex((one) => one.user !== null);
    if (last >= 0 && view.fits) {
      const question = JSON.stringify(marks[last]?.user).slice(1, -1);
      if (times(sent, question) !== 1)
        broken("request", `the last request is sent ${times(sent, question)} times`);
    }
    for (const pin of pins) {
      if (pin.index >= size || !view.fits) continue;
      const among = times(sent, JSON.stringify(pin.text).slice(1, -1));
      if (among !== 1) broken("pin", `what is pinned (${pin.index}) is sent ${among} times`);
    }
  };

  /** Calls under way. @type {Set<Promise<void>>} */
  const open = new Set();
  /** @param {Promise<any>} call @param {(value: any) => void} then @param {AbortSignal | undefined} signal */
  const follow = (call, then, signal) => {
    const own = call
      .then(then, (error) => {
        if (signal?.aborted && error === signal.reason) count.aborted += 1;
        else throw error;
      })
      .catch((error) => void thrown.push(error))
      .finally(() => open.delete(own));
    open.add(own);
  };
  /** @type {AbortController[]} */
  const controllers = [];
  const signal = () => {
    if (!chance(0.2)) return undefined;
    const controller = new AbortController();
    controllers.push(controller);
    return controller.signal;
  };
  const pump = async () => {
    for (let round = 0; round < 6; round += 1) await setImmediate();
    if (thrown.length > 0) throw thrown[0];
  };
  /** All that is under way comes to its end: summarizers answer, and those that never will run out of time. */
  const settle = async () => {
    for (let round = 0; open.size > 0; round += 1) {
      if (round > 1_000) broken("hangs", `${open.size} calls have not settled`);
      for (const go of waiting.splice(0)) go();
      await pump();
      if (open.size > 0) pass(30_000);
    }
    await pump();
  };
  const pass = (/** @type {number} */ ms) => {
    now += ms;
    timers.tick(ms);
  };

  const actions = /** @type {Array<[number, () => void | Promise<void>]>} */ ([
    [20, () => (isTurnOfModel() ? undefined : user())],
    [30, () => (isTurnOfModel() ? model() : user())],
    [
      20,
      () => {
        if (!isTurnOfModel() || open.size >= 8) return;
        const own = [...history];
        const abortSignal = signal();
        follow(
          manager.prepare(own, abortSignal ? { signal: abortSignal } : {}),
          (view) => check(view, own.length),
          abortSignal,
        );
      },
    ],
    [
      6,
      () => {
        if (history.length === 0 || open.size >= 8) return;
        const abortSignal = signal();
        const force = chance(0.5);
        if (force) vain = 0;
        follow(
          manager.compact([...history], { force, ...(abortSignal ? { signal: abortSignal } : {}) }),
          noteOutcome,
          abortSignal,
        );
      },
    ],
    [4, () => history.length > 0 && check(manager.request([...history]), history.length)],
    [6, () => void waiting.shift()?.()],
    [4, () => controllers.splice(below(controllers.length), 1)[0]?.abort(new Error("stopped"))],
    [4, () => pass([1_000, 10_000, 60_000, 400_000, 4_000_000][below(5)] ?? 1_000)],
    [
      1,
      () => {
        if (pins.length >= 2 || open.size > 0) return;
        const index = marks.findLastIndex((one) => one.user !== null);
        if (index < 0) return;
        check(manager.request([...history]), history.length);
        manager.pin({ index });
        pins.push({ text: String(marks[index]?.user), index });
      },
    ],
    [
      2,
      async () => {
        await settle();
        if (history.length > 0) {
          check(manager.request([...history]), history.length);
          // Pinned too late: it comes back with the next epoch, after a restart as before it.
          const cut = marks.findIndex((_, at) => manager.explain(at).state !== "kept");
          if (cut >= 0 && count.parked % 3 === 0) {
            manager.pin({ index: cut });
            late += 1;
          }
        }
        const woken = api.ContextManager.restore(manager.snapshot(), options);
        manager[Symbol.dispose]();
        manager = woken;
        count.parked += 1;
        // What was under way has gone with the session.
        vain = 0;
      },
    ],
    [10, settle],
  ]);
  const weight = actions.reduce((sum, [own]) => sum + own, 0);
  try {
    for (; step < steps && history.length < ENOUGH; step += 1) {
      let left = below(weight);
      const action = actions.find(([own]) => {
        left -= own;
        return left < 0;
      });
      await action?.[1]();
      await pump();
    }
    await settle();
    if (isTurnOfModel()) check(manager.request([...history]), history.length);
    return { count, problem: null };
  } catch (error) {
    const problem = /** @type {any} */ (error).problem;
    return {
      count,
      problem: problem ?? { law: "threw", message: String(error?.stack ?? error), step },
    };
  } finally {
    manager[Symbol.dispose]();
  }
}
