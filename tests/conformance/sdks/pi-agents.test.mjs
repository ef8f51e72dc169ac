// @ts-check
/**
 * Generated sessions of pi around its extension: every request is valid, fits, has what the user said last, and only grows within an
 * epoch. PLIMSOLL_AGENTS: how many.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";
import { adapter, requestsOf } from "./agent-runs.mjs";
import { contextOf, playPi, started, Tree } from "./pi-agents.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const made = api ? requestsOf(api) : [];
const count = Number(process.env.PLIMSOLL_AGENTS ?? sized({ short: 4, ci: 60, long: 600 }));
const { extension } = api ? await adapter("pi") : { extension: null };

test("requests of generated sessions are valid", { skip }, async () => {
  const all = { calls: 0, epochs: 0, refused: 0, compactions: 0, overflows: 0, cancels: 0 };
  for (let seed = 1; seed <= count; seed += 1) {
    const played = await playPi({ extension, made, seed });
    assert.deepEqual(played.problems.slice(0, 1), [], `seed ${seed}`);
    for (const key of /** @type {Array<keyof typeof all>} */ (Object.keys(all)))
      all[key] += played[key];
  }
  console.log(`pi: ${JSON.stringify(all)}`);
  assert.ok(all.calls > 50 * count && Object.values(all).every((one) => one > 0));
});

/** What the summarizer is asked for, in each kind of summary. */
const HEADINGS =
  "Goal,Constraints,Done,In Progress,Decisions,Errors,Files and Identifiers,Open Questions,Next Steps,Original Request,Early Progress,Context for Suffix";

test("what the user said stays through several compactions with a summarizer", {
  skip,
}, async () => {
  const text = HEADINGS.split(",").map((name) => `## ${name}\nThe berths were read, one by one.`);
  const pi = started(extension({ summarize: async () => text.join("\n\n") }));
  const tree = new Tree("s");
  const model = [{ provider: "local", api: "openai-completions" }, "openai-chat"];
  const window = { contextWindow: 16_000, maxTokens: 1_000 };
  const context = contextOf({ tree, model, window });
  let time = 0;
  const say = (/** @type {any} */ message) => {
    time += 1;
    tree.append({ type: "message", message: { ...message, timestamp: time } });
  };
  const request = async () => {
    const { messages } = await pi.context({ messages: tree.messages() }, context);
    return JSON.stringify(messages);
  };
  const wishes = [];
  for (const color of ["red", "blue", "green"]) {
    wishes.push(`Never touch the ${color} berth.`);
    say({ role: "user", content: wishes.at(-1) });
    for (let at = 0; at < 12; at += 1) {
      await request();
      const call = { id: `${color}${at}`, name: "read", arguments: { path: `${color}${at}.txt` } };
      const content = [{ type: "toolCall", ...call }];
      say({ role: "assistant", content, stopReason: "toolUse" });
      const result = { toolCallId: call.id, toolName: "read", isError: false };
      say({
        role: "toolResult",
        ...result,
        content: [{ type: "text", text: "ship ".repeat(400) }],
      });
    }
    say({ role: "assistant", content: [{ type: "text", text: "Read." }], stopReason: "stop" });
    const { signal } = new AbortController();
    const event = { reason: "manual", signal, preparation: { tokensBefore: 1 } };
    const { compaction } = await pi.session_before_compact(event, context);
    assert.match(compaction.summary, /## Goal/);
    assert.ok(
      tree.entries.some(({ id, type }) => id === compaction.firstKeptEntryId && type === "message"),
    );
    time += 1;
    tree.append({ type: "compaction", ...compaction, time });
    say({ role: "user", content: "Go on." });
    const sent = await request();
    for (const words of wishes) assert.ok(sent.includes(words), `${words} is gone after ${color}`);
  }
});

/** Claude's APIs in pi, and what is left of the newest thinking of a turn in which messages were edited. */
const CLAUDES = [
  { name: "a budget for thinking", compat: undefined, keeps: true },
  {
    name: "void thinking that pi has dropped",
    compat: { supportsMidConvoEffort: true },
    keeps: true,
  },
  { name: "thinking of its own accord", compat: { forceAdaptiveThinking: true }, keeps: false },
];

for (const { name, compat, keeps } of CLAUDES) {
  test(`after an edit a call ${keeps ? "keeps" : "loses"} its thinking: ${name}`, {
    skip,
  }, async () => {
    const pi = started(extension());
    const tree = new Tree("s");
    const model = [{ provider: "anthropic", api: "anthropic-messages", compat }, "anthropic"];
    const window = { contextWindow: 16_000, maxTokens: 1_000 };
    const context = contextOf({ tree, model, window });
    const say = (/** @type {any} */ message) => tree.append({ type: "message", message });
    say({ role: "user", content: "Read all berths." });
    const newest = [];
    for (let at = 0; at < 40; at += 1) {
      const { messages } = await pi.context({ messages: tree.messages() }, context);
      const last = messages.findLast((/** @type {any} */ { role }) => role === "assistant");
      if (last) newest.push(last.content[0].type);
      const thinking = { type: "thinking", thinking: `Berth ${at}.`, thinkingSignature: `s${at}` };
      const call = { type: "toolCall", id: `c${at}`, name: "read", arguments: { path: `${at}` } };
      say({ role: "assistant", content: [thinking, call], stopReason: "toolUse" });
      const content = [{ type: "text", text: "ship ".repeat(400) }];
      say({ role: "toolResult", toolCallId: `c${at}`, toolName: "read", content, isError: false });
    }
    assert.equal(newest.length, 39);
    assert.equal(!newest.includes("toolCall"), keeps, newest.join());
  });
}
