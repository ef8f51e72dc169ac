/** Plugin of OpenClaw, named by `openclaw.extensions` of the package: a context engine. */
import "../../inline/core.js";
import { Agent } from "./agent.js";
import { Engine } from "./engine.js";
import type { FactoryContext, Logger, ReadPage } from "./host.js";
import type { Settings } from "./settings.js";

/** The members of OpenClaw's plugin API that are used. */
interface PluginApi {
  /** The plugin's settings, checked against its manifest. */
  pluginConfig?: Settings;
  logger: Logger;
  registerContextEngine(id: string, factory: (context: FactoryContext) => Promise<Engine>): void;
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

const plugin: { id: string; name: string; register(api: PluginApi): void } = {
  id: "plimsoll",
  name: "Plimsoll",
  register(api) {
    const { pluginConfig: settings = {}, logger } = api;
    api.registerContextEngine("plimsoll", async (context) => {
      const agent = await agentOf(settings, context, logger);
      return new Engine(agent, context.config, page);
    });
  },
};

export default plugin;
