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
  let last: { prepared: Prepared<unknown>; run: Run; at: number } | undefined;
  const filter = async <I>({ modelData, agent, context }: Call<I>): Promise<ModelData<I>> => {
    listen(agent);
    if (last) own.observe(last.run.usage.requestUsageEntries?.[last.at], last.prepared);
    const { input, instructions: system } = modelData;
    const prepared = await own.context.prepare(input, { system, tools: toolsOf(agent) });
    const run = runs.get(Object(context));
    // A tool may run agents whose calls are entries of the same run: ours is the one that follows now.
    last = run && { prepared, run, at: run.usage.requestUsageEntries?.length ?? 0 };
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

/** Runs by the user's context of each: a filter knows the context, a listener of the agent the run. */
const runs = new WeakMap<object, Run>();
const listened = new WeakSet<object>();

/** Has an agent tell of its runs; once, however many sessions it serves. */
function listen(agent: unknown): void {
  const { on } = Object(agent) as { on?: (event: string, listener: (run: Run) => void) => unknown };
  if (typeof on !== "function" || listened.has(agent as object)) return;
  listened.add(agent as object);
  const keep = (run: Run): unknown => runs.set(Object(run.context), run);
  for (const event of ["agent_start", "agent_tool_start"]) on.call(agent, event, keep);
}
