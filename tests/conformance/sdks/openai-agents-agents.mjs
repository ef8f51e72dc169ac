// @ts-check
/**
 * Agents of the OpenAI Agents SDK in miniature, with a scripted model: conversations side by side, parallel calls, failing tools, approvals,
 * handoffs, agents in tools with a filter of their own, stored sessions, and runs that fail or are aborted.
 */
import { strictFor } from "../providers/pairs.mjs";
import { edited, FAILED, frozen, provider, sessionOptions, usagesOf } from "./agent-runs.mjs";
import { dice } from "./sdks.mjs";

const TURNS = 4;

/** A stored run names the members of an item in another order, and a stored call has no `id`. @param {any} item */
const keyOf = ({ id: _, ...item }) =>
  JSON.stringify(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));

/** @param {{ api: any, filterOf: (options: any) => any, made: any[], sdk: any, seed: number }} of */
export async function playAgents({ api, filterOf, made, sdk, seed }) {
  const by = dice(seed);
  // The SDK copies usage: an answer is known by the length that it is said to have.
  const usages = usagesOf(api, ({ outputTokens }) => outputTokens);
  const talks = ["TALK_A", "TALK_B"].map((tag) =>
    conversation({ by, filterOf, made, sdk, usages, tag }),
  );
  for (let turn = 0; turn < TURNS; turn += 1) {
    const turns = talks.map((talk) => () => talk.turn(turn));
    if (by.chance(0.5)) await Promise.all(turns.map((one) => one()));
    else for (const one of turns) await one();
  }
  usages.restore();
  const seen = { calls: 0, epochs: 0, refused: 0, helped: 0, handoffs: 0, decided: 0 };
  for (const key of /** @type {Array<keyof typeof seen>} */ (Object.keys(seen)))
    for (const talk of talks) seen[key] += talk.seen[key];
  const problems = [...talks.flatMap((talk) => talk.problems), ...usages.problems];
  return { ...seen, usages: usages.seen, problems };
}

let ids = 0;
const id = () => {
  ids += 1;
  return ids;
};

/** @param {{ by: ReturnType<typeof dice>, filterOf: any, made: any[], sdk: any, usages: any, tag: string }} of */
function conversation({ by, filterOf, made, sdk, usages, tag }) {
  const { below, chance, words } = by;
  const options = sessionOptions(by);
  const strict = strictFor("openai-agents", "openai-responses");
  const main = provider({ by, strict, keyOf, made, options, tag });
  const seen = Object.assign(main.seen, { helped: 0, handoffs: 0, decided: 0 });

  /** A model that answers as `script` says. @param {(tokens: number) => any[]} script @param {any} talk */
  const modelOf = (script, talk) => {
    const asked = async (/** @type {any} */ { input }) => {
      const items = typeof input === "string" ? [{ role: "user", content: input }] : input;
      const tokens = talk.takes(items);
      const prepared = made.findLast(({ messages }) =>
        JSON.stringify(messages).includes(talk.text),
      );
      const outputTokens = id();
      const usage = { inputTokens: tokens, outputTokens, totalTokens: tokens + outputTokens };
      usages.expect(usage, prepared);
      const output = script(tokens);
      await new Promise((done) => setTimeout(done, below(3)));
      return { usage, responseId: `resp_${outputTokens}`, output };
    };
    return {
      getResponse: async (/** @type {any} */ request) => {
        const { usage, ...rest } = await asked(request);
        return { ...rest, usage: new sdk.Usage(usage) };
      },
      async *getStreamedResponse(/** @type {any} */ request) {
        const { responseId: id, ...rest } = await asked(request);
        yield { type: "response_done", response: { id, ...rest } };
      },
    };
  };

  const tool = (/** @type {string} */ name, /** @type {() => any} */ execute, more = {}) =>
    sdk.tool({
      ...{ name, description: "Works.", strict: false, execute },
      parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
      ...more,
    });
  const read = tool("read", () => words(chance(0.3) ? 400 : 40));

  /** An agent in a tool, with a filter and a conversation of its own. @param {string} name */
  const helperOf = (name) => {
    // Its conversation starts anew with each call of the tool.
    const fresh = {
      text: "",
      takes: (/** @type {any[]} */ items) => {
        const found = strict(items);
        if (found.length > 0) main.problems.push(`${tag}, ${name}: ${JSON.stringify(found[0])}`);
        return Math.ceil(JSON.stringify(items).length / 4);
      },
    };
    let left = 0;
    const script = () => {
      left = left > 0 ? left - 1 : below(3);
      return left > 0 ? [callOf("read")] : [messageOf(words(10))];
    };
    const agent = new sdk.Agent({
      name,
      instructions: "You help.",
      model: modelOf(script, fresh),
      tools: [read],
    });
    const runConfig = { callModelInputFilter: filterOf(options) };
    return agent.asTool({
      toolName: name,
      toolDescription: "Helps.",
      runConfig,
      customOutputExtractor: () => {
        seen.helped += 1;
        return words(20);
      },
      inputBuilder: () => {
        fresh.text = `task ${id()} for ${name} of ${tag.toLowerCase()}`;
        left = 0;
        return fresh.text;
      },
    });
  };

  const callOf = (/** @type {string} */ name) => {
    const callId = `call_${id()}`;
    const args = name.startsWith("help") ? { input: "go" } : { path: words(chance(0.1) ? 200 : 2) };
    return {
      ...{ type: "function_call", id: `fc_${ids}`, callId, name, status: "completed" },
      arguments: JSON.stringify(args),
    };
  };
  const messageOf = (/** @type {string} */ text) => ({
    ...{ type: "message", id: `msg_${id()}`, role: "assistant", status: "completed" },
    content: [{ type: "output_text", text }],
  });
  const script = () => {
    const encrypted_content = words(3);
    const thought = {
      type: "reasoning",
      id: `rs_${id()}`,
      content: [],
      providerData: { encrypted_content },
    };
    const isDone = chance(0.15);
    const names = ["read", "read", "list", "fail", "ask", "help1", "help2"];
    const calls = Array.from(
      { length: isDone ? 0 : 1 + below(3) },
      () => names[below(names.length)],
    );
    // A helper has one conversation at a time.
    const once = calls.filter(
      (name, at) => !name?.startsWith("help") || calls.indexOf(name) === at,
    );
    if (!isDone && chance(0.1)) once.splice(0, 9, "transfer_to_other");
    return [
      ...(chance(0.5) ? [thought] : []),
      ...(isDone || chance(0.2) ? [messageOf(words(20))] : []),
      ...once.map((name) => callOf(String(name))),
    ];
  };
  const tools = [
    read,
    tool("list", () => (chance(0.1) ? "" : { rows: [words(chance(0.3) ? 200 : 10)] })),
    tool("fail", () => {
      throw new Error(`no such file: ${words(2)}`);
    }),
    tool("ask", () => words(20), { needsApproval: true }),
    helperOf("help1"),
    helperOf("help2"),
  ];
  const model = modelOf(script, main);
  const agent = new sdk.Agent({ name: "main", instructions: "You are an agent.", model, tools });
  const other = new sdk.Agent({ name: "other", instructions: "You are another.", model, tools });
  const handoff = (/** @type {any} */ to) =>
    sdk.handoff(to, {
      toolNameOverride: "transfer_to_other",
      onHandoff: () => {
        seen.handoffs += 1;
      },
    });
  agent.handoffs = [handoff(other)];
  other.handoffs = [handoff(agent)];

  const filter = filterOf(options);
  const session = chance(0.3) ? new sdk.MemorySession() : undefined;
  const context = chance(0.5) ? {} : undefined;
  let history = /** @type {any[]} */ ([]);

  /** A turn of the user, with approvals decided. @param {number} at */
  async function turn(at) {
    if (!session) history = edited(history, ({ role }) => role === "user", by);
    const asked = { role: "user", content: main.asks(at) };
    const stream = chance(0.5);
    const gone = new AbortController();
    if (chance(0.1)) setTimeout(() => gone.abort(new Error("aborted")), below(20));
    const how = {
      stream,
      session,
      context,
      maxTurns: 9,
      signal: gone.signal,
      callModelInputFilter: filter,
    };
    try {
      let input = session ? [asked] : frozen([...history, asked]);
      for (let round = 0; round < 6; round += 1) {
        const result = await sdk.run(agent, input, how);
        if (stream) await result.completed;
        history = result.history;
        if (result.interruptions.length === 0) return;
        seen.decided += 1;
        for (const one of result.interruptions)
          if (chance(0.7)) result.state.approve(one);
          else result.state.reject(one);
        input = chance(0.3)
          ? await sdk.RunState.fromString(agent, result.state.toString())
          : result.state;
      }
    } catch (error) {
      const { message, stack } = /** @type {any} */ (error);
      if (!gone.signal.aborted && !FAILED.test(message)) main.problems.push(`${tag}: ${stack}`);
    }
  }
  return { turn, seen, problems: main.problems };
}
