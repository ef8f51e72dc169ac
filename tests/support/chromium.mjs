/** Chromium, on pages served from a folder. */
import { CHROMIUM, findProgram } from "./matrix.mjs";
import { serve } from "./page.mjs";

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
export const chromiumPath = () => findProgram(CHROMIUM);

/**
 * Opens a page of a folder, waits until it has set `globalThis.answer`, and gives that.
 * @param {string} folder what is served
 * @param {string} page path of the page in it
 * @param {Record<string, string>} headers sent with every answer
 */
export async function openPage(folder, page, headers = {}) {
  const server = await serve(folder, { headers });
  try {
    return await openUrl(`${server.origin}/${page}`);
  } finally {
    server.close();
  }
}

/** Opens an address, and does the same. */
export function openUrl(url) {
  return withPage(url, {}, async (view, complaints) => {
    const answer = view.waitForFunction(() => globalThis.answer, null, { timeout: 60_000 });
    return await answer.then(
      (handle) => handle.jsonValue(),
      () => Promise.reject(new Error(`the page gave no answer: ${complaints.join("; ")}`)),
    );
  });
}

/**
 * Opens an address, and closes it when `work` is done.
 * @template T
 * @param {string} url
 * @param {object} options of Playwright's `newPage`
 * @param {(view: any, complaints: string[]) => Promise<T>} work
 */
export async function withPage(url, options, work) {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({ executablePath: chromiumPath(), args: FLAGS });
  try {
    const view = await browser.newPage(options);
    const complaints = [];
    view.on("pageerror", (error) => complaints.push(String(error)));
    view.on("console", (line) => line.type() === "error" && complaints.push(line.text()));
    await view.goto(url);
    return await work(view, complaints);
  } finally {
    await browser.close();
  }
}
