// @ts-check
/**
 * Carries a session out: asks a manager for each request that was made in it, and holds every answer against the
 * strict providers and the laws of the contract. Nothing here knows how the manager decides.
 */
import { createHash } from "node:crypto";
import { approvalsOfCalls, atomic, signed, verbatim } from "../generated/laws.mjs";
import { strictFor } from "../providers/pairs.mjs";
import { carriedThinking, unchangedThinking } from "../providers/strict.mjs";
import { boundThinking, keptVerbatim } from "./message-laws.mjs";

/** @typedef {import("../providers/strict/common.mjs").Violation} Violation */
/** @typedef {import("../providers/strict/common.mjs").Rules} Rules */
/**
 * @typedef {Violation & { call: number }} Failure
 * @typedef {{
 *   calls: number, epochs: number, edits: number, folds: number, summarized: number, behind: number, degraded: number, repairs: number, unfit: number, inherited: number,
 *   maxTokens: number, drift: number, bill: number, ms: number, violations: number, failures: Failure[],
 * }} Report
 */

/** Whose rules hold where a host names none. @param {string} format */
export const ownProvider = (format) =>
  ["pi", "ai-sdk", "langchain"].includes(format) ? "anthropic" : format;

/** What the host's own history may bring along: rules of the place where the session was cut, not of what we made. */
const ofTheCut = new Set(["I8", "I11", "I27"]);
/** What a single message must satisfy by itself. */
const ofOneMessage = new Set(["I5", "I6", "I26", "I30", "shape"]);
const shownFailures = 20;

/**
 * @param {any} api the package
 * @param {any} session what `readSession` gave
 * @param {{ contextTokens: number, provider?: string, preset?: string | undefined, estimateAll?: boolean, everyPrefix?: boolean,
 *   create?: any, summarize?: any }} options `everyPrefix`: it is asked after every message, not only where the session asked;
 *   `summarize`: it is asked by `prepare`, and what runs after a request is waited for
 * @returns {Promise<Report>}
 */
export async function carryOut(
  api,
  session,
  {
    contextTokens,
    provider,
    preset = "balanced",
    estimateAll = false,
    everyPrefix = false,
    create,
    summarize,
  },
) {
  const format = session.messageFormat;
  const whose = provider ?? ownProvider(format);
  const strict = strictFor(format, whose);
  const law = { format, provider: whose };
  const alternates = whose === "bedrock" || whose === "mistral";
  const maxOutputTokens = Math.min(8_192, Math.floor(contextTokens / 16));
  const usable = contextTokens - maxOutputTokens;
  const host = /** @type {any[]} */ (session.messages);
  deepFreeze(host);
  const before = host.map(digest);
  const parts = deepFreeze({ system: session.system, tools: session.tools });
  let now = 0;
  const manager = new api.ContextManager({
    window: { contextTokens, maxOutputTokens },
    format,
    ...(provider ? { provider } : {}),
    ...(create ? { create } : {}),
    ...(summarize ? { summarize } : {}),
    preset,
    clock: () => now,
  });

  const ask = (/** @type {readonly any[]} */ history) =>
    summarize ? manager.prepare(history, parts) : manager.request(history, parts);

  /** @type {Report} */
  const report = {
    calls: 0,
    epochs: 0,
    edits: 0,
    folds: 0,
    summarized: 0,
    behind: 0,
    degraded: 0,
    repairs: 0,
    unfit: 0,
    inherited: 0,
    maxTokens: 0,
    drift: 0,
    bill: 0,
    ms: 0,
    violations: 0,
    failures: [],
  };
  const hasThinking = format === "anthropic" && whose === "anthropic" && host.some(holdsThinking);
  const rules = { cache: new WeakMap(), ...(hasThinking ? { thinking: true } : {}) };
  const made = new WeakSet();
  const bound = boundThinking(host);
  /** @type {Set<number>} */
  const announced = new Set();
  /** @type {any} */
  let previous = null;

  for (const { sent: count, at } of requestsOf(session, everyPrefix)) {
    const call = report.calls;
    const fail = (
      /** @type {string} */ rule,
      /** @type {number} */ index,
      /** @type {string} */ message,
      path = "",
    ) => {
      report.violations += 1;
      if (report.failures.length < shownFailures)
        report.failures.push({ call, rule, index, path, message });
    };
    now = at;
    const history = Object.freeze(host.slice(0, count));
    const start = performance.now();
    let view;
    try {
      view = await ask(history);
    } catch (error) {
      fail("threw", count, String(error));
      break;
    }
    report.ms += performance.now() - start;
    report.calls += 1;
    const { messages, source } = view;
    deepFreeze(messages);

    if (!checkSource(view, history, fail)) break;
    for (const { index } of view.edits) announced.add(index);
    for (const { index } of view.repairs) announced.add(index);
    for (let i = 0; i < messages.length; i += 1) {
      const from = source[i];
      if (from === null || messages[i] === host[from]) continue;
      if (json(messages[i]) === json(host[from]))
        fail("identity", i, "an unedited message is not the host's object");
      else if (!announced.has(from))
        fail("edits", i, `message ${from} was edited and no edit or repair says so`);
    }

    /** @type {Set<string> | null} */
    let brought = null;
    for (const found of strict(messages, rules)) {
      const from = source[found.index];
      const own = from === null || from === undefined ? null : host[from];
      if (ofTheCut.has(found.rule)) {
        brought ??= new Set(strict(history, rules).map((one) => one.rule));
        if (brought.has(found.rule)) {
          report.inherited += 1;
          continue;
        }
      }
      // A call that the host had no result for yet: what mends it makes its message the final one, which had no thinking.
      if (everyPrefix && found.rule === "I11" && own && messages[found.index] === own) {
        report.inherited += 1;
        continue;
      }
      if (
        own &&
        found.rule === "shape" &&
        strict([own]).some((one) => one.rule === "shape" && one.path === found.path)
      ) {
        report.inherited += 1;
        continue;
      }
      fail(found.rule, found.index, found.message, found.path);
    }
    checkMade(messages, source, host, strict, made, fail);
    // I10 is a rule of Anthropic's models, which Converse has too. Who speaks Anthropic's format for models of its own
    // (DeepSeek, Kimi) binds no block to its neighbours.
    if (whose === "anthropic" || whose === "bedrock")
      for (const one of unchangedThinking(messages, history, source, alternates))
        fail(one.rule, one.index, one.message);
    for (const one of carriedThinking(messages, host, source, alternates))
      fail(one.rule, one.index, one.message);
    const words =
      format === "anthropic"
        ? keptVerbatim(messages, history)
        : verbatim(law, history, history, messages)?.message;
    if (words) fail("verbatim", -1, words);
    const repaired = new Set(view.repairs.map((/** @type {Violation} */ one) => one.index));
    const asTheyWere = {
      messages: history.map((message, from) => (repaired.has(from) ? null : message)),
      source: history.map((_, from) => from),
    };
    for (const broken of [
      atomic(law, asTheyWere, view),
      approvalsOfCalls(law, messages),
      signed(history, view),
    ])
      if (broken) fail(broken.law, -1, broken.message);

    if (!view.fits) report.unfit += 1;
    else if (view.tokens > usable)
      fail("tokens", -1, `${view.tokens} tokens in a usable window of ${usable}`);
    report.maxTokens = Math.max(report.maxTokens, view.tokens);
    const near = view.tokens > usable * 0.9 || previous?.epoch !== view.epoch || call % 10 === 0;
    if (estimateAll || near) {
      const { tokens } = api.estimateRequest({ ...parts, messages }, { format });
      report.drift = Math.max(report.drift, Math.abs(tokens - view.tokens));
      if (view.fits && tokens > usable)
        fail("tokens", -1, `measured again: ${tokens} in a usable window of ${usable}`);
    }

    const { record, status } = view.compaction ?? {};
    if (record) report.folds += 1;
    if (record && status === "summarized") report.summarized += 1;
    if (record?.degraded) report.degraded += 1;
    if (report.folds === 0) {
      const kept = new Set(source);
      // Where roles alternate, neighbours go out as one message of ours: it holds all that they said, in order.
      const joined = alternates ? messages.filter((_, i) => source[i] === null).map(json) : [];
      const isGone = (/** @type {any} */ message, /** @type {number} */ from) =>
        !kept.has(from) &&
        !announced.has(from) &&
        !joined.some((own) => holdsInOrder(own, textsOf(message)));
      const lost = history.findIndex(isGone);
      if (lost >= 0) fail("lost", lost, "a message is gone, and no fold, edit or repair says so");
    }

    const changed = previous ? firstDifference(previous.messages, messages) : messages.length;
    checkEpoch(previous, view, changed, fail);
    if (hasThinking) {
      const stale = bound.next(view, previous, changed);
      if (stale >= 0 && Object.keys(view.hints ?? {}).length === 0) {
        fail("I12", stale, "thinking bound to another prefix is sent, and no hint says so");
      }
    }
    // One that ended after a request is carried by the next.
    const behind = summarize && manager.status();
    if (!behind || (behind.blocked?.reason !== "running" && behind.compactions === report.folds))
      checkAgain(await ask(history), view, fail);
    else report.behind += 1;

    const size = (/** @type {any} */ message) => json(message).length / 4;
    for (let i = 0; i < messages.length; i += 1)
      report.bill += size(messages[i]) * (previous && i < changed ? 0.1 : 1.25);
    if (previous && previous.epoch !== view.epoch) report.epochs += 1;
    report.edits += view.edits.length;
    report.repairs = Math.max(report.repairs, view.repairs.length);
    previous = view;
    if (summarize) manager.observe({ inputTokens: view.tokens, outputTokens: 0 }, view);
    while (summarize && manager.status().blocked?.reason === "running")
      await new Promise((resolve) => setImmediate(resolve));
  }

  for (let at = 0; at < host.length; at += 1) {
    if (digest(host[at]) === before[at]) continue;
    report.violations += 1;
    report.failures.push({
      call: report.calls,
      rule: "mutated",
      index: at,
      path: "",
      message: "the host's message changed",
    });
  }
  report.bill = Math.round(report.bill);
  report.ms = Math.round(report.ms);
  manager[Symbol.dispose]?.();
  return report;
}

/** @param {string} json @param {readonly string[]} texts */
function holdsInOrder(json, texts) {
  let from = 0;
  return texts.every((text) => {
    const at = json.indexOf(text, from);
    from = at + text.length;
    return at >= 0;
  });
}

/** Every string in a message's content, as it stands in JSON. @param {any} value @returns {string[]} */
function textsOf({ content, parts }) {
  /** @type {string[]} */
  const texts = [];
  JSON.stringify(content ?? parts ?? null, (_, value) => {
    if (typeof value === "string") texts.push(JSON.stringify(value).slice(1, -1));
    return value;
  });
  return texts;
}

/** @typedef {(rule: string, index: number, message: string, path?: string) => void} Fail */

/**
 * The requests of a session, in order: what each saw and when. Without times: ten seconds a message.
 * @param {any} session
 * @param {boolean} everyPrefix a request after every message
 * @returns {Array<{ sent: number, at: number }>}
 */
export function requestsOf(session, everyPrefix = false) {
  const count = session.messages.length;
  const calls =
    session.calls.length > 0
      ? session.calls
      : session.messages.flatMap((/** @type {any} */ message, /** @type {number} */ at) =>
          message.role === "assistant" ? [{ sent: at }] : [],
        );
  /** @type {Array<{ sent: number, at: number }>} */
  const requests = [];
  let last = { sent: 0, at: 1_700_000_000_000 };
  for (const { sent, at } of calls) {
    if (!(sent > last.sent && sent <= count)) continue;
    const guessed = last.at + 10_000 * (sent - last.sent);
    last = { sent, at: typeof at === "number" && Number.isFinite(at) ? at : guessed };
    requests.push(last);
  }
  return everyPrefix ? prefixes(requests, count) : requests;
}

/** @param {Array<{ sent: number, at: number }>} requests @param {number} count of messages */
function prefixes(requests, count) {
  const made = new Map(requests.map((request) => [request.sent, request]));
  let last = { sent: 0, at: (requests[0]?.at ?? 1_700_000_000_000) - 10_000 };
  return Array.from({ length: count }, (_, before) => {
    last = made.get(before + 1) ?? { sent: before + 1, at: last.at + 1_000 };
    return last;
  });
}

/** @param {any} view @param {readonly any[]} history @param {Fail} fail */
function checkSource({ messages, source }, history, fail) {
  if (!Array.isArray(messages) || !Array.isArray(source) || messages.length !== source.length) {
    fail("source", -1, "messages and source are lists of one length");
    return false;
  }
  let last = -1;
  for (let i = 0; i < source.length; i += 1) {
    const from = source[i];
    if (from === null) continue;
    if (!Number.isInteger(from) || from < 0 || from >= history.length)
      fail("source", i, `${from} is no position in the history`);
    else if (from <= last) fail("source", i, `${from} stands behind ${last}`);
    last = from;
  }
  return true;
}

/**
 * What we made is plain and not empty; what we edited is not emptied.
 * @param {readonly any[]} messages
 * @param {ReadonlyArray<number | null>} source
 * @param {readonly any[]} host
 * @param {(messages: readonly any[], rules?: Rules) => Violation[]} strict
 * @param {WeakSet<object>} seen
 * @param {Fail} fail
 */
function checkMade(messages, source, host, strict, seen, fail) {
  for (let i = 0; i < messages.length; i += 1) {
    const message = messages[i];
    const from = source[i] ?? null;
    if (
      (from !== null && message === host[from]) ||
      typeof message !== "object" ||
      message === null ||
      seen.has(message)
    )
      continue;
    seen.add(message);
    const had =
      from === null
        ? []
        : strict([host[from]], { emptyResults: false }).map((one) => `${one.rule}${one.path}`);
    const found = strict([message], { emptyResults: false, plain: from === null });
    for (const { rule, path, message: why } of found) {
      if (ofOneMessage.has(rule) && !had.includes(`${rule}${path}`))
        fail(rule, i, `in a message of ours: ${why}`, path);
    }
  }
}

/** @param {any} previous @param {any} view @param {number} changed @param {Fail} fail */
function checkEpoch(previous, view, changed, fail) {
  if (!previous) return;
  const grew = changed === previous.messages.length;
  if (view.epoch === previous.epoch) {
    if (!grew) fail("epoch", changed, "a message changed within an epoch");
    if (view.firstChanged !== null)
      fail("firstChanged", changed, `${view.firstChanged} within an epoch`);
  } else if (grew) fail("epoch", changed, "a new epoch, and the request only grew");
  else if (view.firstChanged !== changed)
    fail("firstChanged", changed, `said ${view.firstChanged}, it is ${changed}`);
}

/** The same question again gives the same answer. @param {any} again @param {any} view @param {Fail} fail */
function checkAgain(again, view, fail) {
  if (
    again.messages.length !== view.messages.length ||
    firstDifference(again.messages, view.messages) !== view.messages.length
  ) {
    fail("again", -1, "asked twice, the messages differ");
  }
  for (const field of ["epoch", "tokens", "fits"]) {
    if (again[field] !== view[field])
      fail("again", -1, `asked twice, ${field} is ${view[field]}, then ${again[field]}`);
  }
  if (json(again.source) !== json(view.source))
    fail("again", -1, "asked twice, the sources differ");
}

/** Position of the first message of `old` that is not the same in `now`. @param {readonly any[]} old @param {readonly any[]} now */
function firstDifference(old, now) {
  let at = 0;
  while (
    at < old.length &&
    at < now.length &&
    (old[at] === now[at] || json(old[at]) === json(now[at]))
  )
    at += 1;
  return at;
}

/** @param {any} message */
const holdsThinking = (message) =>
  Array.isArray(message?.content) &&
  message.content.some((/** @type {any} */ block) => block?.type === "thinking");

/** Messages are frozen, so their text is too. @type {WeakMap<object, string>} */
const texts = new WeakMap();

/** @param {any} value @returns {string} */
function json(value) {
  if (typeof value !== "object" || value === null) return String(JSON.stringify(value));
  const known = texts.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  texts.set(value, text);
  return text;
}

/** @param {any} message */
const digest = (message) =>
  createHash("sha1")
    .update(String(JSON.stringify(message)))
    .digest("base64");

/** @template T @param {T} root @returns {T} */
export function deepFreeze(root) {
  const open = /** @type {any[]} */ ([root]);
  while (open.length > 0) {
    const value = open.pop();
    if (
      typeof value !== "object" ||
      value === null ||
      Object.isFrozen(value) ||
      ArrayBuffer.isView(value)
    )
      continue;
    Object.freeze(value);
    open.push(...Object.values(value));
  }
  return root;
}
