/** Runs the gateway: `node server.mjs --store file:sessions --folder .`, with the model in MODEL_URL, MODEL_NAME, MODEL_KEY. */
import { parseArgs } from "node:util";
import { openaiCompatible } from "plimsoll/summarizers";
import { createChat } from "./chat.mjs";
import { createGateway } from "./gateway.mjs";
import { openStore } from "./store.mjs";
import { Tools } from "./tools.mjs";

const { values } = parseArgs({
  options: {
    host: { type: "string", default: "127.0.0.1" },
    port: { type: "string", default: "8787" },
    store: { type: "string", default: "file:sessions" },
    folder: { type: "string", default: "." },
    window: { type: "string", default: "128000" },
    answer: { type: "string", default: "8000" },
    limit: { type: "string", default: "500" },
  },
});
const { MODEL_URL: url, MODEL_NAME: model, MODEL_KEY: key, SUMMARY_MODEL: small } = process.env;
if (!url || !model)
  throw new Error("set MODEL_URL (such as http://localhost:11434/v1) and MODEL_NAME");

const [window, maxTokens] = [Number(values.window), Number(values.answer)];
const files = new Tools(values.folder);
// Whoever reaches the gateway can have these called: none of them writes or runs anything.
const readOnly = files.definitions.filter(({ name }) => ["list", "read", "grep"].includes(name));

const server = createGateway({
  store: await openStore(values.store),
  model: createChat({ url, model, key, maxTokens }),
  tools: { definitions: readOnly, run: (name, args) => files.run(name, args) },
  limit: Number(values.limit),
  context: {
    format: "openai-chat",
    window: { contextTokens: window, maxOutputTokens: maxTokens },
    // A smaller model writes the summaries.
    summarize: openaiCompatible({ baseUrl: url, model: small ?? model, apiKey: key }),
    on: (event) => {
      if (event.type === "compaction-failed") console.error(`no summary: ${event.outcome.reason}`);
    },
  },
});
server.listen(Number(values.port), values.host, () => {
  console.log(`listening on http://${values.host}:${server.address().port}`);
});

// Running turns may end; idle connections are closed.
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => server.close(() => process.exit()));
}
