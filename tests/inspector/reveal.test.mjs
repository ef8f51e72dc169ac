// @ts-check
/** The page on a small screen, of which the cards and the chart leave nothing for the panel below them. */
import assert from "node:assert/strict";
import test from "node:test";
import { browser, emptyPage, missing, openSession } from "./page.mjs";

const skip = missing() || false;
const LAPTOP = { width: 1280, height: 720 };

/** A pi session of thirty calls with a compaction. */
function session() {
  const time = "2026-01-01T00:00:00Z";
  const text = (/** @type {number} */ at) => `tide ${at} `.repeat(40 * (1 + (at % 7)));
  const lines = Array.from({ length: 60 }, (_, at) => ({
    ...{ type: "message", id: `m${at}` },
    message: {
      role: at % 2 ? "assistant" : "user",
      content: [{ type: "text", text: text(at) }],
      timestamp: 1,
    },
  }));
  const summary = { summary: "words", firstKeptEntryId: "m20", tokensBefore: 5000 };
  lines.splice(24, 0, /** @type {any} */ ({ type: "compaction", id: "c", ...summary }));
  const all = [
    { type: "session", version: 3, id: "s", timestamp: time, cwd: "/x" },
    ...lines.map((line, at) => ({ ...line, parentId: lines[at - 1]?.id ?? null, timestamp: time })),
  ];
  const buffer = Buffer.from(all.map((line) => JSON.stringify(line)).join("\n"));
  return { name: "small.jsonl", mimeType: "text/plain", buffer };
}

/** What of the panel is on the screen, and where the focus is, when two frames have been drawn. */
const shown = (/** @type {any} */ page, /** @type {string} */ what) =>
  page.evaluate(async (/** @type {string} */ of) => {
    for (let frame = 0; frame < 2; frame += 1)
      await new Promise((resolve) => requestAnimationFrame(resolve));
    const { top = -1, bottom = -1 } = document.querySelector(of)?.getBoundingClientRect() ?? {};
    const focus = document.activeElement;
    return {
      isInView: top >= 0 && Math.min(bottom, innerHeight) - top >= Math.min(300, bottom - top),
      focus: focus?.className || focus?.id || focus?.tagName,
      tab: document.querySelector("[role=tab][aria-selected=true]")?.textContent,
    };
  }, what);

test("what a link or a key brings up is scrolled into view and gets the focus", {
  skip,
  timeout: 120_000,
}, async (t) => {
  const { page, complaints } = await emptyPage(await browser(t), { viewport: LAPTOP });
  await openSession(page, session());
  const search = async () => {
    await page.keyboard.press("/");
    await page.keyboard.type("tide 2");
    await page.keyboard.press("Enter");
    await page.locator("text=Found").waitFor();
  };
  /** @type {ReadonlyArray<[string, () => Promise<unknown>, string, string]>} */
  const ways = [
    ...["1:Messages", "2:What was lost", "3:What if", "w:What if", "4:Next request"]
      .concat("5:Compare", "6:The file")
      .map((way) => {
        const [key = "", tab = ""] = way.split(":");
        return /** @type {any} */ ([tab, () => page.keyboard.press(key), "#panel", "panel"]);
      }),
    ["What was lost", () => page.click("text=See what it took"), "#panel", "panel"],
    ["The file", () => page.click("text=lines read"), "#panel", "panel"],
    ["Messages", () => page.click("#what-filled .link"), ".message.on", "list"],
    ["Messages", search, ".list", "list"],
    ["Messages", () => page.keyboard.press("n"), ".message.on", "list"],
    ["Compare", () => page.click("text=Compare"), "#panel", "tab-compare"],
  ];
  for (const [tab, act, what, focus] of ways) {
    await page.keyboard.press("Escape");
    await page.evaluate(() => {
      /** @type {HTMLElement} */ (document.activeElement)?.blur();
      scrollTo(0, 0);
    });
    await act();
    assert.deepEqual(await shown(page, what), { isInView: true, focus, tab }, `${tab}: ${act}`);
  }

  await page.keyboard.press("v");
  await page.evaluate(() => scrollTo(0, 0));
  await page.keyboard.press("c");
  const { isInView, tab } = await shown(page, ".messages");
  assert.deepEqual([isInView, tab], [true, "Messages"], "only those that were changed");
  // Whoever goes from call to call looks at the chart.
  await page.evaluate(() => scrollTo(0, 0));
  await page.keyboard.press("ArrowLeft");
  await shown(page, "#panel");
  assert.equal(await page.evaluate(() => scrollY), 0);
  assert.deepEqual(complaints, []);
});

test("the hits of a search are marked in the message, and the first is scrolled into view", {
  skip,
}, async (t) => {
  const { page, complaints } = await emptyPage(await browser(t), { viewport: LAPTOP });
  const long = (/** @type {string} */ word) =>
    Array.from({ length: 400 }, (_, at) =>
      at === 300 || at === 350 ? `\u001b[31m${word} (${at})` : `line ${at}`,
    ).join("\n");
  const messages = [
    { role: "system", content: "Answer in one word." },
    { role: "user", content: long("The needle") },
    { role: "assistant", content: "yes" },
    { role: "user", content: long("A NEEDLE") },
    { role: "assistant", content: "no" },
  ];
  const buffer = Buffer.from(JSON.stringify(messages));
  await openSession(page, { name: "long.json", mimeType: "text/plain", buffer });
  /** The texts that are marked, and whether the first of them can be seen. */
  const marked = () =>
    page.evaluate(async () => {
      for (let frame = 0; frame < 3; frame += 1)
        await new Promise((resolve) => requestAnimationFrame(resolve));
      const ranges = /** @type {Range[]} */ (Array.from(CSS.highlights.get("hit") ?? []));
      const box = document.querySelector(".why")?.getBoundingClientRect();
      const first = ranges[0]?.getBoundingClientRect();
      return {
        texts: ranges.map(String),
        isSeen:
          Boolean(box && first) &&
          /** @type {any} */ (first).top >= /** @type {any} */ (box).top + 40 &&
          /** @type {any} */ (first).bottom <=
            Math.min(/** @type {any} */ (box).bottom, innerHeight),
      };
    });
  await page.keyboard.press("/");
  await page.keyboard.type("needle (");
  await page.keyboard.press("Enter");
  await page.locator("text=Found 2").waitFor();
  for (const texts of [
    ["needle (", "needle ("],
    ["NEEDLE (", "NEEDLE ("],
  ]) {
    await page.keyboard.press("n");
    await page.locator(".why pre").filter({ hasText: texts[0] }).waitFor();
    assert.deepEqual(await marked(), { texts, isSeen: true });
  }
  await page.keyboard.press("/");
  await page.fill("#search", "");
  await page.locator("text=Found 2").waitFor({ state: "detached" });
  assert.deepEqual((await marked()).texts, []);
  assert.deepEqual(complaints, []);
});

test("hits of an earlier text leave what is typed meanwhile", { skip }, async (t) => {
  const { page, complaints } = await emptyPage(await browser(t), { viewport: LAPTOP });
  await openSession(page, session());
  await page.evaluate(() => {
    const { client } = /** @type {any} */ (globalThis).__inspector.state.session.value;
    const ask = client.ask.bind(client);
    const answers = Promise.withResolvers();
    client.ask = async (/** @type {string} */ operation, /** @type {any} */ input) => {
      const answer = await ask(operation, input);
      if (operation === "find" && input.text === "tid") await answers.promise;
      return answer;
    };
    Object.assign(globalThis, { answer: answers.resolve });
  });
  await page.keyboard.press("/");
  await page.keyboard.type("tid");
  const searched = (/** @type {string} */ text) =>
    page.waitForFunction((/** @type {string} */ wanted) => {
      const { query, hits } = /** @type {any} */ (globalThis).__inspector.state;
      return query.value === wanted && (wanted === "tid" || hits.value);
    }, text);
  await searched("tid");
  await page.keyboard.type("e");
  await page.evaluate(() => /** @type {any} */ (globalThis).answer());
  await page.locator(".search [role=status]").waitFor();
  await page.keyboard.type(" 2");
  assert.equal(await page.inputValue("#search"), "tide 2");
  await searched("tide 2");
  // What the address says is shown in the field, and a new file empties it.
  await page.evaluate(() => {
    location.hash = "q=tide 3";
  });
  await searched("tide 3");
  assert.equal(await page.inputValue("#search"), "tide 3");
  await openSession(page, { ...session(), name: "other.jsonl" });
  assert.equal(await page.inputValue("#search"), "");
  assert.deepEqual(complaints, []);
});

test("every column of the parts can be read on a laptop and on a phone", { skip }, async (t) => {
  const { page } = await emptyPage(await browser(t), { viewport: LAPTOP });
  const tool = "look_into_every_file_of_the_project_at_once";
  const messages = Array.from({ length: 40 }, (_, at) => {
    const id = `call_${at}`;
    const call = { id, type: "function", function: { name: tool, arguments: `{"at":${at}}` } };
    return [
      { role: "user", content: `question ${at}` },
      { role: "assistant", content: "", tool_calls: [call] },
      { role: "tool", tool_call_id: id, content: `answer ${at} `.repeat(900) },
      { role: "assistant", content: "done" },
    ];
  }).flat();
  const buffer = Buffer.from(JSON.stringify(messages));
  await openSession(page, { name: "long.json", mimeType: "text/plain", buffer });
  await page.keyboard.press("v");
  await page
    .locator(".parts td", { hasText: / (cut|one line|left out)/ })
    .first()
    .waitFor();
  for (const width of [1280, 1024, 760, 360]) {
    await page.setViewportSize({ width, height: 720 });
    const { room, wide, cut } = await page.evaluate(() => {
      const box = /** @type {HTMLElement} */ (document.querySelector(".parts .scroll"));
      const cells = Array.from(box.querySelectorAll("td, th, td *"));
      return {
        room: box.clientWidth,
        wide: box.scrollWidth,
        cut: cells
          .filter((it) => it.textContent && it.scrollWidth > it.clientWidth && it.clientWidth > 1)
          .map((it) => it.textContent),
      };
    });
    assert.ok(wide <= room, `the table is ${wide} px wide in ${room} px, of ${width} px`);
    assert.deepEqual(cut, [], `${width} px`);
  }
});
