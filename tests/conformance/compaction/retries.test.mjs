// @ts-check
/** A summarizer that fails: one event for each attempt that failed, and one for each pause after it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, skip, talk } from "../support/agent-session.mjs";

test("a failing summarizer causes one event for each attempt and one for each pause, with its end as an ISO time", {
  skip,
}, async () => {
  const started = 1_700_000_000_000;
  let now = started;
  let asked = 0;
  /** @type {any[]} */
  const events = [];
  const context = new api.ContextManager({
    window: { contextTokens: 8_000, maxOutputTokens: 500 },
    format: "anthropic",
    clock: () => now,
    on: (/** @type {any} */ event) => events.push({ ...event, now }),
    summary: { minimumTokens: 0 },
    preset: "economy",
    summarize: async () => {
      asked += 1;
      throw new Error("busy");
    },
  });
  const all = talk(75);
  for (let size = 2; size <= all.length; size += 2) {
    now += 1_000;
    const { tokens } = await context.prepare(all.slice(0, size - 1));
    // A provider that has counted a request that fits does not end a pause.
    context.observe({ input_tokens: tokens, output_tokens: 10 });
    await new Promise((resolve) => setImmediate(resolve));
  }
  const of = (/** @type {string} */ type) => events.filter((event) => event.type === type);
  const attempts = of("compaction-start").length;
  console.log(
    `${Math.floor(all.length / 2)} calls in ${(now - started) / 1000} s: ${asked} summarizer calls, ${attempts} compactions,`,
    `${of("compaction-failed").length} failed, ${of("compaction-deferred").length} deferred`,
  );
  assert.ok(asked > 0);
  const ends = of("compaction-failed").length + of("compaction-end").length;
  assert.equal(ends, attempts, "each attempt ends once");
  const deferred = of("compaction-deferred");
  assert.ok(deferred.length > 0 && deferred.length <= attempts, "at most one for each attempt");
  const untils = deferred.map((event) => event.until);
  assert.equal(new Set(untils).size, untils.length, "each pause once");
  for (const { until, reason, now } of deferred) {
    if (until === null) continue;
    assert.equal(new Date(until).toISOString(), until);
    assert.ok(Date.parse(until) > now && reason.includes(until), `${until}: ${reason}`);
  }
  context[Symbol.dispose]();
});
