// @ts-check
/** Agents of the AI SDK in miniature: turns of a chat with parallel calls, approvals, failing tools and tools of the provider. */
import { unpaired } from "../generated/additions.mjs";
import { strictFor } from "../providers/pairs.mjs";
import { edited, FAILED, frozen, provider, sessionOptions } from "./agent-runs.mjs";
import { refused } from "./ai-sdk-histories.mjs";
import { dice } from "./sdks.mjs";

/** Names that the SDK's models have for their provider, and whose rules they follow. */
const MODELS = /** @type {const} */ ([
  ["anthropic.messages", "anthropic"],
  ["openai.responses", "openai-responses"],
  ["google.generative-ai", "gemini"],
  ["amazon-bedrock", "bedrock"],
  ["mistral.chat", "mistral"],
  ["deepseek.chat", "deepseek"],
]);
const SYSTEM = "You are an agent.";
const TURNS = 6;

/** Without cache markers, and options that held nothing else. @param {any} message */
const keyOf = (message) =>
  JSON.stringify(message, (name, value) => {
    if (["cacheControl", "cachePoint"].includes(name)) return undefined;
    const isBare = (/** @type {any} */ of) =>
      Object.keys(of).every((key) => ["cacheControl", "cachePoint"].includes(key));
    const isMarker = name === "providerOptions" && Object.values(value ?? {}).every(isBare);
    return isMarker ? undefined : value;
  });

/**
 * Plays a chat. `way`: by `prepareStep`, or the middleware of the model.
 * @param {{ api: any, adapter: any, made: any[], sdk: any, Model: any, version: number, way: "prepareStep" | "middleware", seed: number }} of
 */
export async function playChat({ api, adapter, made, sdk, Model, version, way, seed }) {
  const by = dice(seed);
  const [name, rules] = MODELS[seed % MODELS.length];
  const options = sessionOptions(by);
  const strict = strictFor("ai-sdk", rules);
  const talk = provider({
    ...{ by, keyOf, made, options, tag: "TALK_A" },
    strict: (prompt) => {
      const flat = prompt.find(({ role, content }) => role !== "system" && !Array.isArray(content));
      if (flat) return [`content that is no list: ${JSON.stringify(flat)}`];
      if (prompt[0].content !== SYSTEM) return ["the system prompt is not first"];
      const alone = unpaired(prompt);
      return [...strict(prompt), ...refused(prompt), ...(alone ? [alone] : [])];
    },
  });
  const answer = scripted(by, rules, version);
  const answerTo = (/** @type {any} */ call) => {
    const hints = JSON.stringify(made.at(-1)?.hints?.body ?? {});
    if (hints !== "{}" && !JSON.stringify(call.providerOptions ?? {}).includes("thinking"))
      talk.problems.push(`call ${talk.seen.calls}: the provider does not get ${hints}`);
    return answer(talk.takes(call.prompt));
  };
  const mock = new Model({
    provider: name,
    supportedUrls: { "*/*": [/.*/] },
    doGenerate: async (/** @type {any} */ call) => answerTo(call),
    doStream: async (/** @type {any} */ call) => ({ stream: streamed(answerTo(call)) }),
  });
  const tools = toolsOf(sdk, by, version);
  // The thinking of a manager of its own is the host's choice, which version 5 can give no hints for.
  const thinking = version === 5 && way === "prepareStep" ? { thinking: "drop" } : {};
  const isOwn = by.chance(0.4);
  const session = isOwn
    ? new api.ContextManager({ ...options, ...thinking, format: "ai-sdk", provider: rules })
    : options;
  const host =
    way === "prepareStep"
      ? { model: mock, prepareStep: adapter.prepareStep(session, { tools }) }
      : { model: sdk.wrapLanguageModel({ model: mock, middleware: adapter.middleware(session) }) };
  const asked = {
    ...host,
    tools,
    system: SYSTEM,
    stopWhen: (sdk.stepCountIs ?? sdk.isStepCount)(6),
  };
  const turn = { by, sdk, asked, way, isStream: by.chance(0.5) };
  let history = /** @type {any[]} */ ([]);
  for (let at = 0; at < TURNS; at += 1) {
    history = edited(history, ({ role }) => role === "user", by);
    history = [...history, userMessage(talk.asks(at), by)];
    const after = await playTurn(history, turn).catch((error) => {
      // Where a call of the history has no result the SDK itself refuses, before the middleware sees the prompt.
      const isOpen = way === "middleware" && error?.name === "AI_MissingToolResultsError";
      if (!isOpen && !FAILED.test(String(error?.message))) talk.problems.push(`${error?.stack}`);
      return isOpen ? [] : history;
    });
    history = after;
  }
  return {
    ...talk.seen,
    problems: talk.problems.map((it) => `${version}, ${way}, ${name}: ${it}`),
  };
}

/** A turn to its end, or until the user does not decide. @param {any[]} history @param {any} of @returns {Promise<any[]>} */
async function playTurn(history, { by, sdk, asked, way, isStream }) {
  let all = history;
  for (let round = 0; round < 5; round += 1) {
    const abort = new AbortController();
    let left = by.chance(0.1) ? by.below(3) : -1;
    const call = {
      ...asked,
      messages: frozen(all),
      maxRetries: by.below(2),
      abortSignal: abort.signal,
      ...(by.chance(0.2) ? { providerOptions: { anthropic: { own: 1 } } } : {}),
      onError: () => {},
      onStepFinish: () => {
        if (left === 0) abort.abort();
        left -= 1;
      },
    };
    const { messages, content } = isStream ? await streamedRun(sdk, call) : await run(sdk, call);
    all = [...all, ...messages];
    const open = content.filter((/** @type {any} */ it) => it.type === "tool-approval-request");
    if (open.length === 0 && all.at(-1).role !== "tool") return all;
    if (open.length === 0) continue;
    if (way === "prepareStep" && by.chance(0.2)) return all;
    const decided = open.map((/** @type {any} */ { approvalId }) => ({
      type: "tool-approval-response",
      approvalId,
      approved: by.chance(0.7),
    }));
    all = [...all, { role: "tool", content: decided }];
  }
  return all;
}

/** @param {any} sdk @param {any} call */
async function run(sdk, call) {
  const { response, responseMessages = response.messages, content } = await sdk.generateText(call);
  return { messages: responseMessages, content };
}

/** @param {any} sdk @param {any} call */
async function streamedRun(sdk, call) {
  const result = sdk.streamText(call);
  for await (const part of result.fullStream) if (part.type === "error") throw part.error;
  call.abortSignal.throwIfAborted();
  // The response of version 7 has the messages of the last step alone.
  const messages = (await result.responseMessages) ?? (await result.response).messages;
  return { messages, content: await result.content };
}

/** @param {string} text @param {ReturnType<typeof dice>} by */
function userMessage(text, { chance }) {
  if (chance(0.6)) return { role: "user", content: text };
  const image = { type: "image", image: "iVBORw0KGgo=", mediaType: "image/png" };
  const empty = { type: "text", text: "" };
  const more = [...(chance(0.4) ? [image] : []), ...(chance(0.2) ? [empty] : [])];
  return { role: "user", content: [{ type: "text", text }, ...more] };
}

/** Answers by chance: reasoning as the provider signs it, texts, calls. @param {ReturnType<typeof dice>} by @param {string} rules @param {number} version */
function scripted({ below, chance, words }, rules, version) {
  let ids = 0;
  const signed = (/** @type {string} */ of) => {
    if (of === "anthropic" || of === "bedrock") return { [of]: { signature: words(3) } };
    if (of !== "openai-responses") return undefined;
    return { openai: { itemId: `rs_${ids++}`, reasoningEncryptedContent: words(3) } };
  };
  const call = (/** @type {string} */ toolName) => ({
    type: "tool-call",
    toolCallId: `c${String(ids++).padStart(8, "0")}`,
    toolName,
    input: chance(0.03) ? "{broken" : JSON.stringify({ path: words(chance(0.1) ? 200 : 2) }),
    ...(rules === "gemini" ? { providerMetadata: { google: { thoughtSignature: words(1) } } } : {}),
  });
  return (/** @type {number} */ tokens) => {
    /** @type {any[]} */
    const content = [];
    const providerMetadata = signed(rules);
    if (chance(0.4)) content.push({ type: "reasoning", text: words(30), providerMetadata });
    const isDone = chance(0.12);
    if (isDone || chance(0.4)) content.push({ type: "text", text: chance(0.1) ? "" : words(20) });
    if (!isDone && chance(0.1) && ["anthropic", "openai-responses"].includes(rules)) {
      const theirs = { ...call("web_search"), input: "{}", providerExecuted: true };
      const { input: _, ...found } = theirs;
      content.push(theirs, { ...found, type: "tool-result", result: [words(60)] });
    }
    const names = ["read", "list", "fail", version === 5 ? "read" : "ask"];
    for (let left = isDone ? 0 : 1 + below(3); left > 0; left -= 1)
      content.push(call(names[below(names.length)]));
    const reason = isDone ? "stop" : "tool-calls";
    return {
      content,
      finishReason: version === 5 ? reason : { unified: reason, raw: undefined },
      usage:
        version === 5
          ? { inputTokens: tokens, outputTokens: 20, totalTokens: tokens + 20 }
          : { inputTokens: { total: tokens }, outputTokens: { total: 20 } },
      warnings: [],
    };
  };
}

/** An answer as a stream of parts. @param {any} answer */
function streamed({ content, finishReason, usage }) {
  const chunks = content.flatMap((/** @type {any} */ part, /** @type {number} */ at) => {
    const { type, text, providerMetadata } = part;
    if (type !== "text" && type !== "reasoning") return [part];
    const of = { id: String(at), ...(providerMetadata ? { providerMetadata } : {}) };
    const delta = { type: `${type}-delta`, id: String(at), delta: text };
    return [{ type: `${type}-start`, id: String(at) }, delta, { type: `${type}-end`, ...of }];
  });
  const all = [{ type: "stream-start", warnings: [] }, ...chunks];
  return ReadableStream.from([...all, { type: "finish", finishReason, usage }]);
}

/** @param {any} sdk @param {ReturnType<typeof dice>} by @param {number} version */
function toolsOf(sdk, { chance, words }, version) {
  const inputSchema = sdk.jsonSchema({ type: "object" });
  const tool = (/** @type {() => any} */ execute, more = {}) => ({
    ...{ inputSchema, description: "Does something.", execute: async () => execute() },
    ...more,
  });
  return {
    read: tool(() => words(chance(0.3) ? 400 : 40)),
    list: tool(() => (chance(0.1) ? "" : { rows: [words(chance(0.3) ? 200 : 10)] })),
    fail: tool(() => {
      throw new Error(`no such file: ${words(2)}`);
    }),
    web_search: tool(() => ""),
    ...(version === 5 ? {} : { ask: tool(() => words(20), { needsApproval: true }) }),
  };
}
