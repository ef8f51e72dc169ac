// @ts-check
/**
 * What a replay shows of its calls: any call the same as a replay that ends there and as a manager that makes the same requests; layers,
 * tables and changes the same as the reports; searches, events and the next request.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { sessionFiles } from "../support/session-files.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);

const FILES = [
  "pi/pi-mono-large",
  "claude-code/cipherbox-images-18",
  "codex/agentv-148-calls",
  "langchain/deerflow-d3e5",
  "openhands/visualizer-demo1",
];
const options = {
  window: { contextTokens: 48_000, maxOutputTokens: 4000 },
  calibrate: false,
  unseenTokens: 0,
};
/** Some calls of a replay, in no order. @param {any} run @returns {number[]} */
const some = ({ calls }) => {
  const last = calls.length - 1;
  return [last, 0, Math.floor(last / 2), Math.floor(last / 3), Math.floor((9 * last) / 10)];
};

if (api) {
  const files = sessionFiles().filter(({ name }) => FILES.includes(name));
  if (files.length === 0) console.log("skipped: ../shared is absent");
  for (const { name, bytes } of files) {
    const session = api.readSession(bytes());
    const run = api.replay(session, options);

    test(`any call of ${name} equals a replay that ends there`, () => {
      for (const at of some(run)) {
        const ended = api.replay(session, { ...options, calls: at + 1 });
        assert.equal(ended.calls.length, at + 1);
        assert.deepEqual(run.messages(at), ended.messages());
        assert.deepEqual(run.composition(at), ended.composition());
        assert.deepEqual(run.report(at), ended.report());
        assert.deepEqual(run.sent(at).messages, ended.sent().messages);
      }
    });

    test(`a replay of ${name} has the requests and reasons of a manager`, () => {
      const { calibrate: _, unseenTokens: __, ...policy } = options;
      const { system, tools } = session;
      let now = 0;
      const format = session.messageFormat;
      const manager = new api.ContextManager({ ...policy, format, clock: () => now });
      const places = new Set(some(run));
      for (const { call, sent, at } of run.calls) {
        now = at;
        const prepared = manager.request(session.messages.slice(0, sent), { system, tools });
        if (!places.has(call)) continue;
        const shown = run.sent(call);
        assert.deepEqual(shown.messages, prepared.messages);
        assert.deepEqual(shown.source, prepared.source);
        for (const index of [0, Math.floor(sent / 2), sent - 1])
          assert.deepEqual(run.explain(index, call), manager.explain(index));
        const own = shown.source.findIndex(
          (/** @type {any} */ index, /** @type {number} */ place) =>
            index !== null && !shown.edited[place],
        );
        if (own >= 0) assert.equal(shown.text(own), run.text(shown.source[own]));
      }
    });

    for (const [view, made] of /** @type {[string, any][]} */ ([
      ["replay", run],
      ["recorded view", api.recordedView(session)],
    ])) {
      test(`layers, tables and changes of the ${view} of ${name} equal its reports`, () => {
        const { names, tokens } = made.layers();
        assert.equal(tokens.length, names.length * made.calls.length);
        /** @type {Map<number, any>} */
        const changed = new Map();
        const places = new Set(some(made));
        for (const { call, used } of made.calls) {
          for (const change of made.changes(call, call)) changed.set(change.index, change);
          if (!places.has(call)) continue;
          const row = [...tokens.slice(call * names.length, (call + 1) * names.length)];
          const parts = made.composition(call).filter((/** @type {any} */ it) => it.sentTokens > 0);
          const shown = Object.fromEntries(
            parts.map((/** @type {any} */ it) => [it.bucket, it.sentTokens]),
          );
          const layered = names.flatMap((/** @type {string} */ name, /** @type {number} */ at) =>
            row[at] === 0 ? [] : [[name, row[at]]],
          );
          assert.deepEqual(Object.fromEntries(layered), shown);
          if (view === "replay")
            assert.equal(
              row.reduce((all, it) => all + it, 0),
              used,
            );
          const listed = made.messages(call);
          const table = made.table(call);
          for (const [index, one] of listed.entries()) {
            const { state, sentTokens, tokens } = one;
            const change = changed.get(index) ?? { state: "kept", sentTokens: tokens };
            assert.equal(state, change.state, `message ${index} at call ${call}`);
            if (state !== "kept") assert.equal(sentTokens, change.sentTokens);
            assert.deepEqual(
              [
                table.tokens[index],
                table.sent[index],
                table.states[table.state[index]],
                table.turn[index],
                table.buckets[table.bucket[index]],
              ],
              [tokens, sentTokens, state, one.turn, one.bucket],
            );
          }
          assert.equal(table.tokens.length, listed.length);
        }
        assert.deepEqual(made.changes(), made.changes(0, made.calls.length - 1));
      });
    }

    test(`a replay of ${name} in steps gives the same result`, () => {
      const steps = api.replay(session, { ...options, calls: 0 });
      assert.deepEqual([steps.calls.length, steps.totals.bill], [0, 0]);
      let last = { done: false, call: 0 };
      while (!last.done) {
        const before = last.call;
        last = steps.advance(40);
        assert.ok(last.done || last.call === before + 40);
      }
      assert.deepEqual([steps.calls, steps.totals], [run.calls, run.totals]);
      assert.deepEqual(steps.events(), run.events());
      assert.deepEqual(steps.layers(), run.layers());
    });

    test(`replay events of ${name} say what changed and what a fold replaced`, () => {
      const events = run.events();
      const expected = run.calls.filter((/** @type {any} */ { event }) => event !== null);
      assert.deepEqual(
        events.map((/** @type {any} */ { call, event, after }) => [call, event, after]),
        expected.map((/** @type {any} */ { call, event, used }) => [call, event, used]),
      );
      for (const { call, event, changes, record } of events) {
        assert.deepEqual(changes, run.changes(call, call));
        assert.equal(record !== null, event === "fold");
        if (record)
          assert.ok(record.firstKeptIndex > 0 && record.tokensAfter < record.tokensBefore);
      }
    });

    test(`search in ${name} finds what its texts contain`, () => {
      for (const [text, ignoreCase] of /** @type {[string, boolean][]} */ ([
        ["error", true],
        ["The", false],
        ["\n\n", false],
      ])) {
        const found = run.find(text, { ignoreCase });
        const needle = new RegExp(text, ignoreCase ? "gi" : "g");
        const expected = session.messages.flatMap(
          (/** @type {unknown} */ _, /** @type {number} */ index) => {
            const at = [...run.text(index).matchAll(needle)].map((match) => match.index);
            return at.length === 0 ? [] : [{ index, at }];
          },
        );
        const places = found.map((/** @type {any} */ { index, at }) => ({ index, at }));
        assert.deepEqual(places, expected);
        for (const { index, excerpt } of found) assert.ok(run.text(index).includes(excerpt));
      }
    });

    test(`the next request of ${name} equals a replay with one more call`, () => {
      const sent = session.messages.length;
      const at = run.calls.at(-1).at + 900_000;
      const longer = { ...session, calls: [...session.calls, { sent, at }] };
      const more = api.replay(longer, options);
      const { report, changes } = run.next({ idleMs: 900_000 });
      assert.deepEqual(report, more.report());
      assert.deepEqual(changes, more.changes(run.calls.length, run.calls.length));
    });
  }
}

const messages = [
  { role: "user", content: "What is in the harbour?" },
  { role: "assistant", content: "Two ships and a crane." },
];

test("wrong call numbers and amounts are refused by name", { skip: !api && why }, () => {
  const session = api.readSession(JSON.stringify(messages));
  const run = api.replay(session, { window: { contextTokens: 1000 } });
  const refused = (/** @type {() => unknown} */ work, /** @type {RegExp} */ message) =>
    assert.throws(work, { code: "INVALID_ARGUMENT", message });
  for (const call of [1, -1, 0.5, Number.NaN]) {
    refused(() => run.messages(call), /call: expected 0 to 0/);
    refused(() => run.changes(call), /call: expected 0 to 0/);
    refused(() => run.sent(call), /call: expected 0 to 0/);
  }
  for (const index of [2, -1, 0.5]) refused(() => run.explain(index), /index: expected/);
  refused(() => run.advance(-1), /calls: expected a number of calls/);
  refused(() => run.next({ idleMs: -1 }), /idleMs: expected/);
  refused(() => run.find(7), /text: expected a string/);
  refused(() => run.find("a", { limit: -1 }), /limit: expected/);
  assert.deepEqual([run.text(2), run.text(-1), run.sent().text(9)], ["", "", ""]);
  const begun = api.replay(session, { window: { contextTokens: 1000 }, calls: 0 });
  refused(() => begun.next(), /next: expected a replay of all calls/);
  run[Symbol.dispose]();
  for (const work of [
    () => run.layers(),
    () => run.advance(1),
    () => run.find("a"),
    () => run.text(0),
  ])
    assert.throws(work, { code: "DISPOSED" });
});
