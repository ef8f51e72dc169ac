/** Plugin of OpenClaw, named by `openclaw.extensions` of the package: a context engine, and what belongs to it. */
import "../../inline/core.js";
import { Agent } from "./agent.js";
import { statusText } from "./command.js";
import { Engine } from "./engine.js";
import type { FactoryContext, Llm, Logger, ReadEvents, ReadPage } from "./host.js";
import { type CompactionProvider, compactionProvider } from "./provider.js";
import { capped, type ToolResult } from "./results.js";
import type { Session } from "./session.js";
import type { Settings } from "./settings.js";
import { type HostTool, TOOLS, type ToolContext, toolsFor } from "./tools.js";

/** The members of OpenClaw's plugin API that are used. */
interface PluginApi {
  /** The plugin's settings, checked against its manifest. */
  pluginConfig?: Settings;
  logger: Logger;
  /** What the host lends outside of hooks. */
  runtime?: { llm?: Llm };
  registerContextEngine(id: string, factory: (context: FactoryContext) => Promise<Engine>): void;
  registerTool(tools: (context: ToolContext) => HostTool[], options: { names: string[] }): void;
  registerCommand(command: {
    name: string;
    description: string;
    handler(context: ToolContext): Promise<{ text: string }>;
  }): void;
  registerCompactionProvider(provider: CompactionProvider): void;
  registerAgentToolResultMiddleware(
    handler: (event: ToolResult) => Promise<ToolResult | undefined>,
  ): void;
}

/** Agents by their folder. The host registers a plugin more than once in a process, and makes an engine for each turn. */
const agents = new Map<string, { settings: string; agent: Promise<Agent> }>();

function agentOf(settings: Settings, context: FactoryContext, log: Logger): Promise<Agent> {
  const folder = context.agentDir ?? "";
  const written = JSON.stringify(settings);
  const known = agents.get(folder);
  if (known?.settings === written) return known.agent;
  const agent = Agent.create(settings, context, log);
  agents.set(folder, { settings: written, agent });
  return agent;
}

/** Only the host has this module; a name in a variable is left alone by bundlers and compilers. */
const RUNTIME = "openclaw/plugin-sdk/session-transcript-runtime";
const page: ReadPage = async (params) => {
  const runtime = (await import(RUNTIME)) as { readSessionTranscriptVisibleMessageDelta: ReadPage };
  return runtime.readSessionTranscriptVisibleMessageDelta(params);
};
const events: ReadEvents = async (params) => {
  const runtime = (await import(RUNTIME)) as { readSessionTranscriptRawDelta?: ReadEvents };
  return (await runtime.readSessionTranscriptRawDelta?.(params)) ?? { kind: "missing" };
};

/** Every agent of this process. */
const everyAgent = (): Promise<Agent[]> =>
  Promise.all([...agents.values()].map(({ agent }) => agent));

async function sessionOf({ sessionId, sessionKey }: ToolContext): Promise<Session | undefined> {
  for (const { sessions } of await everyAgent()) {
    const session = sessions.find(sessionId, sessionKey);
    if (session) return session;
  }
  return undefined;
}

const plugin: { id: string; name: string; register(api: PluginApi): void } = {
  id: "plimsoll",
  name: "Plimsoll",
  register(api) {
    const { pluginConfig: settings = {}, logger, runtime } = api;
    api.registerContextEngine("plimsoll", async (context) => {
      const agent = await agentOf(settings, context, logger);
      return new Engine(agent, context.config, page, events);
    });
    api.registerTool((context) => toolsFor(() => sessionOf(context)), { names: TOOLS });
    api.registerCommand({
      name: "plimsoll",
      description: "What fills the context window, and whether Plimsoll is active.",
      handler: async (context) => ({
        text: statusText(await sessionOf(context), await everyAgent()),
      }),
    });
    api.registerCompactionProvider(compactionProvider(runtime?.llm, settings.summaryModel));
    const { resultCap } = settings;
    if (!resultCap) return;
    try {
      api.registerAgentToolResultMiddleware((event) => capped(event, resultCap));
    } catch (error) {
      // The host lets only plugins do this that the user has enabled by name; the engine works without it.
      logger.warn(`plimsoll: "resultCap" has no effect: ${String(error)}`);
    }
  },
};

export default plugin;
