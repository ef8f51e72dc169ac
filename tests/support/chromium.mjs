/** Chromium, on pages served from a folder. */
import { spawnSync } from "node:child_process";
import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

const TYPES = {
  ".html": "text/html",
  ".js": "text/javascript",
  ".mjs": "text/javascript",
  ".wasm": "application/wasm",
};
const FLAGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Where Chromium is, or null. */
export function chromiumPath() {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    const path = spawnSync("which", [name], { encoding: "utf8" }).stdout.trim();
    if (path) return path;
  }
  return null;
}

/**
 * Opens a page of a folder, waits until it has set `globalThis.answer`, and gives that.
 * @param {string} folder what is served
 * @param {string} page path of the page in it
 * @param {Record<string, string>} headers sent with every answer
 */
export async function openPage(folder, page, headers = {}) {
  const { chromium } = await import("playwright-core");
  const server = createServer((request, response) => {
    const path = join(folder, normalize(new URL(request.url, "http://page").pathname));
    if (!existsSync(path)) return response.writeHead(404).end();
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/plain", ...headers });
    return createReadStream(path).pipe(response);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: FLAGS });
  try {
    const view = await browser.newPage();
    const complaints = [];
    view.on("pageerror", (error) => complaints.push(String(error)));
    view.on("console", (line) => line.type() === "error" && complaints.push(line.text()));
    await view.goto(`http://127.0.0.1:${server.address().port}/${page}`);
    const answer = view.waitForFunction(() => globalThis.answer, null, { timeout: 20_000 });
    return await answer.then(
      (handle) => handle.jsonValue(),
      () => Promise.reject(new Error(`the page gave no answer: ${complaints.join("; ")}`)),
    );
  } finally {
    await browser.close();
    server.close();
  }
}
