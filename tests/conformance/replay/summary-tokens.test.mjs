// @ts-check
/**
 * Replays with `summaryTokens` beside a live session whose summarizer answers with about as many tokens: both fold at the same call, with a
 * summary, and send about as many tokens.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const FILE = new URL("../../../examples/sessions/harbour-audit.pi.jsonl", import.meta.url);
const window = { contextTokens: 20_000 };
const options = { skip: api ? false : why };

/** The requests of a live session up to its first fold, and that fold. @param {any} session @param {string} preset */
async function live(session, preset) {
  const { messages, messageFormat, system, tools, calls } = session;
  let now = 0;
  const manager = new api.ContextManager({
    ...{ window, preset, format: messageFormat, clock: () => now },
    summarize: async (/** @type {any} */ { requiredHeadings }) => {
      // A part of a long transcript has no headings.
      const names = requiredHeadings.length > 0 ? requiredHeadings : ["Part"];
      const text = "so it went on and on ".repeat(60 / names.length);
      return names.map((/** @type {string} */ name) => `## ${name}\n${text}\n`).join("");
    },
  });
  const tokens = [];
  for (const { sent, at } of calls) {
    now = at ?? sent * 10_000;
    const prepared = await manager.prepare(messages.slice(0, sent), { system, tools });
    tokens.push(prepared.tokens);
    if (prepared.compaction?.record) return { tokens, fold: prepared.compaction };
    // A summary that is made in the background comes before the next request.
    await setTimeout(15);
  }
  throw new Error("the session never folded");
}

test(
  "a replay with `file` has summaries as long as the middle one in the file, or none",
  options,
  () => {
    const text = readFileSync(fileURLToPath(FILE), "utf8").trimEnd();
    const lines = text.split("\n");
    let { id } = JSON.parse(lines.at(-1) ?? "");
    for (const [number, often] of [900, 100, 300].entries()) {
      const fold = { type: "compaction", id: `fold${number}`, parentId: id, firstKeptEntryId: id };
      lines.push(
        JSON.stringify({ ...fold, summary: "so it went ".repeat(often), tokensBefore: 9 }),
      );
      id = fold.id;
    }
    const files = [lines.join("\n"), text].map((file) => api.readSession(Buffer.from(file)));
    const policy = { window, preset: "retention", summaryTokens: "file" };
    const [some, none] = files.map((session) => api.replay(session, policy));
    const middle = api.estimateTokens("so it went ".repeat(300));
    assert.ok(Math.abs(some.summaryTokens - middle) <= 1, `${some.summaryTokens}, not ${middle}`);
    assert.ok(some.totals.summaries > 0);
    assert.deepEqual([none.summaryTokens, none.totals.summaries], [0, 0]);
    assert.equal(api.replay(files[1], { ...policy, summaryTokens: 70 }).summaryTokens, 70);
    for (const [name, word] of [
      ["summaryTokens", "file"],
      ["unseenTokens", "usage"],
    ]) {
      const message = `${name}: expected a number of tokens, or "${word}", got "many"`;
      const refused = { code: "INVALID_ARGUMENT", message };
      assert.throws(() => api.replay(files[0], { ...policy, [name]: "many" }), refused);
    }
  },
);

for (const preset of ["balanced", "retention", "economy", "hermes"]) {
  test(
    `a replay with summaries folds when a live session with a summarizer does (${preset})`,
    options,
    async () => {
      const session = api.readSession(readFileSync(fileURLToPath(FILE)));
      const { tokens, fold } = await live(session, preset);
      assert.equal(fold.status, "summarized");
      const summaryTokens = api.estimateTokens(fold.record.summary);
      const replay = api.replay(session, {
        ...{ window, preset, calibrate: false, unseenTokens: 0, summaryTokens },
      });
      const [first] = replay.events().filter((/** @type {any} */ { event }) => event === "fold");
      assert.equal(first.call, tokens.length - 1, "the same call");
      assert.equal(first.record.firstKeptIndex, fold.record.firstKeptIndex);
      assert.equal(api.estimateTokens(first.record.summary), summaryTokens);
      for (const [call, own] of tokens.slice(0, -1).entries())
        assert.equal(replay.calls[call].used, own, `call ${call}`);
      const [sent, own] = [replay.calls[first.call].used, tokens.at(-1) ?? 0];
      assert.ok(Math.abs(sent - own) < 0.02 * own, `${sent} in the replay, ${own} live`);
    },
  );
}
