// @ts-check
/** AI SDK histories: the SDK itself accepts what the package sends, from `generateText` to the model's prompt, in every version. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { modelMessages, refused, shownMessages, versions } from "./ai-sdk-histories.mjs";
import { dice, objects } from "./sdks.mjs";

const { api, why } = await loadPackage();
const sdks = api ? await versions() : [];
const skip = api ? (sdks.length > 0 ? false : "skipped: no version of ai is installed") : why;
const seeds = process.env.PLIMSOLL_LONG ? 60 : 12;

const manager = (/** @type {any} */ options = {}) =>
  new api.ContextManager({
    window: { contextTokens: 6_000, maxOutputTokens: 500 },
    clock: () => 1_700_000_000_000,
    ...options,
  });

/** The positions at which a model is called: after a user's message or results. @param {any[]} history */
const calls = (history) =>
  history.flatMap((_, at) =>
    at + 1 === history.length || history[at + 1].role === "assistant" ? [at + 1] : [],
  );

/** @param {any} sdk @param {any[]} messages */
const judged = async (sdk, messages) => {
  const asks = JSON.stringify(messages).includes('"tool-approval-re');
  if (asks && sdk.name === "ai-v5") return [];
  const shown = messages.some((message) => "parts" in message);
  const converted = shown ? await sdk.sdk.convertToModelMessages(messages) : messages;
  return refused(await sdk.prompt(converted));
};

/** Requests as a session grows: every one is taken, nothing of the host's changes, what is not edited is shared. */
async function grow(/** @type {any[]} */ history, /** @type {any} */ options) {
  const before = structuredClone(history);
  const shared = objects(history);
  const context = manager(options);
  const seen = { edits: 0, folds: 0, requests: 0 };
  for (const end of calls(history)) {
    const view = context.request(history.slice(0, end));
    seen.requests += 1;
    seen.edits += view.edits.length;
    seen.folds += view.compaction?.record ? 1 : 0;
    assert.deepEqual(view.repairs, []);
    for (const [at, message] of view.messages.entries()) {
      const from = view.source[at];
      if (from === null || message === history[from]) continue;
      const [part, list] = [
        message.content ?? message.parts,
        history[from].content ?? history[from].parts,
      ];
      if (Array.isArray(part)) {
        const untouched = part.filter((it) => shared.has(it)).length;
        assert.ok(untouched + 6 >= Math.min(part.length, list.length) || untouched > 0);
      }
    }
    for (const sdk of sdks) {
      assert.deepEqual(await judged(sdk, view.messages), [], `${sdk.name} at ${end}`);
    }
  }
  assert.deepEqual(history, before);
  return seen;
}

for (const [name, make] of /** @type {const} */ ([
  ["ModelMessages", modelMessages],
  ["UIMessages", shownMessages],
])) {
  test(`the AI SDK accepts requests of growing ${name}`, { skip }, async () => {
    const all = { edits: 0, folds: 0, requests: 0 };
    for (let seed = 0; seed < seeds; seed += 1) {
      const seen = await grow(make(dice(seed), 14), { preset: seed % 2 ? "economy" : "balanced" });
      for (const key of /** @type {const} */ (["edits", "folds", "requests"]))
        all[key] += seen[key];
    }
    console.log(`${name}: ${JSON.stringify(all)}`);
    assert.ok(all.edits > 0 && all.folds > 0, JSON.stringify(all));
  });

  test(`${name} with holes are repaired to what the AI SDK accepts`, { skip }, async () => {
    let repairs = 0;
    for (let seed = 0; seed < seeds * 3; seed += 1) {
      const by = dice(1_000 + seed);
      const original = make(by, 5);
      const history = original.flatMap((message) => {
        if (by.chance(0.1)) return [];
        const list = message.parts ? "parts" : "content";
        if (!Array.isArray(message[list])) return [message];
        const kept = message[list].filter(() => !by.chance(0.15));
        const changed = kept.map((/** @type {any} */ part) => {
          if (message.parts && part.toolCallId && by.chance(0.2)) {
            const { output: _, errorText: _2, approval: _3, ...rest } = part;
            const asked = { state: "approval-requested", approval: { id: "a" } };
            return { ...rest, ...(by.chance(0.5) ? { state: "input-available" } : asked) };
          }
          return part.toolCallId && by.chance(0.05) ? { ...part, toolCallId: "again" } : part;
        });
        return [{ ...message, [list]: changed }];
      });
      const before = structuredClone(history);
      const mended = api.repair(history, "anthropic", { format: "ai-sdk" });
      repairs += mended.repairs.length;
      assert.deepEqual(history, before);
      assert.deepEqual(api.validate(mended.messages, "anthropic", { format: "ai-sdk" }), []);
      const again = api.repair(mended.messages, "anthropic", { format: "ai-sdk" });
      assert.deepEqual(again.repairs, []);
      if (mended.messages.length === 0) continue;
      for (const sdk of sdks) {
        assert.deepEqual(await judged(sdk, mended.messages), [], `${sdk.name}, seed ${seed}`);
      }
    }
    assert.ok(repairs > 20, `${repairs}`);
  });
}
