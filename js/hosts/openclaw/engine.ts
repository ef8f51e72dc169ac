/** The context engine: OpenClaw's hooks over the sessions of an agent. No hook throws: what fails is logged, and the host goes on. */
import type { CompactionOutcome } from "../../types.js";
import type { Agent } from "./agent.js";
import type {
  AssembleCall,
  Assembled,
  CommitCall,
  CompactCall,
  Compacted,
  HookCall,
  HostConfig,
  HostMessage,
  ReadEvents,
  ReadPage,
  Rewritten,
} from "./host.js";
import { modelOf } from "./models.js";
import { removedFrom, type Session } from "./session.js";
import { isPrivate } from "./sessions.js";

const UNCHANGED: Rewritten = { changed: false, bytesFreed: 0, rewrittenEntries: 0 };

/** What the engine is and needs. */
interface EngineInfo {
  id: string;
  name: string;
  ownsCompaction: boolean;
  transcriptSemantics: { currentTurnFence: string; turnAdvancementIdempotency: string };
  turnMaintenanceMode: "background";
  hostRequirements: Record<string, { requiredCapabilities: string[]; unsupportedMessage: string }>;
}

export class Engine {
  readonly info: EngineInfo = {
    id: "plimsoll",
    name: "Plimsoll",
    ownsCompaction: true,
    // Without both, the host gives every turn to its own engine.
    transcriptSemantics: {
      currentTurnFence: "before-current-turn-entry-v1",
      turnAdvancementIdempotency: "atomic-idempotent-v1",
    },
    turnMaintenanceMode: "background",
    hostRequirements: {
      "agent-run": {
        requiredCapabilities: ["assemble-before-prompt"],
        unsupportedMessage:
          "Plimsoll decides what each model call sends, which this harness does not let it: choose another harness, or the context engine `legacy`.",
      },
    },
  };
  readonly #agent: Agent;
  readonly #config: HostConfig | undefined;
  readonly #page: ReadPage;
  readonly #events: ReadEvents;
  #isUsed = false;

  constructor(agent: Agent, config: HostConfig | undefined, page: ReadPage, events: ReadEvents) {
    this.#agent = agent;
    this.#config = config;
    this.#page = page;
    this.#events = events;
  }

  /** A session begins or goes on. Its transcript is read later, when the host has fenced off the turn that is under way. */
  bootstrap(call: HookCall): Promise<{ bootstrapped: boolean }> {
    return this.#guard("bootstrap", call, { bootstrapped: true }, async () => {
      if (!isPrivate(call.sessionId)) await this.#with(call, () => undefined);
      return { bootstrapped: true };
    });
  }

  /** Not used by hosts that commit turns. */
  async ingest(): Promise<{ ingested: boolean }> {
    return { ingested: false };
  }

  /** Returns what a model call sends of the history: the first call of a turn, and each later one in its tool loop. */
  assemble(call: AssembleCall): Promise<Assembled> {
    const asTheyCame = { messages: call.messages, estimatedTokens: 0 };
    return this.#guard("assemble", call, asTheyCame, () => {
      const work = async (session: Session): Promise<Assembled> => {
        const { maxOutputTokens, promptTokenBudget } = call.runtimeSettings?.limits ?? {};
        // Only a turn's first call names the output reserve; a later one names the window instead.
        const isFirst = typeof maxOutputTokens === "number" || !session.hasBegun;
        if (isFirst) await this.#read(session, call.messages);
        this.#agent.unused = 0;
        const { messages, tokens } = isFirst
          ? session.begin(call, this.#modelOf(call))
          : session.go(call, this.#windowOf(session, promptTokenBudget));
        return { messages, estimatedTokens: tokens };
      };
      return this.#with(call, work);
    });
  }

  /** Takes up an accepted turn. The host calls it again with the same key if it could not note our answer. */
  commitTurn(call: CommitCall): Promise<{ status: "committed" | "duplicate" }> {
    const committed = { status: "committed" as const };
    return this.#guard("commitTurn", call, committed, () =>
      this.#with(call, async (session) => {
        if (!session.advance(call)) return { status: "duplicate" as const };
        await this.#save(session);
        return committed;
      }),
    );
  }

  /** Folds between turns, while the host lends its model for the summary. */
  maintain(call: HookCall): Promise<Rewritten> {
    return this.#guard("maintain", call, UNCHANGED, async () => {
      const { llm, modelContextWindow } = call.runtimeContext ?? {};
      if (!llm || isPrivate(call.sessionId)) return UNCHANGED;
      return this.#with(call, async (session) => {
        session.figures.assume(modelContextWindow);
        if (!session.hasTurn) return UNCHANGED;
        session.hasTurn = false;
        session.llm = llm;
        const history = session.transcript.list();
        const outcome = await session.foldIfNear(call.abortSignal);
        if (!outcome) return UNCHANGED;
        await this.#save(session);
        return this.#mirror(session, outcome, call, history);
      });
    });
  }

  /**
   * Compacts on request, before a turn that the host counts as too large, or after the provider refused one. Before a
   * turn the host checks the size. If the answer is then that nothing was compacted, it blocks the session for good; so a request that is
   * smaller than its own count is reported as compacted.
   */
  compact(call: CompactCall): Promise<Compacted> {
    const failed: Compacted = {
      ok: false,
      compacted: false,
      reason: "Plimsoll could not compact: it was aborted, or its log says why",
    };
    return this.#guard("compact", call, failed, () =>
      this.#with(call, async (session) => {
        await this.#read(session);
        session.figures.assume(call.tokenBudget);
        session.llm = call.runtimeContext?.llm;
        const before = session.sent().tokens;
        const { reason, summary } = await this.#compacted(session, call);
        const { tokens, fits } = session.sent();
        await this.#save(session);
        const tokensBefore = call.currentTokenCount ?? before;
        const isGate = call.runtimeContext?.trigger === "budget" && fits;
        if (tokens >= tokensBefore && !isGate) return { ok: true, compacted: false, reason };
        const result = {
          ...(summary && { summary }),
          tokensBefore: Math.max(tokensBefore, tokens),
          tokensAfter: tokens,
        };
        return { ok: true, compacted: true, result };
      }),
    );
  }

  /** Sessions outlive an engine, which the host makes anew for each turn. */
  async dispose(): Promise<void> {
    if (!this.#isUsed) this.#agent.unused += 1;
  }

  async #compacted(
    session: Session,
    call: CompactCall,
  ): Promise<{ reason: string; summary?: string | undefined }> {
    const trigger = call.runtimeContext?.trigger;
    if (trigger === "overflow") {
      const smaller = await session.recover(call);
      const summary = smaller?.compaction?.record?.summary;
      return { reason: "Nothing smaller can be sent.", summary };
    }
    const outcome =
      trigger === "budget"
        ? await session.foldIfNear(call.abortSignal)
        : await session.compact(call);
    return { reason: outcome?.reason ?? "Nothing is due.", summary: outcome?.record?.summary };
  }

  #with<T>(call: HookCall, work: (session: Session) => T | Promise<T>): Promise<T> {
    const { messages } = call as Partial<AssembleCall>;
    const use = (session: Session): T | Promise<T> => {
      session.target = call.sessionTarget ?? session.target;
      session.key = call.sessionKey ?? session.key;
      return work(session);
    };
    return this.#agent.sessions.use(call.sessionId, use, messages);
  }

  /** Without its transcript, a session goes on with what the host shows. */
  async #read(session: Session, shown: readonly HostMessage[] = []): Promise<void> {
    try {
      const { resets, target } = session;
      if (target && !isPrivate(session.id) && (await resets.look(this.#events, target))) {
        await this.#agent.sessions.renew(session);
      }
      await session.read(this.#page, this.#agent.mirror, shown);
    } catch (error) {
      this.#agent.report("the transcript cannot be read", error);
    }
  }

  async #save(session: Session): Promise<void> {
    try {
      await session.save();
    } catch (error) {
      this.#agent.report(`session ${session.id} was not saved`, error);
    }
  }

  async #mirror(
    session: Session,
    { record }: CompactionOutcome,
    { runtimeContext }: HookCall,
    history: readonly HostMessage[],
  ): Promise<Rewritten> {
    const rewrite = runtimeContext?.rewriteTranscriptEntries;
    const { settings, mirror } = this.#agent;
    if (settings.mirror !== "results" || !mirror) return UNCHANGED;
    if (!record || !rewrite || !session.target) return UNCHANGED;
    const removed = removedFrom(history, record);
    return mirror.shorten(session.id, removed, this.#page, session.target, rewrite);
  }

  #modelOf(call: AssembleCall): ReturnType<typeof modelOf> {
    const model = modelOf(this.#config, call.runtimeSettings, call.model, call.messages);
    return { ...model, window: model.window ?? this.#agent.windows.get(model.name) };
  }

  /** The window as a later call of a turn tells it. */
  #windowOf(session: Session, window: number | null | undefined): number | undefined {
    if (!window) return undefined;
    this.#agent.windows.set(session.model, window);
    return window;
  }

  async #guard<T>(hook: string, call: HookCall, otherwise: T, work: () => Promise<T>): Promise<T> {
    this.#isUsed = true;
    try {
      return await work();
    } catch (error) {
      if (!call.abortSignal?.aborted) this.#agent.report(hook, error);
      return otherwise;
    }
  }
}
