// @ts-check
/** The inspector in real Chromium: pages with a session open in them. */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { after } from "node:test";
import { chromiumPath } from "../support/chromium.mjs";
import { root } from "../support/project.mjs";

/** The page as it is published. */
export const PAGE = join(dirname(process.env.PLIMSOLL ?? ""), "inspector.html");
export const EXAMPLE = join(root, "examples/sessions/harbour-audit.pi.jsonl");
export const SHARED = join(root, "../shared/data/sessions");

const FLAGS = [
  ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

/** Says why nothing of a file runs here; empty if it does. */
export function missing() {
  if (chromiumPath()) return "";
  console.log("skipped: the inspector's tests, because there is no Chromium in PATH");
  return "there is no Chromium in PATH";
}

/** A figure of the suite, printed for whoever compares runs. @param {string} name @param {string} value */
export const figure = (name, value) => console.log(`figure: ${name}: ${value}`);

/** The session files that are shared beside the project, each with its format. */
export function sharedSessions() {
  let formats;
  try {
    formats = readdirSync(SHARED).filter((name) => statSync(join(SHARED, name)).isDirectory());
  } catch {
    console.log("skipped: shared sessions, because ../shared is absent");
    return [];
  }
  return formats.flatMap((format) =>
    readdirSync(join(SHARED, format)).map((name) => ({ format, path: join(SHARED, format, name) })),
  );
}

async function launch() {
  const { chromium } = await import("playwright-core");
  return chromium.launch({ executablePath: chromiumPath() ?? "", args: FLAGS });
}

/** Chromium of this file's tests, which run one after the other. @type {ReturnType<typeof launch> | undefined} */
let shared;
if (process.argv[1]?.endsWith(".test.mjs")) after(async () => (await shared)?.close());

/** Chromium; what a test opens in it closes with the test. @param {import("node:test").TestContext} t */
export async function browser(t) {
  shared ??= launch();
  const started = await shared;
  t.after(() => Promise.all(started.contexts().map((context) => context.close())));
  return started;
}

/** A Chromium that nothing ran in before. @param {import("node:test").TestContext} t */
export async function freshBrowser(t) {
  const started = await launch();
  t.after(() => started.close());
  return started;
}

/**
 * A page without a session. `complaints` are errors of the page and requests that it makes.
 * @param {any} started @param {object} [options] of Playwright's `newPage` @param {string} [address]
 */
export async function emptyPage(started, options = {}, address = `file://${PAGE}`) {
  const page = await started.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  const complaints = /** @type {string[]} */ ([]);
  page.on("pageerror", (/** @type {Error} */ error) => complaints.push(error.message));
  page.on("console", (/** @type {any} */ line) => {
    if (line.type() === "error") complaints.push(line.text());
  });
  page.on("request", (/** @type {any} */ request) => {
    if (!/^(file|blob|data):/.test(request.url())) complaints.push(`request ${request.url()}`);
  });
  await page.goto(address);
  await page.waitForFunction(() => "__inspector" in globalThis);
  return { page, complaints };
}

/** Opens a session file and waits until its first simulation is there, or why it cannot be read. */
export async function openSession(/** @type {any} */ page, /** @type {any} */ file) {
  await page.setInputFiles("input[type=file]", file);
  const name = typeof file === "string" ? basename(file) : file.name;
  await settled(page, name);
}

/** Waits until a session of this name is open and nothing is under way. */
export async function settled(/** @type {any} */ page, /** @type {string} */ name) {
  await page.waitForFunction(
    (/** @type {string} */ wanted) => {
      const { state } = /** @type {any} */ (globalThis).__inspector;
      if (state.failure.value || state.notice.value) return true;
      const { call, run, standing, session, policy, playing } = state;
      return (
        session.value?.name === wanted &&
        policy.value &&
        !playing.value &&
        standing.value?.call === call.value &&
        standing.value.run === run.value
      );
    },
    name,
    { timeout: 300_000, polling: 20 },
  );
}

/** Goes to a call and waits for its figures. @returns {Promise<number>} milliseconds until they were drawn */
export function goTo(/** @type {any} */ page, /** @type {number} */ call) {
  return page.evaluate(async (/** @type {number} */ wanted) => {
    const { state } = /** @type {any} */ (globalThis).__inspector;
    const begun = performance.now();
    state.call.value = wanted;
    while (state.standing.value?.call !== wanted || state.standing.value.run !== state.run.value)
      await new Promise((resolve) => setTimeout(resolve));
    await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - begun;
  }, call);
}

/** Scrolls the list of messages from frame to frame: milliseconds of each, and how many elements the page has then. */
export function scrolled(/** @type {any} */ page) {
  return page.evaluate(async () => {
    const list = /** @type {HTMLElement} */ (document.querySelector(".list"));
    const spent = [];
    let last = performance.now();
    for (let number = 0; number < 120; number += 1) {
      list.scrollTop += 900;
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const now = performance.now();
      spent.push(now - last);
      last = now;
    }
    return { spent, nodes: document.querySelectorAll("*").length };
  });
}

/** The value below which a share of the values are. @param {number[]} values @param {number} share */
export function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}
