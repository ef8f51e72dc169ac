/**
 * Start of a new Node process: the time to import a package, and of ours to make its first request as well. Each in processes of its
 * own, in turn; the time of an empty program is subtracted.
 */
import { execFileSync } from "node:child_process";

const ROUNDS = 9;
const ENTRY = new URL("../../npm/dist/index.node.js", import.meta.url).href;
const CALL =
  "new p.ContextManager({ window: { contextTokens: 2e5 } }).request([{ role: 'user', content: 'hello' }]);";

const PROGRAMS = {
  "plimsoll, import": `await import(${JSON.stringify(ENTRY)});`,
  "plimsoll, import and first request": `const p = await import(${JSON.stringify(ENTRY)}); ${CALL}`,
  "context-chef, import": 'await import("@context-chef/core");',
  "pi agent core, import": 'await import("@earendil-works/pi-agent-core");',
  "AI SDK, import": 'await import("ai");',
  "LangChain core messages, import": 'await import("@langchain/core/messages");',
  "gpt-tokenizer o200k, import": 'await import("gpt-tokenizer/encoding/o200k_base");',
};

/** Milliseconds of a process that runs this program. */
function timed(program) {
  const cwd = new URL(".", import.meta.url);
  const begun = performance.now();
  execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd });
  return performance.now() - begun;
}

/** Prints the median of each, and gives the rows. */
export function bench(median) {
  const times = new Map([["", []], ...Object.keys(PROGRAMS).map((name) => [name, []])]);
  for (let round = 0; round < ROUNDS; round += 1) {
    times.get("").push(timed(""));
    for (const [name, program] of Object.entries(PROGRAMS)) times.get(name)?.push(timed(program));
  }
  const empty = median(times.get(""));
  console.log(
    `\nstart-up, ms beside the ${empty.toFixed(0)} of an empty program, median of ${ROUNDS}\n`,
  );
  const rows = Object.keys(PROGRAMS).map((name) => ({
    name,
    ms: Math.max(0, median(times.get(name)) - empty),
  }));
  for (const { name, ms } of rows)
    console.log(`${name.padEnd(40)} ${ms.toFixed(0).padStart(6)} ms`);
  return rows;
}
