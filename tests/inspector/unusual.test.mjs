// @ts-check
/** Unusual sessions, files and values in the page: it says what is true of them, and nothing stays behind. */
import assert from "node:assert/strict";
import test from "node:test";
import { repeated } from "./big.mjs";
import { browser, EXAMPLE, emptyPage, missing, openSession } from "./page.mjs";

const skip = missing() || false;

/** A file for an input. @param {string} name @param {string | Buffer} content */
const file = (name, content) => ({
  ...{ name, mimeType: "text/plain" },
  buffer: Buffer.from(content),
});

/** OpenAI messages with so many calls. @param {string} name @param {number} calls */
const chat = (name, calls) =>
  file(
    name,
    JSON.stringify([
      { role: "system", content: "Answer in one word." },
      ...Array.from({ length: calls }, (_, at) => [
        { role: "user", content: `question ${at}` },
        { role: "assistant", content: `answer ${at}` },
      ]).flat(),
    ]),
  );

/** A pi file with a compaction before, or after, its last call. @param {boolean} isLast @param {number[]} counts of the provider */
function compacted(isLast, counts = []) {
  const time = "2026-01-01T00:00:00Z";
  const messages = ["one", "two"].flatMap((text, at) => [
    { role: "user", content: text.repeat(90), timestamp: 1 },
    {
      ...{ role: "assistant", content: [{ type: "text", text }], timestamp: 1 },
      ...(counts[at]
        ? { usage: { input: counts[at], output: 1, cacheRead: 0, cacheWrite: 0 } }
        : {}),
    },
  ]);
  const lines = messages.map((message, at) => ({ type: "message", id: `m${at}`, message }));
  const summary = { summary: "words", firstKeptEntryId: "m1", tokensBefore: 5000 };
  lines.splice(isLast ? 4 : 3, 0, /** @type {any} */ ({ type: "compaction", id: "c", ...summary }));
  return [
    { type: "session", version: 3, id: "s", timestamp: time, cwd: "/x" },
    ...lines.map((line, at) => ({ ...line, parentId: lines[at - 1]?.id ?? null, timestamp: time })),
  ]
    .map((line) => JSON.stringify(line))
    .join("\n");
}

const text = async (/** @type {any} */ page, /** @type {string} */ of) =>
  (await page.locator(of).innerText()).replace(/\s+/g, " ");

/** Waits until nothing is played. */
const still = (/** @type {any} */ page) =>
  page.waitForFunction(() => !(/** @type {any} */ (globalThis).__inspector.state.playing.value));

test("a compaction after the last call has no size after it", { skip }, async (t) => {
  const { page, complaints } = await emptyPage(await browser(t));
  await openSession(page, file("ended.jsonl", compacted(true)));
  const card = await text(page, "#what-lost");
  assert.match(card, /1 compaction/);
  assert.doesNotMatch(card, /5,000/);
  await page.keyboard.press("2");
  assert.match(await text(page, ".ledger"), /after the last call 5,000 → \? by the file 1 message/);
  assert.deepEqual(complaints, []);
});

test("a compaction has the sizes that the chart has", { skip }, async (t) => {
  const { page } = await emptyPage(await browser(t));
  await openSession(page, file("counted.jsonl", compacted(false, [9000, 2000])));
  assert.match(await text(page, "#what-lost"), /−7,000 in 1 compaction/);
  await page.keyboard.press("2");
  assert.match(await text(page, ".ledger"), /before call 2 9,000 → 2,000 by the calls before/);
});

test("a system prompt among the messages is not said to be missing", { skip }, async (t) => {
  const { page } = await emptyPage(await browser(t));
  await openSession(page, chat("chat.json", 2));
  assert.match(await text(page, ".legend"), /System prompt/);
  assert.match(await text(page, ".facts"), /not in the file: the tool definitions, token counts$/);
});

test("the file that was chosen last is the one compared with, until another session is open", {
  skip,
}, async (t) => {
  const { page, complaints } = await emptyPage(await browser(t));
  await openSession(page, EXAMPLE);
  await page.keyboard.press("5");
  const input = page.locator("[aria-label=Compare] input");
  await input.setInputFiles(file("large.jsonl", repeated(EXAMPLE, 4e6)));
  await input.setInputFiles(chat("small.json", 3));
  await page.waitForSelector("th:text('small.json')");
  await page.waitForTimeout(3_000);
  await page.keyboard.press("1");
  await page.keyboard.press("5");
  assert.match(await text(page, "#panel thead"), /small\.json, recorded/);
  await input.setInputFiles(file("prose.txt", "Dear harbour master"));
  await page.waitForSelector("[aria-label=Compare] [role=status]:text('prose.txt: ')");
  await openSession(page, chat("next.json", 4));
  await page.keyboard.press("5");
  assert.match(await text(page, "#panel thead"), /next\.json, recorded With Plimsoll, balanced/);
  assert.equal(await text(page, "[aria-label=Compare] [role=status]"), "", "of another session");
  assert.deepEqual(complaints, []);
});

test("a what-if takes sizes and shares as the command line does, and plays nothing else", {
  skip,
}, async (t) => {
  const { page, complaints } = await emptyPage(await browser(t));
  await openSession(page, EXAMPLE);
  await page.keyboard.press("w");
  const [window, reserve, trigger] = [/^Window/, /^Reserve/, /^Trigger/].map((name) =>
    page.getByLabel(name),
  );
  const setting = () =>
    page.evaluate(() => {
      const { setting } = /** @type {any} */ (globalThis).__inspector.state;
      const { window, trigger } = setting.value;
      return [window.contextTokens, window.maxOutputTokens, trigger ?? null];
    });
  const enter = async (/** @type {any} */ field, /** @type {string} */ value) => {
    await field.fill(value);
    await field.press("Tab");
    await still(page);
  };
  await enter(window, "64k");
  await enter(reserve, "8_000");
  await enter(trigger, "85%");
  assert.deepEqual(await setting(), [64_000, 8_000, 0.85]);
  for (const [field, shown] of /** @type {Array<[any, string]>} */ ([
    [window, "64000"],
    [reserve, "8000"],
    [trigger, "0.85"],
  ]))
    assert.equal(await field.inputValue(), shown);
  await enter(window, "1m");
  assert.deepEqual(await setting(), [1_000_000, 8_000, 0.85]);
  await enter(window, "64000");

  const wrong = page.locator(".options [aria-invalid=true]");
  for (const [field, values, allowed] of /** @type {Array<[any, string[], RegExp]>} */ ([
    [window, ["64x", "-5", "0", "8000", "1e12"], /like 64k, 200000 or 1m, above the reserve/],
    [reserve, ["abc", "64k", "0.5"], /like 0, 8k or 16000, below the window/],
    [trigger, ["85", "2", "many"], /from 0 to 1, like 0\.85 or 85%/],
  ])) {
    const before = await field.inputValue();
    for (const value of values) {
      await enter(field, value);
      assert.deepEqual(await setting(), [64_000, 8_000, 0.85], value);
      assert.equal(await field.inputValue(), value);
      assert.equal(await field.getAttribute("aria-invalid"), "true");
      const description = await field.getAttribute("aria-describedby");
      assert.match(await text(page, `#${description}`), allowed);
      assert.equal(await page.locator(".options [role=alert]").count(), 1);
    }
    await enter(field, before);
    assert.equal(await wrong.count(), 0);
  }
  // Another option that changes, or the first ones again, take a wrong text back.
  await enter(trigger, "many");
  await enter(window, "");
  assert.deepEqual([await wrong.count(), await trigger.inputValue()], [0, "0.85"]);
  assert.deepEqual(await setting(), [200_000, 8_000, 0.85], "an empty field is as at first");
  await enter(window, "?");
  await page.click("text=Back to the first options");
  assert.equal(await wrong.count(), 0);
  assert.deepEqual(await setting(), [200_000, 0, null]);
  assert.equal(await trigger.inputValue(), "");
  assert.deepEqual(complaints, []);
});

test("after the first simulation was stopped, a what-if takes its place", { skip }, async (t) => {
  const { page, complaints } = await emptyPage(await browser(t));
  // Pressed as soon as it is there: the simulation may be over before a mouse is.
  await page.evaluate(() => {
    const observer = new MutationObserver(() => {
      const button = document.querySelector(".playing .link");
      if (!(button instanceof HTMLElement)) return;
      observer.disconnect();
      button.click();
      Reflect.set(globalThis, "isStopped", true);
    });
    observer.observe(document.body, { childList: true, subtree: true });
  });
  await page.setInputFiles("input[type=file]", file("long.jsonl", repeated(EXAMPLE, 4e6)));
  await page.waitForFunction(() => Reflect.get(globalThis, "isStopped"));
  for (const key of ["4", "w"]) {
    await page.keyboard.press(key);
    assert.match(await text(page, "#panel"), /There is no simulation\. Under What if/);
  }
  await page.locator(".options input").first().fill("300000");
  await page.locator(".options input").first().press("Tab");
  await page.waitForSelector("#panel .results", { timeout: 60_000 });
  assert.match(await text(page, "#panel .results"), /balanced, at first/);
  assert.deepEqual(complaints, []);
});

test("of several files that are dropped one is opened, and the page says so until Escape", {
  skip,
}, async (t) => {
  const { page } = await emptyPage(await browser(t));
  const drop = (/** @type {string[]} */ names, /** @type {string} */ content) =>
    page.evaluate(
      (/** @type {[string[], string]} */ [all, inside]) => {
        const dataTransfer = new DataTransfer();
        for (const name of all) dataTransfer.items.add(new File([inside], name));
        dispatchEvent(new DragEvent("drop", { dataTransfer, cancelable: true }));
      },
      [names, content],
    );
  await drop(["one.json", "two.json"], chat("", 1).buffer.toString());
  await page.waitForSelector("h1:text('one.json')");
  assert.match(await text(page, "[role=alert]"), /Only one\.json was opened/);
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("[role=alert]").count(), 0);
  await drop(["bad.json"], "{}");
  await page.waitForSelector("[role=alert]:has-text('bad.json')");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("[role=alert]").count(), 0);
  assert.equal(await page.textContent("h1"), "one.json");
  // A mouse has a button for it.
  await drop(["bad.json"], "{}");
  await page.getByRole("button", { name: "Close", exact: true }).click({ timeout: 3_000 });
  assert.equal(await page.locator("[role=alert]").count(), 0);
});

test("keys in a field are for the field alone, and Escape leaves it if it is empty", {
  skip,
}, async (t) => {
  const { page } = await emptyPage(await browser(t));
  await openSession(page, EXAMPLE);
  const isZoomed = () =>
    page.evaluate(() => /** @type {any} */ (globalThis).__inspector.state.zoom.value?.length === 2);
  const focus = () => page.evaluate(() => document.activeElement?.tagName);
  await page.keyboard.press("b");
  await page.keyboard.press("/");
  await page.evaluate(() => {
    document.querySelector(".commands .primary")?.addEventListener("click", (event) => {
      event.stopImmediatePropagation();
      Reflect.set(globalThis, "isOpening", true);
    });
  });
  await page.keyboard.type("who?");
  assert.equal(await page.locator("dialog").count(), 0);
  assert.equal(await page.evaluate(() => Reflect.get(globalThis, "isOpening")), undefined);
  // Browsers empty a field for searches by Escape.
  await page.keyboard.press("Escape");
  assert.deepEqual([await page.inputValue("#search"), await isZoomed()], ["", true]);
  assert.equal(await focus(), "INPUT");
  await page.keyboard.press("Escape");
  assert.deepEqual([await focus(), await isZoomed()], ["BODY", true]);
  await page.keyboard.press("w");
  await page.locator(".options input").first().fill("64k");
  await page.keyboard.press("Escape");
  assert.equal(await isZoomed(), true);
  await page.locator(".options input").first().blur();
  await page.keyboard.press("Escape");
  assert.equal(await isZoomed(), false);
});

test("the next hit is shown from every screen", { skip }, async (t) => {
  const { page } = await emptyPage(await browser(t));
  await openSession(page, EXAMPLE);
  await page.fill("#search", "tide");
  await page.press("#search", "Enter");
  await page.waitForSelector(".search [role=status]");
  await page.keyboard.press("2");
  await page.keyboard.press("n");
  await page.waitForSelector(".why pre");
});

test("a search without a hit says that no message contains the text", { skip }, async (t) => {
  const { page } = await emptyPage(await browser(t));
  await openSession(page, EXAMPLE);
  await page.fill("#search", "nowhere to be found");
  await page.press("#search", "Enter");
  await page.waitForSelector(".search [role=status]");
  assert.equal(await page.textContent(".messages .empty"), "No message contains this text.");
});

test("a window that was not set is not said to be set", { skip }, async (t) => {
  const { page } = await emptyPage(await browser(t));
  await openSession(page, EXAMPLE);
  await page.keyboard.press("v");
  await page.waitForSelector("#how-full:has-text('simulated')");
  assert.match(await text(page, "#how-full"), /Window assumed/);
});

test("a text that the browser does not let be copied is not said to be copied", {
  skip,
}, async (t) => {
  const { page, complaints } = await emptyPage(await browser(t));
  await openSession(page, EXAMPLE);
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }));
  await page.keyboard.press("j");
  await page.click(".why button:text('Copy')");
  assert.match(await text(page, "[role=alert]"), /does not let this page copy/);
  assert.equal(await page.locator("text=Copied").count(), 0);
  assert.deepEqual(complaints, []);
});

test("a list of what was taken out says where it ends", { skip }, async (t) => {
  const { page } = await emptyPage(await browser(t));
  const messages = Array.from({ length: 2100 }, (_, at) => ({
    role: at % 2 ? "assistant" : "user",
    content: `see /home/margaret/${at}`,
  }));
  await openSession(page, file("many.json", JSON.stringify(messages)));
  await page.keyboard.press("s");
  await page.waitForSelector("dialog h3");
  assert.equal(await page.locator("dialog tbody tr").count(), 2000);
  assert.match(await text(page, "dialog"), /Only the first 2,000 are listed/);
});

test("a call outside the calls that the chart shows is shown among all", { skip }, async (t) => {
  const { page } = await emptyPage(await browser(t));
  await openSession(page, EXAMPLE);
  await page.keyboard.press("b");
  await page.waitForSelector(".unzoom");
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.locator(".unzoom").count(), 1);
  await page.keyboard.press("Home");
  await page.waitForFunction(() => !document.querySelector(".unzoom"));
  assert.equal(await page.inputValue(".scrubber"), "0");
});

test("tools that have the same name on two servers are told apart", { skip }, async (t) => {
  const { page } = await emptyPage(await browser(t));
  const tools = ["mcp__files__read", "mcp__web-pages__read", "mcp__files__list", "read"];
  const messages = tools.flatMap((name, at) => {
    const call = { id: `c${at}`, type: "function", function: { name, arguments: "{}" } };
    return [
      { role: "user", content: `question ${at}` },
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", tool_call_id: `c${at}`, content: `answer ${at} `.repeat(50) },
      { role: "assistant", content: "done" },
    ];
  });
  await openSession(page, file("servers.json", JSON.stringify(messages)));
  const names = await page.locator(".parts .cell > span").allInnerTexts();
  assert.deepEqual(names.filter((name) => / results$/.test(name)).sort(), [
    ...["list results", "read (files) results", "read (web-pages) results"],
    "read results",
  ]);
  await page.click(".parts .cell:has-text('read (web-pages) results')");
  await page.waitForSelector(".chip:has-text('read (web-pages) results')");
});
