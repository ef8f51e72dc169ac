// @ts-check
/** The page without a mouse, for screen readers, in light, dark and forced colours, narrow and wide. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { sized } from "../support/size.mjs";
import { browser, EXAMPLE, emptyPage, figure, missing, openSession } from "./page.mjs";

const skip = missing() || false;
const axe = skip
  ? ""
  : readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Screens, each by what brings it up. */
const SCREENS = /** @type {ReadonlyArray<[string, string[]]>} */ ([
  ["messages", []],
  ["why", ["v", "c", "j"]],
  ["the window that keeps a message", ["f"]],
  ["treemap", ["Escape", "t"]],
  ["lost", ["2"]],
  ["what if", ["3"]],
  ["two what ifs", ["a"]],
  ["next", ["4"]],
  ["compare", ["5"]],
  ["file", ["6"]],
  ["share", ["s"]],
]);

test("axe finds no accessibility fault on any screen", { skip, timeout: 600_000 }, async (t) => {
  const started = await browser(t);
  const light = { colorScheme: "light", forcedColors: "none" };
  const dark = { colorScheme: "dark", forcedColors: "none" };
  const forced = { colorScheme: "dark", forcedColors: "active" };
  /** Themes at each width. */
  const all = new Map([light, dark, forced].map((theme) => [theme, [1280, 320]]));
  const some = new Map([[dark, [320]]]);
  let looked = 0;
  for (const [theme, widths] of sized({ short: some, ci: all, long: all })) {
    for (const width of widths) {
      const { page } = await emptyPage(started, {
        ...theme,
        viewport: { width, height: 900 },
        bypassCSP: true,
      });
      await page.evaluate(axe);
      const look = async (/** @type {string} */ name) => {
        await page.waitForTimeout(250);
        const { violations } = await page.evaluate(() =>
          /** @type {any} */ (globalThis).axe.run(document, {
            runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
          }),
        );
        const found = violations.map(
          (/** @type {any} */ one) =>
            `${one.id}: ${one.nodes
              .map((/** @type {any} */ node) => node.html.slice(0, 140))
              .slice(0, 3)
              .join(" | ")}`,
        );
        assert.deepEqual(found, [], `${name}, ${JSON.stringify(theme)}, ${width} px`);
        const { scrollWidth } = await page.evaluate(() => ({
          scrollWidth: document.documentElement.scrollWidth,
        }));
        assert.ok(scrollWidth <= width, `${name} is ${scrollWidth} px wide`);
        looked += 1;
      };
      await look("landing");
      await openSession(page, EXAMPLE);
      for (const [name, keys] of SCREENS) {
        for (const key of keys) await page.keyboard.press(key);
        await look(name);
      }
      await page.close();
    }
  }
  figure("screens in which axe finds nothing", String(looked));
});

/** Waits until each row that is shown has the text of its message. */
const textsShown = (/** @type {any} */ page) =>
  page.waitForFunction(
    () =>
      Array.from(document.querySelectorAll(".message .text")).every((it) => it.textContent !== "…"),
    null,
    { timeout: 3_000 },
  );

test("rows that are scrolled to show the texts of their messages", { skip }, async (t) => {
  const started = await browser(t);
  const { page } = await emptyPage(started);
  await openSession(page, EXAMPLE);
  for (const top of [3000, 9000]) {
    await page.evaluate((/** @type {number} */ to) => {
      /** @type {any} */ (document.querySelector(".list")).scrollTop = to;
    }, top);
    await page.waitForTimeout(100);
    await textsShown(page);
  }
});

test("texts of messages come when the call stays, not while calls are passed by", {
  skip,
}, async (t) => {
  const started = await browser(t);
  const { page } = await emptyPage(started);
  await openSession(page, EXAMPLE);
  const { passed, asked } = await page.evaluate(async () => {
    const { state } = /** @type {any} */ (globalThis).__inspector;
    const { client } = state.session.value;
    const ask = client.ask.bind(client);
    const changed = [Number.NEGATIVE_INFINITY];
    // Less than the 100 ms that the page waits: the times here are taken a little later than the page's.
    const isSoon = (/** @type {number} */ spent) => spent < 90;
    let [passed, asked] = [0, 0];
    client.ask = (/** @type {string} */ name, /** @type {any} */ input) => {
      const [before = 0, last = 0] = changed.slice(-2);
      if (name === "texts" && isSoon(last - before) && isSoon(performance.now() - last)) asked += 1;
      return ask(name, input);
    };
    for (let call = 0; call < 60; call += 1) {
      state.call.value = call;
      changed.push(performance.now());
      if (isSoon((changed.at(-1) ?? 0) - (changed.at(-2) ?? 0))) passed += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return { passed, asked };
  });
  assert.ok(passed > 0, `${passed} calls`);
  assert.equal(asked, 0);
  await textsShown(page);
});

test("every screen can be reached with the keyboard", { skip, timeout: 120_000 }, async (t) => {
  const started = await browser(t);
  const { page } = await emptyPage(started);
  await openSession(page, EXAMPLE);
  const state = () =>
    page.evaluate(() => {
      const { state: it } = /** @type {any} */ (globalThis).__inspector;
      return {
        call: it.call.value,
        view: it.view.value,
        tab: it.tab.value,
        selected: it.selected.value,
        filter: it.filter.value,
        dialog: it.dialog.value,
        treemap: it.treemap.value,
        zoom: it.zoom.value,
      };
    });
  const press = async (/** @type {string} */ key) => {
    await page.keyboard.press(key);
    await page.waitForTimeout(80);
    return await state();
  };
  const last = (await state()).call;
  assert.equal((await press("ArrowLeft")).call, last - 1);
  assert.equal((await press("Shift+ArrowLeft")).call, last - 11);
  assert.equal((await press("Home")).call, 0);
  assert.equal((await press("End")).call, last);
  assert.equal((await press("v")).view, "plimsoll");
  assert.notEqual((await press("E")).call, last);
  assert.equal((await press("c")).filter, "changed");
  const selected = (await press("j")).selected;
  assert.ok(selected !== null);
  assert.notEqual((await press("j")).selected, selected);
  await press("Enter");
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), "PRE");
  assert.equal((await press("Escape")).selected, null);
  assert.equal((await press("t")).treemap, true);
  assert.ok((await press("b")).zoom);
  for (const [at, tab] of ["messages", "lost", "what-if", "next", "compare", "file"].entries())
    assert.equal((await press(String(at + 1))).tab, tab);
  assert.equal((await press("s")).dialog, "share");
  assert.equal((await press("Escape")).dialog, "");
  await press("a");
  assert.equal(
    await page.evaluate(
      () => /** @type {any} */ (globalThis).__inspector.state.kept.value.setting.preset,
    ),
    "balanced",
  );
  assert.equal((await press("?")).dialog, "help");
  assert.equal((await press("Escape")).dialog, "");
  await press("/");
  await page.keyboard.type("tide");
  await page.keyboard.press("Enter");
  await page.waitForFunction(
    () => /** @type {any} */ (globalThis).__inspector.state.hits.value?.length > 0,
  );
  assert.ok((await press("n")).selected !== null);
  // The address brings the view back.
  await page.waitForTimeout(400);
  const { hash } = new URL(page.url());
  assert.match(hash, /m=\d+/);
});
