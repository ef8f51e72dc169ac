/**
 * Messages that were measured once: what a new session, a restored one, an edit of a message, a turn with new objects and a
 * function cost over objects that nobody has seen before, and over the same objects again; and what a restored session costs
 * whose snapshot has measures, over objects that nobody has seen before.
 */
import {
  ContextManager,
  estimateRequest,
  pruneForRequest,
  validate,
} from "../../npm/dist/index.node.js";
import { longSession } from "../../tests/support/long.mjs";

const LENGTHS = [841, 10_000];
const ROUNDS = 5;
const window = { contextTokens: 200_000, maxOutputTokens: 8_192 };
const options = { window, format: "anthropic", clock: () => 0 };

/** A session that has made its request. */
function asked(context, messages) {
  context.request(messages);
  return context;
}

/** What is timed over messages. */
const WORK = {
  "a new session": (messages) => asked(new ContextManager(options), messages),
  "a restored session": (messages, snapshot) =>
    asked(ContextManager.restore(snapshot, options), messages),
  estimateRequest: (messages) => estimateRequest({ messages }, { format: "anthropic" }),
  validate: (messages) => validate(messages, "anthropic", { format: "anthropic" }),
  pruneForRequest: (messages) => pruneForRequest(messages, { ...options, preset: "openclaw" }),
};

/** Milliseconds of a piece of work. A session that it made ends after it: its memory would weigh on what follows. */
function timed(work) {
  globalThis.gc?.();
  const begun = performance.now();
  const made = work();
  const ms = performance.now() - begun;
  made?.[Symbol.dispose]?.();
  return ms;
}

/** Milliseconds over new objects and over the same again. */
function both(session, snapshot, work) {
  const messages = structuredClone(session);
  return [0, 1].map(() => timed(() => work(messages, snapshot)));
}

/** Milliseconds of a new session over an edited history, and of the edit in a session that has the rest. */
function edited(session, at, all) {
  const messages = structuredClone(session);
  const context = asked(new ContextManager(all), messages);
  const other = messages.with(at, { role: "user", content: "something else" });
  const copies = structuredClone(other);
  const times = [timed(() => asked(new ContextManager(all), copies))];
  times.push(timed(() => void asked(context, other)));
  context[Symbol.dispose]();
  return times;
}

/** Milliseconds of a new session, and of a turn of one whose host passes new objects each time. */
function copied(session) {
  const context = asked(new ContextManager(options), structuredClone(session));
  const longer = [...session, { role: "user", content: "go on" }];
  const copies = [0, 1].map(() => structuredClone(longer));
  const times = [timed(() => asked(new ContextManager(options), copies[0]))];
  times.push(timed(() => void asked(context, copies[1])));
  context[Symbol.dispose]();
  return times;
}

/** How a restored session may know a message that was measured. */
const WAYS = {
  "the host's key": { key: ({ id }) => id },
  "its position": { appendOnly: true },
  "its JSON": {},
};

/** Milliseconds of a restored session over new objects, without measures and with them. */
function restored(session, how) {
  const all = { ...options, ...how };
  const parked = asked(new ContextManager(all), structuredClone(session));
  const snapshots = [parked.snapshot(), parked.snapshot({ measures: true })];
  parked[Symbol.dispose]();
  return () =>
    snapshots.map((snapshot) => {
      const messages = structuredClone(session);
      return timed(() => asked(ContextManager.restore(snapshot, all), messages));
    });
}

/** Prints both, and how many times less the second is. */
export function bench(median) {
  console.log("\nmessages that were measured once, ms\n");
  const results = [];
  for (const length of LENGTHS) {
    const session = longSession(length);
    const snapshot = asked(new ContextManager(options), structuredClone(session)).snapshot();
    const rows = Object.entries(WORK).map(([name, work]) => [
      name,
      () => both(session, snapshot, work),
    ]);
    const roomy = { ...options, window: { contextTokens: 1e7 } };
    rows.push(["an edit of the fifth message", () => edited(session, 4, roomy)]);
    rows.push([
      "an edit of the tenth message from the end",
      () => edited(session, length - 10, options),
    ]);
    rows.push(["a turn with new objects", () => copied(session)]);
    const withIds = session.map((message, at) => ({ id: `m${at}`, ...message }));
    for (const [way, how] of Object.entries(WAYS)) {
      rows.push([`a restored session, measures by ${way}`, restored(withIds, how)]);
    }
    for (const [name, run] of rows) {
      run();
      const rounds = Array.from({ length: ROUNDS }, run);
      const [first, again] = [0, 1].map((at) => median(rounds.map((times) => times[at])));
      results.push({ length, name, first, again });
      console.log(
        `${`${length} messages, ${name}`.padEnd(62)} ${first.toFixed(1).padStart(8)} at first ${again.toFixed(1).padStart(8)} again ${(first / again).toFixed(1).padStart(6)} x`,
      );
    }
  }
  return results;
}
