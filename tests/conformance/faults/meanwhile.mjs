// @ts-check
/** Faults while a summarizer works: other calls, new messages, an abort, the end of the process. */
import assert from "node:assert/strict";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { driven } from "../../stores/driven.mjs";
import { killed } from "../../stores/killed.mjs";
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
} from "../support/agent-session.mjs";
import { tick, untilDue } from "./rows.mjs";

const CHUNKS = { summary: { minimumTokens: 0, contextTokens: 4_000 } };
const boom = () => {
  throw new Error("boom");
};

/** A store in a new folder. @returns {Promise<import("../../stores/stores.mjs").Spec>} */
const placeOf = async () => ({ kind: "file", place: await mkdtemp(join(tmpdir(), "plimsoll-")) });

/** @type {import("./rows.mjs").Row[]} */
export const meanwhile = [
  {
    fault: "F14",
    name: "two compactions of one session",
    done: "2 to 8 callers at once; two managers over one store; two processes over one folder",
    run: async () => {
      for (let callers = 2; callers <= 8; callers += 1) {
        let asked = 0;
        const { open, opened } = gate();
        const { context, types } = manager(async (/** @type {any} */ job) => {
          asked += 1;
          await opened;
          return good(job);
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
      let stored = null;
      let commits = 0;
      const store = {
        multiWriter: true,
        load: async () => stored,
        commit: async (
          /** @type {string} */ _,
          /** @type {Uint8Array} */ bytes,
          /** @type {number | null} */ expected,
        ) => {
          if ((stored?.revision ?? null) !== expected) return null;
          commits += 1;
          stored = { bytes, revision: (stored?.revision ?? 0) + 1 };
          return stored.revision;
        },
        delete: async () => {},
      };
      const history = talk(20);
      const options = {
        window: WINDOW,
        format: "anthropic",
        estimator: "chars/4",
        summarize: async (/** @type {any} */ job) => good(job),
      };
      const [one, other] = await Promise.all(
        [0, 1].map(() => api.ContextManager.open(store, "s", options)),
      );
      await Promise.all([one, other].map((context) => context.compact(history, { force: true })));
      const saved = await Promise.all([one.save(), other.save()]);
      assert.equal(commits, 1 + saved.filter((it) => it.rebased && it.revision > 1).length);
      assert.deepEqual(one.request(history).messages, other.request(history).messages);
      assert.equal(count(sentText(other.request(history)), "Zebra_One"), 1);
      const { made, folds, rounds, stand } = await driven(await placeOf(), 3);
      assert.ok(stand >= rounds && made > rounds, `${stand} of ${folds}`);
      return `one call, one outcome, one summary; ${commits} commit(s) for two writers; two processes: ${made} revisions, one commit each, ${stand} of ${folds} compactions stand`;
    },
  },
  {
    fault: "F15",
    name: "a crash between summary and write",
    done: "the process ends at each step: what was parked before it is restored; it is killed at each write to a store",
    run: async () => {
      /** @type {Uint8Array[]} */
      const parked = [];
      const own = manager(
        async (/** @type {any} */ job) => {
          parked.push(own.context.snapshot());
          await tick();
          parked.push(own.context.snapshot());
          return good(job);
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
      const { points, isOld } = await killed(placeOf, "commit");
      return `${parked.length} points: ${parked.length - carried} old, ${carried} new, none mixed; killed at ${points} points of a commit: ${isOld} old, ${points - isOld} new`;
    },
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
        async (/** @type {any} */ job) => {
          add();
          await tick();
          add();
          context.request(history);
          return good(job);
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
      const changed = manager(async (/** @type {any} */ job) => {
        changed.context.request([{ role: "user", content: "another start" }, ...history.slice(1)]);
        return good(job);
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
          const { context } = manager(async (/** @type {any} */ job) => {
            asked += 1;
            if (asked === at && when === "before") host.abort();
            await tick();
            if (asked === at && when === "after") host.abort();
            return good(job);
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
      const { context } = manager(async (/** @type {any} */ job) => good(job));
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
          async (/** @type {any} */ job) => (first ? way(context) : good(job)),
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
        async (/** @type {any} */ job) => {
          asked += 1;
          most = Math.max(most, job.inputTokens + job.maxOutputTokens);
          return good(job);
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
          const { context, events } = manager(async (/** @type {any} */ job) => way(job), {
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
