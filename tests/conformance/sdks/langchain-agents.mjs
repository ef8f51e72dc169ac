// @ts-check
/** Agents of LangChain in miniature: threads side by side, parallel calls, failing tools, states that the user edits. */
import { strictFor } from "../providers/pairs.mjs";
import { FAILED, provider, sessionOptions } from "./agent-runs.mjs";
import { dice } from "./sdks.mjs";

/** What LangChain's models call themselves, and whose rules they follow. */
const MODELS = /** @type {const} */ ([
  ["anthropic", "anthropic"],
  ["openai", "openai-chat"],
  ["google", "gemini"],
  ["bedrock", "bedrock"],
  ["mistral_ai", "mistral"],
  ["deepseek", "deepseek"],
]);
const TURNS = 6;

/** Without cache markers: a text that had one stands in a block. @param {any} message */
function keyOf(message) {
  const { content, tool_calls, tool_call_id, additional_kwargs } = message;
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const all = [message.getType(), blocks, tool_calls, tool_call_id, additional_kwargs];
  return JSON.stringify(all, (name, value) => (name === "cache_control" ? undefined : value));
}

/** The model of these packages, which asks `answer`. @param {any} BaseChatModel */
const modelOf = (BaseChatModel) =>
  class extends BaseChatModel {
    /** @param {string} type @param {(messages: any[]) => any} answer */
    constructor(type, answer) {
      super({ maxRetries: 0 });
      this.type = type;
      this.answer = answer;
    }

    _llmType() {
      return this.type;
    }

    bindTools() {
      return this;
    }

    /** @param {any[]} messages */
    async _generate(messages) {
      const message = this.answer(messages);
      await new Promise((done) => setTimeout(done, 1));
      return { generations: [{ text: "", message }] };
    }
  };

/** A tool that runs `work`. @param {any} modules @param {string} name @param {(input: any) => any} work */
const toolOf = ({ langchain, zod: { z } }, name, work) =>
  langchain.tool(work, { name, description: "Works.", schema: z.object({ path: z.string() }) });

/**
 * Plays two threads of one agent.
 * @param {{ modules: any, adapter: any, made: any[], seed: number }} of
 */
export async function playThreads({ modules, adapter, made, seed }) {
  const by = dice(seed);
  const { core, langchain, langgraph, models } = modules;
  const [type, rules] = MODELS[seed % MODELS.length];
  const options = sessionOptions(by);
  const strict = strictFor("langchain", rules);
  const talks = ["TALK_A", "TALK_B"].map((tag) =>
    provider({
      by,
      keyOf,
      made,
      options,
      tag,
      strict: (messages) => checked(core, strict, messages),
    }),
  );
  const answer = scripted(core, by, rules);
  const Model = modelOf(models.BaseChatModel);
  const model = new Model(type, (messages) => {
    const request = JSON.stringify(messages);
    const talk = talks.find((one) => request.includes(one.text));
    if (!talk) throw new Error("the user's last words are gone");
    return answer(talk.takes(messages.filter((message) => message.getType() !== "system")));
  });
  const { words, chance } = by;
  const blocks = () => [{ type: "text", text: words(chance(0.3) ? 300 : 10) }];
  const tools = [
    toolOf(modules, "read", () => words(chance(0.3) ? 400 : 40)),
    toolOf(modules, "list", () => (chance(0.2) ? "" : blocks())),
    toolOf(modules, "fail", () => {
      throw new Error("no such file");
    }),
  ];
  const forgives = langchain.createMiddleware({ name: "forgives", wrapToolCall: caught(core) });
  const agent = langchain.createAgent({
    ...{ model, tools, systemPrompt: "You are an agent." },
    checkpointer: new langgraph.MemorySaver(),
    middleware: [forgives, adapter.middleware(options)],
  });
  for (let turn = 0; turn < TURNS; turn += 1) {
    const turns = talks.map((talk, at) => () => playTurn({ agent, core, talk, at, turn, by }));
    if (by.chance(0.5)) await Promise.all(turns.map((one) => one()));
    else for (const one of turns) await one();
  }
  const seen = { calls: 0, epochs: 0, refused: 0 };
  for (const key of /** @type {const} */ (["calls", "epochs", "refused"]))
    seen[key] = talks[0].seen[key] + talks[1].seen[key];
  return {
    ...seen,
    problems: talks.flatMap((talk) => talk.problems.map((it) => `${type}: ${it}`)),
  };
}

/** @param {any} core @param {(messages: any[]) => any[]} strict @param {any[]} messages */
function checked(core, strict, messages) {
  const isOwn = messages.every(core.isBaseMessage);
  return isOwn ? strict(messages) : ["a message of no class"];
}

/** A failing tool says so to the model. @param {any} core */
const caught = (core) => async (/** @type {any} */ request, /** @type {any} */ handler) => {
  try {
    return await handler(request);
  } catch (error) {
    const { id, name } = request.toolCall;
    const content = `Error: ${/** @type {any} */ (error).message}`;
    return new core.ToolMessage({ content, tool_call_id: id, name, status: "error" });
  }
};

/** @param {any} of */
async function playTurn({ agent, core, talk, at, turn, by }) {
  const config = { configurable: { thread_id: `thread ${at}` }, recursionLimit: 200 };
  const { values } = await agent.getState(config);
  const all = values.messages ?? [];
  const users = all.flatMap((/** @type {any} */ it, /** @type {number} */ i) =>
    it.getType() === "human" ? [i] : [],
  );
  if (users.length > 1 && by.chance(0.2)) {
    const gone = by.chance(0.5) ? all.slice(users.at(-1)) : all.slice(0, users[1]);
    const messages = gone.map(({ id }) => new core.RemoveMessage({ id }));
    await agent.updateState(config, { messages });
  }
  const before = (await agent.getState(config)).values.messages ?? [];
  const was = JSON.stringify(before);
  const text = talk.asks(turn);
  const picture = { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } };
  const content = by.chance(0.7) ? text : [{ type: "text", text }, picture];
  const messages = [new core.HumanMessage({ content })];
  await agent.invoke({ messages }, config).catch((/** @type {any} */ error) => {
    if (!FAILED.test(error.message)) talk.problems.push(`${error.stack}`);
  });
  if (JSON.stringify(before) !== was) talk.problems.push("the agent's state was changed");
}

/** Answers by chance, as the classes of each provider leave them. @param {any} core @param {ReturnType<typeof dice>} by @param {string} rules */
function scripted(core, { below, chance, words }, rules) {
  let ids = 0;
  return (/** @type {number} */ tokens) => {
    const isDone = chance(0.15);
    const calls = Array.from({ length: isDone ? 0 : 1 + below(3) }, () => ({
      ...{ type: "tool_call", id: `c${String(ids++).padStart(8, "0")}` },
      name: ["read", "list", "fail"][below(3)],
      args: { path: words(chance(0.1) ? 200 : 2) },
    }));
    const line = isDone || chance(0.5) ? words(15) : "";
    const usage_metadata = { input_tokens: tokens, output_tokens: 20, total_tokens: tokens + 20 };
    const fields = { tool_calls: calls, usage_metadata };
    if (rules === "anthropic" || rules === "bedrock") {
      const thought = { type: "thinking", thinking: words(30), signature: words(3) };
      const used = calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args }));
      const content = [
        ...(chance(0.5) ? [thought] : []),
        ...(line ? [{ type: "text", text: line }] : []),
        ...(rules === "anthropic" ? used : []),
      ];
      return new core.AIMessage({ content, ...fields });
    }
    const signs = { [calls[0]?.id ?? ""]: words(1) };
    const signed = { __gemini_function_call_thought_signatures__: signs };
    const isSigned = rules === "gemini" && calls.length > 0;
    const more = isSigned ? { additional_kwargs: signed } : {};
    return new core.AIMessage({ content: line, ...fields, ...more });
  };
}

/**
 * An agent that calls another in a tool, both with one middleware: how often the requests of the outer one began anew.
 * @param {{ modules: any, middleware: any, made: any[] }} of
 */
export async function playAgentInTool({ modules, middleware, made }) {
  const { words } = dice(1);
  const { core, langchain, langgraph, models } = modules;
  const Model = modelOf(models.BaseChatModel);
  let ids = 0;
  const calls = (/** @type {string} */ name) => {
    const call = { type: "tool_call", id: `c${ids++}`, name, args: { path: "a" } };
    return new core.AIMessage({ content: "", tool_calls: [call] });
  };
  const read = toolOf(modules, "read", () => words(40));
  let inner = 0;
  const helper = langchain.createAgent({
    model: new Model("openai", () => {
      inner += 1;
      return inner % 3 === 0 ? new core.AIMessage("found") : calls("read");
    }),
    ...{ tools: [read], middleware: [middleware] },
  });
  const ask = toolOf(modules, "ask", async ({ path }) => {
    const { messages } = await helper.invoke({ messages: [new core.HumanMessage(`find ${path}`)] });
    return messages.at(-1).text;
  });
  /** @type {Set<number>} */
  const epochs = new Set();
  let outer = 0;
  const agent = langchain.createAgent({
    model: new Model("openai", () => {
      epochs.add(made.at(-1).epoch);
      outer += 1;
      return outer > 12 ? new core.AIMessage("done") : calls("ask");
    }),
    ...{ tools: [ask], middleware: [middleware], checkpointer: new langgraph.MemorySaver() },
  });
  const config = { configurable: { thread_id: "1" }, recursionLimit: 200 };
  await agent.invoke({ messages: [new core.HumanMessage("go")] }, config);
  return { outer, inner, epochs: epochs.size };
}
