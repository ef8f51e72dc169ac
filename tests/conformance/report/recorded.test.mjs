// @ts-check
/**
 * The recorded view: what an agent sent, by its provider's own counts. The figure of a call that was counted is the file's, digit for
 * digit; parts add up to it; estimates that are fitted to the counts are within 5 % in the median and 15 % at the 90th percentile in
 * three sessions of four.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { sessionFiles } from "../support/session-files.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);

/** @type {{ name: string, p50: number, p90: number }[]} */
const fitted = [];
const FEW = 12;

if (api) {
  for (const { name, bytes } of sessionFiles()) {
    const session = readable(bytes());
    if (!session?.calls.some((/** @type {any} */ call) => call.usage?.inputTokens)) continue;
    test(`figures of ${name} are the provider's, and its parts add up to them`, () => {
      const view = api.recordedView(session);
      for (const [at, call] of view.calls.entries()) {
        const counted = session.calls[at].usage?.inputTokens || null;
        assert.equal(call.usage, counted);
        if (counted !== null) assert.deepEqual([call.used, call.source], [counted, "provider"]);
        else assert.deepEqual([call.used, call.source], [call.calibrated, "calibrated"]);
      }
      const step = Math.max(1, Math.floor(view.calls.length / FEW));
      const places = view.calls.flatMap((/** @type {any} */ _, /** @type {number} */ at) =>
        at % step === 0 || at === view.calls.length - 1 ? [at] : [],
      );
      for (const at of places) {
        const { window, buckets, messages, contextWindowTokens } = view.report(at);
        assert.equal(window.used, view.calls[at].used);
        assert.equal(window.used + window.reserve + window.free, contextWindowTokens);
        assert.deepEqual([window.trigger, window.target], [null, null]);
        const sum = buckets.reduce(
          (/** @type {number} */ all, /** @type {any} */ it) => all + it.tokens,
          0,
        );
        assert.equal(sum, window.used);
        assert.equal(messages.length, view.calls[at].sent);
        assert.deepEqual(view.messages(at), messages);
      }
      const largest = Math.max(...view.calls.map((/** @type {any} */ call) => call.usage ?? 0));
      assert.ok(view.window.contextTokens >= largest, "the window holds the largest request");
      const { calibration } = view;
      assert.ok(calibration);
      fitted.push({ name, p50: calibration.errorP50, p90: calibration.errorP90 });
    });
  }
  test("fitted estimates are close to the provider's counts in three sessions of four", () => {
    assert.ok(fitted.length > 0, "there are counts");
    const close = fitted.filter(({ p50, p90 }) => p50 <= 0.05 && p90 <= 0.15);
    assert.ok(close.length >= 0.75 * fitted.length, `${close.length} of ${fitted.length}`);
  });
  after(() => {
    const percent = (/** @type {number} */ share) => `${(100 * share).toFixed(1).padStart(5)} %`;
    console.log(`errors of fitted estimates: median and 90th percentile`);
    for (const { name, p50, p90 } of fitted)
      console.log(`${name.padEnd(44)} ${percent(p50)} ${percent(p90)}`);
  });
}

test("a session without provider counts is reported as an estimate", { skip: !api && why }, () => {
  const messages = [
    { role: "user", content: "What is in the harbour?" },
    { role: "assistant", content: "Two ships and a crane." },
  ];
  const view = api.recordedView(api.readSession(JSON.stringify(messages)));
  assert.equal(view.calibration, null);
  assert.deepEqual(view.window, {
    contextTokens: 200_000,
    maxOutputTokens: 0,
    source: "assumed",
  });
  const [call] = view.calls;
  assert.deepEqual(
    [call.source, call.used, call.usage, call.calibrated],
    ["estimate", call.estimate, null, null],
  );
});

test("recordedView uses the window passed and refuses wrong windows and unknown options", {
  skip: !api && why,
}, () => {
  const session = api.readSession(
    '[{"role":"user","content":"go"},{"role":"assistant","content":"ok"}]',
  );
  const window = { contextTokens: 64_000, maxOutputTokens: 4_000 };
  const view = api.recordedView(session, { window });
  assert.deepEqual(view.window, { ...window, source: "given" });
  assert.equal(view.report().window.reserve, 4_000);
  for (const options of [
    { window: { contextTokens: -1 } },
    { windows: window },
    { estimator: "none" },
  ])
    assert.throws(() => api.recordedView(session, options).calls, { code: "INVALID_ARGUMENT" });
  assert.throws(() => view.report(7), { code: "INVALID_ARGUMENT" });
});

test("messages that the agent compacted are absent from later calls, and the compaction is listed", {
  skip: !api && why,
}, () => {
  const line = (/** @type {object} */ it) => JSON.stringify(it);
  const message = (
    /** @type {string} */ id,
    /** @type {string | null} */ parentId,
    /** @type {object} */ it,
  ) => line({ type: "message", id, parentId, message: it });
  const say = (/** @type {string} */ text, /** @type {number} */ input) => ({
    role: "assistant",
    content: [{ type: "text", text }],
    model: "model-1",
    usage: { input, output: 9, cacheRead: 0, cacheWrite: 0 },
  });
  const ask = (/** @type {string} */ text) => ({ role: "user", content: text });
  const file = [
    line({ type: "session", version: 3, id: "s", cwd: "/" }),
    message("a", null, ask("first question ".repeat(200))),
    message("b", "a", say("first answer", 5_600)),
    message("c", "b", ask("second question")),
    message("d", "c", say("second answer", 5_700)),
    line({
      type: "compaction",
      id: "e",
      parentId: "d",
      summary: "They asked twice.",
      firstKeptEntryId: "c",
    }),
    message("f", "e", ask("third question")),
    message("g", "f", say("third answer", 5_100)),
  ];
  const session = api.readSession(file.join("\n"));
  assert.deepEqual(session.models, [{ name: "model-1", calls: 3 }]);
  const [compaction] = session.compactions;
  assert.deepEqual([compaction.at, compaction.call, compaction.opaque], [4, 2, false]);
  const view = api.recordedView(session);
  assert.deepEqual(
    view.calls.map((/** @type {any} */ call) => [call.used, call.from, call.event]),
    [
      [5_600, 0, null],
      [5_700, 0, null],
      [5_100, 2, "compaction"],
    ],
  );
  const states = view.messages().map((/** @type {any} */ it) => it.state);
  assert.deepEqual(states, ["summarized", "summarized", "kept", "kept", "kept"]);
  assert.equal(view.report().compactions.length, 1);
  assert.equal(view.report(1).compactions.length, 0);
});

/** @param {Uint8Array} bytes */
function readable(bytes) {
  try {
    return api.readSession(bytes);
  } catch {
    return undefined;
  }
}
