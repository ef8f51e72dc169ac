// @ts-check
/** A shared copy: no secret is in its bytes, it opens without a network, and nothing can be saved that was not reviewed. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { gunzipSync } from "node:zlib";
import { browser, EXAMPLE, emptyPage, figure, missing, openSession, settled } from "./page.mjs";

const skip = missing() || false;

/** Secrets as their makers write them, put together so that no scanner takes this file for a leak. */
const SECRETS = [
  ["ghp_", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"],
  ["sk-ant-api03-", "Zx9Yw8Vu7Ts6Rq5Po4Nm3Lk2Ji1Hg0Fe-Dc9Ba8Zx7Yw6"],
  ["AKIA", "Q7W3E9R5T1Y8U2I6"],
  ["xoxb-", "123456789012-1234567890123-aBcDeFgHiJkLmNoPqRsTuVwX"],
  ["glpat-", "x1Y2z3A4b5C6d7E8f9G0"],
  ["sk_live_", "4eC39HqLyjWDarjtT1zdp7dcQ1w2E3r4"],
].map((parts) => parts.join(""));

/** A pi file with the secrets in every class of message. */
function planted() {
  const secret = (/** @type {number} */ at) => SECRETS[at % SECRETS.length] ?? "";
  const messages = SECRETS.flatMap((_, at) => [
    { role: "user", content: `my token is ${secret(at)} in /home/margaret/notes`, timestamp: 1 },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: `the user gave ${secret(at + 1)}` },
        { type: "text", text: `I use ${secret(at + 2)}` },
        {
          type: "toolCall",
          id: `call_${at}`,
          name: "bash",
          arguments: { command: `export T=${secret(at + 3)}` },
        },
      ],
      timestamp: 1,
    },
    {
      role: "toolResult",
      toolCallId: `call_${at}`,
      toolName: "bash",
      content: [{ type: "text", text: `T=${secret(at + 4)}` }],
      isError: false,
      timestamp: 1,
    },
  ]);
  const lines = [
    {
      type: "session",
      version: 3,
      id: "s",
      timestamp: "2026-01-01T00:00:00Z",
      cwd: "/home/margaret",
    },
  ];
  for (const [at, message] of messages.entries())
    lines.push(
      /** @type {any} */ ({
        type: "message",
        id: `m${at}`,
        parentId: at === 0 ? null : `m${at - 1}`,
        timestamp: "2026-01-01T00:00:00Z",
        message,
      }),
    );
  return lines.map((line) => JSON.stringify(line)).join("\n");
}

/** All that a shared page carries: its own bytes, and the session in it. @param {string} html */
function contents(html) {
  const carried = /id="plimsoll-session"[^>]*>([^<]+)</.exec(html)?.[1] ?? "";
  return html + gunzipSync(Buffer.from(carried, "base64")).toString();
}

test("a shared page contains no planted secret", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const started = await browser(t);
  const { page } = await emptyPage(started, { acceptDownloads: true });
  await openSession(page, {
    name: "planted.jsonl",
    mimeType: "text/plain",
    buffer: Buffer.from(planted()),
  });
  for (const number of [0, 1, 2]) {
    await page.keyboard.press("s");
    await page.locator("dialog input[type=radio]").nth(number).check();
    const save = page.locator("dialog .primary");
    assert.ok(await save.isDisabled(), "nothing to save before the review");
    await page.waitForSelector("dialog h3");
    assert.ok(await save.isDisabled(), "nothing to save before the review");
    await page.locator("dialog input[type=checkbox]").check();
    const [download] = await Promise.all([page.waitForEvent("download"), save.click()]);
    const all = contents(readFileSync(await download.path(), "utf8"));
    for (const secret of SECRETS)
      assert.ok(!all.includes(secret), `${secret.slice(0, 6)} is in the copy`);
    assert.ok(!all.includes("margaret"));
    await page.keyboard.press("Escape");
  }
  figure(
    "secrets planted in each of four kinds of block, absent from three shared pages",
    String(SECRETS.length),
  );
});

test("shared pages of the browser and of the command line open offline with the same report", {
  skip,
  timeout: 240_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-"));
  const started = await browser(t);
  const { page } = await emptyPage(started, { acceptDownloads: true });
  await openSession(page, EXAMPLE);
  const before = await page.evaluate(() => /** @type {any} */ (globalThis).__inspector.report());
  await page.keyboard.press("s");
  await page.waitForSelector("dialog h3");
  await page.locator("dialog input[type=checkbox]").check();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("dialog .primary").click(),
  ]);
  const shared = join(folder, "shared.html");
  writeFileSync(shared, readFileSync(await download.path()));
  const written = join(folder, "cli.html");
  const ran = spawnSync(process.env.PLIMSOLL_BIN ?? "", ["inspect", EXAMPLE, "--html", written], {
    encoding: "utf8",
  });
  assert.equal(ran.status, 0, ran.stderr);
  for (const file of [shared, written]) {
    const { page: opened, complaints } = await emptyPage(
      started,
      { offline: true },
      `file://${file}`,
    );
    const name = await opened.evaluate(
      () => document.getElementById("plimsoll-session")?.dataset.name ?? "",
    );
    await settled(opened, name);
    const report = await opened.evaluate(() =>
      /** @type {any} */ (globalThis).__inspector.report(),
    );
    assert.deepEqual(report.window, before.window);
    assert.deepEqual(report.buckets, before.buckets);
    assert.deepEqual(complaints, []);
  }
});

test("a shared copy is named as one, and offers no branch that is not in it", {
  skip,
  timeout: 120_000,
}, async (t) => {
  const started = await browser(t);
  const { page } = await emptyPage(started, { acceptDownloads: true });
  const run = (/** @type {number} */ trial) => ({
    ...{ task_id: trial, trial, reward: 1, info: {} },
    traj: [
      { role: "user", content: `question ${trial}` },
      { role: "assistant", content: "answer" },
    ],
  });
  await openSession(page, {
    name: "läufe 会議.json",
    mimeType: "text/plain",
    buffer: Buffer.from(JSON.stringify([run(0), run(1)])),
  });
  await page.keyboard.press("6");
  assert.equal(await page.locator("select option").count(), 2);
  await page.keyboard.press("s");
  await page.waitForSelector("dialog h3");
  await page.locator("dialog input[type=checkbox]").check();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.locator("dialog .primary").click(),
  ]);
  const shared = join(mkdtempSync(join(tmpdir(), "plimsoll-")), "shared.html");
  writeFileSync(shared, readFileSync(await download.path()));
  const { page: copy } = await emptyPage(started, {}, `file://${shared}#tab=file`);
  await settled(copy, "läufe 会議 (redacted)");
  await copy.waitForSelector(".receipt");
  assert.equal(await copy.locator("select").count(), 0);
});
