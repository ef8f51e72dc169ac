// @ts-check
/** Screenshots for docs/inspector.md, of the project's own session: `PLIMSOLL=.../index.node.js node tests/inspector/screenshots.mjs`. */
import { join } from "node:path";
import { chromiumPath } from "../support/chromium.mjs";
import { root } from "../support/project.mjs";
import { EXAMPLE, emptyPage, openSession } from "./page.mjs";

const { chromium } = await import("playwright-core");
const started = await chromium.launch({
  executablePath: chromiumPath() ?? "",
  args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
});

/** Each with its keys, its colours, and the part of the page that it shows. */
const SHOTS = /** @type {ReadonlyArray<[string, "light" | "dark", string[], string]>} */ ([
  ["overview", "light", ["v", "v"], "body"],
  ["why", "dark", ["v", "c", "j"], "#panel"],
  ["treemap", "light", ["t"], "#panel"],
  ["what-if", "light", ["w"], "#panel"],
  ["lost", "light", ["2"], "#panel"],
  ["next", "light", ["4"], "#panel"],
  ["share", "light", ["s"], "dialog"],
]);

try {
  for (const [name, colorScheme, keys, part] of SHOTS) {
    const { page } = await emptyPage(started, {
      colorScheme,
      viewport: { width: 1180, height: 860 },
    });
    await openSession(page, EXAMPLE);
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForTimeout(600);
    const path = join(root, "docs/images", `inspector-${name}.png`);
    if (part === "body") await page.screenshot({ path });
    else await page.locator(part).screenshot({ path });
    await page.close();
  }
} finally {
  await started.close();
}
