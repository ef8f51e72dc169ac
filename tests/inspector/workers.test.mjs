// @ts-check
/** Workers of the page: one practises until a file comes, and one reads each file, also where a browser's files are no streams of bytes. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { browser, EXAMPLE, emptyPage, missing, openSession, PAGE } from "./page.mjs";

const skip = missing() || false;

/** Waits until something is so. @param {() => boolean} is */
async function until(is) {
  const begun = Date.now();
  while (!is()) {
    assert.ok(Date.now() - begun < 30_000, "waited for 30 seconds");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

test("a worker practises before the first file, and ends by itself", { skip }, async (t) => {
  const page = await (await browser(t)).newPage();
  let begun = 0;
  page.on("worker", () => {
    begun += 1;
  });
  await page.goto(`file://${PAGE}`);
  await until(() => begun === 1 && page.workers().length === 0);
  await openSession(page, EXAMPLE);
  assert.equal(page.workers().length, 1, "that of the session");
});

test("a file is read where files are no streams of bytes", { skip }, async (t) => {
  const older = `const own = ReadableStream.prototype.getReader;
ReadableStream.prototype.getReader = function (options) {
  if (options) throw new TypeError("no stream of bytes");
  return own.call(this);
};
`;
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "inspector.html");
  const mark = 'id="plimsoll-worker">';
  const page = readFileSync(PAGE, "utf8");
  assert.ok(page.includes(mark));
  writeFileSync(
    path,
    page.replace(mark, () => `${mark}${older}`),
  );
  const figures = [];
  for (const address of [`file://${PAGE}`, `file://${path}`]) {
    const opened = await emptyPage(await browser(t), {}, address);
    await openSession(opened.page, EXAMPLE);
    figures.push(await opened.page.locator("[data-figure=used]").innerText());
    assert.deepEqual(opened.complaints, []);
  }
  assert.match(figures[0] ?? "", /^[\d,]+$/);
  assert.equal(figures[1], figures[0]);
});
