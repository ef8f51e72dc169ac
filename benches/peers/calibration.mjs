/**
 * Error of the next request's estimate after the provider has reported usage for earlier ones: every shared session that
 * holds real usage, in a window so large that nothing is edited. Percent of the provider's count of the input.
 */
import { readSession } from "../../npm/dist/entry/sessions.node.js";
import { ContextManager } from "../../npm/dist/index.node.js";
import { sessionFiles } from "../../tests/conformance/support/session-files.mjs";

const WINDOW = { contextTokens: 1_000_000_000, maxOutputTokens: 8_192 };
const AFTER = [1, 2, 5];
const MOST = 1;

/** The error of each request that has a figure, in order. */
function errors({ messages, calls, system, tools }) {
  const context = new ContextManager({ window: WINDOW, clock: () => 0 });
  const off = [];
  for (const { sent, usage } of calls) {
    const { tokens } = context.request(messages.slice(0, sent), { system, tools });
    if (!usage?.inputTokens) continue;
    off.push((100 * Math.abs(tokens - usage.inputTokens)) / usage.inputTokens);
    context.observe(usage);
  }
  return off;
}

/** Of numbers in order what stands at a share of them. */
function quantile(numbers, share) {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(share * sorted.length)];
}

function shown(numbers) {
  if (numbers.length === 0) return "-".padStart(15);
  const [middle, most] = [quantile(numbers, 0.5), quantile(numbers, 0.9)];
  return `${middle.toFixed(2).padStart(7)} ${most.toFixed(2).padStart(7)}`;
}

/** Prints median and ninth decile of the error after some usages, by the writer of the session and of all. */
export function bench() {
  const writers = new Map();
  for (const file of sessionFiles()) {
    const [writer] = file.name.split("/");
    const off = errors(readSession(file.bytes()));
    if (off.length > 1) writers.set(writer, [...(writers.get(writer) ?? []), off]);
  }
  if (writers.size === 0) {
    console.log("\nskipped: calibration: no session tells usage");
    return;
  }
  console.log("\nthe next request's tokens, percent off what the provider counted: median, p90\n");
  const heads = [...AFTER.map((usageCount) => `after ${usageCount}`), "all after 2"];
  console.log(`${"".padEnd(28)}${heads.map((head) => head.padStart(18)).join("")}`);
  for (const [name, all] of [...writers, ["all", [...writers.values()].flat()]]) {
    const at = (usageCount) => all.flatMap((off) => off.slice(usageCount, usageCount + 1));
    const columns = [...AFTER.map(at), all.flatMap((off) => off.slice(2))].map(shown);
    const label = `${name} (${all.length})`;
    console.log(`${label.padEnd(28)}${columns.map((column) => column.padStart(18)).join("")}`);
    if (name === "all") {
      console.log(`\nmedian after 2 usages ${quantile(at(2), 0.5).toFixed(2)} %, to be ${MOST}`);
    }
  }
}
