/**
 * Plays an agent of Mastra with the page's snippet, and prints what the model saw. The model reads a file a step and refuses what is
 * invalid or longer than `limit`. Arguments: the limit, `generate` or `stream`, the strict checker's file.
 */
import { createTool } from "@mastra/core/tools";
import { z } from "zod";

const [limit, way, strictFile] = process.argv.slice(2);
const { strictFor } = await import(strictFile);
const STEPS = 50;
const FACT = "The audit number is ZX-4471.";
const strict = strictFor("ai-sdk", "anthropic");
const seen = { calls: 0, refused: 0, peak: 0, epochs: 0, broken: [] };
let before = [];

/** What a call is answered with. */
function answer(prompt) {
  seen.broken.push(...strict(prompt.filter(({ role }) => role !== "system")));
  if (!JSON.stringify(prompt).includes(FACT)) seen.broken.push("the fact is gone");
  const tokens = Math.ceil(JSON.stringify(prompt).length / 4);
  if (tokens > Number(limit)) {
    seen.refused += 1;
    throw new Error(`prompt is too long: ${tokens} tokens > ${limit} maximum`);
  }
  seen.peak = Math.max(seen.peak, tokens);
  seen.calls += 1;
  // No cache compares markers.
  const unmarked = (name, value) => (name === "providerOptions" ? undefined : value);
  const parts = prompt.map((one) => JSON.stringify(one, unmarked));
  if (before.some((one, at) => one !== parts[at])) seen.epochs += 1;
  before = parts;
  const call = {
    type: "tool-call",
    toolCallId: `call_${seen.calls}`,
    toolName: "read",
    input: JSON.stringify({ path: `src/berth${seen.calls}.js` }),
  };
  const isDone = seen.calls > STEPS;
  const text = { type: "text", text: "The audit is done." };
  const usage = { inputTokens: tokens, outputTokens: 20, totalTokens: tokens + 20 };
  return {
    content: [isDone ? text : call],
    finishReason: isDone ? "stop" : "tool-calls",
    usage,
    warnings: [],
  };
}

const model = {
  ...{
    specificationVersion: "v2",
    provider: "anthropic.messages",
    modelId: "m",
    supportedUrls: {},
  },
  doGenerate: async ({ prompt }) => answer(prompt),
  doStream: async ({ prompt }) => {
    const { content, finishReason, usage } = answer(prompt);
    const [part] = content;
    const delta = { type: "text-delta", id: "1", delta: part.text };
    const text = [{ type: "text-start", id: "1" }, delta, { type: "text-end", id: "1" }];
    const chunks = [
      { type: "stream-start", warnings: [] },
      ...(part.type === "text" ? text : [part]),
      { type: "finish", finishReason, usage },
    ];
    return { stream: ReadableStream.from(chunks) };
  },
};
const read = createTool({
  id: "read",
  description: "Reads a file.",
  inputSchema: z.object({ path: z.string() }),
  execute: async ({ path }) => `${path}\n${"const berth = ledger.find(ship);\n".repeat(60)}`,
});
const instructions = "You audit a harbour.";
globalThis.host = { id: "audit", name: "audit", instructions, model, tools: { read } };
const { agent } = await import(process.env.SNIPPET);
const asked = `${FACT} Read every berth's file, one at a time.`;
const result = await agent[way](asked, { maxSteps: STEPS + 5 });
console.log(JSON.stringify({ seen, text: await result.text }));
