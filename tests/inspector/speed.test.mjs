// @ts-check
/** Times on a large session: printed, and held to generous bounds, because machines are shared. `--long`: 20 and 60 MB. */
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { sized } from "../support/size.mjs";
import { repeated } from "./big.mjs";
import {
  browser,
  EXAMPLE,
  emptyPage,
  figure,
  freshBrowser,
  goTo,
  missing,
  quantile,
  SHARED,
  scrolled,
  settled,
} from "./page.mjs";

const skip = missing() || false;
/** Sessions that are repeated: one with long messages, one with twice as many calls for each megabyte. */
const SOURCES = {
  "long messages": join(SHARED, "pi/pi-mono-before-compaction.jsonl"),
  "short messages": join(SHARED, "pi/pi-mono-large.jsonl"),
};
/** @typedef {[megabytes: number, kind: keyof typeof SOURCES]} Size */
const sizes = sized({
  short: /** @type {Size[]} */ ([[1, "short messages"]]),
  ci: /** @type {Size[]} */ ([[3, "short messages"]]),
  long: /** @type {Size[]} */ ([
    [20, "long messages"],
    [20, "short messages"],
    [60, "long messages"],
    [60, "short messages"],
  ]),
});

/** Milliseconds that a worker of this browser takes to parse the lines of a file. @param {any} page @param {string} name */
const yardstick = (page) =>
  page.evaluate(() => {
    const text = /** @type {any} */ (globalThis).__text;
    const begun = performance.now();
    for (const line of text.split("\n")) if (line !== "") JSON.parse(line);
    return performance.now() - begun;
  });

/** Resident memory of the page's process in MB. */
function memory(/** @type {number} */ parent) {
  let most = 0;
  const pids = readFileSync(`/proc/${parent}/task/${parent}/children`, "utf8").trim().split(" ");
  const seen = [...pids];
  for (const pid of seen) {
    try {
      seen.push(
        ...readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
          .trim()
          .split(" ")
          .filter(Boolean),
      );
      if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer")) continue;
      const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
      most = Math.max(most, Number(peak?.[1] ?? 0) / 1000);
    } catch {
      // It ended meanwhile.
    }
  }
  return most;
}

for (const [size, kind] of sizes) {
  test(`a session of ${size} MB in ${kind} opens and responds within its time limits`, {
    skip,
    timeout: 900_000,
  }, async (t) => {
    const started = await freshBrowser(t);
    const source = SOURCES[kind];
    const bytes = repeated(existsSync(source) ? source : EXAMPLE, size * 1e6);
    const own = Math.round(bytes.length / 1e5) / 10;
    // From a disk, as a person opens it: bytes that a test hands over lie in the page several times.
    const folder = mkdtempSync(join(tmpdir(), "plimsoll-"));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const path = join(folder, "big.jsonl");
    writeFileSync(path, bytes);
    const say = (/** @type {string} */ name, /** @type {string} */ value) =>
      figure(`${own} MB, ${name}`, value);
    const { page, complaints } = await emptyPage(started);
    const process = started.process?.()?.pid ?? (await browserPid());
    const empty = process ? memory(process) : 0;

    // The yardstick in the same browser, then forgotten.
    const other = await started.newPage();
    await other.setContent("<input type=file>");
    await other.setInputFiles("input", path);
    await other.evaluate(async () => {
      /** @type {any} */ (globalThis).__text = await /** @type {any} */ (
        document.querySelector("input")
      ).files[0].text();
    });
    const y = await yardstick(other);
    await other.close();

    await page.evaluate(() => {
      const scope = /** @type {any} */ (globalThis);
      scope.__long = [];
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) scope.__long.push([entry.startTime, entry.duration]);
      }).observe({ entryTypes: ["longtask"] });
      scope.__begun = 0;
      scope.__progress = 0;
      scope.__first = 0;
      const { state } = scope.__inspector;
      const input = document.querySelector("input[type=file]");
      input?.addEventListener(
        "change",
        () => {
          scope.__begun = performance.now();
        },
        { capture: true },
      );
      const watch = () => {
        if (!scope.__progress && document.querySelector(".loading"))
          scope.__progress = performance.now() - scope.__begun;
        if (!scope.__first && document.querySelector("[data-figure=used]"))
          scope.__first = performance.now() - scope.__begun;
        if (!state.policy.value) requestAnimationFrame(watch);
      };
      requestAnimationFrame(watch);
    });
    await page.setInputFiles("input[type=file]", path);
    await settled(page, "big.jsonl");
    const times = await page.evaluate(() => {
      const {
        __first: first,
        __progress: progress,
        __begun: begun,
        __long: long,
        __inspector,
      } = /** @type {any} */ (globalThis);
      const { facts } = __inspector.state.session.value;
      const after = long.filter(([/** @type {number} */ at]) => at > begun + first + 20);
      return {
        first,
        progress,
        ...facts.milliseconds,
        messages: facts.messages,
        calls: facts.calls.used.length,
        play: __inspector.state.policy.value.milliseconds,
        after: after.map(([/** @type {number} */ , spent]) => Math.round(spent)),
      };
    });
    say("messages and calls", `${times.messages}, ${times.calls}`);
    say("JSON.parse of all lines (Y)", `${y.toFixed(0)} ms`);
    say("progress shown", `${times.progress.toFixed(0)} ms`);
    say(
      "first screen",
      `${times.first.toFixed(0)} ms = ${(times.first / y).toFixed(1)} Y (read ${times.read.toFixed(0)}, measure ${times.measure.toFixed(0)})`,
    );
    say("full replay", `${times.play.toFixed(0)} ms = ${(times.play / y).toFixed(1)} Y`);
    say("main-thread tasks over 50 ms after the first screen", JSON.stringify(times.after));
    if (process)
      say(
        "memory net of the empty page",
        `${(memory(process) - empty).toFixed(0)} MB = ${((memory(process) - empty) / own).toFixed(1)} times the file`,
      );

    const scrub = [];
    for (let number = 0; number < 50; number += 1)
      scrub.push(await goTo(page, (number * 7919 + 17) % times.calls));
    say("scrub, recorded, p95", `${quantile(scrub, 0.95).toFixed(0)} ms`);
    await page.evaluate(() => {
      /** @type {any} */ (globalThis).__inspector.state.view.value = "plimsoll";
    });
    const simulated = [];
    for (let number = 0; number < 50; number += 1)
      simulated.push(await goTo(page, (number * 7919 + 19) % times.calls));
    say("scrub, simulated, p95", `${quantile(simulated, 0.95).toFixed(0)} ms`);

    const why = await page.evaluate(async (/** @type {number} */ calls) => {
      const { state } = /** @type {any} */ (globalThis).__inspector;
      const { client, facts } = state.session.value;
      const spent = [];
      for (let number = 0; number < 30; number += 1) {
        const call = (number * 7919 + 23) % calls;
        const index = (number * 31) % facts.calls.sent[call];
        const begun = performance.now();
        const answer = await client.ask("detail", { run: "policy", call, index });
        spent.push(performance.now() - begun);
        if (!answer.explanation?.state)
          throw new Error(`no reason for message ${index} at call ${call}`);
      }
      return spent;
    }, times.calls);
    say("why at any call, p95", `${quantile(why, 0.95).toFixed(0)} ms`);

    const found = await page.evaluate(async () => {
      const { client } = /** @type {any} */ (globalThis).__inspector.state.session.value;
      const begun = performance.now();
      const hits = await client.ask("find", { text: "error", ignoreCase: false });
      return { spent: performance.now() - begun, hits: hits.length };
    });
    say(
      "search for error",
      `${found.spent.toFixed(0)} ms = ${(found.spent / y).toFixed(1)} Y, ${found.hits} messages`,
    );

    await page.evaluate(() => {
      /** @type {any} */ (globalThis).__inspector.state.view.value = "recorded";
    });
    await page.keyboard.press("w");
    for (const [name, work] of /** @type {const} */ ([
      ["window", () => page.locator(".options input").first().fill("128000")],
      ["preset", () => page.locator(".options select").selectOption("economy")],
      ["trigger", () => page.locator(".options input").last().fill("0.8")],
    ])) {
      const before = await page.evaluate(
        () => /** @type {any} */ (globalThis).__inspector.state.trial.value?.used.length ?? 0,
      );
      const begun = performance.now();
      await work();
      await page.locator(".options input").last().blur();
      await page.evaluate(() => /** @type {any} */ (document.activeElement)?.blur());
      await page.waitForFunction(
        () =>
          !(/** @type {any} */ (globalThis).__inspector.state.playing.value) &&
          /** @type {any} */ (globalThis).__inspector.state.trial.value,
        null,
        { timeout: 120_000, polling: 20 },
      );
      const spent = performance.now() - begun;
      const played = await page.evaluate(
        () => /** @type {any} */ (globalThis).__inspector.state.trial.value.milliseconds,
      );
      say(
        `what if: ${name}`,
        `${spent.toFixed(0)} ms, of it simulated ${played.toFixed(0)} = ${(played / y).toFixed(1)} Y (before: ${before})`,
      );
    }

    await page.keyboard.press("1");
    const { spent, nodes } = await scrolled(page);
    say("scrolling, p95 of frames", `${quantile(spent, 0.95).toFixed(1)} ms, ${nodes} elements`);

    assert.deepEqual(complaints, []);
    assert.ok(nodes <= 1_500, `${nodes} elements`);
    // Ten times what is aimed for: a mistake in the order of growth is seen, a busy machine is not.
    assert.ok(times.first < 100 * y + 5_000, "the first screen");
    assert.ok(quantile(scrub, 0.95) < 1_000, "scrubbing");
    assert.ok(quantile(why, 0.95) < 1_500, "reasons");
  });
}

/** The process of the browser that was started last by this one. */
async function browserPid() {
  const { readdirSync } = await import("node:fs");
  const own = String(globalThis.process.pid);
  const found = readdirSync("/proc").filter((name) => {
    try {
      const [, , , parent] = readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/\(.*\)/, "x")
        .split(" ");
      return (
        /^\d+$/.test(name) &&
        parent === own &&
        readFileSync(`/proc/${name}/cmdline`, "utf8").includes("chrom")
      );
    } catch {
      return false;
    }
  });
  return Number(found.at(-1) ?? 0);
}

test("cancelling a file keeps the open session usable", { skip }, async (t) => {
  const started = await browser(t);
  const { page } = await emptyPage(started);
  await page.setInputFiles("input[type=file]", EXAMPLE);
  await settled(page, "harbour-audit.pi.jsonl");
  const buffer = repeated(EXAMPLE, 6e6);
  // Asked for before the file is there: a small one may be read before another question comes.
  const answered = page.evaluate(async () => {
    const { state } = /** @type {any} */ (globalThis).__inspector;
    const button = () => /** @type {any} */ (document.querySelector(".loading button"));
    while (!button()) await new Promise((resolve) => setTimeout(resolve));
    const begun = performance.now();
    button().click();
    state.call.value = 40;
    while (state.standing.value?.call !== 40) await new Promise((resolve) => setTimeout(resolve));
    return performance.now() - begun;
  });
  await page.setInputFiles("input[type=file]", {
    name: "big.jsonl",
    mimeType: "text/plain",
    buffer,
  });
  const spent = await answered;
  figure("after Cancel, the old session answers in", `${spent.toFixed(0)} ms`);
  assert.equal(await page.textContent("h1"), "harbour-audit.pi.jsonl");
  assert.ok(spent < 2_000);
});
