/** pi's compaction, and OpenClaw's, which grew out of it: their own functions decide, cut, and write the prompt of the summary. */
import { existsSync, readFileSync } from "node:fs";
import { tokens } from "../provider.mjs";
import { summarize } from "../summarizer.mjs";
import { peer, summaryBudget } from "./peer.mjs";

/** Reserve and tail: the defaults, which are for 200k, but no more than fits a smaller window. */
const settingsOf = (window) => ({
  enabled: true,
  reserveTokens: Math.min(16_384, Math.floor(window / 4)),
  keepRecentTokens: Math.min(20_000, Math.floor(window * 0.3)),
});

/** The scripted summarizer as a model of theirs. */
function answer(context, window, provider) {
  const asked = context.messages
    .map(({ content }) =>
      typeof content === "string" ? content : content.map((it) => it.text ?? "").join("\n"),
    )
    .join("\n");
  const previous = /<previous-summary>([\s\S]*?)<\/previous-summary>/.exec(asked)?.[1] ?? null;
  const transcript = /<conversation>([\s\S]*?)<\/conversation>/.exec(asked)?.[1] ?? asked;
  const text = summarize({ transcript, previous, budget: summaryBudget(window) });
  provider.summary(`${context.systemPrompt ?? ""}${asked}`, text);
  return text;
}

const USAGE = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

function side(lib, compactWith, { window, provider, clock }) {
  const settings = settingsOf(window);
  const entries = [];
  const back = new WeakMap();
  let known = 0;
  let lastAssistant = null;
  const shape = (message, names) => {
    const { role, content, tool_calls: calls = [], tool_call_id: id } = message;
    const text = content ? [{ type: "text", text: content }] : [];
    const timestamp = clock();
    if (role === "user") return { role, content: text, timestamp };
    if (role === "tool")
      return {
        role: "toolResult",
        toolCallId: id,
        toolName: names.get(id),
        content: text,
        isError: false,
        timestamp,
      };
    const made = calls.map(({ id, function: it }) => ({
      type: "toolCall",
      id,
      name: it.name,
      arguments: JSON.parse(it.arguments),
    }));
    return {
      role,
      content: [...text, ...made],
      api: "scripted",
      provider: "scripted",
      model: "scripted",
      usage: USAGE,
      stopReason: made.length > 0 ? "toolUse" : "stop",
      timestamp,
    };
  };
  const take = (history) => {
    const names = new Map(
      history.flatMap(({ tool_calls: calls = [] }) =>
        calls.map(({ id, function: it }) => [id, it.name]),
      ),
    );
    for (const message of history.slice(known)) {
      const shaped = shape(message, names);
      back.set(shaped, message);
      // The usage of the request that it answered, as its host records it.
      if (shaped.role === "assistant") {
        const size = pending + tokens(JSON.stringify(shaped.content));
        shaped.usage = { ...USAGE, input: pending, output: size - pending, totalTokens: size };
        lastAssistant = shaped;
      }
      push({ type: "message", message: shaped });
    }
    known = history.length;
  };
  const push = (entry) => {
    const id = `e${entries.length}`;
    entries.push({
      ...entry,
      id,
      parentId: entries.at(-1)?.id ?? null,
      timestamp: new Date(clock()).toISOString(),
    });
  };
  let pending = 0;
  const view = () => {
    const { messages } = lib.buildSessionContext(entries);
    return messages.map((it) => back.get(it) ?? { role: "user", content: textOf(lib, it) });
  };
  const compact = async (custom = settings) => {
    const found = lib.prepareCompaction(entries, custom);
    const preparation = found && "ok" in found ? (found.ok ? found.value : null) : found;
    if (!preparation) return false;
    const result = await compactWith(preparation, (context) => answer(context, window, provider));
    const done = result && "ok" in result ? (result.ok ? result.value : null) : result;
    if (!done) throw new Error(`compaction failed: ${result?.error?.message}`);
    push({
      type: "compaction",
      ...done,
      summary: done.summary,
      firstKeptEntryId: done.firstKeptEntryId,
      tokensBefore: done.tokensBefore,
    });
    return true;
  };
  return {
    async request(history) {
      take(history);
      const { messages } = lib.buildSessionContext(entries);
      const { tokens: size } = lib.estimateContextTokens(messages);
      if (lib.shouldCompact(size, window, settings)) await compact();
      return view();
    },
    async overflow() {
      // After an overflow they compact and try again.
      const done = await compact({
        ...settings,
        keepRecentTokens: Math.floor(settings.keepRecentTokens / 2),
      });
      return done ? view() : null;
    },
    usage({ size }) {
      pending = size;
    },
    last: () => lastAssistant,
  };
}

const textOf = (lib, message) =>
  message.role === "compactionSummary"
    ? `${lib.COMPACTION_SUMMARY_PREFIX}${message.summary}${lib.COMPACTION_SUMMARY_SUFFIX}`
    : message.content.map((it) => it.text ?? "").join("");

export const pi = async (host) => {
  const lib = await peer("@earendil-works/pi-agent-core");
  const { registerFauxProvider, fauxAssistantMessage } = await import(
    new URL("../../peers/node_modules/@earendil-works/pi-ai/dist/index.js", import.meta.url)
  );
  const faux = registerFauxProvider();
  const made = side(
    lib,
    (preparation, reply) => {
      faux.setResponses(
        Array.from({ length: 2 }, () => (context) => fauxAssistantMessage(reply(context))),
      );
      return lib.compact(preparation, faux.getModel(), "key");
    },
    host,
  );
  return { ...made, close: () => faux.unregister() };
};

const claw = new URL("../../../build/openclaw/node_modules/openclaw/", import.meta.url);
export const openclawVersion = () =>
  existsSync(new URL("package.json", claw))
    ? JSON.parse(readFileSync(new URL("package.json", claw), "utf8")).version
    : null;

export const openclaw = async (host) => {
  const lib = await import(new URL("dist/plugin-sdk/agent-core.js", claw));
  const model = {
    id: "scripted",
    name: "scripted",
    api: "openai-completions",
    provider: "scripted",
    baseUrl: "http://127.0.0.1:0",
    reasoning: false,
    input: ["text"],
    cost: USAGE.cost,
    contextWindow: host.window,
    maxTokens: 8_192,
  };
  return side(
    lib,
    (preparation, reply) => {
      const stream = (_, context) => {
        const message = {
          role: "assistant",
          content: [{ type: "text", text: reply(context) }],
          api: model.api,
          provider: model.provider,
          model: model.id,
          usage: USAGE,
          stopReason: "stop",
          timestamp: host.clock(),
        };
        return {
          result: async () => message,
          async *[Symbol.asyncIterator]() {
            yield { type: "done", reason: "stop", message };
          },
        };
      };
      return lib.compact(
        preparation,
        model,
        "key",
        undefined,
        undefined,
        undefined,
        undefined,
        stream,
      );
    },
    host,
  );
};
