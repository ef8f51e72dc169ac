// @ts-check
/** Faults of a summarizer: wrong answers, errors and delays. */
import assert from "node:assert/strict";
import {
  api,
  count,
  good,
  idle,
  manager,
  prose,
  sentText,
  step,
  talk,
  WINDOW,
} from "../support/agent-session.mjs";
import { checkAccepted, checkRefused, tick } from "./rows.mjs";

const CHUNKS = { summary: { minimumTokens: 0, contextTokens: 4_000 } };
const boom = () => {
  throw new Error("boom");
};
/** Each of these is refused after a request. @param {any[]} answers @param {(string | undefined)[]} results */
async function checkAllRefused(answers, results) {
  for (const answer of answers) {
    const came = await checkRefused(manager(async (/** @type {any} */ job) => answer(job)));
    assert.ok(came.length > 0 && came.length <= 2, String(came));
    for (const result of came) assert.ok(results.includes(result), `${result} of ${answer}`);
  }
  return `${answers.length} answers refused, history and request as before`;
}

/** @type {import("./rows.mjs").Row[]} */
export const job = [
  {
    fault: "F1",
    name: "compaction without progress",
    done: "a provider counts more after each compaction, over 60 turns and a restart",
    run: async () => {
      let asked = 0;
      const summarize = async (/** @type {any} */ summaryJob) => {
        asked += 1;
        return good(summaryJob);
      };
      const { context, pass } = manager(summarize);
      /** @type {any[]} */
      const history = [{ role: "user", content: prose(9_000) }];
      context.request(history);
      context.pin({ index: 0 });
      for (let at = 0; at < 60; at += 1) {
        history.push(...step(at));
        pass(1_000);
        const prepared = await context.prepare(history);
        await idle(context);
        context.observe({ inputTokens: 18_500, outputTokens: 1 }, prepared);
      }
      assert.ok(asked >= 1 && asked <= 2, `${asked} calls`);
      const woken = api.ContextManager.restore(context.snapshot(), {
        ...{ window: WINDOW, format: "anthropic", estimator: "chars/4", summarize },
      });
      assert.equal(woken.status().blocked.reason, "ineffective");
      const before = asked;
      checkAccepted(await woken.prepare(history));
      assert.equal(asked, before);
      return `${asked} calls of the summarizer, then "ineffective"; the session goes on`;
    },
  },
  {
    fault: "F2",
    name: "the summarizer throws",
    done: "it throws and rejects at its 1st, 2nd, 3rd call",
    run: async () => {
      for (const at of [1, 2, 3]) {
        for (const fail of [
          boom,
          () => Promise.reject(new Error("boom")),
          () => Promise.reject(),
        ]) {
          let asked = 0;
          const { context } = manager((/** @type {any} */ summaryJob) => {
            asked += 1;
            return asked >= at ? fail() : good(summaryJob);
          }, CHUNKS);
          const history = talk(20);
          const frozen = JSON.stringify(history);
          const outcome = await context.compact(history, { force: true });
          const isFailed = (/** @type {any} */ it) => it.result === "threw";
          const failed = outcome.attempts.filter(isFailed).length;
          // Two in a row end it; the call beside the first of them may have succeeded in between.
          assert.ok(failed === 2 || (failed === 3 && at === 2), `${failed} calls failed`);
          assert.equal(outcome.record.degraded, true);
          assert.equal(JSON.stringify(history), frozen);
          checkAccepted(context.request(history));
        }
      }
      const came = await checkRefused(manager(boom));
      return `behind a request nothing (${came}); by hand an extract that is marked`;
    },
  },
  {
    fault: "F3",
    name: "the summarizer hangs",
    done: "its promise never settles, or rejects long after",
    run: async () => {
      /** @type {((error: Error) => void)[]} */
      const late = [];
      /** @type {unknown[]} */
      const loose = [];
      const note = (/** @type {unknown} */ error) => loose.push(error);
      process.on("unhandledRejection", note);
      const summary = { minimumTokens: 0, contextTokens: 200_000, silenceMs: 20, totalMs: 60 };
      const { context } = manager(() => new Promise((_, reject) => late.push(reject)), { summary });
      const started = performance.now();
      const outcome = await context.compact(talk(20), { force: true });
      const ms = Math.round(performance.now() - started);
      assert.deepEqual(
        outcome.attempts.map((/** @type {any} */ it) => it.result),
        ["timeout", "timeout"],
      );
      assert.ok(ms < 1_000, `${ms} ms`);
      const parked = context.snapshot();
      for (const reject of late) reject(new Error("late"));
      await tick();
      await tick();
      process.off("unhandledRejection", note);
      assert.deepEqual(loose, []);
      assert.deepEqual(context.snapshot(), parked);
      return "over within its deadlines; what comes late changes nothing and is nobody's";
    },
  },
  {
    fault: "F4",
    name: "an answer without a text",
    done: "it gives nothing, blanks, null, {}, 42, thoughts alone",
    run: () =>
      checkAllRefused(
        ["", "  \n", null, undefined, {}, 42, "<think>only this</think>"].map((it) => () => it),
        ["empty"],
      ),
  },
  {
    fault: "F5",
    name: "cut by max_tokens",
    done: "finishReason says so in four APIs' words, or a tag stays open",
    run: () =>
      checkAllRefused(
        [
          ...["length", "max_tokens", "MAX_TOKENS", "max_output_tokens"].map(
            (finishReason) => (/** @type {any} */ summaryJob) => ({
              text: good(summaryJob),
              finishReason,
            }),
          ),
          (/** @type {any} */ summaryJob) => `<summary>${good(summaryJob)}`,
        ],
        ["cut"],
      ),
  },
  {
    fault: "F6",
    name: "longer than the input",
    done: "it writes more than it got",
    run: () =>
      checkAllRefused(
        [
          (/** @type {any} */ summaryJob) =>
            `${good(summaryJob)}\n${Array.from({ length: 30_000 }, (_, at) => `word${at}`).join(" ")}`,
        ],
        ["inflated"],
      ),
  },
  {
    fault: "F7",
    name: "refuses, echoes, goes on, calls a tool",
    done: "three refusals, its own prompt, talk, and calls in four syntaxes",
    run: async () => {
      const refusals = [
        () => "I'm sorry, but I can't help with that.",
        () => "I cannot assist with this request.",
        () => ({ text: "x", finishReason: "refusal" }),
      ];
      const others = [
        () => "Sure! I will now run the tests and fix what fails.",
        () => '{"name":"shell","arguments":{"command":"ls"}}',
        () => '<tool_call>{"name":"shell"}</tool_call>',
        () => 'shell({"command": "ls"})',
        (/** @type {any} */ summaryJob) => ({ text: good(summaryJob), finishReason: "tool_calls" }),
      ];
      await checkAllRefused(refusals, ["refused"]);
      await checkAllRefused(others, ["unverified"]);
      // Its own prompt is refused for what it says, or unread for its length.
      const echo = (/** @type {any} */ summaryJob) => summaryJob.prompt;
      await checkAllRefused([echo], ["unverified", "inflated"]);
      return `${refusals.length} refusals and ${others.length + 1} that are no summary, history and request as before`;
    },
  },
  {
    fault: "F8",
    name: "a quality gate strands the session",
    done: "no answer ever passes; the request must get smaller",
    run: async () => {
      let asked = 0;
      const { context } = manager(async () => {
        asked += 1;
        return "Sure, all is well.";
      });
      const history = talk(60);
      const prepared = await context.prepare(history);
      assert.ok(asked > 0 && asked <= 2, `${asked} calls`);
      assert.equal(prepared.compaction.record.degraded, true);
      assert.ok(prepared.fits);
      checkAccepted(prepared);
      return `${asked} calls, then a marked extract; the request fits`;
    },
  },
  {
    fault: "F9",
    name: "an empty skeleton replaces history",
    done: "nothing is there to summarize; a skeleton answers an update",
    run: async () => {
      let asked = 0;
      let skeleton = false;
      const { context } = manager(async (/** @type {any} */ summaryJob) => {
        asked += 1;
        return skeleton ? good(summaryJob, "None").replaceAll("fine", "None") : good(summaryJob);
      });
      const small = await manager(boom).context.compact(talk(0), { force: true });
      assert.deepEqual([small.status, small.attempts], ["none", []]);
      const history = talk(20);
      await context.compact(history, { force: true });
      for (let at = 20; at < 24; at += 1) {
        skeleton = true;
        history.push(...step(at), ...step(at + 50), { role: "user", content: "go on" });
        await context.compact(history, { force: true });
        assert.equal(count(sentText(context.request(history)), "Zebra_One"), 1, `round ${at}`);
      }
      return `nothing to do is said, and the previous summary is carried on (${asked} calls)`;
    },
  },
];
