/** Compaction as functions over a whole history, without a session. */
import { ContextManager } from "./context.js";
import { own } from "./known.js";
import type {
  CompactionOutcome,
  CompactionPlan,
  ContextManagerOptions,
  Parts,
  PolicyOptions,
} from "./types.js";

/**
 * Returns what a compaction of a history would do: what is kept, what is removed, and in which chunks it would be summarized.
 *
 * @throws {PlimsollError} as `ContextManager.plan`.
 * @example
 * const { outcome, firstKept, chunks } = planCompaction(history, { window: { contextTokens: 200_000 } });
 */
export function planCompaction<M>(
  messages: readonly M[],
  options: PolicyOptions &
    Parts &
    Pick<ContextManagerOptions<M>, "window" | "format" | "estimator"> & {
      /** Plan a compaction even below the trigger. Default false. */
      force?: boolean;
    },
): CompactionPlan {
  const { system, tools, unseenTokens, open, signal, force, ...rest } = own(options);
  using manager = new ContextManager<M>(rest);
  return manager.plan(messages, { system, tools, unseenTokens, open, signal, force });
}

/**
 * Compacts a history once, without keeping a session.
 *
 * @throws {PlimsollError} as `ContextManager.compact`.
 * @example
 * const { messages } = await compact(history, { window, summarize, force: true });
 */
export async function compact<M>(
  messages: readonly M[],
  options: ContextManagerOptions<M> & {
    /** Compact even below the trigger. Default false. */
    force?: boolean;
    /** Aborts the compaction; it then rejects with `signal.reason`. */
    signal?: AbortSignal;
  },
): Promise<{
  /** The compacted history. */
  messages: M[];
  /** What was done. */
  outcome: CompactionOutcome;
}> {
  const { force, signal, ...rest } = own(options);
  using manager = new ContextManager<M>(rest);
  const outcome = await manager.compact(messages, { force, signal });
  return { messages: manager.request(messages).messages, outcome };
}
