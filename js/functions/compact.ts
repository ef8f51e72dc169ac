/** Compaction as functions over a whole history, without a session. */
import { own } from "../core/arguments.js";
import { ContextManager } from "../session/context.js";
import type { AbortSignal } from "../types/web.js";
import type { CompactionOutcome, ContextManagerOptions } from "../types.js";

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
    force?: boolean | undefined;
    /** Aborts the compaction; it then rejects with `signal.reason`. */
    signal?: AbortSignal | undefined;
  },
): Promise<{
  /** The compacted history. */
  messages: M[];
  /** What was done. */
  outcome: CompactionOutcome;
}> {
  const { force, signal, ...rest } = own(options);
  const manager = new ContextManager<M>(rest);
  try {
    const outcome = await manager.compact(messages, { force, signal });
    return { messages: manager.request(messages).messages, outcome };
  } finally {
    manager[Symbol.dispose]();
  }
}
