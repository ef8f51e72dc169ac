// @ts-check
/** The figures of the page are those of the API and of the command line, and they add up. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import test from "node:test";
import { size } from "../support/size.mjs";
import {
  browser,
  EXAMPLE,
  emptyPage,
  figure,
  goTo,
  missing,
  openSession,
  sharedSessions,
} from "./page.mjs";

const skip = missing() || false;
const from = (/** @type {string} */ name) =>
  import(new URL(name, `file://${process.env.PLIMSOLL}`).href);
const { readSession, recordedView, replay } = skip
  ? /** @type {any} */ ({})
  : await from("./entry/sessions.node.js");
const { createInspectHandler } = skip ? /** @type {any} */ ({}) : await from("./entry/inspect.js");

/** The page's figures for what it shows. @param {any} page */
const shown = (page) =>
  page.evaluate(() => {
    const { state } = /** @type {any} */ (globalThis).__inspector;
    const buckets = state.standing.value.buckets.map((/** @type {any} */ one) => one.sentTokens);
    return { ...state.figures.value, buckets };
  });

test("the page's first figure is the provider's count", { skip }, async (t) => {
  const started = await browser(t);
  let compared = 0;
  const formats = new Set();
  for (const { format, path } of sharedSessions()) {
    if (size === "short" && (formats.has(format) || formats.size === 4)) continue;
    let session;
    try {
      session = readSession(readFileSync(path));
    } catch {
      continue;
    }
    const usage = session.calls.at(-1)?.usage?.inputTokens;
    if (!usage) continue;
    formats.add(format);
    const { page, complaints } = await emptyPage(started);
    await openSession(page, path);
    const text = await page.textContent("[data-figure=used]");
    assert.equal(text, usage.toLocaleString("en-US"), path);
    assert.deepEqual(complaints, [], path);
    compared += 1;
    await page.close();
  }
  figure("sessions whose first figure is the provider's count", String(compared));
});

test("used, reserve and free add up to the window at every call, and the parts to what is used", {
  skip,
}, async (t) => {
  const started = await browser(t);
  const { page } = await emptyPage(started);
  await openSession(page, EXAMPLE);
  const last = await page.evaluate(
    () => /** @type {any} */ (globalThis).__inspector.state.call.value,
  );
  let calls = 0;
  for (const view of ["recorded", "plimsoll"]) {
    await page.evaluate((/** @type {string} */ name) => {
      /** @type {any} */ (globalThis).__inspector.state.view.value = name;
    }, view);
    for (let number = 0; number < 20; number += 1) {
      const call = (number * 7919 + 13) % (last + 1);
      await goTo(page, call);
      const { used, reserve, free, total, buckets } = await shown(page);
      assert.equal(used + reserve + free, total);
      const sum = buckets.reduce((/** @type {number} */ a, /** @type {number} */ b) => a + b, 0);
      assert.equal(sum, used, `${view}, call ${call}`);
      assert.ok(buckets.every((/** @type {number} */ tokens) => tokens <= used));
      calls += 1;
    }
  }
  figure("calls at which the sums agree", String(calls));
});

/** The first session of each format, by default of every fourth one. */
function chosenSessions() {
  const firsts = new Map([["own", EXAMPLE]]);
  for (const { format, path } of sharedSessions())
    if (!firsts.has(format)) firsts.set(format, path);
  return [...firsts.values()].filter((_, at) => size !== "short" || at % 4 === 0);
}

test("page, API, JSON-RPC and command line have the same report", { skip }, async (t) => {
  const started = await browser(t);
  const paths = chosenSessions();
  let compared = 0;
  for (const path of paths) {
    let session;
    try {
      session = readSession(readFileSync(path));
    } catch {
      continue;
    }
    if (session.calls.length === 0) continue;
    const view = recordedView(session);
    const { contextTokens, maxOutputTokens } = view.window;
    const played = replay(session, {
      window: { contextTokens, maxOutputTokens },
      preset: "balanced",
    });
    const { page } = await emptyPage(started);
    await openSession(page, path);
    const count = session.calls.length;
    const middle = Math.floor(count / 2);
    for (const call of new Set([0, middle, count - 1])) {
      for (const [run, own] of /** @type {const} */ ([
        ["recorded", view],
        ["policy", played],
      ])) {
        const report = await page.evaluate(
          (/** @type {any} */ [at, name]) =>
            /** @type {any} */ (globalThis).__inspector.report(at, name),
          [call, run],
        );
        assert.deepEqual(
          report,
          JSON.parse(JSON.stringify(own.report(call))),
          `${path}, ${run}, call ${call}`,
        );
        const params = { sessionId: "x", call };
        const request = { jsonrpc: "2.0", id: 1, method: "context.inspect", params };
        const { result } = await createInspectHandler({ get: () => own })(JSON.stringify(request));
        const { sessionId } = report;
        // The handler fills in the id that was asked for.
        assert.equal(result.sessionId, sessionId || "x");
        const answer = JSON.parse(JSON.stringify(result));
        assert.deepEqual({ ...answer, sessionId }, report, `${path}, ${run}, call ${call}, RPC`);
        compared += 1;
      }
      if (size === "short" && call !== middle) continue;
      const words = ["inspect", path, "--json", "--call", String(call + 1)];
      const { stdout, stderr } = spawnSync(process.env.PLIMSOLL_BIN ?? "", words, {
        encoding: "utf8",
        maxBuffer: 1 << 28,
      });
      assert.ok(stdout, stderr);
      const printed = JSON.parse(stdout);
      const { window, buckets } = view.report(call);
      assert.equal(printed.window.used, window.used, basename(path));
      assert.deepEqual(
        printed.buckets
          .filter((/** @type {any} */ one) => (one.sentTokens ?? one.tokens) > 0)
          .map((/** @type {any} */ one) => [one.bucket, one.sentTokens ?? one.tokens]),
        buckets
          .filter((/** @type {any} */ one) => one.tokens > 0)
          .map((/** @type {any} */ one) => [one.bucket, one.tokens]),
        basename(path),
      );
    }
    await page.close();
    view[Symbol.dispose]();
    played[Symbol.dispose]();
  }
  figure("reports that are the same in page and API", `${compared} of ${paths.length} formats`);
});
