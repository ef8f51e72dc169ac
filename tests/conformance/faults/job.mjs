// @ts-check
/** What a summarizer does, and what becomes of the session meanwhile. */
import assert from "node:assert/strict";
import {
  api,
  count,
  gate,
  good,
  idle,
  manager,
  prose,
  sentText,
  step,
  talk,
  WINDOW,
} from "../talk.mjs";
import { refused, taken, tick, untilDue } from "./rows.mjs";

const CHUNKS = { summary: { minimumTokens: 0, contextTokens: 4_000 } };
const boom = () => {
  throw new Error("boom");
};
/** Each of these is refused behind a request. @param {any[]} answers @param {(string | undefined)[]} results */
async function allRefused(answers, results) {
  for (const answer of answers) {
    const came = await refused(manager(async (/** @type {any} */ job) => answer(job)));
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
      const summarize = async (/** @type {any} */ given) => {
        asked += 1;
        return good(given);
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
      taken(await woken.prepare(history));
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
          const { context } = manager((/** @type {any} */ given) => {
            asked += 1;
            return asked >= at ? fail() : good(given);
          }, CHUNKS);
          const history = talk(20);
          const frozen = JSON.stringify(history);
          const outcome = await context.compact(history, { force: true });
          assert.equal(
            outcome.attempts.filter((/** @type {any} */ it) => it.result === "threw").length,
            2,
          );
          assert.equal(outcome.record.degraded, true);
          assert.equal(JSON.stringify(history), frozen);
          taken(context.request(history));
        }
      }
      const came = await refused(manager(boom));
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
      allRefused(
        ["", "  \n", null, undefined, {}, 42, "<think>only this</think>"].map((it) => () => it),
        ["empty"],
      ),
  },
  {
    fault: "F5",
    name: "cut by max_tokens",
    done: "finishReason says so in four APIs' words, or a tag stays open",
    run: () =>
      allRefused(
        [
          ...["length", "max_tokens", "MAX_TOKENS", "max_output_tokens"].map(
            (finishReason) => (/** @type {any} */ given) => ({ text: good(given), finishReason }),
          ),
          (/** @type {any} */ given) => `<summary>${good(given)}`,
        ],
        ["cut"],
      ),
  },
  {
    fault: "F6",
    name: "longer than the input",
    done: "it writes more than it got",
    run: () =>
      allRefused(
        [
          (/** @type {any} */ given) =>
            `${good(given)}\n${Array.from({ length: 30_000 }, (_, at) => `word${at}`).join(" ")}`,
        ],
        ["inflated"],
      ),
  },
  {
    fault: "F7",
    name: "refuses, echoes, goes on, calls a tool",
    done: "three refusals, its own prompt, talk, and calls in four syntaxes",
    run: () =>
      allRefused(
        [
          () => "I'm sorry, but I can't help with that.",
          () => "I cannot assist with this request.",
          () => ({ text: "x", finishReason: "refusal" }),
          (/** @type {any} */ given) => given.prompt,
          () => "Sure! I will now run the tests and fix what fails.",
          () => '{"name":"shell","arguments":{"command":"ls"}}',
          () => '<tool_call>{"name":"shell"}</tool_call>',
          () => 'shell({"command": "ls"})',
          (/** @type {any} */ given) => ({ text: good(given), finishReason: "tool_calls" }),
        ],
        ["refused", "unverified", "inflated", "empty", "cut"],
      ),
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
      taken(prepared);
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
      const { context } = manager(async (/** @type {any} */ given) => {
        asked += 1;
        return skeleton ? good(given, "None").replaceAll("fine", "None") : good(given);
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
  {
    fault: "F14",
    name: "two compactions of one session",
    done: "2 to 8 callers at once; two managers over one store",
    run: async () => {
      for (let callers = 2; callers <= 8; callers += 1) {
        let asked = 0;
        const { open, opened } = gate();
        const { context, types } = manager(async (/** @type {any} */ given) => {
          asked += 1;
          await opened;
          return good(given);
        });
        const history = talk(20);
        const all = Array.from({ length: callers }, () =>
          context.compact(history, { force: true }),
        );
        setImmediate(open);
        const outcomes = await Promise.all(all);
        assert.equal(asked, 1);
        assert.equal(new Set(outcomes).size, 1);
        assert.deepEqual(types(), ["compaction-start", "compaction-end"]);
      }
      /** @type {{ bytes: Uint8Array, revision: number } | null} */
      let held = null;
      let commits = 0;
      const store = {
        multiWriter: true,
        load: async () => held,
        commit: async (
          /** @type {string} */ _,
          /** @type {Uint8Array} */ bytes,
          /** @type {number | null} */ expected,
        ) => {
          if ((held?.revision ?? null) !== expected) return null;
          commits += 1;
          held = { bytes, revision: (held?.revision ?? 0) + 1 };
          return held.revision;
        },
        delete: async () => {},
      };
      const history = talk(20);
      const options = {
        window: WINDOW,
        format: "anthropic",
        estimator: "chars/4",
        summarize: async (/** @type {any} */ given) => good(given),
      };
      const [one, other] = await Promise.all(
        [0, 1].map(() => api.ContextManager.open(store, "s", options)),
      );
      await Promise.all([one, other].map((context) => context.compact(history, { force: true })));
      const saved = await Promise.all([one.save(), other.save()]);
      assert.equal(commits, 1 + saved.filter((it) => it.rebased && it.revision > 1).length);
      assert.deepEqual(one.request(history).messages, other.request(history).messages);
      assert.equal(count(sentText(other.request(history)), "Zebra_One"), 1);
      return `one call, one outcome, one summary; ${commits} commit(s) for two writers`;
    },
    later: "several processes at once are the stores' tests, which are not there yet",
  },
  {
    fault: "F15",
    name: "a crash between summary and write",
    done: "the process ends at each step: what was parked before it is restored",
    run: async () => {
      /** @type {Uint8Array[]} */
      const parked = [];
      const own = manager(
        async (/** @type {any} */ given) => {
          parked.push(own.context.snapshot());
          await tick();
          parked.push(own.context.snapshot());
          return good(given);
        },
        { ...CHUNKS, on: () => parked.push(own.context.snapshot()) },
      );
      const history = talk(20);
      const old = own.context.request(history);
      parked.push(own.context.snapshot());
      await own.context.compact(history, { force: true });
      parked.push(own.context.snapshot());
      const now = own.context.request(history);
      parked.push(own.context.snapshot());
      let carried = 0;
      for (const bytes of parked) {
        const woken = api.ContextManager.restore(bytes, {
          window: WINDOW,
          format: "anthropic",
          estimator: "chars/4",
          summarize: boom,
        });
        const { messages } = woken.request(history);
        const isNew = count(JSON.stringify(messages), "Zebra_One") === 1;
        assert.deepEqual(messages, isNew ? now.messages : old.messages);
        carried += isNew ? 1 : 0;
      }
      assert.ok(carried >= 2 && carried < parked.length, `${carried} of ${parked.length}`);
      return `${parked.length} points: ${parked.length - carried} old, ${carried} new, none mixed`;
    },
    later: "kill -9 on real stores belongs to the stores' tests, which are not there yet",
  },
  {
    fault: "F16",
    name: "messages arrive while it runs",
    done: "one is appended at every call of the summarizer and at every event",
    run: async () => {
      const history = talk(20);
      let late = 0;
      const add = () => {
        late += 1;
        history.push(
          { role: "assistant", content: `late answer ${late}.` },
          { role: "user", content: `late wish ${late}.` },
        );
      };
      const { context } = manager(
        async (/** @type {any} */ given) => {
          add();
          await tick();
          add();
          context.request(history);
          return good(given);
        },
        {
          ...CHUNKS,
          on: (/** @type {any} */ event) => event.type.startsWith("compaction") && add(),
        },
      );
      context.request(history);
      const outcome = await context.compact(history, { force: true });
      assert.equal(outcome.status, "summarized");
      const sent = sentText(context.request(history));
      for (let at = 1; at <= late; at += 1) {
        assert.equal(count(sent, `late answer ${at}.`), 1);
        assert.equal(count(sent, `late wish ${at}.`), 1);
        assert.ok(sent.indexOf(`late wish ${at}.`) > sent.indexOf(`late answer ${at}.`));
      }
      const changed = manager(async (/** @type {any} */ given) => {
        changed.context.request([{ role: "user", content: "another start" }, ...history.slice(1)]);
        return good(given);
      });
      const failed = await changed.context.compact(history, { force: true });
      assert.equal(failed.status, "failed");
      return `${late} pairs appended, each there once and in order; a changed prefix refuses: "${failed.reason}"`;
    },
  },
  {
    fault: "F17",
    name: "abort",
    done: "the host aborts before, at and after every call of the summarizer",
    run: async () => {
      const history = talk(20);
      let points = 0;
      for (let at = 0; at < 6; at += 1) {
        for (const when of ["before", "after"]) {
          const host = new AbortController();
          let asked = 0;
          const { context } = manager(async (/** @type {any} */ given) => {
            asked += 1;
            if (asked === at && when === "before") host.abort();
            await tick();
            if (asked === at && when === "after") host.abort();
            return good(given);
          }, CHUNKS);
          const before = context.request(history);
          const parked = context.snapshot();
          if (at === 0) host.abort();
          const ended = context.compact(history, { force: true, signal: host.signal });
          const status = await ended.then(
            (/** @type {any} */ it) => it.status,
            (/** @type {any} */ it) => it.name,
          );
          await tick();
          assert.equal(context.status().blocked, null);
          if (status !== "AbortError") {
            assert.equal(host.signal.aborted, false);
            continue;
          }
          points += 1;
          assert.deepEqual(context.snapshot(), parked);
          assert.deepEqual(context.request(history).messages, before.messages);
          host.abort();
        }
      }
      const done = new AbortController();
      const { context } = manager(async (/** @type {any} */ given) => good(given));
      const outcome = await context.compact(history, { force: true, signal: done.signal });
      done.abort();
      assert.equal(outcome.status, "summarized");
      assert.deepEqual(context.request(history).compaction, outcome);
      assert.ok(points >= 6, `${points} points`);
      return `${points} aborts: each rejects and leaves all as it was; after the end it is no error`;
    },
  },
  {
    fault: "F18",
    name: "a lock that is never given back",
    done: "a compaction ends by a throw, a deadline, an abort, a stale history; another follows",
    run: async () => {
      const host = new AbortController();
      const history = talk(20);
      /** @type {Array<[string, (context: any) => any]>} */
      const ways = [
        ["throws", boom],
        ["hangs", () => new Promise(() => {})],
        [
          "aborts",
          () => {
            host.abort();
            return new Promise(() => {});
          },
        ],
        ["stale", (context) => void context.request([{ role: "user", content: "another" }])],
      ];
      for (const [name, way] of ways) {
        let first = true;
        const summary = { minimumTokens: 0, contextTokens: 200_000, silenceMs: 15, totalMs: 40 };
        const { context } = manager(
          async (/** @type {any} */ given) => (first ? way(context) : good(given)),
          { summary },
        );
        const options = { force: true, ...(name === "aborts" ? { signal: host.signal } : {}) };
        await context.compact(history, options).catch(() => {});
        first = false;
        assert.notEqual(context.status().blocked?.reason, "running", name);
        history.push(...step(90), { role: "user", content: "go on" });
        const next = await context.compact(history, { force: true });
        assert.equal(next.status, "summarized", `${name}: ${next.reason}`);
      }
      return `after each of ${ways.length} ends the next one runs`;
    },
  },
  {
    fault: "F30",
    name: "the summarizer's input is itself too large",
    done: "50 times its window goes",
    run: async () => {
      const contextTokens = 4_000;
      let asked = 0;
      let most = 0;
      const { context } = manager(
        async (/** @type {any} */ given) => {
          asked += 1;
          most = Math.max(most, given.inputTokens + given.maxOutputTokens);
          return good(given);
        },
        {
          window: { contextTokens: 400_000, maxOutputTokens: 4_000 },
          summary: { minimumTokens: 0, contextTokens },
        },
      );
      const outcome = await context.compact(talk(350), { force: true });
      assert.equal(outcome.status, "summarized", outcome.reason);
      assert.ok(outcome.tokensBefore > 50 * contextTokens, String(outcome.tokensBefore));
      assert.ok(most <= contextTokens, `${most} of ${contextTokens}`);
      const parts = outcome.tokensBefore / contextTokens;
      assert.ok(asked <= 4 * parts, `${asked} calls for ${parts}`);
      return `${asked} calls, none over the window (${most} of ${contextTokens})`;
    },
  },
  {
    fault: "F35",
    name: "success reported when it failed",
    done: "every way to end, by hand and behind a request",
    run: async () => {
      const ways = [
        boom,
        () => "",
        () => new Promise(() => {}),
        (/** @type {any} */ it) => good(it),
        () => prose(40_000),
      ];
      const seen = new Set();
      for (const way of ways) {
        for (const force of [true, false]) {
          const { context, events } = manager(async (/** @type {any} */ given) => way(given), {
            summary: { minimumTokens: 0, contextTokens: 200_000, silenceMs: 15, totalMs: 40 },
          });
          if (force) await context.compact(talk(20), { force });
          else await untilDue(context);
          await idle(context);
          const [start, end, ...more] = events.filter((it) => it.type?.startsWith("compaction"));
          assert.deepEqual([start.type, more], ["compaction-start", []]);
          const { status, reason, record, tokensBefore, tokensAfter } = end.outcome;
          assert.equal(end.type === "compaction-failed", status === "failed");
          assert.notEqual(reason, "");
          assert.equal(record !== null, tokensAfter < tokensBefore);
          seen.add(`${status}${record?.degraded ? " (degraded)" : ""}`);
        }
      }
      return `each start has one end: ${[...seen].join(", ")}`;
    },
  },
];
