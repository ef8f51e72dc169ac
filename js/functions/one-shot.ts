/** A session in the core for one question; the last few stay for the next question about the same message objects. */
import { messagesOf } from "../core/arguments.js";
import { Handle } from "../core/handle.js";
import { argumentJson, isContainedIn, takenMessage } from "../core/json.js";
import { call, core, send } from "../core/main.js";
import * as glue from "../glue/plimsoll_bg.js";
import { type Counter, counterOf, push } from "../session/counter.js";
import { appendKnown, keepMeasures, keptOf } from "../session/measures.js";
import type { ManagerOptions } from "../types.js";

/** A session that holds messages and nothing else. */
interface Asked {
  handle: Handle<glue.Manager>;
  /** Its messages, and what each held when it was measured. */
  messages: unknown[];
  copies: unknown[];
}

/** As many questions as a host may have about one history at each turn. */
const MOST_KEPT = 4;

/** By a history's first message, and then by question: a history that the host lets go of takes its sessions with it. */
const asked = new WeakMap<object, Map<string, Asked>>();
/** The sessions that are kept, the oldest first. */
const kept: Array<WeakRef<Asked>> = [];

/**
 * Does `work` on a session in the core that holds these messages and nothing else.
 *
 * @param work changes nothing in the session but what goes out beside its messages
 */
export function within(
  during: string,
  messages: readonly unknown[],
  options: Pick<ManagerOptions<unknown>, "provider" | "format" | "estimator" | "imageTokens">,
  work: (manager: glue.Manager) => string,
): unknown {
  messagesOf(messages);
  const counter = counterOf(options.estimator);
  const json = argumentJson(counter ? { ...options, estimator: null } : options, "options");
  const question = `${during} ${json}`;
  // The host counts anew each time.
  const before = counter ? undefined : taken(question, messages);
  const session = before ?? {
    handle: new Handle(() => call(during, () => new glue.Manager(send(json))), core),
    messages: [],
    copies: [],
  };
  let isAnswered = false;
  try {
    extend(during, session, messages, counter);
    const answer = JSON.parse(work(session.handle.value));
    isAnswered = true;
    return answer;
  } finally {
    if (isAnswered && !counter) keep(question, session);
    else session.handle.free();
  }
}

/** Hands over the messages that the session does not have yet. */
function extend(
  during: string,
  { handle: { value: manager }, messages: all, copies }: Asked,
  messages: readonly unknown[],
  counter: Counter | undefined,
): void {
  const from = all.length;
  const measures = messages.map((message, at) => (at < from ? undefined : keptOf(message)));
  while (all.length < messages.length) {
    const index = all.length;
    const known = measures[index];
    const count =
      known && appendKnown(during, manager, known, (places) => measures[index + places]);
    for (let at = index; at < index + (count ?? 0); at++) {
      all.push(messages[at]);
      copies.push(measures[at]?.copy);
    }
    if (count) continue;
    const { written, copy } = takenMessage(messages[index], index);
    if (count !== null && push(during, manager, written, counter)) {
      all.push(messages[index]);
      copies.push(copy);
    } else {
      // The format shows only now, and what came before is read again.
      all.length = 0;
      copies.length = 0;
    }
  }
  if (all.length > from) keepMeasures(manager, all, copies, from);
}

/** The session that answered the same question about these messages, or the first of them; it is nobody else's meanwhile. */
function taken(question: string, messages: readonly unknown[]): Asked | undefined {
  const [first] = messages;
  const questions = typeof first === "object" && first !== null ? asked.get(first) : undefined;
  const session = questions?.get(question);
  if (!questions || !session?.handle.isAlive) return undefined;
  const isSame = (message: unknown, at: number): boolean =>
    message === messages[at] && isContainedIn(session.copies[at], message);
  if (!session.messages.every(isSame)) return undefined;
  questions.delete(question);
  return session;
}

function keep(question: string, session: Asked): void {
  const [first] = session.messages;
  if (typeof first !== "object" || first === null) {
    session.handle.free();
    return;
  }
  const questions = asked.get(first) ?? new Map<string, Asked>();
  asked.set(first, questions);
  questions.get(question)?.handle.free();
  questions.set(question, session);
  const others = kept.filter((one) => one.deref()?.handle.isAlive && one.deref() !== session);
  kept.splice(0, kept.length, ...others, new WeakRef(session));
  while (kept.length > MOST_KEPT) kept.shift()?.deref()?.handle.free();
}
