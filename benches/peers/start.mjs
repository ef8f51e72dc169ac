/**
 * Start of a new Node process: the time to import a package, and of ours to make its first request as well, of one message or of a
 * long session. Each in processes of its own, in turn; the time of an empty program is subtracted, or of one that makes the messages.
 */
import { execFileSync } from "node:child_process";

const ROUNDS = 9;
const ENTRY = new URL("../../npm/dist/index.node.js", import.meta.url).href;
const LONG = new URL("../../tests/support/long.mjs", import.meta.url).href;
const LENGTH = 841;
const EMPTY = "";
const MESSAGES = `const { longSession } = await import(${JSON.stringify(LONG)}); const long = longSession(${LENGTH});`;
const request = (messages) =>
  `const p = await import(${JSON.stringify(ENTRY)}); new p.ContextManager({ window: { contextTokens: 2e5 } }).request(${messages});`;

/** What is timed, and the program whose time is subtracted. */
const ROWS = [
  ["plimsoll, import", `await import(${JSON.stringify(ENTRY)});`],
  ["plimsoll, import and first request", request("[{ role: 'user', content: 'hello' }]")],
  [
    `plimsoll, import and first request of ${LENGTH} messages`,
    `${MESSAGES} ${request("long")}`,
    MESSAGES,
  ],
  ["context-chef, import", 'await import("@context-chef/core");'],
  ["pi agent core, import", 'await import("@earendil-works/pi-agent-core");'],
  ["AI SDK, import", 'await import("ai");'],
  ["LangChain core messages, import", 'await import("@langchain/core/messages");'],
  ["gpt-tokenizer o200k, import", 'await import("gpt-tokenizer/encoding/o200k_base");'],
];

/** Milliseconds of a process that runs this program. */
function timed(program) {
  const cwd = new URL(".", import.meta.url);
  const begun = performance.now();
  execFileSync(process.execPath, ["--input-type=module", "-e", program], { cwd });
  return performance.now() - begun;
}

/** Prints the median of each, and gives the rows. */
export function bench(median) {
  const programs = [EMPTY, MESSAGES, ...ROWS.map(([, program]) => program)];
  const times = new Map(programs.map((program) => [program, []]));
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const program of programs) times.get(program).push(timed(program));
  }
  const of = (program) => median(times.get(program));
  console.log(
    `\nstart-up, ms beside the ${of(EMPTY).toFixed(0)} of an empty program, median of ${ROUNDS}\n`,
  );
  return ROWS.map(([name, program, beside = EMPTY]) => {
    const ms = Math.max(0, of(program) - of(beside));
    console.log(`${name.padEnd(56)} ${ms.toFixed(0).padStart(6)} ms`);
    return { name, ms };
  });
}
