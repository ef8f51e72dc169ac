// @ts-check
/** Live sessions: a gateway on this computer over HTTP, or the page around; what they may reach, and what happens when they do not answer. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import test from "node:test";
import { good, talk, WINDOW } from "../conformance/support/agent-session.mjs";
import { exampleOf } from "../support/examples.mjs";
import { browser, EXAMPLE, emptyPage, figure, goTo, missing, openSession, PAGE } from "./page.mjs";

const skip = missing() || false;
const from = (/** @type {string} */ name) =>
  import(new URL(name, `file://${process.env.PLIMSOLL}`).href);
const { ContextManager, assemblePrompt, requestFocus } = skip
  ? /** @type {any} */ ({})
  : await from("./index.node.js");
const { createInspectHandler } = skip ? /** @type {any} */ ({}) : await from("./entry/inspect.js");
const { readSession, replay } = skip
  ? /** @type {any} */ ({})
  : await from("./entry/sessions.node.js");

const axe = skip
  ? ""
  : readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** A session that grows: its manager, and a way to make its next request. */
function growing() {
  const context = new ContextManager({
    window: { contextTokens: 16_000, maxOutputTokens: 2_000 },
    format: "openai-chat",
    id: "one",
  });
  const history = /** @type {object[]} */ ([]);
  const step = (/** @type {number} */ amount) => {
    for (let at = 0; at < amount; at += 1) {
      history.push({ role: "user", content: `Question ${history.length}: ${"why? ".repeat(30)}` });
      history.push({ role: "assistant", content: `Because of ${history.length}.` });
    }
    context.request([...history, { role: "user", content: "And then?" }], {
      system: "You are a <b>pilot</b>.",
    });
  };
  return { context, history, step };
}

/**
 * A gateway on 127.0.0.1 that serves the page, a page around it, and `/rpc`. `asked`: the params of every request.
 * @param {import("node:test").TestContext} t @param {(id: string) => unknown} get @param {Record<string, string>} [headers]
 */
async function gateway(t, get, headers = {}) {
  const handle = createInspectHandler({ get });
  const asked = /** @type {any[]} */ ([]);
  const state = { isBroken: false };
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "", "http://gateway");
    if (request.method === "OPTIONS") return response.writeHead(204, headers).end();
    if (["/inspector", "/inspector.html", "/around"].includes(pathname)) {
      response.writeHead(200, { "content-type": "text/html" });
      return response.end(pathname === "/around" ? "<title>around</title>" : readFileSync(PAGE));
    }
    if (pathname !== "/rpc" || state.isBroken) return response.writeHead(503).end();
    let text = "";
    for await (const piece of request) text += piece;
    asked.push(JSON.parse(text).params);
    response.writeHead(200, { "content-type": "application/json", ...headers });
    response.end(JSON.stringify(await handle(text)));
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(undefined)));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { origin: `http://127.0.0.1:${port}`, asked, state, handle };
}

/** Waits until the page shows this as used. @param {any} page @param {number} used */
const shows = (page, used) =>
  page.waitForFunction(
    (/** @type {string} */ text) =>
      document.querySelector("[data-figure=used]")?.textContent === text &&
      /** @type {any} */ (globalThis).__inspector.state.standing.value?.call ===
        /** @type {any} */ (globalThis).__inspector.state.call.value,
    used.toLocaleString("en-US"),
    { timeout: 30_000, polling: 20 },
  );

const reportOf = (/** @type {any} */ page, /** @type {number | undefined} */ call) =>
  page.evaluate(
    (/** @type {any} */ at) => /** @type {any} */ (globalThis).__inspector.report(at),
    call,
  );
const plain = (/** @type {unknown} */ value) => JSON.parse(JSON.stringify(value));

test("the page follows a gateway's session, stops, resumes, and says why there is no answer", {
  skip,
  timeout: 180_000,
}, async (t) => {
  const { context, step } = growing();
  step(3);
  const { origin, asked, state } = await gateway(t, (id) => (id === "one" ? context : undefined));
  const started = await browser(t);
  const address = `${origin}/inspector#live=/rpc&session=one`;
  const begun = performance.now();
  const { page, complaints } = await emptyPage(started, {}, address);
  await shows(page, context.inspect().window.used);
  figure("live, first screen", `${(performance.now() - begun).toFixed(0)} ms`);
  assert.deepEqual(await reportOf(page), plain(context.inspect()));
  assert.match(await page.textContent("header.top"), /one.*live.*last answer \d\d:\d\d:\d\d.*Stop/);
  assert.equal(await page.textContent("[role=tablist]"), "MessagesNext request");

  // More messages than one page of an answer has.
  step(300);
  await shows(page, context.inspect().window.used);
  const report = context.inspect();
  assert.ok(report.messages.length > 500);
  assert.deepEqual(await reportOf(page), plain(report));
  assert.ok(
    asked.some(({ cursor }) => cursor === "500"),
    "the list is read in pages",
  );
  assert.equal(
    await page.evaluate(() => /** @type {any} */ (globalThis).__inspector.state.call.value),
    1,
    "the page goes on to the newest request",
  );
  await goTo(page, 0);
  assert.notEqual(await page.textContent("[data-figure=used]"), "");

  // A text is asked for when a message is opened, and shown as text.
  assert.ok(asked.every(({ detailKey }) => detailKey === undefined));
  await page.keyboard.press("End");
  await page.evaluate(() => {
    /** @type {any} */ (globalThis).__inspector.state.selected.value = 0;
  });
  await page.waitForFunction(() =>
    document.querySelector(".why pre")?.textContent?.startsWith("Question 0"),
  );
  const changed = report.messages.findIndex((/** @type {any} */ one) => one.state !== "kept");
  assert.ok(changed >= 0);
  await page.evaluate((/** @type {number} */ at) => {
    /** @type {any} */ (globalThis).__inspector.state.selected.value = at;
  }, changed);
  await page.waitForFunction(() =>
    /: .+\./.test(document.querySelector(".why .sentence")?.textContent ?? ""),
  );

  await page.click("text=Stop");
  const before = asked.length;
  step(1);
  await page.waitForTimeout(2_600);
  assert.equal(asked.length, before, "nothing is asked after Stop");
  await page.click("text=Resume");
  await shows(page, context.inspect().window.used);
  assert.deepEqual(
    complaints.filter(
      (line) =>
        line !== `request ${origin}/rpc` && !line.startsWith(`request ${address.split("#")[0]}`),
    ),
    [],
  );

  state.isBroken = true;
  await page.waitForFunction(() => document.querySelector("header .warn[role=status]"), null, {
    timeout: 15_000,
  });
  assert.equal(await page.textContent("header .warn[role=status]"), "it answered with status 503");
  state.isBroken = false;
  await page.waitForFunction(() => !document.querySelector("header .warn[role=status]"), null, {
    timeout: 15_000,
  });

  await page.goto(`${origin}/inspector#live=/rpc&session=two`);
  await page.waitForFunction(() =>
    /Unknown or inactive session/.test(document.querySelector("header.top")?.textContent ?? ""),
  );
});

test("a file that is opened stays, whenever the session that was followed answers", {
  skip,
  timeout: 60_000,
}, async (t) => {
  const { context, step } = growing();
  step(3);
  const { origin, asked, state } = await gateway(t, () => context);
  const started = await browser(t);
  const address = `${origin}/inspector#live=/rpc&session=one`;
  for (const isBroken of [true, false]) {
    state.isBroken = isBroken;
    const { page } = await emptyPage(started, {}, address);
    if (isBroken) await page.waitForSelector("header .warn[role=status]");
    else await shows(page, context.inspect().window.used);
    await openSession(page, EXAMPLE);
    state.isBroken = false;
    const before = asked.length;
    await page.waitForTimeout(4_500);
    assert.equal(asked.length, before, "nobody is asked any more");
    const head = await page.textContent("header.top");
    assert.match(head, /^plimsollharbour-audit\.pi\.jsonlpi · 538 messages/);
    assert.doesNotMatch(head, /\/rpc/);
    await page.close();
  }
});

test("a request is one point of the chart, before and after its provider has counted it", {
  skip,
  timeout: 60_000,
}, async (t) => {
  const { context, history } = growing();
  const { origin } = await gateway(t, () => context);
  history.push({ role: "user", content: "How deep is it?" });
  let prepared = context.request(history);
  const address = `${origin}/inspector#live=/rpc&session=one`;
  const { page } = await emptyPage(await browser(t), {}, address);
  const counted = [];
  for (const more of [500, 700]) {
    await shows(page, context.inspect().window.used);
    context.observe({ inputTokens: prepared.tokens + more, outputTokens: 9 }, prepared);
    counted.push(prepared.tokens + more);
    await shows(page, context.inspect().window.used);
    const used = await page.evaluate(() => [
      .../** @type {any} */ (globalThis).__inspector.state.session.value.facts.calls.used,
    ]);
    assert.deepEqual(used, counted);
    history.push({ role: "assistant", content: "Deep." }, { role: "user", content: "And here?" });
    prepared = context.request(history);
  }
});

/** A prompt of five sections: whole, cut in both ways, left out; one with text that is no markup. */
const planned = () =>
  assemblePrompt(
    [
      {
        key: "base",
        content: "You are <b>careful</b>. ".repeat(40),
        priority: 95,
        protected: true,
      },
      { key: "git", content: "diff ".repeat(400), priority: 40 },
      { key: "memory:soul", content: "a soul ".repeat(150) },
      { key: "rules:test", content: "test it ".repeat(170) },
      { key: "skills", content: "a skill ".repeat(80), evidence: ["skills/a.md"] },
    ],
    {
      budget: { maxPerTierChars: 900, maxTotalChars: 2_600 },
      focus: requestFocus("fix the tests in src/a.test.ts"),
    },
  );

test("a live session shows the sections of its prompt and what its compactions lost", {
  skip,
  timeout: 120_000,
}, async (t) => {
  const context = new ContextManager({
    ...{ window: WINDOW, format: "anthropic", id: "one" },
    summarize: async (/** @type {any} */ job) => good(job),
  });
  const [history, system] = [talk(20), planned()];
  context.request(history, { system });
  const { origin } = await gateway(t, () => context);
  const started = await browser(t);
  const address = `${origin}/inspector#live=/rpc&session=one`;
  const { page } = await emptyPage(started, {}, address);
  await shows(page, context.inspect().window.used);
  const tabs = () => page.textContent("[role=tablist]");
  assert.equal(await tabs(), "MessagesNext requestSystem prompt");
  await page.keyboard.press("3");
  const rows = () =>
    page.evaluate(() =>
      Array.from(document.querySelectorAll("#panel tbody tr"), (row) =>
        Array.from(row.children, (cell) => cell.textContent),
      ),
    );
  const figures = (/** @type {number} */ value) => value.toLocaleString("en-US");
  const { sections, budget, totalChars } = context.inspect();
  const shown = await rows();
  // What is cut first comes first: each budget that a section needs contains those below it.
  assert.deepEqual(
    shown.map(([key]) => key),
    ["git", "skills", "rules:test", "memory:soul", "base"],
  );
  for (const [key, priority, characters, tokens, state, uncut] of shown) {
    const one = sections.find((/** @type {any} */ section) => section.key === key);
    const lift = one.priority - one.basePriority;
    assert.equal(priority, `${one.basePriority}${lift ? ` + ${lift}` : ""}`);
    const sent = figures(one.finalChars);
    assert.equal(characters, one.truncated ? `${figures(one.originalChars)} → ${sent}` : sent);
    assert.equal(tokens, figures(one.estimatedTokens));
    const fate = one.included ? (one.truncated ? "cut" : "whole") : "left out";
    assert.equal(state, one.protected ? `${fate} protected` : fate);
    assert.equal(uncut, figures(one.wholeFromTotalChars));
  }
  const panel = (await page.textContent("#panel")) ?? "";
  assert.ok(panel.includes(`${figures(totalChars)} of at most ${figures(budget.maxTotalChars)}`));
  assert.ok(panel.includes("src/a.test.ts"), panel);

  // A text is asked for when a section is opened, and shown as text; its key is in the address.
  await page.click("#panel button:text('base')");
  await page.waitForFunction(
    (/** @type {string} */ text) => document.querySelector("#panel pre")?.textContent === text,
    "You are <b>careful</b>. ".repeat(40),
  );
  await page.click("#panel button:text('skills')");
  await page.waitForFunction(() =>
    /left out by the total.*skills\/a\.md/s.test(
      document.querySelector("#panel .receipt")?.textContent ?? "",
    ),
  );
  await page.waitForTimeout(500);
  assert.match(page.url(), /tab=system.*section=skills/);
  const narrow = { viewport: { width: 320, height: 900 }, colorScheme: "dark", bypassCSP: true };
  const { page: again } = await emptyPage(started, narrow, page.url());
  await again.waitForSelector("#panel .receipt:has-text('skills/a.md')");

  // A compaction adds a tab with what it lost.
  await context.compact(history, { force: true, system });
  context.request(history, { system });
  await shows(page, context.inspect().window.used);
  assert.equal(await tabs(), "MessagesWhat was lostNext requestSystem prompt");
  await page.click("text=See what it took");
  const [record] = context.inspect().compactions;
  assert.ok(record.lost.length > 0 && record.head.includes("Zebra_One"));
  const lost = (await page.textContent(".ledger")) ?? "";
  assert.ok(lost.includes(`${record.firstKeptIndex} messages → a summary`), lost);
  assert.ok(lost.includes(record.lost.join(" · ")), lost);
  assert.equal(await page.textContent(".ledger pre"), record.head);
  // Both screens without a fault, narrow and dark.
  await again.waitForSelector("[role=tab]:has-text('What was lost')");
  await again.evaluate(axe);
  for (const tab of ["System prompt", "What was lost"]) {
    await again.click(`[role=tab]:has-text('${tab}')`);
    await again.waitForTimeout(250);
    const { violations } = await again.evaluate(() =>
      /** @type {any} */ (globalThis).axe.run(document, {
        runOnly: ["wcag2a", "wcag2aa", "wcag22aa"],
      }),
    );
    assert.deepEqual(
      violations.map((/** @type {any} */ one) => `${one.id}: ${one.nodes[0]?.html}`),
      [],
      tab,
    );
    assert.equal(await again.evaluate(() => document.documentElement.scrollWidth), 320, tab);
  }
  await page.click("text=Show them");
  assert.equal(
    await page.textContent(".messages .where"),
    `${record.firstKeptIndex} messages at this call`,
  );

  // Without a plan the tab goes, and the messages are shown.
  await page.keyboard.press("4");
  context.request(history, { system: "Be brief." });
  await shows(page, context.inspect().window.used);
  assert.equal(await tabs(), "MessagesWhat was lostNext request");
  assert.equal(await page.textContent("[role=tab][aria-selected=true]"), "Messages");
});

test("a live replay shows every call, with the figures of the API", {
  skip,
  timeout: 120_000,
}, async (t) => {
  const session = readSession(readFileSync(EXAMPLE));
  const played = replay(session, { window: { contextTokens: 64_000 } });
  const { origin } = await gateway(t, () => played);
  const started = await browser(t);
  const { page } = await emptyPage(started, {}, `${origin}/inspector#live=/rpc&session=x&call=100`);
  await page.waitForFunction(
    () => /** @type {any} */ (globalThis).__inspector.state.standing.value?.call === 99,
  );
  for (const call of [0, 99, 200, played.calls.length - 1]) {
    await goTo(page, call);
    const report = await reportOf(page, call);
    // The handler fills in the id that was asked for.
    assert.deepEqual(report, { ...plain(played.report(call)), sessionId: "x" }, `call ${call}`);
    assert.equal(
      await page.textContent("[data-figure=used]"),
      played.report(call).window.used.toLocaleString("en-US"),
    );
  }
});

test("a page from a file reads a gateway of this computer if its address says so, and nothing else", {
  skip,
}, async (t) => {
  const { context, step } = growing();
  step(2);
  const cors = {
    "access-control-allow-origin": "*",
    "access-control-allow-headers": "content-type",
  };
  const mine = await gateway(t, () => context, cors);
  const other = await gateway(t, () => context, cors);
  const started = await browser(t);
  const { page } = await emptyPage(
    started,
    {},
    `file://${PAGE}#live=${mine.origin}/rpc&session=one`,
  );
  await shows(page, context.inspect().window.used);
  const tries = await page.evaluate(
    (/** @type {string[]} */ addresses) =>
      Promise.all(
        addresses.map((address) =>
          fetch(address).then(
            () => "reached",
            () => "refused",
          ),
        ),
      ),
    [`${other.origin}/rpc`, `${mine.origin.replace("127.0.0.1", "localhost")}/rpc`],
  );
  assert.deepEqual(tries, ["refused", "refused"]);
  assert.equal(other.asked.length, 0);

  for (const address of [
    "https://example.invalid/rpc",
    "http://10.0.0.1/rpc",
    "file:///rpc",
    "//x",
    "javascript:0",
  ]) {
    const { page: refused, complaints } = await emptyPage(
      started,
      {},
      `file://${PAGE}#live=${encodeURIComponent(address)}&session=one`,
    );
    assert.match(
      (await refused.textContent("[role=alert]")) ?? "",
      /^live: expected an address of/,
    );
    assert.deepEqual(complaints, [], address);
    await refused.close();
  }
});

test("the example of docs/inspector.md shows a session of the page around", {
  skip,
  timeout: 60_000,
}, async (t) => {
  const { context, step } = growing();
  step(2);
  const around = await gateway(t, () => context);
  const page = await (await browser(t)).newPage();
  await page.exposeFunction("answer", (/** @type {unknown} */ request) => around.handle(request));
  await page.goto(`${around.origin}/around`);
  await page.evaluate(
    (/** @type {string} */ code) => {
      const frame = document.createElement("iframe");
      document.body.append(frame);
      const scope = /** @type {any} */ (globalThis);
      const names = ["createInspectHandler", "sessions", "frame"];
      new Function(...names, code)(() => scope.answer, new Map(), frame);
    },
    exampleOf("docs/inspector.md", 1),
  );
  await page.waitForSelector("iframe");
  const frame = page.frames().at(-1) ?? page.mainFrame();
  await shows(frame, context.inspect().window.used);
});

test("the page around answers over a port; other origins and windows are ignored", {
  skip,
  timeout: 60_000,
}, async (t) => {
  const { context, step } = growing();
  step(2);
  const around = await gateway(t, (id) => (id === "one" ? context : undefined));
  const inner = await gateway(t, () => undefined);
  const started = await browser(t);
  const page = await started.newPage();
  await page.exposeFunction("answer", (/** @type {unknown} */ request) => around.handle(request));
  const framed = async (/** @type {string} */ embed) => {
    await page.goto(`${around.origin}/around`);
    await page.evaluate(
      (/** @type {string[]} */ [address, own]) => {
        const frame = document.createElement("iframe");
        const scope = /** @type {any} */ (globalThis);
        scope.ready = 0;
        addEventListener("message", ({ data, source }) => {
          if (data?.type !== "plimsoll-inspector-ready" || source !== frame.contentWindow) return;
          scope.ready += 1;
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = async (event) => port1.postMessage(await scope.answer(event.data));
          frame.contentWindow?.postMessage(
            { type: "plimsoll-inspector-connect", sessionId: "one" },
            own ?? "",
            [port2],
          );
        });
        frame.src = address ?? "";
        Object.assign(frame.style, { width: "1200px", height: "800px" });
        document.body.append(frame);
      },
      [`${inner.origin}/inspector#embed=${embed}`, inner.origin],
    );
    return page.frames().at(-1) ?? page.mainFrame();
  };
  let frame = await framed(around.origin);
  await shows(frame, context.inspect().window.used);
  step(5);
  await shows(frame, context.inspect().window.used);
  assert.deepEqual(await reportOf(frame), plain(context.inspect()));
  assert.equal(inner.asked.length, 0, "nothing is asked over HTTP");

  // Another session takes its place: what the first consisted of does not stand under the other's name.
  await page.evaluate((/** @type {string} */ own) => {
    const scope = /** @type {any} */ (globalThis);
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = async (event) => port1.postMessage(await scope.answer(event.data));
    const connect = { type: "plimsoll-inspector-connect", sessionId: "two" };
    document.querySelector("iframe")?.contentWindow?.postMessage(connect, own, [port2]);
  }, inner.origin);
  await frame.waitForSelector("header .warn[role=status]");
  assert.match((await frame.textContent("header.top")) ?? "", /two.*Unknown or inactive session/);
  assert.doesNotMatch((await frame.textContent("#app")) ?? "", /\d messages?/);
  assert.equal(await frame.locator("[data-figure=used]").count(), 0);

  // The address names another origin: this page is not told that the frame is ready, and its port is not taken.
  frame = await framed("https://example.org");
  await frame.waitForFunction(() => "__inspector" in globalThis);
  await page.evaluate((/** @type {string} */ own) => {
    const { port2 } = new MessageChannel();
    document
      .querySelector("iframe")
      ?.contentWindow?.postMessage({ type: "plimsoll-inspector-connect", sessionId: "evil" }, own, [
        port2,
      ]);
  }, inner.origin);
  await page.waitForTimeout(1_200);
  assert.equal(await page.evaluate(() => /** @type {any} */ (globalThis).ready), 0);
  const live = await frame.evaluate(
    () => /** @type {any} */ (globalThis).__inspector.state.live.value,
  );
  assert.deepEqual([live.name, live.lastAt], ["the page around", null]);
  const alone = await emptyPage(started, {}, `file://${PAGE}#embed=https://example.org`);
  assert.match((await alone.page.textContent("[role=alert]")) ?? "", /not inside another/);
});
