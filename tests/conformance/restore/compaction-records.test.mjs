// @ts-check
/** Compactions as lines beside the messages, and a session that goes on from its file; prompts for notes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const NOW = Date.UTC(2026, 10, 22, 23, 30);

const prose = (/** @type {number} */ count) =>
  Array.from({ length: count }, (_, at) => ["alpha", "river", "stone", "cloud"][at % 4]).join(" ");
const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2 };
const answer = (/** @type {any[]} */ ...content) => ({
  role: "assistant",
  content,
  usage,
  stopReason: "stop",
  timestamp: 1,
});
const text = (/** @type {string} */ text) => ({ type: "text", text });

/** A step of an agent's, as pi has it. @param {number} at */
const step = (at) => [
  { role: "user", content: `step ${at}: ${prose(60)}`, timestamp: 1 },
  answer({ type: "toolCall", id: `c${at}`, name: "read", arguments: { path: `src/f${at}.rs` } }),
  {
    role: "toolResult",
    toolCallId: `c${at}`,
    toolName: "read",
    content: [text(prose(80))],
    isError: false,
    timestamp: 1,
  },
  answer(text(prose(300))),
];

/** What a provider is told: messages of the same speaker in a row are one. @param {any[]} messages */
function textsOf(messages) {
  /** @type {Array<{ role: string, parts: string[] }>} */
  const runs = [];
  for (const { role, content } of messages) {
    if (runs.at(-1)?.role !== role) runs.push({ role, parts: [] });
    const parts = typeof content === "string" ? [text(content)] : content;
    runs
      .at(-1)
      ?.parts.push(...parts.map((/** @type {any} */ one) => one.text ?? JSON.stringify(one)));
  }
  return runs;
}

function manager(/** @type {object} */ more = {}) {
  let turn = 0;
  return new api.ContextManager({
    window: { contextTokens: 20_000, maxOutputTokens: 1_000 },
    format: "pi",
    estimator: "chars/4",
    summary: { minimumTokens: 0, contextTokens: 200_000 },
    clock: () => NOW,
    summarize: async (/** @type {any} */ job) => {
      turn += 1;
      const words = `They chose Zebra_${turn}.`;
      const headings = job.requiredHeadings.map(
        (/** @type {string} */ name) => `## ${name}\n${words}\n`,
      );
      return headings.join("") || words;
    },
    ...more,
  });
}

/** Entries with random ids, each after the one before it. */
function file() {
  /** @type {string[]} */
  const lines = [JSON.stringify({ type: "session", version: 3, id: "s", cwd: "/" })];
  /** @type {string[]} */
  const ids = [];
  let parentId = /** @type {string | null} */ (null);
  return {
    ids,
    text: () => lines.join("\n"),
    message(/** @type {any} */ message) {
      const id = ((ids.length * 2_654_435_761) >>> 0).toString(16).padStart(8, "0");
      lines.push(JSON.stringify({ type: "message", id, parentId, message }));
      ids.push(id);
      parentId = id;
    },
    record(/** @type {any} */ record, /** @type {object} */ entry = {}) {
      const line = api.recordLine(record, { parentId, ...entry });
      assert.ok(!line.includes("\n"));
      lines.push(line);
      parentId = record.id;
    },
  };
}

test("a session file with two compactions gives the request that was sent", {
  skip,
}, async () => {
  for (const byEntry of [false, true]) {
    const context = manager();
    const session = file();
    /** @type {any[]} */
    const history = [];
    /** @type {any[]} */
    const records = [];
    const add = (/** @type {any[]} */ messages) => {
      for (const message of messages) {
        history.push(message);
        session.message(message);
      }
    };
    for (let round = 0; round < 2; round++) {
      for (let at = 0; at < 14; at++) add(step(round * 100 + at));
      context.request(history);
      const { status, record } = await context.compact(history, { force: true });
      assert.equal(status, "summarized");
      session.record(
        record,
        byEntry ? { firstKeptEntryId: session.ids[record.firstKeptIndex] } : {},
      );
      records.push({
        ...record,
        firstKeptEntryId: byEntry ? session.ids[record.firstKeptIndex] : null,
      });
      context.request(history);
    }
    add([{ role: "user", content: "and now finish it", timestamp: 1 }]);
    const live = context.request(history).messages;

    const read = api.readSession(session.text());
    const own = read.compactions.map(
      (/** @type {any} */ { at, call, opaque, ...record }) => record,
    );
    assert.deepEqual(own, records);
    assert.deepEqual(read.messages, history);
    assert.deepEqual(read.receipt.broken, []);
    const reloaded = manager().request(api.resumeMessages(read)).messages;
    assert.deepEqual(textsOf(reloaded), textsOf(live));
    assert.equal(
      JSON.stringify(reloaded).split("Zebra_2").length,
      JSON.stringify(live).split("Zebra_2").length,
    );
    assert.ok(JSON.stringify(reloaded[0]).includes("Zebra_2"));
    assert.ok(read.compactions[0].id < read.compactions[1].id, "in the same millisecond");
  }
});

test("records are ordered by their parents, over branches, random ids and unknown lines (F119, F121)", {
  skip,
}, () => {
  const entry = (
    /** @type {string} */ id,
    /** @type {string | null} */ parentId,
    /** @type {any} */ more,
  ) => JSON.stringify({ id, parentId, timestamp: "2026-11-22T00:00:00Z", ...more });
  const saying = (/** @type {string} */ content) => ({
    type: "message",
    message: { role: "user", content, timestamp: 1 },
  });
  const lines = [
    JSON.stringify({ type: "session", version: 3, id: "s", cwd: "/" }),
    entry("ff00", null, saying("one")),
    entry("0a11", "ff00", saying("two")),
    // Of another branch, that nobody goes on with.
    entry("9b22", "0a11", saying("dead end")),
    entry("7777", "0a11", { type: "from_the_future", data: { any: 1 } }),
    entry("1c33", "7777", saying("three")),
    entry("eeee", "1c33", { type: "thinking_level_change", thinkingLevel: "high" }),
    "{broken",
    entry("dddd", "eeee", {
      ...{ type: "compaction", summary: "SUMMARY", firstKeptEntryId: "1c33", tokensBefore: 9 },
      ...{ details: { readFiles: ["r.rs"], modifiedFiles: ["m.rs"] }, fromHook: true },
    }),
    entry("0001", "dddd", { type: "custom", customType: "of a plug-in", data: 1 }),
    entry("aaaa", "0001", saying("four")),
  ];
  const read = api.readSession(lines.join("\n"));
  const texts = (/** @type {any[]} */ messages) =>
    messages.map(({ content }) => (typeof content === "string" ? content : content[0].text));
  assert.deepEqual(texts(read.messages), ["one", "two", "three", "four"]);
  const { lines: all, unknown, broken, kinds, branches } = read.receipt;
  assert.deepEqual([all, unknown, broken.length, kinds.from_the_future], [11, 1, 1, 1]);
  assert.deepEqual(branches, ["9b22", "aaaa"]);
  const [record] = read.compactions;
  assert.deepEqual(
    [record.firstKeptEntryId, record.firstKeptIndex, record.details.modifiedFiles],
    ["1c33", 2, ["m.rs"]],
  );
  assert.deepEqual(texts(api.resumeMessages(read)), [
    "[Previous context summary]\nSUMMARY",
    "three",
    "four",
  ]);
  // The other branch has no compaction on its way.
  const other = api.readSession(lines.join("\n"), { leaf: "9b22" });
  assert.deepEqual(texts(api.resumeMessages(other)), ["one", "two", "dead end"]);
});

test("a session file without a compaction gives all messages", { skip }, () => {
  const session = file();
  for (const message of step(0)) session.message(message);
  const read = api.readSession(session.text());
  assert.equal(read.resume, undefined);
  assert.deepEqual(api.resumeMessages(read), step(0));
});

test("a prompt for notes is sent once for each threshold, with the date of the host's clock", {
  skip,
}, () => {
  const context = manager();
  assert.equal(context.flushPrompt(), null);
  const history = [{ role: "user", content: "x ".repeat(24_000), timestamp: 1 }];
  context.request(history);
  const { threshold, text } = context.flushPrompt();
  assert.equal(threshold, 50);
  assert.match(text, /memory\/2026-11-22\.md/);
  assert.equal(context.flushPrompt(), null);
  assert.deepEqual(context.status().flush, { threshold: 50, acted: false });
  const woken = api.ContextManager.restore(context.snapshot(), {
    window: { contextTokens: 20_000, maxOutputTokens: 1_000 },
    format: "pi",
    estimator: "chars/4",
    clock: () => NOW,
  });
  const note = {
    type: "toolCall",
    id: "n",
    name: "write",
    arguments: { path: "memory/2026-11-22.md", content: "n" },
  };
  const after = [
    ...history,
    answer(note),
    {
      role: "toolResult",
      toolCallId: "n",
      toolName: "write",
      content: [{ type: "text", text: "ok" }],
      isError: false,
      timestamp: 1,
    },
  ];
  woken.request(after);
  assert.equal(woken.flushPrompt(), null);
  assert.deepEqual(woken.status().flush, { threshold: 50, acted: true });
});
