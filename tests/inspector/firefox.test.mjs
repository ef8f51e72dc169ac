// @ts-check
/** The inspector in Firefox: its first screen has the same first figure. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { gzipSync } from "node:zlib";
import { openPage } from "../support/firefox.mjs";
import { HOSTS } from "../support/matrix.mjs";
import { emptyFolder, write } from "../support/project.mjs";
import { EXAMPLE, figure, PAGE } from "./page.mjs";

const missing = HOSTS.firefox.missing();
if (missing) console.log(`skipped: the inspector in Firefox, because ${missing}`);

/** Opens the inspector in a frame, because its policy lets it post nothing itself. */
const AROUND = `<!doctype html><meta charset="utf-8"><iframe id="frame" src="inside.html" width="1200" height="900"></iframe><script>
const begun = performance.now();
const watching = setInterval(() => {
  const inside = document.getElementById("frame").contentDocument;
  const used = inside?.querySelector("[data-figure=used]")?.textContent;
  const failure = inside?.querySelector("[role=alert]")?.textContent;
  if (!used && !failure) return;
  clearInterval(watching);
  globalThis.answer = JSON.stringify({ used, failure, spent: performance.now() - begun });
}, 20);
</script>`;

test("Firefox shows the first screen of a session in the page", {
  skip: missing ?? false,
  timeout: 120_000,
}, async () => {
  const { readSession, recordedView } = await import(
    new URL("./entry/sessions.node.js", `file://${process.env.PLIMSOLL}`).href
  );
  const bytes = readFileSync(EXAMPLE);
  const carried =
    `<script type="application/octet-stream;base64" id="plimsoll-session" data-name="own.jsonl" ` +
    `data-encoding="gzip">${gzipSync(bytes).toString("base64")}</script>`;
  const page = readFileSync(PAGE, "utf8");
  const at = page.indexOf('<script id="plimsoll-page"');
  const folder = emptyFolder();
  write(folder, {
    "around.html": AROUND,
    "inside.html": page.slice(0, at) + carried + page.slice(at),
  });
  const { used, failure, spent } = JSON.parse(await openPage(folder, "around.html"));
  assert.equal(failure, undefined);
  const own = recordedView(readSession(bytes)).calls.at(-1).used;
  assert.equal(used, own.toLocaleString("en-US"));
  figure("Firefox, first screen", `${spent.toFixed(0)} ms`);
});
