/** State shared by the engines of one agent, since a new engine is made for each turn: sessions, settings and errors. */
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileStore } from "../../store/file.js";
import { memoryStore } from "../../store/memory.js";
import type { ContextEvent, ContextManagerOptions } from "../../types.js";
import type { FactoryContext, HostMessage, Logger } from "./host.js";
import { Mirror } from "./mirror.js";
import type { Session } from "./session.js";
import { Sessions } from "./sessions.js";
import { MOST_PINNED, patternsOf, type Settings } from "./settings.js";
import { summarizer } from "./summaries.js";

/** Sessions that are live at once. */
const MOST_LIVE = 32;

export class Agent {
  readonly sessions: Sessions;
  readonly settings: Settings;
  /** Shortens the host's transcript. It needs the agent's folder for the originals. */
  readonly mirror: Mirror | undefined;
  /** Windows that a call has told, by model. */
  readonly windows: Map<string, number> = new Map();
  /** Engines since the last request that the host made and did not use. */
  unused = 0;
  /** The last thing that failed. */
  lastError: { what: string; at: number } | undefined;
  readonly #log: Logger;
  readonly #reported = new Set<string>();

  private constructor(settings: Settings, context: FactoryContext, log: Logger, texts: string[]) {
    this.settings = settings;
    this.#log = log;
    const shared = {
      options: (session: Session) => this.#options(session),
      patterns: patternsOf(settings, (message) => this.#once(message)),
      texts,
    };
    this.mirror = context.agentDir
      ? new Mirror(join(context.agentDir, "plimsoll", "results"))
      : undefined;
    // Without a folder of the agent's, sessions last as long as the process.
    const store = context.agentDir ? fileStore(join(context.agentDir, "plimsoll")) : memoryStore();
    this.sessions = new Sessions(shared, store, MOST_LIVE, (what, error) =>
      this.report(what, error),
    );
  }

  /** Reads the files that are pinned, and creates it. */
  static async create(settings: Settings, context: FactoryContext, log: Logger): Promise<Agent> {
    const texts: string[] = [];
    const failed: [string, unknown][] = [];
    for (const file of settings.pins?.files ?? []) {
      try {
        const text = await readFile(resolve(context.workspaceDir ?? ".", file), "utf8");
        if (text.trim()) texts.push(text.slice(0, MOST_PINNED));
      } catch (error) {
        failed.push([`"pins.files": ${file} is ignored`, error]);
      }
    }
    const agent = new Agent(settings, context, log, texts);
    for (const [what, error] of failed) agent.report(what, error);
    return agent;
  }

  /** Remembers what failed, and logs it once. */
  report(what: string, error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.lastError = { what: `${what}: ${reason}`, at: Date.now() };
    this.#once(this.lastError.what);
  }

  #once(message: string): void {
    if (this.#reported.has(message)) return;
    this.#reported.add(message);
    this.#log.warn(`plimsoll: ${message}`);
  }

  #options(session: Session): ContextManagerOptions<HostMessage> {
    const { preset, trigger, protectTools, language, summaryModel } = this.settings;
    return {
      id: session.id,
      format: "pi",
      // The first request tells the window.
      window: { contextTokens: 0 },
      ...(preset && { preset }),
      ...(trigger !== undefined && { trigger }),
      ...(protectTools && { protectTools }),
      ...(language && { summary: { language } }),
      summarize: summarizer(() => session.llm, summaryModel),
      on: (event) => this.#heed(event),
    } as ContextManagerOptions<HostMessage>;
  }

  #heed(event: ContextEvent): void {
    if (event.type === "compaction-failed") {
      this.report("a compaction failed", event.outcome.reason);
    }
  }
}
