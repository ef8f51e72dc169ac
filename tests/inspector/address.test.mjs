// @ts-check
/** The address of the page: it brings back every screen, and whatever is wrong in it is ignored. */
import assert from "node:assert/strict";
import test from "node:test";
import { sized } from "../support/size.mjs";
import { browser, EXAMPLE, emptyPage, missing, openSession, PAGE } from "./page.mjs";

const skip = missing() || false;

/** What is on the screen, in texts and figures. */
const screen = (/** @type {any} */ page) =>
  page.evaluate(() => {
    const { state } = /** @type {any} */ (globalThis).__inspector;
    const { standing, view, tab, selected, bucket, filter, largestFirst, treemap, zoom } = state;
    return {
      ...{ call: standing.value.call, run: standing.value.run, view: view.value, tab: tab.value },
      ...{ selected: selected.value, bucket: bucket.value, filter: filter.value },
      ...{ largestFirst: largestFirst.value, treemap: treemap.value, zoom: zoom.value },
      ...{ text: state.face.value, idle: state.idle.value },
      ...{ range: state.range.value, dialog: state.dialog.value, query: state.query.value },
      hits: state.hits.value?.length ?? null,
      keeps: state.search.value?.found ?? null,
      settings: [state.kept.value?.setting ?? null, state.trial.value?.setting ?? null],
      words: document.querySelector("main")?.textContent,
    };
  });

/** Waits until nothing is under way, and the address is written. */
async function quiet(/** @type {any} */ page) {
  await page.waitForTimeout(100);
  await page.waitForFunction(
    () => {
      const { state } = /** @type {any} */ (globalThis).__inspector;
      const { search, standing, playing, policy, run, call } = state;
      return (
        policy.value &&
        !playing.value &&
        standing.value?.run === run.value &&
        standing.value.call === call.value &&
        (!search.value || search.value.found !== undefined)
      );
    },
    null,
    { timeout: 60_000, polling: 20 },
  );
  await page.waitForTimeout(700);
}

const hashOf = (/** @type {any} */ page) => new URL(page.url()).hash.slice(1);

/** Screens as addresses: every name that an address can have is in one of them. */
const ALL = [
  "",
  "call=120&view=plimsoll&m=31&filter=changed&treemap=",
  "tab=next&idle=28800000&view=plimsoll&m=305&text=diff&window=64000&reserve=0&preset=balanced&trigger=0",
  "tab=lost&order=history&zoom=20-90",
  "call=200&part=result+read&filter=hits&q=tide&dialog=help",
  "tab=what-if&view=both&window=64000&reserve=4000&preset=capacity&trigger=0.8",
  "tab=what-if&view=both&a-window=48000&a-reserve=0&a-preset=economy&window=96000&reserve=0&preset=hermes",
  "tab=compare&a-window=200000&a-reserve=0&a-preset=balanced&window=96000&reserve=0&preset=capacity",
  "view=plimsoll&m=305&range=300-320&window=24000&reserve=0&preset=capacity&keeps=",
];
const ADDRESSES = some(ALL, [1, 2, 6]);

/** Unknown and broken values of every name. */
const BROKEN = some(
  [
    "call=&view=x&m=&tab=&part=&filter=&zoom=&range=&dialog=&q=&window=&reserve=&preset=&trigger=",
    "call=0&view=recorded&m=99999&tab=settings&part=nothing&filter=hits&zoom=9-3&range=5-99999",
    "call=1e9&m=-1&zoom=0-5&dialog=x&order=x&window=-5&reserve=1e3&preset=x&trigger=7&unknown=1",
    "call=NaN&m=1.5&zoom=1-9999&window=99999999999999999999&reserve=200000&trigger=-0.5",
    "trigger=NaN&text=x&idle=1&window=0&reserve=0&preset=__proto__&keeps=&m=0x10&%E0%A4%A&=&a-preset=",
  ],
  [1, 4],
);

/** All addresses in a long run or on a landing, else these. @param {string[]} all @param {number[]} short */
function some(all, short) {
  const chosen = sized({ short: all.filter((_, at) => short.includes(at)), ci: all, long: all });
  if (!skip && chosen.length < all.length)
    console.log(
      `skipped: ${all.length - chosen.length} of ${all.length} addresses, which \`cargo xtask test --ci\` reads`,
    );
  return chosen;
}

test("an address read back gives the same screen", { skip, timeout: 240_000 }, async (t) => {
  const started = await browser(t);
  const { page: first, complaints } = await emptyPage(started);
  await openSession(first, EXAMPLE);
  for (const address of ADDRESSES) {
    // In a page that shows something else.
    await first.evaluate((/** @type {string} */ hash) => {
      location.hash = hash;
    }, address);
    await quiet(first);
    const written = hashOf(first);
    const sorted = (/** @type {string} */ text) => [...new URLSearchParams(text)].sort().join("\n");
    assert.equal(sorted(written), sorted(address));
    const { page } = await emptyPage(started, {}, `file://${PAGE}#${written}`);
    await openSession(page, EXAMPLE);
    await quiet(page);
    assert.deepEqual(await screen(page), await screen(first), address);
    assert.equal(sorted(hashOf(page)), sorted(address));
    await page.close();
  }
  assert.deepEqual(complaints, []);
});

test("an entered address counts, even if the page writes its own before it reads it", {
  skip,
}, async (t) => {
  const { page, complaints } = await emptyPage(await browser(t));
  await openSession(page, EXAMPLE);
  await page.evaluate(() => {
    location.hash = "call=120&m=31";
    history.replaceState(null, "", "#call=200");
  });
  await page.waitForSelector(".why[aria-label='Message 31']");
  await quiet(page);
  assert.equal(hashOf(page), "call=120&m=31");
  assert.deepEqual(complaints, []);
});

test("the browser goes back to the screen before, and not by every message", {
  skip,
}, async (t) => {
  const { page, complaints } = await emptyPage(await browser(t));
  await openSession(page, EXAMPLE);
  await quiet(page);
  const show = async (/** @type {string} */ name, /** @type {unknown} */ value) => {
    await page.evaluate(
      ([name, value]) => {
        /** @type {any} */ (globalThis).__inspector.state[name].value = value;
      },
      [name, value],
    );
    await quiet(page);
  };
  const shown = async () => {
    await quiet(page);
    const { tab, selected, call } = await screen(page);
    return { tab, selected, call };
  };
  const first = await shown();
  await show("tab", "lost");
  for (const message of [30, 31, 32]) await show("selected", message);
  await show("call", 120);
  assert.equal(hashOf(page), "call=121&tab=lost&m=32");
  await page.goBack();
  assert.deepEqual(await shown(), { ...first, tab: "lost" });
  await page.goBack();
  assert.deepEqual(await shown(), first);
  await page.goForward();
  assert.deepEqual(await shown(), { ...first, tab: "lost" });
  await page.goForward();
  assert.deepEqual(await shown(), { tab: "lost", selected: 32, call: 120 });
  assert.deepEqual(complaints, []);
});

test("unknown and broken values of an address are ignored", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const started = await browser(t);
  const { page: usual } = await emptyPage(started);
  await openSession(usual, EXAMPLE);
  await quiet(usual);
  const expected = await screen(usual);
  for (const address of BROKEN) {
    const { page, complaints } = await emptyPage(started, {}, `file://${PAGE}#${address}`);
    await openSession(page, EXAMPLE);
    await quiet(page);
    const { settings, ...rest } = await screen(page);
    const isA = address.includes("a-preset");
    assert.equal(settings[0] !== null, isA, address);
    assert.equal(settings[1], null, address);
    assert.deepEqual({ ...rest, settings: [null, null] }, expected, address);
    assert.equal(await page.locator("[role=alert]").count(), 0, address);
    assert.deepEqual(complaints, [], address);
    await page.close();
  }
});
