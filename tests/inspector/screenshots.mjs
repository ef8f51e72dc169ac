// @ts-check
/** Screenshots for docs/inspector.md, of the project's own session: `PLIMSOLL=.../index.node.js node tests/inspector/screenshots.mjs`. */
import { join } from "node:path";
import { chromiumPath } from "../support/chromium.mjs";
import { root } from "../support/project.mjs";
import { EXAMPLE, emptyPage, openSession, PAGE } from "./page.mjs";

const { chromium } = await import("playwright-core");
const started = await chromium.launch({
  executablePath: chromiumPath() ?? "",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
});

const TWO = "a-window=48000&a-reserve=2000&a-preset=economy&window=96000&reserve=2000";

/** Each with its keys, its colours, the part of the page that it shows, and what the address says. Names as arguments: those alone. */
const SHOTS = /** @type {ReadonlyArray<[string, "light" | "dark", string[], string, string?]>} */ ([
  ["overview", "light", ["v", "v"], "body"],
  ["why", "dark", ["v", "c", "j", "f"], "#panel", "window=64000&reserve=2000"],
  ["treemap", "light", ["t"], "#panel"],
  ["what-if", "light", ["w"], ".chart-card, .results", `view=both&${TWO}&preset=capacity`],
  ["lost", "light", ["2"], "#panel"],
  ["next", "light", ["4"], "#panel"],
  ["compare", "light", ["5"], "#panel"],
  ["file", "light", ["6"], "#panel"],
  ["search", "dark", ["/", ..."failed", "Enter"], ".chart-card, #panel"],
  ["share", "light", ["s"], "dialog"],
]);

/** The smallest rectangle with these elements. */
async function around(/** @type {any} */ page, /** @type {string} */ parts) {
  await page.evaluate(() => scrollTo(0, 0));
  const all = await page.locator(parts).all();
  const boxes = await Promise.all(all.map((one) => one.boundingBox()));
  const [x, y] = [Math.min(...boxes.map((it) => it.x)), Math.min(...boxes.map((it) => it.y))];
  const width = Math.max(...boxes.map((it) => it.x + it.width)) - x;
  return { x, y, width, height: Math.max(...boxes.map((it) => it.y + it.height)) - y };
}

try {
  const wanted = process.argv.slice(2);
  for (const [name, colorScheme, keys, part, hash = ""] of SHOTS) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const options = { colorScheme, viewport: { width: 1180, height: 860 } };
    const { page } = await emptyPage(started, options, `file://${PAGE}#${hash}`);
    await openSession(page, EXAMPLE);
    await page.waitForTimeout(hash ? 2_000 : 0);
    for (const key of keys) {
      await page.keyboard.press(key);
      await page.waitForTimeout(300);
    }
    await page.waitForTimeout(2_000);
    const path = join(root, "docs/images", `inspector-${name}.png`);
    if (part === "body") await page.screenshot({ path });
    else await page.screenshot({ path, fullPage: true, clip: await around(page, part) });
    await page.close();
  }
} finally {
  await started.close();
}
