// @ts-check
/** Files that mean harm: nothing of them runs, nothing leaves, and what cannot be read is said in one line. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import test from "node:test";
import { sized } from "../support/size.mjs";
import {
  browser,
  emptyPage,
  figure,
  goTo,
  missing,
  openSession,
  quantile,
  scrolled,
} from "./page.mjs";

const skip = missing() || false;
const ESC = String.fromCharCode(27);

/** A pi file of a chain of messages. @param {Array<[role: string, text: string]>} messages */
function chain(messages) {
  const lines = [
    '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}',
  ];
  for (const [at, [role, text]] of messages.entries()) {
    const content = role === "user" ? text : [{ type: "text", text }];
    const parentId = at === 0 ? null : `m${at - 1}`;
    const message = { role, content, timestamp: 1 };
    lines.push(
      JSON.stringify({
        type: "message",
        id: `m${at}`,
        parentId,
        timestamp: "2026-01-01T00:00:00Z",
        message,
      }),
    );
  }
  return Buffer.from(lines.join("\n"));
}

const ATTACKS = [
  "<script>globalThis.__pwned = 1</script>",
  "</script><script>globalThis.__pwned = 1</script>",
  '<img src=x onerror="globalThis.__pwned = 1">',
  "\u202egnp.exe \u2066isolated",
  `${ESC}[31mred${ESC}[0m ${ESC}]8;;http://127.0.0.1:9/${String.fromCharCode(7)}link`,
  "nul \u0000 inside",
  '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
  "javascript:globalThis.__pwned=1 http://127.0.0.1:9/beacon.png",
];

test("hostile markup in a session is shown as text", { skip }, async (t) => {
  const started = await browser(t);
  const { page, complaints } = await emptyPage(started);
  const buffer = chain(
    ATTACKS.flatMap((text) => [
      ["user", text],
      ["assistant", text],
    ]),
  );
  const name = '<img src=x onerror="__pwned=1">.jsonl';
  await openSession(page, { name, mimeType: "text/plain", buffer });
  for (let index = 0; index < ATTACKS.length * 2; index += 1) {
    await page.evaluate((/** @type {number} */ at) => {
      /** @type {any} */ (globalThis).__inspector.state.selected.value = at;
    }, index);
    await page.waitForSelector(".why pre");
  }
  for (const key of ["2", "3", "4", "5", "6"]) await page.keyboard.press(key);
  const { pwned, polluted, images } = await page.evaluate(() => ({
    pwned: /** @type {any} */ (globalThis).__pwned,
    polluted: /** @type {any} */ ({}).polluted,
    images: document.querySelectorAll("img, iframe, a[href]").length,
  }));
  assert.equal(pwned, undefined);
  assert.equal(polluted, undefined);
  assert.equal(images, 0);
  assert.deepEqual(complaints, []);
  assert.equal(await page.textContent("h1"), name);
  figure("attacks shown as texts", String(ATTACKS.length));
});

test("a file that is not a session is refused in one line", { skip }, async (t) => {
  const started = await browser(t);
  const { page, complaints } = await emptyPage(started);
  const binary = Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 37) % 256));
  for (const [name, buffer] of /** @type {const} */ ([
    ["empty.jsonl", Buffer.from("")],
    ["binary.jsonl", binary],
    ["text.txt", Buffer.from("hello\nworld")],
    ["other.json", Buffer.from('{"a":1}')],
  ])) {
    await page.setInputFiles("input[type=file]", { name, mimeType: "text/plain", buffer });
    await page.waitForFunction(
      (/** @type {string} */ it) =>
        document.querySelector("[role=alert]")?.textContent?.startsWith(it),
      name,
    );
    const text = await page.textContent("[role=alert]");
    assert.ok(text && text.length < 700 && !text.includes("\n"), text ?? "");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be shown
    assert.doesNotMatch(text ?? "", /[\u0000-\u001f]/);
  }
  assert.deepEqual(complaints, []);
});

test("the browser blocks any connection of the page", { skip }, async (t) => {
  let requests = 0;
  const server = createServer((_, response) => {
    requests += 1;
    response.writeHead(200, { "access-control-allow-origin": "*" }).end("{}");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(undefined)));
  t.after(() => server.close());
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const started = await browser(t);
  const { page } = await emptyPage(started);
  const answers = await page.evaluate(async (/** @type {number} */ at) => {
    const tries = [
      `http://127.0.0.1:${at}/`,
      `http://localhost:${at}/`,
      "https://example.invalid/",
    ];
    const failed = /** @type {string[]} */ ([]);
    for (const address of tries)
      await fetch(address).catch((error) => failed.push(String(error.name)));
    return failed;
  }, port);
  assert.equal(answers.length, 3);
  assert.equal(requests, 0);
});

test("a chain of thousands of small messages opens with correct line counts", {
  skip,
  timeout: 600_000,
}, async (t) => {
  const deep = sized({ short: 4_000, ci: 10_000, long: 100_000 });
  const started = await browser(t);
  const { page, complaints } = await emptyPage(started);
  const buffer = chain(
    Array.from({ length: deep }, (_, at) => [at % 2 === 0 ? "user" : "assistant", `message ${at}`]),
  );
  const begun = performance.now();
  await openSession(page, { name: "deep.jsonl", mimeType: "text/plain", buffer });
  figure(
    `${deep} messages in a chain, with the simulation`,
    `${((performance.now() - begun) / 1000).toFixed(1)} s`,
  );
  const { read, calls } = await page.evaluate(() => {
    const { facts } = /** @type {any} */ (globalThis).__inspector.state.session.value;
    return { read: facts.receipt.read, calls: facts.calls.used.length };
  });
  assert.equal(read, deep + 1);
  assert.equal(calls, deep / 2);
  await goTo(page, Math.floor(calls / 2));
  await goTo(page, calls - 1);
  const { spent, nodes } = await scrolled(page);
  figure(
    `${deep} rows, scrolling, p95 of frames`,
    `${quantile(spent, 0.95).toFixed(1)} ms, ${nodes} elements`,
  );
  assert.ok(nodes <= 1_500, `${nodes} elements`);
  assert.deepEqual(complaints, []);
});

test("a session file with a line of many megabytes opens", {
  skip,
  timeout: 300_000,
}, async (t) => {
  const long = sized({ short: 4e6, ci: 8e6, long: 50e6 });
  const started = await browser(t);
  const { page, complaints } = await emptyPage(started);
  const buffer = chain([
    ["user", "x ".repeat(long / 2)],
    ["assistant", "done"],
  ]);
  await openSession(page, { name: "line.jsonl", mimeType: "text/plain", buffer });
  await page.evaluate(() => {
    /** @type {any} */ (globalThis).__inspector.state.selected.value = 0;
  });
  await page.waitForSelector(".why pre");
  const shown = await page.evaluate(
    () => document.querySelector(".why pre")?.textContent?.length ?? 0,
  );
  assert.ok(shown <= 400_000);
  assert.deepEqual(complaints, []);
});
