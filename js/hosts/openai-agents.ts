/** The OpenAI Agents SDK (npm's `@openai/agents`): the items of each call of the model through a `ContextManager`. */
import type { Parts, Prepared } from "../types.js";
import { type HostSession, Session } from "./session.js";

/** A session: its options, or a `ContextManager` of yours with `format: "openai-agents"`, which you open and save. */
export type OpenAiAgentsSession = HostSession;

/** What the SDK is about to send. */
interface ModelData<I> {
  /** The items of the run. */
  input: I[];
  /** The instructions of the agent. */
  instructions?: string;
}

/** A call of the model. */
interface Call<I> {
  /** What the SDK is about to send. */
  modelData: ModelData<I>;
  /** The agent that asks. */
  agent?: unknown;
  /** The user's own context of the run. */
  context?: unknown;
}

/** What the SDK knows of a run. */
interface Run {
  /** The user's own context; an empty object if there is none. */
  context: object;
  /** Tokens of its calls so far, one entry each. */
  usage: { requestUsageEntries?: readonly object[] };
}

/** A filter as `run` and `Runner` take it. */
export interface OpenAiAgentsFilter {
  /** Puts the request's items in the place of the run's. */
  <I>(call: Call<I>): Promise<ModelData<I>>;
  /** The SDK need not copy the items: they are never changed. */
  preserveInputIdentity: boolean;
}

/**
 * Returns a `callModelInputFilter` for `run` and `Runner`: each call of the model gets a request that fits and is valid, with the
 * prompt cache kept. One filter serves one session.
 *
 * The SDK does not tell a filter that the model has refused. Usage is taken from the run, from the second call on.
 *
 * @param session options of a `ContextManager` (`format` is set), or your own manager
 * @throws {PlimsollError} as `ContextManager`.
 * @example
 * await run(agent, input, { callModelInputFilter: callModelInputFilter({ window: { contextTokens: 200_000 } }) });
 */
export function callModelInputFilter(session: OpenAiAgentsSession): OpenAiAgentsFilter {
  const own = new Session(session, { format: "openai-agents" });
  let last: { prepared: Prepared<unknown>; asked: Asked } | undefined;
  const filter = async <I>({ modelData, agent, context }: Call<I>): Promise<ModelData<I>> => {
    if (last) own.observe(last.asked.usage(), last.prepared);
    const { input, instructions: system } = modelData;
    const prepared = await own.context.prepare(input, { system, tools: toolsOf(agent) });
    const asked = runsOf(agent)?.ask(Object(context));
    last = asked && { prepared, asked };
    return prepared.apply(modelData);
  };
  return Object.assign(filter, { preserveInputIdentity: true });
}

/** The tools of an agent as the model sees them: what runs them is not sent. */
function toolsOf(agent: unknown): Parts["tools"] {
  const { tools } = Object(agent) as { tools?: unknown };
  if (!Array.isArray(tools)) return undefined;
  return tools.map(({ type, name, description, parameters }) => ({
    type,
    name,
    description,
    parameters,
  }));
}

/** A call of the model whose usage a run will have. Agents in tools add theirs to the same list, side by side. */
class Asked {
  readonly #all: Run["usage"];
  readonly #at: number;
  #usage: object | undefined;
  #isAnswered = false;

  constructor({ usage }: Run) {
    this.#all = usage;
    this.#at = entriesOf(usage).length;
  }

  /** The answer is there. If there is one entry more, it is that of the answer; of several, nobody knows which is. */
  answer(): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const [usage, ...others] = entriesOf(this.#all).slice(this.#at);
    if (others.length === 0) this.#usage = usage;
  }

  /** Tokens of the call; nothing if that is not known. */
  usage(): object | undefined {
    this.answer();
    return this.#usage;
  }
}

const entriesOf = ({ requestUsageEntries = [] }: Run["usage"]): readonly object[] =>
  requestUsageEntries;

/** The runs of an agent: a filter knows the user's context of a run, a listener of the agent the run. */
class Runs {
  readonly #runs = new WeakMap<object, Run>();
  readonly #asked = new WeakMap<object, Asked>();

  /** A run has asked the agent, or has its answer and calls a tool. */
  readonly listen = (run: Run): void => {
    this.#runs.set(Object(run.context), run);
    this.#asked.get(run.usage)?.answer();
  };

  /** The run with this context asks the model; nothing if the agent has told of none. */
  ask(context: object): Asked | undefined {
    const run = this.#runs.get(context);
    if (!run) return undefined;
    const asked = new Asked(run);
    this.#asked.set(run.usage, asked);
    return asked;
  }
}

const listened = new WeakMap<object, Runs>();

/** The runs that an agent tells of; it is asked to once, however many sessions it serves. */
function runsOf(agent: unknown): Runs | undefined {
  const { on } = Object(agent) as { on?: (event: string, listener: (run: Run) => void) => unknown };
  if (typeof on !== "function") return undefined;
  const known = listened.get(agent as object);
  if (known) return known;
  const runs = new Runs();
  listened.set(agent as object, runs);
  for (const event of ["agent_start", "agent_tool_start"]) on.call(agent, event, runs.listen);
  return runs;
}
