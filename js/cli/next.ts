/** `plimsoll next FILE`: what the next request of a session would hold, and why. The figures; nothing is written. */
import { ContextManager, replay } from "../index.js";
import type {
  Bucket,
  Explanation,
  ListedMessage,
  Replay,
  ReplayOptions,
  SessionFile,
  Status,
} from "../types.js";
import { usage } from "./errors.js";
import { type Facts, facts } from "./header.js";
import { absentOf } from "./inspect.js";
import { duration, type Given } from "./options.js";
import type { Setting } from "./setting.js";

type State = Explanation["state"];

/** A message of the history, what the request has of it, and why. */
export interface NextMessage
  extends ListedMessage,
    Pick<Explanation, "group" | "since" | "evidence" | "restore"> {
  /** It becomes so with this request. */
  isNew: boolean;
}

/** The report, the same as text and as JSON. `used + reserve + free = contextTokens`. */
export interface NextReport extends Facts {
  schema: "plimsoll.next/1";
  preset: string;
  window: {
    contextTokens: number;
    source: Setting["source"];
    used: number;
    reserve: number;
    /** Below 0 where the request is over the window. */
    free: number;
  };
  request: {
    /** Its number, from 1. */
    call: number;
    at: number;
    /** Messages that are sent, and those of them that are ours. */
    messages: number;
    made: number;
    /** Tokens without management. */
    unmanaged: number;
    fits: boolean;
    /** False: it only grows at its end, and the prompt cache stays good. */
    isNewEpoch: boolean;
    event: "edit" | "fold" | null;
    violations: number;
  };
  /** How many messages of the history are in each state, and how many of them newly. */
  changes: Record<State, { messages: number; newly: number; tokens: number; sentTokens: number }>;
  /** What pays and is not carried out without a summarizer. */
  due: Status["due"];
  /** What a request has and this file does not tell: the figures are without it. */
  absent: string[];
  buckets: Bucket[];
  history: NextMessage[];
}

const STATES: readonly State[] = ["kept", "capped", "stubbed", "thinned", "summarized", "dropped"];

export function next(
  file: string,
  session: SessionFile,
  { window, source }: Setting,
  options: ReplayOptions,
  given: Given,
): NextReport {
  const going = goingOn(session, duration("idle", given.text("idle")) ?? 0);
  using played = replay(going, options);
  const { status, prepared, before, after } = manage(going, played, options);
  const last = played.calls.at(-1);
  const used = last?.used ?? 0;
  const reserve = window.maxOutputTokens;
  const buckets = played.composition().filter((one) => one.tokens > 0 || one.sent > 0);
  const listed = played.messages();
  const history = listed.flatMap((one, at): NextMessage[] => {
    const why = after[at];
    if (why === undefined) return [];
    const { group, since, evidence, restore } = why;
    const isNew = (before[at]?.state ?? "kept") !== why.state;
    return [{ ...one, group, since, evidence, restore, isNew }];
  });
  return {
    schema: "plimsoll.next/1",
    ...facts(file, session, listed, session.calls.length),
    preset: options.preset ?? "balanced",
    window: {
      contextTokens: window.contextTokens,
      source,
      used,
      reserve,
      free: window.contextTokens - reserve - used,
    },
    request: {
      call: played.calls.length,
      at: last?.at ?? 0,
      messages: prepared.messages.length,
      made: prepared.source.filter((index) => index === null).length,
      unmanaged: last?.unmanaged ?? 0,
      fits: prepared.fits,
      isNewEpoch: prepared.firstChanged !== null,
      event: last?.event ?? null,
      violations: last?.violations ?? 0,
    },
    changes: changesOf(history),
    due: status.due,
    absent: absentOf(buckets),
    buckets,
    history,
  };
}

/** The session with one more call, which has seen all of it. */
function goingOn(session: SessionFile, idle: number): SessionFile {
  const last = session.calls.at(-1);
  if (idle > 0 && last?.at === undefined) throw usage("--idle: the file tells no times");
  const at = last?.at === undefined ? {} : { at: last.at + idle };
  return { ...session, calls: [...session.calls, { sent: session.messages.length, ...at }] };
}

/** The same calls through a manager, which knows what is due and what would bring a message back. */
function manage(session: SessionFile, played: Replay, options: ReplayOptions) {
  const { signal: _, ...policy } = options;
  let now = 0;
  using context = new ContextManager<unknown>({
    ...policy,
    format: session.messageFormat,
    clock: () => now,
  });
  const { messages, system, tools } = session;
  const explained = (count: number): Explanation[] =>
    Array.from({ length: count }, (_, index) => context.explain(index));
  const request = (index: number) => {
    now = played.calls[index]?.at ?? now;
    return context.request(messages.slice(0, session.calls[index]?.sent), { system, tools });
  };
  const end = session.calls.length - 1;
  for (let index = 0; index < end; index += 1) request(index);
  const before = end === 0 ? [] : explained(session.calls[end - 1]?.sent ?? 0);
  const prepared = request(end);
  return { prepared, before, after: explained(messages.length), status: context.status() };
}

function changesOf(history: readonly NextMessage[]): NextReport["changes"] {
  const none = () => ({ messages: 0, newly: 0, tokens: 0, sentTokens: 0 });
  const changes = Object.fromEntries(
    STATES.map((state) => [state, none()]),
  ) as NextReport["changes"];
  for (const { state, isNew, tokens, sentTokens } of history) {
    const sum = changes[state];
    sum.messages += 1;
    sum.newly += isNew ? 1 : 0;
    sum.tokens += tokens;
    sum.sentTokens += sentTokens;
  }
  return changes;
}
