/** A session through a `ContextManager`, call by call: what a replay does not keep, as the requests themselves. */
import { ContextManager } from "../index.js";
import type { ContextManagerOptions, Prepared, ReplayOptions, SessionFile } from "../types.js";

export interface Managed extends Disposable {
  context: ContextManager<unknown>;
  /** The request of a call, from 0; those before it have to be made first. */
  request(call: number): Prepared<unknown>;
}

/** The manager is asked at the times at which the replay was. */
export function managed(
  session: SessionFile,
  played: { calls: ReadonlyArray<{ at: number }> },
  options: ReplayOptions,
): Managed {
  const { signal: _, ...policy } = options;
  let now = 0;
  const own = { ...policy, format: session.messageFormat, clock: () => now };
  // The preset is known when the program runs.
  const context = new ContextManager<unknown>(own as ContextManagerOptions<unknown>);
  const { messages, system, tools } = session;
  return {
    context,
    request: (call) => {
      now = played.calls[call]?.at ?? now;
      return context.request(messages.slice(0, session.calls[call]?.sent), { system, tools });
    },
    [Symbol.dispose]: () => context[Symbol.dispose](),
  };
}

/** The session with one more call, which has seen all of it. */
export function goingOn(session: SessionFile, idle = 0): SessionFile {
  const last = session.calls.at(-1);
  const at = last?.at === undefined ? {} : { at: last.at + idle };
  return { ...session, calls: [...session.calls, { sent: session.messages.length, ...at }] };
}
