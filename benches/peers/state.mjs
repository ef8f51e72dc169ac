/**
 * Size of a session: its snapshot, its head, and its live state in the core, by what the Wasm's memory grows by
 * while many managers of the same session are held. A worker for each session, since such a memory never shrinks.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { sessionFiles } from "../../tests/conformance/support/session-files.mjs";

const MESSAGES = 200;
const SESSIONS = 32;
const WINDOW = { contextTokens: 64_000, maxOutputTokens: 8_192 };
const MOST = { snapshot: [8_000, 8_000], live: [128_000, 320_000] };

/** A manager that has made every request of the session's, and the last of them. */
function played(ContextManager, { messages, calls, system, tools }) {
  let now = 1_700_000_000_000;
  const clock = () => {
    now += 20_000;
    return now;
  };
  const context = new ContextManager({ window: WINDOW, clock });
  const prompts = calls.map(({ sent }) => sent).filter((sent) => sent > 0 && sent < MESSAGES);
  let prepared;
  for (const sent of [...prompts, MESSAGES]) {
    prepared = context.request(messages.slice(0, sent), { system, tools });
  }
  return { context, prepared };
}

/** The text that our first message begins with, where the snapshot holds it. */
function headOf({ messages, source }, snapshot) {
  const ours = messages.find((_, at) => source[at] === null);
  const { content = ours?.parts } = ours ?? {};
  const text = typeof content === "string" ? content : content?.[0]?.text;
  return text && Buffer.from(snapshot).includes(text) ? Buffer.byteLength(text) : 0;
}

async function measure(name) {
  const { Instance } = WebAssembly;
  const memories = [];
  WebAssembly.Instance = class extends Instance {
    constructor(...args) {
      super(...args);
      memories.push(this.exports.memory);
    }
  };
  const { ContextManager } = await import("../../npm/dist/index.node.js");
  const { readSession } = await import("../../npm/dist/entry/sessions.node.js");
  const file = sessionFiles().find((file) => file.name === name);
  const session = readSession(file.bytes());
  const { context, prepared } = played(ContextManager, session);
  const snapshot = context.snapshot();
  const size = () => memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
  const contexts = [context, played(ContextManager, session).context];
  const before = size();
  for (let more = 0; more < SESSIONS; more += 1)
    contexts.push(played(ContextManager, session).context);
  const live = (size() - before) / SESSIONS;
  const head = headOf(prepared, snapshot);
  return { name, snapshot: snapshot.length - head, head, live };
}

/** Measures every session, and prints the middle and the largest. */
export async function bench(median) {
  const rows = [];
  for (const { name } of sessionFiles()) {
    const worker = new Worker(new URL(import.meta.url), { workerData: name });
    rows.push(
      await new Promise((done, fail) => {
        worker.once("message", done);
        worker.once("error", fail);
      }),
    );
    await worker.terminate();
  }
  console.log(
    `\n${rows.length} sessions cut at ${MESSAGES} messages, window ${WINDOW.contextTokens}\n`,
  );
  for (const [what, [usual, worst]] of Object.entries(MOST)) {
    const sorted = rows.toSorted((a, b) => a[what] - b[what]);
    const most = sorted.at(-1);
    const label = what === "live" ? "live state" : "snapshot without its head";
    console.log(
      `${label.padEnd(28)} median ${kilobytes(median(rows.map((row) => row[what])))} (at most ${usual / 1_000}), most ${kilobytes(most[what])} (at most ${worst / 1_000}): ${most.name}`,
    );
  }
  return rows;
}

const kilobytes = (bytes) => `${(bytes / 1_000).toFixed(1)} kB`;

if (!isMainThread && typeof workerData === "string") {
  parentPort.postMessage(await measure(workerData));
}
