// @ts-check
/** Faults of a history: sizes, ids, places, images, times, and provider counts. */
import assert from "node:assert/strict";
import {
  count,
  good,
  idle,
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

const USABLE = WINDOW.contextTokens - WINDOW.maxOutputTokens;
const use = (/** @type {any} */ id, input = {}) => ({ type: "tool_use", id, name: "read", input });
const gave = (/** @type {any} */ id, /** @type {any} */ content) => ({
  type: "tool_result",
  tool_use_id: id,
  content,
});
/** @param {any} job */
const summarize = async (job) => good(job);
const never = async () => {
  throw new Error("nobody may be asked");
};
/** What answers each call, in the request. @param {any} prepared @returns {Array<[string, string]>} */
const answers = ({ messages }) =>
  messages.flatMap((/** @type {any} */ message) =>
    Array.isArray(message.content)
      ? message.content
          .filter((/** @type {any} */ block) => block.type === "tool_result")
          .map((/** @type {any} */ block) => [block.tool_use_id, JSON.stringify(block.content)])
      : [],
  );

/** A picture of 800 to 600 pixels, of so many bytes in base64. @param {number} length */
function png(length) {
  const head = Buffer.from(
    "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x03\x20\0\0\x02\x58\x08\x02\0\0\0",
    "latin1",
  );
  return Buffer.concat([head, Buffer.alloc((length / 4) * 3 - head.length, 7)]).toString("base64");
}

/** @type {import("./rows.mjs").Row[]} */
export const history = [
  {
    fault: "F10",
    name: "one message larger than the window",
    done: "a result of 0.5, 1, 4, 100 windows",
    run: async () => {
      const sizes = [];
      for (const times of [0.5, 1, 4, 100]) {
        const { context } = manager(summarize);
        const big = "alpha beta ".repeat((times * WINDOW.contextTokens * 4) / 11);
        const prepared = await context.prepare([
          user("read it"),
          reply([use("a")]),
          user([gave("a", big)]),
        ]);
        assert.ok(prepared.fits && prepared.tokens <= USABLE, `${times}: ${prepared.tokens}`);
        checkAccepted(prepared);
        assert.equal(answers(prepared).length, 1);
        sizes.push(prepared.tokens);
      }
      return `${sizes.join(", ")} tokens of ${USABLE}, the result in its place`;
    },
  },
  {
    fault: "F11",
    name: "one tool group larger than the window",
    done: "2, 10 and 40 parallel results, 10 windows together",
    run: async () => {
      for (const results of [2, 10, 40]) {
        const { context } = manager(summarize);
        const ids = Array.from({ length: results }, (_, at) => `c${at}`);
        const big = "alpha beta ".repeat((10 * WINDOW.contextTokens * 4) / 11 / results);
        const prepared = await context.prepare([
          user("read them"),
          reply(ids.map((id) => use(id))),
          user(ids.map((id) => gave(id, `${id}: ${big}`))),
        ]);
        assert.ok(prepared.fits, `${results}: ${prepared.tokens}`);
        checkAccepted(prepared);
        assert.deepEqual(
          answers(prepared).map(([id]) => id),
          ids,
        );
      }
      return "each fits with every call answered";
    },
  },
  {
    fault: "F12",
    name: "the system prompt alone is larger than the window",
    done: "a system prompt of the window's size",
    run: async () => {
      const { context } = manager(never);
      const outcome = await context.compact(talk(20), { force: true, system: prose(20_000) });
      assert.deepEqual([outcome.status, outcome.attempts], ["failed", []]);
      const plan = context.plan(talk(20), { force: true, system: prose(20_000) });
      assert.equal(plan.outcome, "overflow");
      assert.ok(plan.floor.systemTokens > USABLE);
      assert.equal((await context.prepare(talk(20), { system: prose(20_000) })).fits, false);
      return `"${outcome.reason.slice(0, 60)}...", and nobody is asked`;
    },
  },
  {
    fault: "F13",
    name: "tool definitions larger than the window, or not counted",
    done: "tools of 5,000 tokens, then of the window's size",
    run: async () => {
      const tools = (/** @type {number} */ words) => [
        { name: "t", description: prose(words), input_schema: { type: "object" } },
      ];
      const { context } = manager(never);
      const bare = context.request([user("hi")]).tokens;
      const counted = context.request([user("hi")], { tools: tools(3_500) }).tokens - bare;
      assert.ok(counted > 4_000, String(counted));
      const outcome = await context.compact(talk(20), { force: true, tools: tools(20_000) });
      assert.equal(outcome.status, "failed");
      const plan = context.plan(talk(20), { force: true, tools: tools(20_000) });
      assert.deepEqual([plan.outcome, plan.floor.toolTokens > USABLE], ["overflow", true]);
      return `${counted} tokens are counted; too many are an overflow that names them`;
    },
  },
  {
    fault: "F19",
    name: "ids that are used twice",
    done: "one id within a turn and in every turn",
    run: async () => {
      const { context } = manager(summarize);
      const messages = [user("go")];
      for (let at = 0; at < 6; at += 1) {
        messages.push(reply([use("call_0"), use(at % 2 ? "call_0" : "call_1")]));
        messages.push(
          user([
            gave("call_0", `first of ${at}.`),
            gave(at % 2 ? "call_0" : "call_1", `second of ${at}.`),
          ]),
        );
      }
      const prepared = await context.prepare(messages);
      checkAccepted(prepared);
      const sent = sentText(prepared);
      for (let at = 0; at < 6; at += 1) {
        assert.equal(count(sent, `first of ${at}.`), 1);
        assert.equal(count(sent, `second of ${at}.`), 1);
      }
      const ids = answers(prepared).map(([id]) => id);
      assert.equal(new Set(ids).size, ids.length);
      return `${ids.length} ids, each its own; every content kept`;
    },
  },
  {
    fault: "F20",
    name: "ids that are missing or blank",
    done: 'ids "", null, "  " and none on calls and results',
    run: async () => {
      for (const id of ["", null, "  ", undefined]) {
        const { context } = manager(summarize);
        const prepared = await context.prepare([
          user("go"),
          reply([use(id)]),
          user([gave(id, "what it gave")]),
          user("and?"),
        ]);
        checkAccepted(prepared);
        assert.ok(count(sentText(prepared), "what it gave") <= 1);
      }
      return "mended or left out as a pair; taken by the provider";
    },
  },
  {
    fault: "F21",
    name: "results out of order or displaced",
    done: "three results in every order, in the next message and later ones",
    run: async () => {
      const orders = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
      ];
      for (const order of orders) {
        for (const late of [false, true]) {
          const { context } = manager(summarize);
          const results = order.map((at) => gave(`c${at}`, `given by c${at}`));
          const messages = [user("go"), reply([0, 1, 2].map((at) => use(`c${at}`)))];
          if (late) for (const result of results) messages.push(reply("wait"), user([result]));
          else messages.push(user(results));
          messages.push(user("and?"));
          const prepared = await context.prepare(messages);
          checkAccepted(prepared);
          for (const [id, text] of answers(prepared))
            if (text.includes("given by"))
              assert.ok(text.includes(`given by ${id}`), `${id}: ${text}`);
        }
      }
      return `${orders.length * 2} orders: taken, and no result under another's call`;
    },
  },
  {
    fault: "F22",
    name: "a call in flight at the cut",
    done: "the history ends with a call that has no result yet, 1 to 3 messages behind",
    run: async () => {
      for (const behind of [0, 1, 2]) {
        const { context } = manager(summarize);
        const messages = [...talk(20), reply([use("open", { path: "the/open.rs" })])];
        for (let at = 0; at < behind; at += 1) messages.push(user(`meanwhile ${at}.`));
        const open = messages.length - 1 - behind;
        const plan = context.plan(messages, { force: true });
        assert.ok(plan.firstKept <= open, `${plan.firstKept} behind ${open}`);
        const outcome = await context.compact(messages, { force: true });
        assert.equal(outcome.status, "summarized");
        assert.ok(outcome.extracted.modifiedFiles.length > 0);
        const prepared = context.request(messages);
        checkAccepted(prepared);
        assert.equal(count(sentText(prepared), '"path":"the/open.rs"'), 1);
        const { head } = outcome.record;
        assert.ok(!/tool_use|\w\(\{/.test(head), head);
      }
      return "the cut stays before it; what was done is listed as text";
    },
  },
  {
    fault: "F25",
    name: "usage that is stale after a compaction",
    done: "a full window is reported for the request before it",
    run: async () => {
      const { context, types } = manager(summarize);
      const messages = talk(20);
      const before = await context.prepare(messages);
      await idle(context);
      await context.compact(messages, { force: true });
      const after = await context.prepare(messages);
      const started = types().length;
      context.observe({ inputTokens: 18_999, outputTokens: 1 }, before);
      const again = await context.prepare([...messages, reply("ok"), user("next")]);
      await idle(context);
      assert.equal(types().length, started, "nothing is triggered");
      // What the provider counted besides the messages it counts in every request.
      const beside = 18_999 - before.tokens;
      assert.ok(again.tokens <= after.tokens + beside + 100, `${again.tokens}`);
      assert.equal(context.status().due, null);
      return `a request of ${again.tokens} tokens is not taken for one of 18999; nothing is started`;
    },
  },
  {
    fault: "F26",
    name: "cached tokens counted twice, or a turn's sum",
    done: "one count in each provider's shape; a sum of many calls",
    run: () => {
      const shapes = [
        {
          input_tokens: 10,
          cache_read_input_tokens: 7_000,
          cache_creation_input_tokens: 990,
          output_tokens: 1,
        },
        { prompt_tokens: 8_000, prompt_tokens_details: { cached_tokens: 7_000 } },
        { input_tokens: 8_000, input_tokens_details: { cached_tokens: 7_000 }, output_tokens: 1 },
        { promptTokenCount: 8_000, cachedContentTokenCount: 7_000 },
        {
          inputTokens: 1_000,
          cacheReadInputTokens: 7_000,
          cacheWriteInputTokens: 0,
          totalTokens: 8_001,
          outputTokens: 1,
        },
        { prompt_tokens: 8_000, prompt_cache_hit_tokens: 7_000, prompt_cache_miss_tokens: 1_000 },
        { inputTokens: 8_000, outputTokens: 1 },
      ];
      for (const usage of shapes) {
        const { context } = manager(undefined);
        context.request(talk(8));
        context.observe(usage);
        assert.equal(context.status().used, 8_000, JSON.stringify(usage));
      }
      const { context } = manager(undefined);
      const { tokens } = context.request(talk(8));
      context.observe({ input_tokens: 931_132, output_tokens: 1 });
      const { used, due } = context.status();
      assert.ok(used < 2 * tokens && due === null, `${used} of ${tokens}`);
      return `${shapes.length} shapes, one figure; a sum over the window is not believed`;
    },
  },
  {
    fault: "F27",
    name: "results after the last call not counted",
    done: "a usage, then a result of 2,000 tokens",
    run: () => {
      const { context } = manager(undefined);
      const messages = talk(8);
      context.request(messages);
      context.observe({ inputTokens: 9_000, outputTokens: 1 });
      messages.push(reply([use("z")]), user([gave("z", "x".repeat(8_000))]));
      const { tokens } = context.request(messages);
      assert.ok(tokens > 10_500 && tokens < 12_500, String(tokens));
      return `9000 counted, then ${tokens} with what came`;
    },
  },
  {
    fault: "F28",
    name: "wrong timestamps",
    done: "equal, reversed, NaN, negative, of the year 9999; a clock that does the same",
    run: () => {
      /** @type {Array<(at: number) => any>} */
      const times = [
        (at) => at,
        () => 5,
        (at) => -at,
        () => Number.NaN,
        () => 253_400_000_000_000,
        () => "yesterday",
      ];
      const views = times.map((time) => {
        const messages = talk(20).map((message, at) => ({ ...message, timestamp: time(at) }));
        const { context } = manager(undefined);
        const { source, edits, tokens } = context.request(messages);
        return JSON.stringify([
          source,
          edits.map((/** @type {any} */ edit) => [edit.index, edit.rule]),
          tokens,
        ]);
      });
      assert.equal(
        new Set([views[1], views[2], views[4]].map((it) => JSON.parse(it ?? "")[0].join())).size,
        1,
      );
      for (const clock of times.slice(0, 5)) {
        let at = 0;
        let isRight = false;
        const { context } = manager(undefined, { clock: () => (isRight ? at++ : clock(at++)) });
        for (const messages of [talk(20), talk(40)]) {
          if (Number.isNaN(clock(at))) {
            // A clock that gives no time is refused before anything moves.
            assert.throws(() => context.request(messages), { code: "INVALID_ARGUMENT" });
            isRight = true;
          }
          checkAccepted(context.request(messages));
          isRight = false;
        }
      }
      return `${times.length} kinds of times: the order is the history's`;
    },
  },
  {
    fault: "F29",
    name: "a switch to a smaller window",
    done: "1M, 200k, 8k tokens in the midst of a session of some 150k",
    run: async () => {
      let most = 0;
      const { context } = manager(
        async (/** @type {any} */ job) => {
          most = Math.max(most, job.inputTokens);
          return good(job);
        },
        {
          window: { contextTokens: 1_000_000, maxOutputTokens: 1_000 },
          summary: { minimumTokens: 0, contextTokens: 8_000 },
        },
      );
      const messages = talk(220);
      const sizes = [(await context.prepare(messages)).tokens];
      for (const contextTokens of [200_000, 8_000]) {
        context.setModel({ window: { contextTokens, maxOutputTokens: 1_000 } });
        messages.push(reply("ok"), user(`now with ${contextTokens}.`));
        const prepared = await context.prepare(messages);
        await idle(context);
        assert.ok(prepared.fits && prepared.tokens <= contextTokens - 1_000, `${prepared.tokens}`);
        checkAccepted(prepared);
        assert.equal(count(sentText(prepared), `now with ${contextTokens}.`), 1);
        sizes.push(prepared.tokens);
      }
      assert.ok(most <= 8_000, `${most} for a summarizer`);
      return `${sizes.join(", ")} tokens; at most ${most} for a summarizer of 8000`;
    },
  },
  {
    fault: "F31",
    name: "images",
    done: "45 images, 34 MB, and a compaction by hand",
    run: async () => {
      const data = png(770_000);
      /** @type {any[]} */
      const jobs = [];
      const { context } = manager(
        async (/** @type {any} */ job) => {
          jobs.push(job);
          return good(job);
        },
        { window: { contextTokens: 200_000, maxOutputTokens: 1_000 } },
      );
      /** @type {any[]} */
      const messages = [...talk(20), user("look")];
      for (let at = 0; at < 45; at += 1) {
        const source = { type: "base64", media_type: "image/png", data };
        messages.push(reply([use(`c${at}`)]), user([gave(`c${at}`, [{ type: "image", source }])]));
      }
      const prepared = context.request(messages);
      checkAccepted(prepared);
      const shown = count(sentText(prepared), data);
      assert.ok(shown > 0 && shown < 45, `${shown} images`);
      const outcome = await context.compact(messages, { force: true });
      const found = JSON.stringify([outcome, jobs]);
      assert.equal(outcome.status, "summarized", outcome.reason);
      assert.ok(
        !found.includes(data.slice(0, 40)) && found.length < 100_000,
        `${found.length} chars`,
      );
      assert.ok(context.snapshot().length < 32_768);
      return `${shown} images are sent; outcome and jobs hold none (${found.length} chars)`;
    },
  },
  {
    fault: "F37",
    name: "work that blocks the event loop",
    done: "a history of 10 MB, then turn by turn",
    run: () => {
      const { context } = manager(undefined, { window: { contextTokens: 1_000_000 } });
      const messages = [];
      for (
        let at = 0;
        JSON.stringify(messages.at(-1) ?? "").length * messages.length < 10e6 / 4 || at < 1_000;
        at += 1
      )
        messages.push(
          ...step(at).map((message) =>
            message.role === "assistant" && typeof message.content === "string"
              ? reply(prose(1_700))
              : message,
          ),
        );
      const bytes = JSON.stringify(messages).length;
      assert.ok(bytes > 10e6, String(bytes));
      const timed = (/** @type {() => void} */ work) => {
        const start = performance.now();
        work();
        return performance.now() - start;
      };
      const first = timed(() => context.request(messages));
      const later = Array.from({ length: 9 }, (_, at) => {
        messages.push(...step(5_000 + at));
        return timed(() => context.request(messages));
      }).sort((a, b) => a - b);
      assert.ok(/** @type {number} */ (later[4]) < 50, `${later}`);
      assert.ok(first < 5_000, `${first}`);
      return `the first call ${Math.round(first)} ms for ${Math.round(bytes / 1e6)} MB, later ones ${later[4]?.toFixed(1)} ms`;
    },
  },
];
