// @ts-check
/** Lives sessions in a thread of its own: its timers stand still but where a run moves them. */
import { mock } from "node:test";
import { parentPort } from "node:worker_threads";
import { loadPackage } from "../../support/package.mjs";
import { live } from "./run.mjs";

const { api } = await loadPackage();
const port = /** @type {import("node:worker_threads").MessagePort} */ (parentPort);
// Once before the time stands still: what is loaded when it is first wanted takes time.
const talk = Array.from({ length: 40 }, (_, at) => ({
  role: at % 2 ? "assistant" : "user",
  content: `message ${at}: ${"what was said of it ".repeat(20)}`,
}));
const first = new api.ContextManager({
  window: { contextTokens: 8_000 },
  summarize: async () => "",
  summary: { minimumTokens: 0 },
});
await first.compact(talk, { force: true });
first[Symbol.dispose]();
mock.timers.enable({ apis: ["setTimeout", "setInterval"] });

port.on("message", async ({ from, to, steps }) => {
  /** @type {Record<string, number>} */
  const counts = {};
  const found = [];
  for (let seed = from; seed <= to; seed += 1) {
    const { count, problem } = await live(api, seed, { steps, timers: mock.timers });
    for (const [name, value] of Object.entries(count)) counts[name] = (counts[name] ?? 0) + value;
    if (problem) found.push({ seed, ...problem });
  }
  port.postMessage({ done: Math.max(to - from + 1, 0), counts, found });
  if (to < from) port.close();
});
port.postMessage({ ready: true });
