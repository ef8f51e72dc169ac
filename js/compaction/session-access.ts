/** Access of compactions and checkpoints to their session. */
import type * as glue from "../glue/plimsoll_bg.js";
import type { History } from "../session/history.js";
import type { ContextEvent, ContextManagerOptions, Parts, Prepared } from "../types.js";

export interface SessionAccess<M> {
  readonly history: History<M>;
  options(): ContextManagerOptions<M>;
  now(): number;
  manager(): glue.Manager;
  readonly isOver: boolean;
  /** Runs work that may call functions or getters of the host, which must not call the session again. */
  alone<T>(during: string, work: () => T): T;
  /** Calls the host's listener. */
  emit(event: ContextEvent): void;
  /** Passes the history, the system prompt and the tools to the core, within `alone`. */
  take(during: string, messages: readonly M[], parts: Parts): glue.Manager;
  /**
   * Makes a request, and returns whether a fold is due. With `asks`, `null` means that the request cannot fit without a summary, so
   * that a summarizer has to be called first.
   */
  ask(messages: readonly M[], parts: Parts, asks: boolean, during?: string): Asked<M> | null;
}
/** A request, before it is returned to the host. */
export interface Asked<M> {
  prepared: Prepared<M>;
  foldDue: boolean;
  /** Time of the request, in epoch milliseconds. */
  now: number;
}
