/** `plimsoll next FILE`: what the next request of a session would hold, and why. The figures; nothing is written. */
import { replay } from "../entry/sessions.js";
import { absentOf } from "../session-files/absent.js";
import type { Bucket, Explanation, ListedMessage, SessionFile, Status } from "../types.js";
import { usage } from "./errors.js";
import { type Facts, facts } from "./header.js";
import { type Arguments, duration } from "./options.js";
import { attempt, reportAt, type Source } from "./source.js";
import { type WindowFigures, windowFigures } from "./window.js";

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
  window: WindowFigures;
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
  /** The next edit to expect: about how many tokens the request has then, and why. */
  nextEdit: Status["nextEdit"];
  /** What a request has and this file does not tell: the figures are without it. */
  absent: string[];
  buckets: Bucket[];
  history: NextMessage[];
}

const STATES: readonly State[] = ["kept", "capped", "stubbed", "thinned", "summarized", "dropped"];

export function next(source: Source, args: Arguments): NextReport {
  const { file, session, options } = source;
  const going = goingOn(session, idleOf(session, args));
  using played = attempt(file, () => replay(going, options));
  const [last, before] = played.calls.slice(-2).reverse();
  const was = before === undefined ? [] : attempt(file, () => played.messages(before.call));
  const sent = attempt(file, () => played.sent());
  const report = reportAt(source, played, played.calls.length);
  const buckets = played.composition().filter((one) => one.tokens > 0 || one.sentTokens > 0);
  const listed = report.messages;
  const history = listed.map((one, at): NextMessage => {
    const { group, since: first, evidence, restore } = played.explain(one.index);
    // From 1, as every command counts calls.
    const since = first && { ...first, call: first.call + 1 };
    const isNew = (was[at]?.state ?? "kept") !== one.state;
    return { ...one, group, since, evidence, restore, isNew };
  });
  return {
    schema: "plimsoll.next/1",
    ...facts(source, played),
    calls: session.calls.length,
    preset: options.preset ?? "balanced",
    window: windowFigures(report, source.setting),
    request: {
      call: played.calls.length,
      at: last?.at ?? 0,
      messages: sent.messages.length,
      made: sent.source.filter((index) => index === null).length,
      unmanaged: last?.unmanaged ?? 0,
      fits: last?.fits ?? true,
      isNewEpoch: last?.epoch !== (before?.epoch ?? 0),
      event: last?.event ?? null,
      violations: last?.violations ?? 0,
    },
    changes: changesOf(history),
    due: report.status.due,
    nextEdit: report.status.nextEdit,
    absent: absentOf(buckets),
    buckets,
    history,
  };
}

/** The session with one more call, which has seen all of it. */
export function goingOn(session: SessionFile, idle = 0): SessionFile {
  const last = session.calls.at(-1);
  const at = last?.at === undefined ? {} : { at: last.at + idle };
  return { ...session, calls: [...session.calls, { sent: session.messages.length, ...at }] };
}

function idleOf(session: SessionFile, args: Arguments): number {
  const idle = duration("idle", args.text("idle")) ?? 0;
  if (idle > 0 && session.calls.at(-1)?.at === undefined)
    throw usage("--idle: the file tells no times");
  return idle;
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
