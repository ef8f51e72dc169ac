// @ts-check
/** Recovery from a provider's refusal: from its error or from figures, and only for as long as the provider takes no more. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, prose, skip } from "../support/agent-session.mjs";

const WINDOW = 32_000;
const OVERFLOW = new Error("prompt is too long: 210000 tokens > 200000 maximum");
const long = (/** @type {number} */ steps) =>
  Array.from({ length: steps }, (_, at) => [
    { role: "user", content: `step ${at}: ${prose(60)}` },
    { role: "assistant", content: prose(250) },
  ]).flat();
const user = (/** @type {number} */ at) => ({ role: "user", content: `go on ${at}` });
const opened = () =>
  new api.ContextManager({
    ...{ window: { contextTokens: WINDOW }, format: "anthropic", clock: () => 0 },
  });

test("a refusal at 45 % of the window is forgotten after 20 accepted requests", {
  skip,
}, async () => {
  const context = opened();
  const history = [...long(40), user(0)];
  const refused = context.request(history).tokens;
  assert.ok(refused > 0.3 * WINDOW && refused < 0.5 * WINDOW, `${refused}`);
  await context.recover(history, OVERFLOW);
  const { usable } = context.status();
  assert.equal(usable, Math.floor(refused * 0.9));
  for (let at = 1; at <= 20; at++) {
    const sent = context.request(history);
    assert.ok(sent.fits && sent.tokens <= context.status().usable);
    context.observe({ inputTokens: sent.tokens, outputTokens: 5 }, sent);
    history.push({ role: "assistant", content: prose(1_800) }, user(at));
  }
  assert.ok(context.status().usable >= 0.9 * WINDOW, `${context.status().usable}`);
});

test("a size that the provider has refused twice is not tried a third time", {
  skip,
}, async () => {
  const context = opened();
  const history = [...long(60), user(0)];
  const real = 22_000;
  let refusals = 0;
  for (let at = 1; at <= 120; at++) {
    let sent = context.request(history);
    while (sent && sent.tokens > real) {
      refusals += 1;
      sent = await context.recover(history, OVERFLOW);
    }
    assert.ok(sent, "it recovers");
    context.observe({ inputTokens: sent.tokens, outputTokens: 5 }, sent);
    history.push({ role: "assistant", content: prose(500) }, user(at));
  }
  assert.equal(refusals, 2);
});

test("recover() accepts figures in place of the provider's error", { skip }, async () => {
  const history = [...long(60), user(0)];
  for (const [figures, most] of /** @type {Array<[object, number]>} */ ([
    [{}, 0.9],
    [{ limit: 8_000 }, 8_000],
    [{ limit: 8_000, inputTokens: 32_000 }, 0.25],
    [{ limit: 1_000_000 }, 0.9],
  ])) {
    const context = opened();
    const before = context.request(history).tokens;
    const smaller = await context.recover(history, figures);
    const bound = most < 1 ? before * most : most;
    assert.ok(
      smaller && smaller.tokens <= bound,
      `${JSON.stringify(figures)}: ${smaller?.tokens} of ${bound}`,
    );
  }
  const context = opened();
  context.request(history);
  for (const figures of [{ limit: "many" }, { limit: Number.NaN }, { inputTokens: 0 }])
    await assert.rejects(context.recover(history, figures), { code: "INVALID_ARGUMENT" });
  for (const error of [new Error("429"), null, undefined, 7, [], { status: 429 }])
    assert.equal(await context.recover(history, error), null);
});
