// @ts-check
/**
 * opencode 1.18 in miniature around its plugin: sessions side by side, with reverts, restarts, aborted and failed answers, results that
 * opencode prunes, models of other sizes, and opencode's own compaction with what it keeps of it.
 */
import { strictFor } from "../providers/pairs.mjs";
import { frozen } from "./agent-runs.mjs";
import { dice } from "./sdks.mjs";

const MODELS = /** @type {const} */ ([
  ["anthropic", "@ai-sdk/anthropic", "anthropic", 12_000],
  ["openai", "@ai-sdk/openai", "openai-responses", 24_000],
  ["google", "@ai-sdk/google", "gemini", 16_000],
  ["local", "@ai-sdk/openai-compatible", "openai-chat", 12_000],
]);
const OUTPUT = 1_000;
const CLEARED = "[Old tool result content cleared]";
const PLACE = "[Tool execution was interrupted]";

/** What opencode's client knows of the models. */
export const client = {
  config: {
    providers: async () => ({
      data: {
        providers: MODELS.map(([id, npm, , context]) => ({
          id,
          models: { m: { limit: { context, output: OUTPUT }, api: { npm } } },
        })),
      },
    }),
  },
};

/** Messages of a session of opencode's. */
export function writer(sessionID = "s") {
  let count = 0;
  const id = (/** @type {string} */ kind) =>
    `${kind}_${String(count++).padStart(6, "0")}_${sessionID}`;
  return {
    /** @param {any[]} parts @param {string} providerID */
    user: (parts, providerID = "local") => ({
      info: { id: id("msg"), sessionID, role: "user", model: { providerID, modelID: "m" } },
      parts: parts.map((part) => ({ id: id("prt"), ...part })),
    }),
    /** @param {any[]} parts @param {number} input @param {any} [more] */
    answer: (parts, input, more = {}) => ({
      info: {
        ...{ id: id("msg"), sessionID, role: "assistant", providerID: "local", modelID: "m" },
        ...{ tokens: { input, output: 20, reasoning: 0, cache: { read: 0, write: 0 } }, ...more },
      },
      parts: [{ type: "step-start" }, ...parts].map((part) => ({ id: id("prt"), ...part })),
    }),
    /** @param {any} state */
    call: (state) => ({ type: "tool", callID: id("c"), tool: "read", state }),
  };
}

/** opencode's own `toModelMessages`, up to the SDK. @param {any[]} messages @param {string} provider */
export function toUi(messages, provider) {
  const texts = /** @type {Record<string, string>} */ ({
    compaction: "What did we do so far?",
    subtask: "The following tool was executed by the user",
  });
  return messages.flatMap(({ info, parts }) => {
    if (info.role === "user") {
      const sent = parts.flatMap((/** @type {any} */ { type, text, ignored, mime, url }) => {
        if (type === "text") return ignored || text === "" ? [] : [{ type, text }];
        if (type === "file") return mime === "text/plain" ? [] : [{ type, url, mediaType: mime }];
        return texts[type] ? [{ type: "text", text: texts[type] }] : [];
      });
      return sent.length > 0 ? [{ role: "user", parts: sent }] : [];
    }
    const isAborted = info.error?.name === "MessageAbortedError";
    const isLeft = (/** @type {any} */ { type }) => type !== "step-start" && type !== "reasoning";
    if (info.error && !(isAborted && parts.some(isLeft))) return [];
    const sent = parts.flatMap((/** @type {any} */ part) => {
      const { type, text, state, metadata: providerMetadata } = part;
      if (type === "step-start") return [{ type }];
      if (type === "text") return [{ type, text }];
      if (type === "reasoning" && info.providerID === provider)
        return [{ type, text, providerMetadata }];
      if (type === "reasoning") return text.trim() ? [{ type: "text", text }] : [];
      const call = { type: `tool-${part.tool}`, toolCallId: part.callID, input: state.input };
      if (state.status === "completed") {
        const output = state.time?.compacted ? CLEARED : state.output;
        return [{ ...call, state: "output-available", output }];
      }
      if (state.status === "error" && state.metadata?.interrupted === true)
        return [{ ...call, state: "output-available", output: state.metadata.output }];
      return [{ ...call, state: "output-error", errorText: state.error ?? PLACE }];
    });
    const isSent = sent.some((/** @type {any} */ { type }) => type !== "step-start");
    return isSent ? [{ role: "assistant", parts: sent }] : [];
  });
}

/** What is wrong with a request. @param {{ talk: any, ui: any[], messages: any[], prepared: any }} of @returns {string[]} */
function wrongIn({ talk, ui, messages, prepared }) {
  const [, , rules, context] = talk.model;
  if (!prepared) return ["the plugin did not make it"];
  const all = JSON.stringify(ui);
  const strange = all.match(/TALK_\w/g)?.find((name) => name !== talk.tag);
  // Where thinking leaves no room, the summary goes.
  if (!prepared.fits) talk.facts = [];
  const lost = [talk.text, ...talk.facts].find((words) => !all.includes(words));
  const changed = talk.last?.keys.findIndex(
    (/** @type {string} */ key, /** @type {number} */ at) => key !== JSON.stringify(ui[at]),
  );
  // The newest turn with thinking stays whole.
  const isThinking = (prepared.why?.floor.thinkingTokens ?? 0) > context / 2;
  const isOver = prepared.fits ? prepared.tokens > context - OUTPUT : !isThinking;
  return [
    ...strictFor("ai-sdk", rules)(messages).map((found) => JSON.stringify(found)),
    ...(strange ? [`of another conversation: ${strange}`] : []),
    ...(lost ? [`what the user said, or opencode's summary, is gone: ${lost}`] : []),
    ...(isOver ? [`${prepared.tokens} tokens: ${JSON.stringify(prepared.why)}`] : []),
    ...(all.length > 5 * context ? [`${all.length} characters for ${context} tokens`] : []),
    ...(changed >= 0 && talk.last.epoch === prepared.epoch
      ? [`message ${changed} changed within an epoch`]
      : []),
  ];
}

/** What a model answers by chance. @param {ReturnType<typeof dice>} by @param {any} talk @param {number} tokens */
function answerOf({ below, chance, words }, { write, model }, tokens) {
  const metadata = { anthropic: { signature: words(2) } };
  /** @type {any[]} */
  const content = chance(0.3) ? [{ type: "reasoning", text: words(30), metadata }] : [];
  const isDone = chance(0.15);
  if (isDone || chance(0.4)) content.push({ type: "text", text: words(40) });
  const fails = chance(0.08);
  const stateOf = (/** @type {any} */ input) => {
    if (fails) return { status: "running", input };
    const metadata = chance(0.5) ? { interrupted: true, output: words(400) } : undefined;
    if (chance(0.1)) return { status: "error", input, error: words(5), metadata };
    const output = words(chance(0.3) ? 700 : 40);
    return { status: "completed", input, output, time: chance(0.1) ? { compacted: 1 } : {} };
  };
  for (let left = isDone ? 0 : 1 + below(3); left > 0; left -= 1)
    content.push(write.call(stateOf({ path: words(chance(0.1) ? 200 : 2) })));
  const name = chance(0.5) ? "MessageAbortedError" : "APIError";
  const of = { providerID: model[0], ...(fails ? { error: { name } } : {}) };
  return { message: write.answer(content, tokens, of), fails, isDone };
}

/** Where the user speaks. @param {any[]} history @returns {number[]} */
const usersIn = (history) => history.flatMap(({ info }, at) => (info.role === "user" ? [at] : []));

/** @param {{ plugin: (options?: any) => any, made: any[], sdk: any, seed: number }} of */
export async function playOpencode({ plugin, made, sdk, seed }) {
  const by = dice(seed);
  const { below, chance, words } = by;
  /** @type {string[]} */
  const problems = [];
  const seen = { calls: 0, epochs: 0, compactions: 0, errors: 0 };
  const options = chance(0.5) ? { preset: ["economy", "capacity"][below(2)] } : {};
  const started = () => plugin(options)({ client });
  let hooks = await started();
  const talks = ["A", "B", "C"].map((name) => ({
    ...{ name, tag: `TALK_${name}`, text: "", model: MODELS[below(4)], write: writer(name) },
    ...{ history: /** @type {any[]} */ ([]), facts: /** @type {string[]} */ ([]) },
    last: /** @type {any} */ (null),
  }));
  const transform = async (/** @type {any[]} */ history) => {
    const output = { messages: history.map((message) => frozen(structuredClone(message))) };
    await hooks["experimental.chat.messages.transform"]({}, output);
    return output.messages;
  };

  const asked = async (/** @type {any} */ talk) => {
    const sent = await transform(talk.history);
    const ui = toUi(sent, talk.model[0]);
    const prepared = made.splice(0).at(-1);
    const messages = await sdk.convertToModelMessages(ui);
    const at = `${talk.tag}, call ${seen.calls}, ${talk.model[2]}`;
    problems.push(...wrongIn({ talk, ui, messages, prepared }).map((what) => `${at}: ${what}`));
    if (talk.last && prepared && talk.last.epoch !== prepared.epoch) seen.epochs += 1;
    talk.last = { keys: ui.map((message) => JSON.stringify(message)), epoch: prepared?.epoch };
    seen.calls += 1;
    return Math.ceil(JSON.stringify(ui).length / 4);
  };

  /** opencode compacts, as it does: what it reads, its answer, and how it goes on. @param {any} talk */
  const compacts = async (talk) => {
    const isPair = (/** @type {any} */ { info, parts }) =>
      info.summary === true || parts.some((/** @type {any} */ { type }) => type === "compaction");
    const turns = usersIn(talk.history).filter((at) => !isPair(talk.history[at]));
    const tail = (chance(0.5) ? turns.at(-1) : undefined) ?? talk.history.length;
    const head = talk.history.slice(0, tail).filter((/** @type {any} */ it) => !isPair(it));
    await hooks["experimental.session.compacting"]({ sessionID: talk.name }, { context: [] });
    await transform(head);
    const fact = `the quay is ${words(2)}`;
    const asks = talk.write.user([{ type: "compaction", auto: true }], talk.model[0]);
    const text = { type: "text", text: `## Goal\n${[...talk.facts, fact].join("\n")}` };
    const summary = talk.write.answer([text], 9_000, { summary: true });
    await hooks.event({ event: { type: "message.updated", properties: { info: summary.info } } });
    seen.compactions += 1;
    talk.facts.push(fact);
    talk.last = null;
    talk.history = [asks, summary, ...talk.history.slice(tail)];
  };

  /** @param {any} talk */
  const turn = async (talk) => {
    const { write } = talk;
    talk.text = `question ${seen.calls} of ${talk.tag}: ${words(10)}`;
    const image = { type: "file", mime: "image/png", url: "data:image/png;base64,iVBORw0KGgo=" };
    const parts = [{ type: "text", text: talk.text }, ...(chance(0.2) ? [image] : [])];
    talk.history.push(write.user(parts, talk.model[0]));
    for (let step = 0; step < 10; step += 1) {
      const { message, fails, isDone } = answerOf(by, talk, await asked(talk));
      talk.history.push(message);
      if (fails) seen.errors += 1;
      if (fails || isDone) return;
    }
  };

  for (let at = 0; at < 24; at += 1) {
    const talk = /** @type {any} */ (talks[below(3)]);
    if (chance(0.08)) {
      hooks = await started();
      for (const one of talks) one.last = null;
    }
    if (chance(0.1)) {
      talk.model = MODELS[below(4)];
      talk.last = null;
    }
    if (chance(0.1)) {
      const users = usersIn(talk.history).filter((of) => of > 2);
      talk.history = talk.history.slice(0, users[below(users.length || 1)]);
      talk.last = null;
    }
    if (chance(0.06) && talk.history.length > 0)
      for (let left = 1 + below(2); left > 0; left -= 1) await compacts(talk);
    await turn(talk);
  }
  return { ...seen, problems };
}
