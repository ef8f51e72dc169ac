// @ts-check
/** Reports of real sessions: what holds in every one, live and replayed, and that looking changes nothing. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isReadable } from "../providers/convert/session.mjs";
import { requestsOf } from "../replay/check-session.mjs";
import { loadPackage } from "../support/package.mjs";
import { someSessionFiles } from "../support/session-files.mjs";

const { api, why } = await loadPackage();
const only = new RegExp(process.env.PLIMSOLL_SESSIONS ?? "");
const total = { sessions: 0, reports: 0 };
/** What of a request stands in no message of the history. */
const beside = /^(tools|head|pins|made|unseen|rules|candidates|skills|learned|memory|core)$/;

if (!api) test("reports of recorded sessions add up", { skip: why }, () => {});
else {
  for (const [number, { name, bytes }] of someSessionFiles(2)) {
    if (!only.test(name) || (name.startsWith("tau-openai") && number % 20 !== 0)) continue;
    test(`reports of ${name} add up`, (t) => {
      const session = read(bytes());
      if (typeof session === "string") {
        console.log(`skipped: ${name}: ${session}`);
        return t.skip(session);
      }
      total.sessions += 1;
      for (const contextTokens of [16_000, 64_000]) checkReports(session, contextTokens);
    });
  }
  after(() => console.log(`reports that hold: ${JSON.stringify(total)}`));
}

/** @param {Uint8Array} data */
function read(data) {
  try {
    const session = api.readSession(data);
    const { messageFormat } = session;
    return isReadable(messageFormat)
      ? { ...session, calls: requestsOf(session) }
      : `its messages are ${messageFormat}`;
  } catch (error) {
    if (/** @type {any} */ (error).code !== "UNKNOWN_FORMAT") throw error;
    return "the package does not read this file yet";
  }
}

/** A session live and replayed, looked at and not. @param {any} session @param {number} contextTokens */
function checkReports(session, contextTokens) {
  const window = { contextTokens, maxOutputTokens: 1_000 };
  const options = { window, format: session.messageFormat };
  const { system, tools } = session;
  let now = 0;
  const clock = () => now;
  const seen = new api.ContextManager({ ...options, clock, id: "seen" });
  const unseen = new api.ContextManager({ ...options, clock });
  const run = api.replay(session, options);
  for (const [call, { sent, at }] of session.calls.entries()) {
    now = at;
    const history = session.messages.slice(0, sent);
    const request = seen.request(history, { system, tools });
    assert.deepEqual(request, unseen.request(history, { system, tools }));
    assert.equal(run.calls[call].call, call, "calls are numbered from 0");
    if (call % 15 !== 0 && call !== session.calls.length - 1) continue;
    const before = seen.snapshot();
    const report = seen.inspect();
    total.reports += 1;
    assert.equal(report.sessionId, "seen");
    checkReport(report, contextTokens);
    assert.equal(report.window.used, request.tokens);
    assert.deepEqual(seen.status(), report.status);
    assert.deepEqual(report.next, seen.plan(history, { system, tools }));
    assert.equal(report.messages.length, sent);
    assert.deepEqual(seen.snapshot(), before, "looking changes nothing");
    for (const one of report.messages.slice(-3)) {
      const explained = seen.explain(one.index);
      assert.deepEqual(
        [one.tokens, one.sentTokens, one.state, one.rule, one.turn, one.group],
        [
          explained.tokensBefore,
          explained.tokensAfter,
          explained.state,
          explained.rule,
          explained.turn,
          explained.group,
        ],
      );
    }
    // The same numbers wherever they are told.
    if (call !== session.calls.length - 1) continue;
    const replayed = run.report(call);
    checkReport(replayed, contextTokens);
    assert.deepEqual({ ...replayed, sessionId: "seen" }, report);
    const last = sent - 1;
    const { detail } = seen.inspect({ detailKey: `message:${last}` });
    assert.deepEqual(run.report(call, { detailKey: `message:${last}` }).detail, detail);
    assert.equal(typeof detail.content, "string");
  }
  run[Symbol.dispose]();
  seen[Symbol.dispose]();
  unseen[Symbol.dispose]();
}

/** What holds in every report. @param {any} report @param {number} contextTokens */
function checkReport(report, contextTokens) {
  const { window, buckets, messages, status } = report;
  assert.equal(window.used + window.reserve + window.free, contextTokens);
  assert.equal(window.reserve, 1_000, "used never counts the reserve");
  assert.equal(window.used, status.used);
  assert.ok(window.target < window.trigger && window.trigger < contextTokens);
  const sum = (/** @type {number[]} */ all) => all.reduce((a, b) => a + b, 0);
  const tokens = sum(buckets.map((/** @type {any} */ one) => one.tokens));
  assert.equal(tokens, window.used);
  const others = buckets.filter((/** @type {any} */ one) => beside.test(one.bucket));
  const system = report.estimatedTokens;
  const sent = sum(messages.map((/** @type {any} */ one) => one.sentTokens));
  assert.equal(
    sent + system + sum(others.map((/** @type {any} */ one) => one.tokens)),
    window.used,
  );
  assert.equal(report.compactions.length, Math.min(status.compactions, 32));
}
