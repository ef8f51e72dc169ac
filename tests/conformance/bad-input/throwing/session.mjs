// @ts-check
/** A session with edits, folds, an overflow and a pin, of a host that throws once, and what comes of each of its steps. */
import assert from "node:assert/strict";
import { render } from "../../generated/histories.mjs";
import { good, idle, prose } from "../../support/agent-session.mjs";
import { Fault, faults, isFault } from "./host.mjs";

/** @typedef {{ format: string, provider: string, mode: "request" | "prepare" | "compact", way: "plain" | "keyed" | "counted" | "fed back" }} Kind */

const STEPS = 12;
const overflow = { status: 400, message: "prompt is too long: 9000 tokens > 8000 maximum" };

/** @param {string} format @param {string} provider */
function messagesOf(format, provider) {
  /** @type {any[]} */
  const turns = [];
  for (let at = 0; at < STEPS; at += 1) {
    const id = `c0000000${at.toString(36)}`;
    const call = { kind: "call", id, name: "read", input: { path: `src/f${at}.rs` } };
    const text = `f${at % 3}.rs: ${prose(at % 4 === 1 ? 900 : 250)}`;
    const result = { kind: "result", id, name: "read", text, error: at % 5 === 2 };
    turns.push({ role: "user", parts: [{ kind: "text", text: `look at src/f${at}.rs, ${at}` }] });
    turns.push({ role: "assistant", parts: [{ kind: "text", text: prose(20) }, call] });
    turns.push({ role: "tool", parts: [result] });
    turns.push({ role: "assistant", parts: [{ kind: "text", text: `done ${at}: ${prose(60)}` }] });
  }
  const history = {
    turns,
    clean: true,
    signed: false,
    way: format === "ai-sdk" ? 0 : 3,
    window: 0,
  };
  return render(history, format, provider);
}

/** What of a request is compared. @param {any} prepared */
const facts = (prepared) =>
  prepared &&
  JSON.parse(
    JSON.stringify({
      ...prepared,
      firstChanged: prepared.firstChanged,
      record: prepared.compaction?.record,
    }),
  );

/**
 * Plays the session; the host throws at its `at`th read or callback, and then asks again.
 * @param {any} api @param {Kind} kind @param {number} at 0: never
 * @param {boolean} [checks] each request is valid, and grows at its end within an epoch
 */
export async function session(api, { format, provider, mode, way }, at, checks = false) {
  const fault = faults(at);
  let now = 1_000_000;
  /** @type {string[]} */
  const events = [];
  /** @type {string[]} */
  const failures = [];
  const options = {
    window: { contextTokens: 5000, maxOutputTokens: 500 },
    format,
    provider,
    create: () => fault.tick("create"),
    clock: () => {
      fault.tick("clock");
      return now;
    },
    on: (/** @type {any} */ event) => {
      if (event.type === "callback-failed") {
        assert.ok(event.error instanceof Fault, event.reason);
        failures.push(event.callback);
      } else events.push(JSON.stringify(event));
      fault.tick("on");
    },
    ...(way === "keyed"
      ? {
          key: (/** @type {any} */ _, /** @type {number} */ index) => {
            fault.tick("key");
            return `m${index}`;
          },
        }
      : {}),
    ...(way === "counted"
      ? {
          estimator: (/** @type {string} */ text) => {
            fault.tick("estimator");
            return Math.ceil(text.length / 4);
          },
        }
      : { estimator: "chars/4" }),
    ...(mode === "request"
      ? {}
      : {
          summarize: async (/** @type {any} */ job) => good(job),
          summary: { minimumTokens: 0, contextTokens: 200_000 },
        }),
  };
  const context = new api.ContextManager(options);
  const parts = { system: `You are careful. ${prose(40)}` };
  let thrown = 0;
  /** Until it does not throw any more. @param {() => any} work */
  const again = async (work) => {
    for (;;) {
      try {
        return await fault.during(work);
      } catch (error) {
        if (!isFault(error)) throw error;
        thrown += 1;
        assert.ok(thrown <= 1, "the host threw once");
      }
    }
  };
  /** @type {{ epoch: number, sent: string[] } | undefined} */
  let last;
  const check = (/** @type {any} */ prepared) => {
    if (!checks || !prepared) return;
    const { epoch, messages } = prepared;
    assert.deepEqual(api.validate(messages, provider, { format }), []);
    const sent = messages.map((/** @type {any} */ it) => JSON.stringify(it));
    if (last?.epoch === epoch) assert.deepEqual(sent.slice(0, last.sent.length), last.sent);
    last = { epoch, sent };
  };
  const all = messagesOf(format, provider);
  const each = Math.ceil(all.length / (STEPS * 2));
  let host = fault.host(all);
  /** @type {any[]} */
  let history = [];
  let seen = 0;
  /** @type {any[]} */
  const steps = [];
  for (let count = each; ; count = Math.min(all.length, count + each)) {
    now += steps.length % 5 === 4 ? 400_000 : 1000;
    // The same messages as other objects, as a host has them that reads its history anew.
    if (way === "plain" && steps.length % 7 === 5) host = fault.host(all);
    history = way === "fed back" ? [...history, ...host.slice(seen, count)] : host.slice(0, count);
    seen = count;
    if (mode === "compact" && steps.length % 8 === 6) {
      const outcome = await again(() => context.compact(history, { ...parts, force: true }));
      steps.push(JSON.parse(JSON.stringify(outcome)));
    }
    if (steps.length === 9) await again(() => void context.pin({ text: "alpha river" }));
    const prepared = await again(() =>
      mode === "prepare" ? context.prepare(history, parts) : context.request(history, parts),
    );
    check(prepared);
    steps.push(facts(prepared));
    if (mode === "prepare") await idle(context);
    if (way === "fed back") history = [...prepared.messages];
    if (steps.length === 18) {
      const smaller = await again(() => context.recover(history, overflow, parts));
      check(smaller);
      steps.push(facts(smaller));
      if (way === "fed back" && smaller) history = [...smaller.messages];
      if (mode === "prepare") await idle(context);
    }
    if (count >= all.length) break;
  }
  context[Symbol.dispose]();
  const { kinds } = fault;
  return { steps, events, failures, thrown, kinds };
}
