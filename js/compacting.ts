/** Compaction as functions over a whole history, without a session. */
import { ContextManager } from "./context.js";
import { own } from "./known.js";
import type {
  CompactionOutcome,
  CompactionPlan,
  ContextManagerOptions,
  ContextWindow,
  Estimator,
  Format,
  Parts,
  PolicyOptions,
} from "./types.js";

/**
 * What a compaction of a history would do, as data: what is cut, kept and dropped, and in what chunks a summarizer can take it.
 *
 * @throws {PlimsollError} as `ContextManager.plan`.
 * @example
 * const { outcome, firstKept, chunks } = planCompaction(history, { window: { contextTokens: 200_000 } });
 */
export function planCompaction<M>(
  messages: readonly M[],
  options: PolicyOptions &
    Parts & { window: ContextWindow; format?: Format; estimator?: Estimator; force?: boolean },
): CompactionPlan {
  const { system, tools, unseenTokens, open, signal, force, ...rest } = own(options);
  using manager = new ContextManager<M>(rest);
  return manager.plan(messages, { system, tools, unseenTokens, open, signal, force });
}

/**
 * A compacted history, and what came of it. With `force` also where nothing is due.
 *
 * @throws {PlimsollError} as `ContextManager.compact`.
 * @example
 * const { messages } = await compact(history, { window, summarize, force: true });
 */
export async function compact<M>(
  messages: readonly M[],
  options: ContextManagerOptions<M> & { force?: boolean; signal?: AbortSignal },
): Promise<{ messages: M[]; outcome: CompactionOutcome }> {
  const { force, signal, ...rest } = own(options);
  using manager = new ContextManager<M>(rest);
  const outcome = await manager.compact(messages, { force, signal });
  return { messages: manager.request(messages).messages, outcome };
}
