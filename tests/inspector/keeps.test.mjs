// @ts-check
/** The smallest window that keeps a message: what the page finds, and what a replay at that window says. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { size } from "../support/size.mjs";
import { repeated } from "./big.mjs";
import { browser, EXAMPLE, emptyPage, figure, goTo, missing, openSession } from "./page.mjs";

const skip = missing() || false;
const { readSession, replay } = skip
  ? /** @type {any} */ ({})
  : await import(new URL("./entry/sessions.node.js", `file://${process.env.PLIMSOLL}`).href);

/** Waits until the session is played under this setting, at this call. */
const played = (/** @type {any} */ page, /** @type {any} */ setting) =>
  page.waitForFunction(
    (/** @type {any} */ wanted) => {
      const { state } = /** @type {any} */ (globalThis).__inspector;
      const { preset, window } = state.simulation.value?.setting ?? {};
      return (
        preset === wanted.preset &&
        window.contextTokens === wanted.window.contextTokens &&
        !state.playing.value &&
        state.standing.value?.run === state.run.value &&
        state.standing.value.call === state.call.value
      );
    },
    setting,
    { timeout: 60_000, polling: 20 },
  );

/** Plays under a setting by its address, and shows it. */
async function under(/** @type {any} */ page, /** @type {any} */ setting) {
  await page.evaluate((/** @type {any} */ { window, preset }) => {
    const tokens = `window=${window.contextTokens}&reserve=${window.maxOutputTokens}`;
    // Another address each time: the page may not have written its own yet.
    location.hash = `${tokens}&preset=${preset}&view=plimsoll&at=${performance.now()}`;
  }, setting);
  await played(page, setting);
}

/** Messages that are not sent whole at the call of the page. @returns {Promise<number[]>} */
const changed = (/** @type {any} */ page) =>
  page.evaluate(() => {
    const { table } = /** @type {any} */ (globalThis).__inspector.state.standing.value;
    return Array.from(table.state, (one, at) => (table.states[one] === "kept" ? -1 : at)).filter(
      (at) => at >= 0,
    );
  });

const searched = (/** @type {any} */ page) =>
  page.waitForFunction(
    () => {
      const { search } = /** @type {any} */ (globalThis).__inspector.state;
      return search.value && (search.value.found !== undefined || search.value.error);
    },
    null,
    { timeout: 60_000, polling: 20 },
  );

const select = (/** @type {any} */ page, /** @type {number} */ index) =>
  page.evaluate((/** @type {number} */ at) => {
    /** @type {any} */ (globalThis).__inspector.state.selected.value = at;
  }, index);

test("the window that is found keeps the message, and one step less does not", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const started = await browser(t);
  const { page, complaints } = await emptyPage(started);
  await openSession(page, EXAMPLE);
  const session = readSession(readFileSync(EXAMPLE));
  const call = session.calls.length - 1;
  const stateAt = (/** @type {any} */ setting, /** @type {number} */ index) => {
    const run = replay(session, { ...setting, calls: call + 1 });
    const { state } = run.explain(index, call);
    run[Symbol.dispose]();
    return state;
  };
  const states = new Set();
  let tried = 0;
  const settings = /** @type {const} */ ([
    ["capacity", 24_000],
    ["openclaw", 64_000],
    ["balanced", 200_000],
    ["balanced", 16_000],
  ]);
  for (const [preset, contextTokens] of size === "short" ? settings.slice(2) : settings) {
    const setting = { preset, window: { contextTokens, maxOutputTokens: 1_000 } };
    await under(page, setting);
    const indexes = await changed(page);
    assert.ok(indexes.length > 0, preset);
    for (const index of [indexes[0], indexes[indexes.length >> 1], indexes.at(-1)]) {
      const before = stateAt(setting, Number(index));
      await select(page, Number(index));
      await page.waitForSelector(`.why[aria-label='Message ${index}'] dl`);
      if (!(await page.waitForSelector(".why .find", { timeout: 3_000 }).catch(() => null)))
        continue;
      await page.keyboard.press("f");
      await searched(page);
      const { found, error } = await page.evaluate(
        () => /** @type {any} */ (globalThis).__inspector.state.search.value,
      );
      assert.equal(error, undefined);
      tried += 1;
      states.add(before);
      const what = `${preset} ${contextTokens}, message ${index}, ${before}`;
      if (!found) {
        const words = await page.textContent(".why dl");
        assert.match(words, /No larger window keeps it/, what);
        continue;
      }
      const at = (/** @type {number} */ tokens) =>
        stateAt(
          {
            ...{ ...setting, preset: found.preset },
            window: { ...setting.window, contextTokens: tokens },
          },
          Number(index),
        );
      assert.equal(at(found.contextTokens), "kept", what);
      assert.ok(found.step <= found.contextTokens / 20, what);
      assert.notEqual(at(found.contextTokens - found.step), "kept", what);
      assert.equal(
        await page.textContent("[data-figure=keeps]"),
        found.contextTokens.toLocaleString("en-US"),
      );
      if (index !== indexes[0]) continue;
      // "Try it" puts both into What if, and the message is whole there.
      await page.click(".why dl .link:has-text('Try it')");
      await played(page, { preset: found.preset, window: { contextTokens: found.contextTokens } });
      assert.equal(
        await page.inputValue(".options input >> nth=0"),
        String(found.contextTokens),
        what,
      );
      await page.keyboard.press("1");
      await page.waitForFunction(
        () => document.querySelector(".why .fate")?.textContent === "whole",
        null,
        { timeout: 5_000 },
      );
      await under(page, setting);
    }
  }
  figure("searches that agree with a replay", `${tried}, of messages ${[...states].join(", ")}`);
  assert.ok(tried >= (size === "short" ? 3 : 8), String(tried));
  assert.deepEqual(complaints, []);
});

test("a search stops when something else is shown, and scrubbing does not wait for it", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const started = await browser(t);
  const { page, complaints } = await emptyPage(started);
  // Windows that the worker says it tries.
  await page.evaluate(() => {
    const scope = /** @type {any} */ (globalThis);
    scope.__tried = 0;
    scope.Worker = class extends Worker {
      /** @param {string} address */
      constructor(address) {
        super(address);
        this.addEventListener("message", ({ data }) => {
          if (data.tried > 0) scope.__tried += 1;
        });
      }
    };
  });
  const buffer = repeated(EXAMPLE, size === "short" ? 2e6 : 6e6);
  await openSession(page, { name: "big.jsonl", mimeType: "text/plain", buffer });
  await under(page, { preset: "capacity", window: { contextTokens: 64_000, maxOutputTokens: 0 } });
  const [first, second] = await changed(page);
  await select(page, Number(first));
  await page.waitForSelector(".why .find");
  const tries = () => page.evaluate(() => /** @type {any} */ (globalThis).__tried);
  await page.keyboard.press("f");
  await page.waitForFunction(() => /** @type {any} */ (globalThis).__tried > 0);
  assert.match(await page.textContent(".why dl"), /trying a window of [\d,]+/);
  const call = await page.evaluate(
    () => /** @type {any} */ (globalThis).__inspector.state.call.value,
  );
  const spent = await goTo(page, call - 1);
  figure("a step to another call during a search", `${spent.toFixed(0)} ms`);
  assert.ok(spent < 1_000);
  const search = () =>
    page.evaluate(() => /** @type {any} */ (globalThis).__inspector.state.search.value);
  assert.equal(await search(), null);

  // Another message: the new search alone ends.
  await goTo(page, call);
  await page.waitForSelector(".why .find");
  await page.keyboard.press("f");
  await select(page, Number(second));
  await page.waitForSelector(`.why[aria-label='Message ${second}'] .find`);
  assert.equal(await search(), null);
  await page.keyboard.press("f");
  await searched(page);
  assert.equal((await search()).index, second);
  assert.ok((await search()).found);

  await goTo(page, call - 1);
  await page.waitForSelector(".why .find");
  await page.keyboard.press("f");
  await page.waitForSelector(".why .playing button");
  await page.click(".why .playing button");
  // What is under way ends at its next step.
  await page.waitForTimeout(200);
  const before = await tries();
  await page.waitForTimeout(500);
  assert.equal(await tries(), before, "no window is tried after Stop");
  assert.equal(await search(), null);
  assert.ok(await page.isVisible(".why .find"));
  assert.deepEqual(complaints, []);
});
