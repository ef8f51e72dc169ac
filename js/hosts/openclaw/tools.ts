/** Three tools of the agent: one reports how full its context is, one returns what was removed, one keeps a text. */
import { withDisposed } from "../../core/disposed.js";
import { ContextManager } from "../../session/context.js";
import type { AgentTool } from "../../types.js";
import type { Session } from "./session.js";
import { MOST_PINNED } from "./settings.js";

/** What the host tells a tool of the session that it serves. */
export interface ToolContext {
  sessionId?: string;
  sessionKey?: string;
}

/** A tool as the host takes it. */
export interface HostTool extends AgentTool {
  label: string;
  /** The model sees it in every request, and does not have to search for it. */
  catalogMode?: "direct-only";
  execute(
    id: string,
    args: unknown,
  ): Promise<{ content: { type: "text"; text: string }[]; details: object }>;
}

export const RECALL = "context_recall";
/** Names of the tools, as the manifest has them. */
export const TOOLS: string[] = ["context_status", RECALL, "context_pin"];

const PIN: AgentTool = {
  name: "context_pin",
  description:
    "Keep a text word for word in your context, whatever else is removed from it: a rule, a key fact, an instruction.",
  parameters: {
    type: "object",
    properties: { text: { type: "string", description: "The text to keep." } },
    required: ["text"],
  },
};

let shared: AgentTool[] | undefined;
/** Definitions that every manager has, and ours. */
export function definitions(): AgentTool[] {
  if (!shared) {
    const made = new ContextManager({ window: { contextTokens: 0 } });
    const ofManager = withDisposed(made, (manager) => manager.agentTools());
    shared = [...ofManager.filter(({ name }) => TOOLS.includes(name)), PIN];
  }
  return shared;
}

/** The tools of a session, which is looked for when one is called: the host makes them before the session begins. */
export function toolsFor(find: () => Promise<Session | undefined>): HostTool[] {
  return definitions().map((definition) => ({
    ...definition,
    label: definition.name,
    // Lines that stand for removed text name this one.
    ...(definition.name === RECALL && { catalogMode: "direct-only" as const }),
    execute: async (_id, args) => {
      const session = await find();
      const text = session
        ? await run(session, definition.name, args)
        : "This session is not kept by Plimsoll.";
      return { content: [{ type: "text", text }], details: {} };
    },
  }));
}

async function run(session: Session, name: string, args: unknown): Promise<string> {
  if (name !== PIN.name) return session.context.callAgentTool(name, args);
  const { text } = Object(args) as { text?: unknown };
  if (typeof text !== "string" || text.trim() === "") return 'Nothing was pinned: "text" is empty.';
  if (text.length > MOST_PINNED) {
    return `Nothing was pinned: "text" may have ${MOST_PINNED} characters, and has ${text.length}.`;
  }
  session.context.pin({ text });
  await session.save();
  return "It is kept from now on.";
}
