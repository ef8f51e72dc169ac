// @ts-check
/** Two what-ifs side by side: their figures, their lines, and their configurations. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { browser, EXAMPLE, emptyPage, missing, openSession } from "./page.mjs";

const skip = missing() || false;
const { readSession, replay } = skip
  ? /** @type {any} */ ({})
  : await import(new URL("./entry/sessions.node.js", `file://${process.env.PLIMSOLL}`).href);

const words = (/** @type {number} */ value) => Math.round(value).toLocaleString("en-US");
const share = (/** @type {number} */ value) => `${(100 * value).toFixed(1)} %`;

test("a what-if that was kept is compared with the next one, figure by figure", {
  skip,
  timeout: 120_000,
}, async (t) => {
  const started = await browser(t);
  const { page, complaints } = await emptyPage(started);
  await openSession(page, EXAMPLE);
  const session = readSession(readFileSync(EXAMPLE));
  const figuresOf = (/** @type {any} */ setting) => {
    const run = replay(session, setting);
    const { peak, bill, folds, overWindow, recall, contentRecall } = run.totals;
    const edits = run.calls.filter((/** @type {any} */ { event }) => event === "edit").length;
    run[Symbol.dispose]();
    return [
      ...[peak, bill, edits, folds, overWindow].map(words),
      ...[recall, contentRecall].map(share),
    ];
  };
  const a = { window: { contextTokens: 48_000, maxOutputTokens: 2_000 }, preset: "economy" };
  const b = { window: { contextTokens: 96_000, maxOutputTokens: 2_000 }, preset: "hermes" };
  const set = async (/** @type {typeof a} */ { window, preset }) => {
    for (const [at, value] of [window.contextTokens, window.maxOutputTokens].entries()) {
      const field = page.locator(".options input").nth(at);
      await field.fill(String(value));
      await field.press("Tab");
    }
    await page.locator(".options select").selectOption(preset);
    await page.waitForFunction((/** @type {string} */ wanted) => {
      const { trial, playing } = /** @type {any} */ (globalThis).__inspector.state;
      return !playing.value && JSON.stringify(trial.value?.setting) === wanted;
    }, JSON.stringify({ window, preset }));
  };
  /** Rows of the table: each as its cells. @returns {Promise<string[][]>} */
  const table = () =>
    page.evaluate(() =>
      Array.from(document.querySelectorAll("#panel .results tr"), (row) =>
        Array.from(row.children, (cell) => (cell.textContent ?? "").replace("\u00ad", "")),
      ),
    );
  /** @returns {Promise<Array<[string, string]>>} lines of the chart with how they are dashed, and their labels */
  const lines = () =>
    page.evaluate(() => [
      ...Array.from(document.querySelectorAll(".plot path:not(.area)"), (path) => [
        path.getAttribute("class") ?? "",
        getComputedStyle(path).strokeDasharray,
      ]),
      ...Array.from(document.querySelectorAll(".line-name"), (name) => [
        "label",
        name.textContent ?? "",
      ]),
    ]);

  await page.keyboard.press("w");
  await set(a);
  await page.click("text=Keep this one to compare");
  await page.locator("h2:text('What if')").click();
  await set(b);
  const rows = await table();
  assert.deepEqual(rows[0], [
    ...["Simulated", "A: economy, 48,000", "B: hermes, 96,000", "Difference"],
  ]);
  const [ofA, ofB] = [figuresOf(a), figuresOf(b)];
  assert.deepEqual(
    rows.slice(1).map(([, one, other]) => [one, other]),
    ofA.map((one, at) => [one, ofB[at]]),
  );
  const number = (/** @type {string | undefined} */ text) =>
    Number((text ?? "").replace(/[,% ]/g, ""));
  for (const [, one, other, difference] of rows.slice(1, 3)) {
    const change = Math.round((100 * (number(other) - number(one))) / number(one));
    assert.equal(difference, `${change > 0 ? "+" : "−"}${Math.abs(change)} %`);
  }
  // Told apart by dashes and labels: colours may be the same.
  const drawn = await lines();
  const dashes = drawn.filter(([name]) => name !== "label").map(([, dash]) => dash);
  assert.equal(dashes.length, 3);
  assert.equal(new Set(dashes).size, 3);
  assert.deepEqual(
    drawn.filter(([name]) => name === "label").map(([, name]) => name),
    ["B", "A", "first"],
  );
  const key = (await page.textContent(".key")) ?? "";
  for (const name of ["A: economy, 48,000", "B: hermes, 96,000", "first: balanced, 200,000"])
    assert.ok(key.includes(name), key);
  // Each as configuration.
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  for (const [at, setting] of [a, b].entries()) {
    const one = page.locator(".configuration").nth(at);
    await one.locator("text=Copy as configuration").click();
    await one.locator("text=Copied").waitFor();
    const code = await page.evaluate(() => navigator.clipboard.readText());
    assert.deepEqual(new Function("ContextManager", `return ${code}`)(Options).options, setting);
  }

  await page.click("text=Forget A");
  assert.equal((await table())[0]?.[1], "balanced, at first");
  assert.equal((await lines()).filter(([name]) => name === "ghost kept").length, 0);
  assert.deepEqual(complaints, []);
});

class Options {
  /** @param {unknown} options */
  constructor(options) {
    this.options = options;
  }
}
