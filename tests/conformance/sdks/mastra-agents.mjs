// @ts-check
/**
 * Mastra 1.71 in miniature around its processor: conversations side by side, each a run of steps for each turn. Calls are refused, fail and
 * are sent again by other processors too; runs are aborted, models change, working memory is written.
 */
import { unpaired } from "../generated/additions.mjs";
import { strictFor } from "../providers/pairs.mjs";
import { edited, FAILED, frozen, provider, sessionOptions, usagesOf } from "./agent-runs.mjs";
import { refused } from "./ai-sdk-histories.mjs";
import { dice } from "./sdks.mjs";

/** Providers of models as Mastra shows them, whose rules they follow, and where they sign. Those of its router have the first part alone. */
const MODELS = /** @type {const} */ ([
  ["anthropic.messages", "anthropic", "anthropic"],
  ["openai.responses", "openai-responses", "openai"],
  ["openai", "openai-responses", "openai"],
  ["google.generative-ai", "gemini", "google"],
  ["amazon-bedrock", "bedrock", "bedrock"],
  ["deepseek.chat", "deepseek", "deepseek"],
]);
const TURNS = 5;
const MOST_RETRIES = 3;

/** Without cache markers, and options that held nothing else. @param {any} message */
const keyOf = (message) =>
  JSON.stringify(message, (name, value) => {
    if (["cacheControl", "cachePoint"].includes(name)) return undefined;
    const isBare = (/** @type {any} */ of) =>
      Object.keys(of).every((key) => ["cacheControl", "cachePoint"].includes(key));
    const isMarker = name === "providerOptions" && Object.values(value ?? {}).every(isBare);
    return isMarker ? undefined : value;
  });

/** @param {{ api: any, processor: (options: any, parts?: any) => any, made: any[], seed: number }} of */
export async function playMastra({ api, processor, made, seed }) {
  const by = dice(seed);
  const usage = usagesOf(api);
  const talks = ["TALK_A", "TALK_B"].map((tag) =>
    conversation({ by, processor, made, usage, tag }),
  );
  for (let turn = 0; turn < TURNS; turn += 1) {
    const turns = talks.map((talk) => () => talk.turn(turn));
    if (by.chance(0.5)) await Promise.all(turns.map((one) => one()));
    else for (const one of turns) await one();
  }
  usage.restore();
  const seen = { calls: 0, epochs: 0, refused: 0, aborted: 0, again: 0 };
  for (const key of /** @type {Array<keyof typeof seen>} */ (Object.keys(seen)))
    for (const talk of talks) seen[key] += talk.seen[key];
  return {
    ...seen,
    usages: usage.seen,
    problems: [...talks.flatMap(({ problems }) => problems), ...usage.problems],
  };
}

/** @param {{ by: ReturnType<typeof dice>, processor: any, made: any[], usage: any, tag: string }} of */
function conversation({ by, processor, made, usage, tag }) {
  const { below, chance, words } = by;
  const options = sessionOptions(by);
  let model = MODELS[below(MODELS.length)];
  const provides = provider({
    ...{ by, keyOf, made, options, tag },
    strict: (prompt) => {
      const flat = prompt.find(({ role, content }) => role !== "system" && !Array.isArray(content));
      if (flat) return [`content that is no list: ${JSON.stringify(flat)}`];
      const alone = unpaired(prompt);
      const found = [...strictFor("ai-sdk", model[1])(prompt), ...refused(prompt)];
      return [...found, ...(alone ? [alone] : [])].map((it) => [model[0], it]);
    },
  });
  const seen = Object.assign(provides.seen, { aborted: 0, again: 0 });
  const plimsoll = processor(options, { tools: [{ name: "read", inputSchema: {} }] });
  const clock = {
    id: "clock",
    processLLMRequest: async (/** @type {any} */ { prompt }) => ({ prompt }),
  };
  const again = {
    id: "again",
    processAPIError: async (/** @type {any} */ { error }) => ({
      retry: /server/.test(error.message),
    }),
  };
  const inputs = [clock, plimsoll];
  const errors = [...(chance(0.5) ? [again] : []), plimsoll];
  const answer = answers(by, () => model);
  let memory = "";
  let history = /** @type {any[]} */ ([]);

  /** A call of the model, sent again as Mastra does. @param {any[]} run @param {any[]} steps @param {AbortSignal} signal */
  async function called(run, steps, signal) {
    const system = ["You are an agent.", ...(memory ? [`WORKING_MEMORY: ${memory}`] : [])];
    for (let retryCount = 0; ; retryCount += 1) {
      let prompt = [...system.map((content) => ({ role: "system", content })), ...run];
      const shown = { provider: model[0], specificationVersion: "v2" };
      const call = { model: shown, steps, retryCount, abortSignal: signal };
      for (const one of inputs)
        prompt = (await one.processLLMRequest({ ...call, prompt: frozen(structuredClone(prompt)) }))
          .prompt;
      signal.throwIfAborted();
      try {
        const tokens = provides.takes(prompt);
        const step = { ...answer(), usage: { inputTokens: tokens, outputTokens: 20 } };
        usage.expect(
          step.usage,
          made.findLast((one) => JSON.stringify(one.messages).includes(tag)),
        );
        return step;
      } catch (error) {
        let retry = false;
        for (const one of [...inputs, ...errors])
          retry ||= (await one.processAPIError?.({ error, steps, retryCount, abortSignal: signal }))
            ?.retry;
        if (!retry || retryCount >= MOST_RETRIES) throw error;
        seen.again += 1;
      }
    }
  }

  /** A turn of the user: steps until the model is done. @param {number} at */
  async function turn(at) {
    if (chance(0.2)) model = MODELS[below(MODELS.length)];
    if (chance(0.2)) memory = words(20);
    history = edited(history, ({ role }) => role === "user", by);
    history = [...history, { role: "user", content: [{ type: "text", text: provides.asks(at) }] }];
    /** @type {any[]} */
    const steps = [];
    const gone = new AbortController();
    const left = chance(0.15) ? below(4) : -1;
    try {
      for (let step = 0; step < 8; step += 1) {
        if (step === left) setTimeout(() => gone.abort(new Error("aborted")), below(10));
        const { messages, isDone, ...answered } = await called(history, steps, gone.signal);
        history = [...history, ...messages];
        steps.push(answered);
        if (isDone) return;
        await new Promise((done) => setTimeout(done, 0));
      }
    } catch (error) {
      const message = String(/** @type {any} */ (error)?.message);
      if (gone.signal.aborted) seen.aborted += 1;
      else if (!FAILED.test(message))
        provides.problems.push(`${/** @type {any} */ (error)?.stack}`);
    }
  }
  return { turn, seen, problems: provides.problems };
}

/** Answers by chance, with their results. @param {ReturnType<typeof dice>} by @param {() => (typeof MODELS)[number]} modelOf */
function answers({ below, chance, words }, modelOf) {
  let ids = 0;
  return () => {
    const [, rules, key] = modelOf();
    const id = () => `c${String(ids++).padStart(8, "0")}`;
    const signs = {
      ...{ anthropic: { signature: words(3) }, bedrock: { signature: words(3) } },
      ...{ openai: { itemId: `rs_${ids++}`, reasoningEncryptedContent: words(3) } },
    };
    const sign = /** @type {any} */ (signs)[key];
    /** @type {any[]} */
    const content = [];
    /** @type {any[]} */
    const results = [];
    if (chance(0.4)) {
      const signed = sign ? { providerOptions: { [key]: sign } } : {};
      content.push({ type: "reasoning", text: words(30), ...signed });
    }
    const isDone = chance(0.15);
    if (isDone || chance(0.4)) content.push({ type: "text", text: words(20) });
    if (!isDone && chance(0.1) && ["anthropic", "openai-responses"].includes(rules)) {
      const of = { toolCallId: id(), toolName: "web_search" };
      content.push({ type: "tool-call", ...of, input: {}, providerExecuted: true });
      content.push({ type: "tool-result", ...of, output: { type: "json", value: [words(60)] } });
    }
    for (let left = isDone ? 0 : 1 + below(3); left > 0; left -= 1) {
      const of = { toolCallId: id(), toolName: "read" };
      const google = { providerOptions: { google: { thoughtSignature: words(1) } } };
      const signed = rules === "gemini" ? google : {};
      content.push({
        type: "tool-call",
        ...of,
        input: { path: words(chance(0.1) ? 200 : 2) },
        ...signed,
      });
      const value = words(chance(0.3) ? 400 : 40);
      const output = chance(0.1) ? { type: "error-text", value } : { type: "text", value };
      results.push({ type: "tool-result", ...of, output });
    }
    const message = { role: "assistant", content };
    const messages = results.length > 0 ? [message, { role: "tool", content: results }] : [message];
    return { messages, isDone };
  };
}
