// @ts-check
/** Faults over a session's life: many compactions, repeated requests, snapshots. */
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import {
  api,
  count,
  good,
  manager,
  prose,
  reply,
  sentText,
  step,
  talk,
  user,
  WINDOW,
} from "../support/agent-session.mjs";
import { checkAccepted } from "./rows.mjs";

const long = process.env.PLIMSOLL_LONG === "1";
const kept = (/** @type {number} */ version) =>
  new URL(`../../golden/snapshot-${version}.bin`, import.meta.url);
const [OLDEST, NEWEST] = [2, 3];
/** The options of `manager`, for a session that is woken. */
const SAME = { window: WINDOW, format: "anthropic", estimator: "chars/4" };
const OVERFLOW = new Error("prompt is too long: 210000 tokens > 200000 maximum");
/** Drops whatever it was given. @param {any} job */
const forgetful = async (job) => good(job, "Nothing of note was said.");
/** So many compactions by hand, six steps each. @param {any} context @param {any[]} history @param {number} rounds @param {(sent: string, prepared: any, outcome: any) => void} check */
async function compacted(context, history, rounds, check) {
  for (let round = 0; round < rounds; round += 1) {
    for (let at = 0; at < 6; at += 1) history.push(...step(1_000 * round + at));
    history.push(user(`the wish of ${round}.`));
    const outcome = await context.compact(history, { force: true });
    const prepared = await context.prepare(history);
    check(sentText(prepared), prepared, outcome);
    history.push(reply("done"));
  }
}

/** @type {import("./rows.mjs").Row[]} */
export const state = [
  {
    fault: "F23",
    name: "the model imitates calls that are told as text",
    done: "a summary that is written in calls, in five syntaxes, under the right headings",
    run: async () => {
      const calls = [
        'shell({"command": "ls"})',
        '[Assistant tool call]: shell({"command":"ls"})',
        '<tool_call>{"name":"shell"}</tool_call>',
        '<function_calls><invoke name="shell">',
        "[Tool call: shell]",
      ];
      let landed = 0;
      for (const call of calls) {
        const { context } = manager(async (/** @type {any} */ job) => {
          assert.doesNotMatch(job.prompt, /\w\(\{|<tool_call>|\[tool call/i);
          return good(job, `They ran ${call} and went on.\n${call}`);
        });
        const history = talk(20);
        const outcome = await context.compact(history, { force: true });
        const { head } = outcome.record;
        assert.doesNotMatch(
          head,
          /\w\(\{|<tool_call|<invoke|<function_calls|\[(assistant )?tool call/i,
          call,
        );
        landed += outcome.record.degraded ? 0 : 1;
      }
      return `no call-like text lands in a head (${landed} made harmless, ${calls.length - landed} refused)`;
    },
  },
  {
    fault: "F24",
    name: 'a synthetic "Continue" that is carried out',
    done: "compactions with and without a summary: what the package says itself",
    run: async () => {
      for (const summarize of [undefined, forgetful]) {
        const { context } = manager(summarize);
        const history = talk(20);
        await context.compact(history, { force: true });
        const { messages, source } = context.request(history);
        const ours = messages.filter(
          (/** @type {any} */ _, /** @type {number} */ at) => source[at] === null,
        );
        const texts = JSON.stringify(ours);
        assert.ok(ours.length > 0);
        assert.doesNotMatch(
          texts,
          /(^|[.!\n"] *)(please )?(continue|proceed|carry on|go on|resume)\b/i,
        );
        assert.equal(messages.at(-1), history.at(-1), "the last word is the user's");
      }
      return "what stands for the history tells, and asks for nothing";
    },
  },
  {
    fault: "F32",
    name: "a summary of summaries grows and drifts",
    done: "50 rounds with a summarizer that says more each time, and one that forgets",
    run: async () => {
      let most = 0;
      let last = "";
      for (const grows of [true, false]) {
        const { context, pass } = manager(async (/** @type {any} */ job) =>
          grows
            ? good(job, `${job.previousSummary?.slice(0, 6_000) ?? ""}${prose(200)} Zebra_One.`)
            : forgetful(job),
        );
        /** @type {any[]} */
        const history = [user("the rule: never touch prod/db.conf")];
        context.request(history);
        context.pin({ index: 0 });
        await compacted(context, history, 50, (sent, prepared, { record }) => {
          pass(1_000_000);
          assert.equal(count(sent, "the rule: never touch prod/db.conf"), 1);
          assert.ok(prepared.fits);
          most = Math.max(most, record?.summary.length ?? 0);
          last = record?.head ?? last;
        });
      }
      assert.ok(most < 8_000 * 4, `${most} chars`);
      assert.ok(last.includes("src/f"), "what code can copy is there whatever the model forgets");
      return `at most ${most} chars; the pin the same bytes, and names of files beside it`;
    },
  },
  {
    fault: "F33",
    name: "instructions of the user that are lost",
    done: "three pins, and 50 compactions by a summarizer that drops everything",
    run: async () => {
      const { context, pass } = manager(forgetful);
      const rules = [
        "Rule one: never push to main. \u{1f6a2}",
        "Rule two:\n\tkeep  two  spaces",
        "Rule three: ask first",
      ];
      /** @type {any[]} */
      const history = [user(rules[0]), reply("ok"), user(rules[1]), reply("ok")];
      context.request(history);
      context.pin({ index: 0 });
      context.pin({ index: 2 });
      context.pin({ text: /** @type {string} */ (rules[2]) });
      await compacted(context, history, 50, (sent) => {
        pass(1_000_000);
        for (const rule of rules)
          assert.equal(count(sent, JSON.stringify(rule).slice(1, -1)), 1, rule);
      });
      return `${rules.length} pins, each there once and byte for byte, ${context.status().compactions} compactions later`;
    },
  },
  {
    fault: "F34",
    name: "the latest request is summarized away, or doubled",
    done: "20 compactions; the summary quotes it, the host's history ends with it or with work on it",
    run: async () => {
      let wish = "";
      const { context, pass } = manager(async (/** @type {any} */ job) =>
        good(job, `They want: ${wish}`.replace(".", "")),
      );
      /** @type {any[]} */
      const history = [];
      for (let round = 0; round < 20; round += 1) {
        for (let at = 0; at < 6; at += 1) history.push(...step(100 * round + at));
        wish = `the wish of ${round}.`;
        history.push(user(wish));
        for (let work = 0; work < round % 3; work += 1) history.push(...step(50).slice(1, 3));
        pass(1_000_000);
        await context.compact(history, { force: true });
        const prepared = await context.prepare(history);
        const verbatim = prepared.messages.filter(
          (/** @type {any} */ message) => message.content === wish,
        );
        assert.equal(verbatim.length, 1, `round ${round}`);
        assert.equal(count(sentText(prepared), wish), 1, `round ${round}`);
        history.push(reply("done"));
      }
      return "verbatim, and once, in each of 20 requests";
    },
  },
  {
    fault: "F36",
    name: "the same refused request again",
    done: "a provider refuses each request as too long",
    run: async () => {
      for (const summarize of [undefined, forgetful]) {
        const { context } = manager(summarize);
        const history = talk(20);
        const sent = new Set([JSON.stringify(context.request(history).messages)]);
        let tries = 0;
        for (; tries < 9; tries += 1) {
          const smaller = await context.recover(history, OVERFLOW);
          if (!smaller) break;
          const text = JSON.stringify(smaller.messages);
          assert.ok(!sent.has(text), "the same bytes again");
          sent.add(text);
          checkAccepted(smaller);
        }
        assert.ok(tries >= 1 && tries <= 2, `${tries} tries`);
      }
      return "each try is another request, after two at most it is the host's error";
    },
  },
  {
    fault: "F38",
    name: "texts at the limit of a string",
    done: "a message of 257 MB, the snapshot of 10,000 messages, and a session of 600 MB",
    run: () => {
      const { context } = manager(undefined);
      const huge = "x".repeat(257 * 1024 * 1024);
      assert.throws(() => context.request([user(huge)]), { code: "TOO_LARGE" });
      const { fits } = context.request(talk(2_500));
      const bytes = context.snapshot();
      assert.ok(fits && bytes.length < 4_000_000, `${bytes.length} bytes`);
      const finding = `TOO_LARGE, and the session lives; a snapshot is bytes without bodies (${Math.round(bytes.length / 1_000)} kB)`;
      if (!long) return finding;
      // More than a string may have, all in all: the same text many times, so that the host's side is small.
      const content = prose(2_000_000);
      const most = manager(undefined);
      const history = [user("begin")];
      for (let at = 0; at < 46; at += 1) {
        const call = { type: "tool_use", id: `c${at}`, name: "read", input: { at } };
        history.push(reply([call]), user([{ type: "tool_result", tool_use_id: call.id, content }]));
      }
      const chars = 46 * content.length;
      assert.ok(chars > 536_870_888, `${chars} is what one string may have`);
      checkAccepted(most.context.request(history));
      const parked = most.context.snapshot();
      assert.ok(parked.length < 10_000, `${parked.length} bytes`);
      const woken = api.ContextManager.restore(parked, SAME);
      checkAccepted(woken.request(history));
      return `${finding}; ${Math.round(chars / 1e6)} M chars are parked in ${parked.length} bytes`;
    },
  },
  {
    fault: "F39",
    name: "a snapshot that is old, foreign or damaged",
    done: "each byte flipped, cut at each length, text, other files and other versions in its place; one kept from before",
    run: async () => {
      const { context } = manager(forgetful);
      const history = talk(12);
      await context.compact(history, { force: true });
      context.request(history);
      const bytes = context.snapshot();
      const wake = (/** @type {Uint8Array} */ saved) => api.ContextManager.restore(saved, SAME);
      const each = Math.max(1, Math.floor(bytes.length / 2_000));
      let tried = 0;
      for (let at = 0; at < bytes.length; at += each) {
        const flipped = bytes.slice();
        flipped[at] = (flipped[at] ?? 0) ^ (1 << (at % 8));
        assert.throws(() => wake(flipped), { code: "CORRUPT_STATE" }, `flipped at ${at}`);
        assert.throws(() => wake(bytes.slice(0, at)), { code: "CORRUPT_STATE" }, `cut at ${at}`);
        tried += 2;
      }
      for (const text of ["", "{}", "SQLite format 3\0", "\x89PNG\r\n"])
        assert.throws(() => wake(new TextEncoder().encode(text)), { code: "CORRUPT_STATE" });
      assert.deepEqual(wake(bytes).request(history).messages, context.request(history).messages);
      for (const version of [0, OLDEST - 1, NEWEST + 1, 255]) {
        const other = bytes.slice();
        other[4] = version;
        assert.throws(() => wake(other), new RegExp(`is of version ${version}; 2 to 3 are read`));
      }
      // Of this talk, by the first builds that wrote these versions. Another layout needs another version, and another file.
      if (process.env.PLIMSOLL_WRITE === "1") await writeFile(kept(NEWEST), bytes);
      for (let version = OLDEST; version <= NEWEST; version += 1) {
        const woken = wake(await readFile(kept(version)));
        const prepared = woken.request(history);
        checkAccepted(prepared);
        assert.equal(woken.status().compactions, 1);
        assert.equal(count(sentText(prepared), "Nothing of note was said."), 1);
      }
      return `${tried} damaged ones: CORRUPT_STATE; the whole one goes on, and those that were kept`;
    },
  },
  {
    fault: "F40",
    name: "trigger and planner disagree",
    done: "talks that grow step by step, with texts, with results alone, with one long message",
    run: () => {
      let due = 0;
      const result = (/** @type {number} */ at) => step(at).slice(1, 3);
      const grows = [
        step,
        result,
        (/** @type {number} */ at) => (at === 5 ? [user(prose(9_000)), reply("ok")] : result(at)),
      ];
      for (const grow of grows) {
        const { context } = manager(async () => "", { preset: "balanced" });
        /** @type {any[]} */
        const history = [user("begin")];
        for (let at = 0; at < 150; at += 1) {
          history.push(...grow(at));
          const wanted = context.status().due === "fold";
          const plan = context.plan(history);
          if (wanted) {
            due += 1;
            assert.notEqual(plan.outcome, "none", plan.reason);
          }
          if (plan.outcome === "summarize") assert.ok(plan.chunks.length > 0);
          context.request(history);
        }
      }
      return `due ${due} times, and each time there is something to do`;
    },
  },
];
