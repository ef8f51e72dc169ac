// @ts-check
/** Laws of a view against the host's history that need no provider: what is opaque, what belongs together, what is ours. */
import { isDeepStrictEqual } from "node:util";
import { turnsIn } from "../providers/convert/read.mjs";
import { callsOf, parsed, reasoningOf, resultsOf } from "../providers/convert/turns.mjs";
import { isOutput, kindOf } from "../providers/strict/openai-responses.mjs";
import { withoutMarkers } from "./additions.mjs";

/**
 * @typedef {import("../providers/convert/turns.mjs").Turn} Turn
 * @typedef {{ law: string, message: string }} Problem
 * @typedef {{ format: string, provider: string }} Law
 */

/** @param {Law} law @param {any} message */
export const turnsOf = ({ format, provider }, message) => turnsIn(format, message, provider);

const token = /opq-\d+-\d+-[A-Za-z0-9=]*/g;
/** What an edit of a call may not touch. */
const besideCall = ["thoughtSignature", "providerOptions", "callProviderMetadata", "extra_content"];
/** @param {any} value */
const isCall = (value) =>
  value.functionCall !== undefined ||
  ["toolCall", "tool-call", "tool_use", "function"].includes(value.type) ||
  (String(value.type).startsWith("tool-") &&
    value.toolCallId !== undefined &&
    !value.providerExecuted);

/**
 * Every opaque string in a message, with what carries it: the element of a list that it stands in, else the message.
 * @param {any} message
 * @returns {Array<{ opaque: string, carrier: any }>}
 */
function opaques(message) {
  /** @type {Array<{ opaque: string, carrier: any }>} */
  const found = [];
  /** @param {any} value @param {any} carrier */
  const walk = (value, carrier) => {
    if (typeof value === "string") {
      for (const opaque of value.match(token) ?? []) found.push({ opaque, carrier });
    } else if (Array.isArray(value)) {
      for (const one of value)
        walk(one, carrier.type === "web_search_tool_result" || isHosted(carrier) ? carrier : one);
    } else if (value && typeof value === "object") {
      for (const one of Object.values(value)) walk(one, carrier);
    }
  };
  walk(JSON.parse(JSON.stringify(message)), message);
  return found;
}
/** @param {any} carrier */
const isHosted = (carrier) => carrier?.type === "tool-result" || carrier?.providerExecuted === true;

/** What of a carrier is compared. @param {any} carrier */
function mark(carrier) {
  if (isCall(carrier)) return Object.fromEntries(besideCall.map((key) => [key, carrier[key]]));
  // A whole message: its own text may be cut, what stands beside it may not.
  if (
    carrier?.role !== undefined ||
    carrier?.lc !== undefined ||
    carrier?.data !== undefined ||
    carrier?.additional_kwargs
  )
    return "message";
  return carrier;
}

/** What is found in a message, once if it is frozen. @template T @param {(message: any) => T} find @returns {(message: any) => T} */
function once(find) {
  /** @type {WeakMap<object, T>} */
  const known = new WeakMap();
  return (message) => {
    const kept = known.get(message);
    if (kept !== undefined) return kept;
    const found = find(message);
    if (Object.isFrozen(message)) known.set(message, found);
    return found;
  };
}

/** Each opaque string of a message with what of its carrier is compared. */
const ownMarks = once((message) =>
  opaques(message).map(({ opaque, carrier }) => ({
    opaque,
    mark: wellFormed(withoutMarkers(JSON.parse(JSON.stringify(mark(carrier))))),
  })),
);

/**
 * What is opaque is the host's, byte for byte and in its place.
 * @param {readonly any[]} host
 * @param {readonly any[]} sent
 * @param {WeakSet<object>} [sound] messages that an earlier, shorter history has shown to be so: they stay it
 * @returns {Problem | null}
 */
export function carried(host, sent, sound = new WeakSet()) {
  const own = new Set(host);
  /** @type {ReturnType<typeof byOpaque> | null} */
  let marks = null;
  for (let at = 0; at < sent.length; at += 1) {
    if (own.has(sent[at]) || sound.has(sent[at])) continue;
    for (const { opaque, mark: now } of ownMarks(sent[at])) {
      marks ??= byOpaque(host);
      const had = marks.get(opaque);
      if (!had)
        return {
          law: "opaque",
          message: `message ${at} holds ${opaque}, which the host never had`,
        };
      if (had.some((one) => isDeepStrictEqual(one.mark, now))) continue;
      return {
        law: "opaque",
        message: `what carries ${opaque} in message ${at} was ${JSON.stringify(had[0]?.mark)}, is ${JSON.stringify(now)}`,
      };
    }
    sound.add(sent[at]);
  }
  return null;
}

/** Halves of characters become U+FFFD, also beside what is opaque. @param {any} value @returns {any} */
function wellFormed(value) {
  if (typeof value === "string") return value.replace(/\p{Surrogate}/gu, "\ufffd");
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, own]) => [key, wellFormed(own)]));
}

/** @param {readonly any[]} host */
function byOpaque(host) {
  /** @type {Map<string, ReturnType<typeof ownMarks>>} */
  const marks = new Map();
  for (const one of host.flatMap(ownMarks)) {
    const same = marks.get(one.opaque);
    if (same) same.push(one);
    else marks.set(one.opaque, [one]);
  }
  return marks;
}

const opaqueNames = new Set([
  "signature",
  "thinkingSignature",
  "thoughtSignature",
  "encrypted_content",
  "thought_signature",
  "reasoningEncryptedContent",
]);
/** @param {any} value @param {string[]} [found] @returns {string[]} */
function signatures(value, found = []) {
  if (typeof value !== "object" || value === null) return found;
  for (const [key, own] of Object.entries(value)) {
    if (typeof own === "string" && opaqueNames.has(key)) found.push(own);
    else signatures(own, found);
  }
  return found;
}

/** The same of a recorded history, by the names of the fields. @param {readonly any[]} host @param {any} view @returns {Problem | null} */
export function signed(host, { messages, source }) {
  for (let at = 0; at < messages.length; at += 1) {
    const from = source[at];
    if (from === null || messages[at] === host[from]) continue;
    const own = new Set(signatures(host[from]));
    const other = signatures(messages[at]).find((one) => !own.has(one));
    if (other !== undefined)
      return {
        law: "opaque",
        message: `message ${at} (of ${from}) holds a signature that the host never had`,
      };
  }
  return null;
}

const failed =
  /no result|not recorded|no record|unknown|interrupted|abort|missing|never|no output|empty|lost/i;

/**
 * A result that the host never had says that there is none.
 * @param {Law} law
 * @param {readonly any[]} host
 * @param {readonly any[]} mended
 * @param {WeakSet<object>} [sound] messages that an earlier, shorter history has shown to be so: they stay it
 * @returns {Problem | null}
 */
export function honest(law, host, mended, sound = new WeakSet()) {
  const own = new Set(host);
  /** @type {Set<string> | null} */
  let texts = null;
  for (let at = 0; at < mended.length; at += 1) {
    if (own.has(mended[at]) || sound.has(mended[at])) continue;
    for (const { text, error, resultText } of results(law, mended[at])) {
      texts ??= new Set(
        host.flatMap((message) => results(law, message)).map((one) => one.resultText),
      );
      if (texts.has(resultText) || failed.test(String(text))) continue;
      const message = `message ${at} holds a result of ours that ${error ? "does not say what is missing" : "looks like a success"}: ${JSON.stringify(text)}`;
      return { law: "honest", message };
    }
    sound.add(mended[at]);
  }
  return null;
}

/** @type {WeakMap<readonly Turn[], Array<{ text: string | null, error: boolean, said: string }>>} */
const knownResults = new WeakMap();
/** The results in a message, and what they say. @param {Law} law @param {any} message */
function results(law, message) {
  const turns = turnsOf(law, message);
  const kept = knownResults.get(turns);
  if (kept) return kept;
  const found = turns
    .flatMap(resultsOf)
    .map(({ text, error }) => ({ text, error, resultText: well(text) }));
  knownResults.set(turns, found);
  return found;
}

/** What a list of a text and an image says, which stands as JSON. @param {string | null} text */
function textIn(text) {
  const list = text?.startsWith("[{") ? parsed(text) : text;
  return Array.isArray(list) ? list.map((one) => one?.text ?? "").join("") : text;
}

/**
 * Halves of characters become U+FFFD. Of a result that says nothing but white space the blocks may go, since no provider
 * takes a blank one beside an image.
 * @param {string | null} text
 */
function well(text) {
  const resultText = String(textIn(text)).replace(/\p{Surrogate}/gu, "\ufffd");
  return /\S/.test(resultText) ? resultText : "";
}

/** Providers that want the reasoning of a call back as long as they see the call. */
const wantReasoning = new Set(["openai-responses", "deepseek", "kimi"]);

/**
 * What stays of an assistant's message stays with all its calls, with the reasoning that they need, and signed as it
 * was. Measured against the mended history: what was beyond repair is no loss of the view.
 * @param {Law} law @param {any} mended @param {any} view @returns {Problem | null}
 */
export function atomic(law, mended, view) {
  const at = new Map(
    mended.source.map((/** @type {number | null} */ from, /** @type {number} */ i) => [
      from,
      mended.messages[i],
    ]),
  );
  for (let i = 0; i < view.messages.length; i += 1) {
    const from = view.source[i];
    const original = from === null ? undefined : at.get(from);
    if (!original || original === view.messages[i]) continue;
    const had = turnsOf(law, original).filter((turn) => turn.role === "assistant");
    const has = turnsOf(law, view.messages[i]).filter((turn) => turn.role === "assistant");
    const [hadCalls, hasCalls] = [had.flatMap(callsOf), has.flatMap(callsOf)];
    const fail = (/** @type {string} */ message) => ({
      law: "atomic",
      message: `message ${i} (of ${from}): ${message}`,
    });
    if (hadCalls.length !== hasCalls.length)
      return fail(`${hasCalls.length} of ${hadCalls.length} calls are left`);
    if (hadCalls.some((call, k) => call.name !== hasCalls[k]?.name))
      return fail("the calls are others");
    const signs = (/** @type {typeof hadCalls} */ calls) => calls.map((call) => call.sig ?? null);
    if (!isDeepStrictEqual(signs(hadCalls), signs(hasCalls)))
      return fail("a call lost its signature");
    const thoughts = (/** @type {Turn[]} */ turns) =>
      turns.flatMap(reasoningOf).map(({ text, sig }) => [text, sig]);
    if (
      hadCalls.length > 0 &&
      wantReasoning.has(law.provider) &&
      !isDeepStrictEqual(thoughts(had), thoughts(has))
    )
      return fail("the reasoning of its calls is gone");
  }
  const items = ["openai-responses", "openai-agents"].includes(law.format);
  return items ? atomicItems(mended, view) : null;
}

/** Reasoning and what it led to are items of their own: both or neither. @param {any} mended @param {any} view @returns {Problem | null} */
function atomicItems(mended, view) {
  const sent = new Set(view.source);
  for (let at = 0; at < mended.messages.length; at += 1) {
    if (kindOf(mended.messages[at]) !== "reasoning") continue;
    const next = mended.messages.findIndex(
      (/** @type {any} */ item, /** @type {number} */ i) => i > at && kindOf(item) !== "reasoning",
    );
    if (next < 0 || !isOutput(mended.messages[next])) continue;
    const [own, other] = [mended.source[at], mended.source[next]];
    if (own === null || other === null) continue;
    if (sent.has(own) === sent.has(other)) continue;
    const what = sent.has(own) ? "reasoning without" : "without its reasoning,";
    return {
      law: "atomic",
      message: `item ${own} and ${other} (${kindOf(mended.messages[next])}): ${what} the item it led to`,
    };
  }
  return null;
}

/** An approval stays with its call and its result. @param {Law} law @param {readonly any[]} sent @returns {Problem | null} */
export function approvalsOfCalls({ format }, sent) {
  if (format !== "ai-sdk") return null;
  /** @type {Set<string>} */
  const asked = new Set();
  /** @type {Set<string>} */
  const answered = new Set();
  for (const message of sent) {
    if (!Array.isArray(message?.content)) continue;
    for (const part of message.content) {
      if (part?.type === "tool-approval-request") asked.add(part.approvalId);
      if (part?.type === "tool-approval-response") answered.add(part.approvalId);
    }
  }
  const alone = [...answered].find((id) => !asked.has(id));
  return alone === undefined
    ? null
    : { law: "atomic", message: `the approval ${alone} stands without its request` };
}

/** The user's last words, where they were sound, are in the request. @param {Law} law @param {readonly any[]} host @param {readonly any[]} mended @param {readonly any[]} sent @returns {Problem | null} */
export function verbatim(law, host, mended, sent) {
  const words = (/** @type {any} */ message) =>
    turnsOf(law, message)
      .filter((turn) => turn.role === "user")
      .flatMap((turn) => turn.parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])));
  const last = host.findLast((message) =>
    turnsOf(law, message).some((turn) => turn.role === "user" && turn.parts.length > 0),
  );
  if (!last || sent.includes(last)) return null;
  const own = words(last);
  if (own.length === 0) return null;
  const could = new Set(mended.flatMap(words));
  const all = sent.flatMap(words);
  for (const text of own) {
    if (!could.has(text) || !/\S/.test(text) || all.some((one) => one.includes(text))) continue;
    return {
      law: "verbatim",
      message: `the user's last words (${text.length} chars) are not in the request`,
    };
  }
  return null;
}
