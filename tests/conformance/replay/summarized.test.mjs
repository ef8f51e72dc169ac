// @ts-check
/**
 * Every request of every session through `prepare`, with a summarizer that is asked in the background and waited for where a
 * request would not fit: each is valid for its provider and within the window. In the session's own format, for its own provider.
 *
 *     PLIMSOLL_SESSIONS=^pi/ PLIMSOLL_WINDOWS=32000 node --test tests/conformance/replay/summarized.test.mjs
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { size } from "../../support/size.mjs";
import { isReadable } from "../providers/convert/session.mjs";
import { loadPackage } from "../support/package.mjs";
import { someSessionFiles } from "../support/session-files.mjs";
import { carryOut } from "./check-session.mjs";

const { api, why } = await loadPackage();
const only = new RegExp(process.env.PLIMSOLL_SESSIONS ?? "");
/** Windows of a session, by its number: one in turn in a short run. */
const windowsOf = (/** @type {number} */ number) => {
  if (process.env.PLIMSOLL_WINDOWS) return process.env.PLIMSOLL_WINDOWS.split(",").map(Number);
  const all = [32_000, 64_000, 128_000];
  return size === "short" ? all.slice(number % 3, (number % 3) + 1) : all;
};
const fields = /** @type {const} */ ([
  "sessions",
  "calls",
  "asked",
  "folds",
  "summarized",
  "degraded",
  "behind",
  "inherited",
  "unfit",
  "violations",
  "ms",
]);
/** @type {Map<number, any>} */
const totals = new Map();

/** What a model would write, as far as a test can tell: the headings, and the files that the prompt names. @param {any} job */
function written(job) {
  const named = new Set(job.prompt.match(/[\w./-]{3,60}\.\w{1,4}\b/g));
  const files = [...named].slice(0, 40).join(", ");
  const body = `work goes on with ${files || "what was asked"}`;
  const headed = (/** @type {string} */ name) => `## ${name}\n${body}\n`;
  return job.requiredHeadings.map(headed).join("\n") || body;
}

if (!api) test("every recorded session is summarized within the laws", { skip: why }, () => {});
else {
  for (const [number, { name, bytes }] of someSessionFiles(2)) {
    if (!only.test(name)) continue;
    test(`${name} is summarized within the laws`, async (t) => {
      const data = bytes();
      for (const contextTokens of windowsOf(number)) {
        const session = read(data);
        if (typeof session === "string") {
          console.log(`skipped: ${name}: ${session}`);
          return t.skip(session);
        }
        let asked = 0;
        const summarize = async (/** @type {any} */ job) => {
          asked += 1;
          // Not at once: what is asked meanwhile must not see it.
          await new Promise((resolve) => setImmediate(resolve));
          return written(job);
        };
        const { failures, ...report } = await carryOut(api, session, { contextTokens, summarize });
        const before = totals.get(contextTokens);
        const own = { sessions: 1, asked, ...report };
        totals.set(
          contextTokens,
          Object.fromEntries(fields.map((field) => [field, (before?.[field] ?? 0) + own[field]])),
        );
        assert.equal(
          report.violations,
          0,
          failures
            .map(
              (one) =>
                `@${contextTokens} call ${one.call} ${one.rule} [${one.index}]${one.path}: ${one.message}`,
            )
            .join("\n"),
        );
      }
    });
  }
  after(() => {
    for (const [window, row] of totals)
      console.log(
        `@${window / 1000}k: ${fields.map((field) => `${field} ${row[field]}`).join(" · ")}`,
      );
  });
}

/** Read anew: the messages are frozen, and one manager must not profit from another. @param {Uint8Array} data */
function read(data) {
  try {
    const session = api.readSession(data);
    const { messageFormat } = session;
    return isReadable(messageFormat) ? session : `its messages are ${messageFormat}`;
  } catch (error) {
    if (/** @type {any} */ (error).code !== "UNKNOWN_FORMAT") throw error;
    return "the package does not read this file yet";
  }
}
