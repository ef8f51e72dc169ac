// @ts-check
/**
 * Sessions that are parked and woken, and hosts that take our requests for their history: as objects, through JSON, with
 * what we made dropped again. Whatever happens to the session, the next request is the same bytes.
 *
 * PLIMSOLL_SESSIONS  a regular expression over the names
 * PLIMSOLL_CI        1: restored at some calls, not at few, and fed in every way, not in one of the three
 * PLIMSOLL_LONG      1: at every window, and restored at every call; not at one of them, at some
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { size, sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";
import { someSessionFiles } from "../support/session-files.mjs";

const { api, why } = await loadPackage();
const only = new RegExp(process.env.PLIMSOLL_SESSIONS ?? "");
const long = size === "long";
/** A session is restored at one call in so many. */
const restoredOneIn = sized({ short: 21, ci: 7, long: 1 });
const totals = {
  sessions: 0,
  calls: 0,
  woken: 0,
  fed: 0,
  largest: 0,
  edits: 0,
  folds: 0,
  placed: 0,
};

/** @param {unknown} value */
const clone = (value) => JSON.parse(JSON.stringify(value));
/** What a host's history becomes of a request of ours. */
const ways = /** @type {Record<string, (prepared: any) => any[]>} */ ({
  "as objects": ({ messages }) => messages,
  "through JSON": ({ messages }) => clone(messages),
  "with what is ours dropped": ({ messages, source }) =>
    messages.filter((/** @type {any} */ _, /** @type {number} */ at) => source[at] !== null),
});

/** The first difference between two requests, shortly. @param {any} got @param {any} wanted @param {string} where */
function checkSame(got, wanted, where) {
  for (const name of ["epoch", "firstChanged", "tokens", "fits"]) {
    assert.equal(got[name], wanted[name], `${where}: ${name}`);
  }
  const [ours, theirs] = [got, wanted].map(({ messages }) =>
    messages.map((/** @type {any} */ it) => JSON.stringify(it)),
  );
  for (const [at, message] of ours.entries()) {
    if (message === theirs[at]) continue;
    const from = [...message].findIndex((char, place) => char !== theirs[at]?.[place]);
    const shown = [message, theirs[at]].map((it) => it?.slice(Math.max(0, from - 60), from + 60));
    assert.fail(`${where}: message ${at} is ${shown[0]}\n, not ${shown[1]}`);
  }
  assert.equal(ours.length, theirs.length, `${where}: messages`);
}

/**
 * What is told of a fold stands in the history that was passed: what is sent of it was kept, what was kept is there.
 * @param {any} prepared @param {any[]} history @param {string} where
 */
function checkCompaction({ compaction, source }, history, where) {
  if (!compaction?.record) return;
  const { firstKeptIndex, kept } = compaction.record;
  let end = 0;
  for (const [from, to] of kept) {
    assert.ok(from >= end && to > from && to <= firstKeptIndex, `${where}: kept ${from} to ${to}`);
    end = to;
  }
  const isKept = (/** @type {number} */ at) =>
    kept.some((/** @type {number[]} */ [from, to]) => at >= from && at < to);
  const sent = source.filter((/** @type {any} */ at) => at !== null);
  assert.ok(
    sent.every((/** @type {number} */ at) => at >= firstKeptIndex || isKept(at)),
    `${where}: ${firstKeptIndex} of ${history.length}, ${JSON.stringify(kept)}, sent ${sent}`,
  );
  assert.ok(sent.includes(firstKeptIndex), `${where}: ${firstKeptIndex} is not sent`);
  totals.placed++;
}

/** A message's group is the first of those that go with it. @param {any} context @param {any} prepared */
function checkGroups(context, { source }) {
  for (const at of source) {
    if (at === null) continue;
    const { group } = context.explain(at);
    assert.ok(group <= at, `group ${group} of ${at}`);
    if (group < at) assert.equal(context.explain(group).group, group);
  }
}

if (!api)
  test("restored sessions send the same bytes as uninterrupted ones", {
    skip: why,
  }, () => {});
else {
  for (const [index, { name, bytes, windows: all = [32_000, 128_000] }] of someSessionFiles(2)) {
    if (!only.test(name)) continue;
    const windows = long ? all : all.slice(index % 2, (index % 2) + 1);
    test(`restored sessions of ${name} send the same bytes`, () => {
      const session = api.readSession(bytes());
      const format = session.messageFormat;
      const parts = { system: session.system, tools: session.tools };
      for (const contextTokens of windows) {
        let now = 0;
        const options = { window: { contextTokens }, format, clock: () => now };
        const live = new api.ContextManager(options);
        const chosen = Object.entries(ways).filter((_, at) => size !== "short" || index % 3 === at);
        const hosts = chosen.map(([way, passed]) => {
          return { way, passed, context: new api.ContextManager(options), history: [], seen: 0 };
        });
        totals.sessions++;
        for (const [number, { sent, at }] of session.calls.entries()) {
          now = at ?? sent * 20_000;
          const history = session.messages.slice(0, sent);
          const prepared = live.request(history, parts);
          totals.calls++;
          totals.edits += prepared.edits.length;
          totals.folds += prepared.compaction?.record ? 1 : 0;
          const where = `${contextTokens}, call ${number}`;
          for (const host of hosts) {
            host.history = [...host.history, ...clone(history.slice(host.seen))];
            host.seen = sent;
            const got = host.context.request(host.history, parts);
            checkSame(got, prepared, `${host.way}, ${where}`);
            checkCompaction(got, host.history, `${host.way}, ${where}`);
            if (got.compaction?.record) checkGroups(host.context, got);
            const places = got.source.filter((/** @type {any} */ place) => place !== null);
            assert.ok(places.every((/** @type {number} */ place) => place < host.history.length));
            host.history = host.passed(got);
            totals.fed++;
          }
          if (number % restoredOneIn !== 3 % restoredOneIn) continue;
          const snapshot = live.snapshot();
          totals.largest = Math.max(totals.largest, snapshot.length);
          const woken = api.ContextManager.restore(snapshot, options);
          now += 3_600_000;
          const again = woken.request(clone(history), parts);
          checkSame(again, { ...prepared, firstChanged: null }, `woken, ${where}`);
          assert.deepEqual(woken.snapshot(), snapshot, `parked again, ${where}`);
          assert.equal(again.edits.length, 0);
          totals.woken++;
        }
      }
    });
  }
  after(() => console.log(JSON.stringify(totals)));
}
