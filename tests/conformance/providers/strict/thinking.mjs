// @ts-check
/** I10: reasoning that a provider signed goes back as it came, or not at all. */
import { isDeepStrictEqual } from "node:util";

/**
 * @typedef {import("./common.mjs").Violation} Violation
 */

const types = new Set(["thinking", "redacted_thinking"]);
/** @param {any} block */
const isThinking = (block) => types.has(block?.type);

/** @param {any} message @returns {any[]} */
const thinkingOf = (message) =>
  Array.isArray(message?.content) ? message.content.filter(isThinking) : [];

/** What pi itself leaves out when it converts. @param {any} message */
const leftOut = (message) => message?.stopReason === "aborted" || message?.stopReason === "error";

/**
 * The newest assistant message with thinking that is in the request equals the host's, with its neighbours of the same
 * run: Anthropic sees a run as one message. "`thinking` or `redacted_thinking` blocks in the latest assistant message
 * cannot be modified."
 * @param {readonly any[]} sent
 * @param {readonly any[]} host
 * @param {ReadonlyArray<number | null>} source position in `host` of each sent message, null for one that was made
 * @param {boolean} joins roles must alternate: a run of the host's goes out as one message of ours
 * @returns {Violation[]}
 */
export function unchangedThinking(sent, host, source, joins = false) {
  const newest = sent.findLastIndex(
    (message) => message?.role === "assistant" && thinkingOf(message).length > 0,
  );
  if (newest < 0) return [];
  const fail = (/** @type {number} */ index, /** @type {string} */ message) => [
    { rule: "I10", index, path: "/content", message },
  ];
  const from = source[newest];
  if (from === null || from === undefined) {
    return joins && holdsNewest(sent[newest], host)
      ? []
      : fail(newest, "thinking in a message that the host never had");
  }
  /** @type {Map<number, any>} */
  const bySource = new Map();
  for (let at = 0; at < sent.length; at += 1) {
    const of = source[at];
    if (of !== null && of !== undefined) bySource.set(of, sent[at]);
  }
  const isNeighbour = (/** @type {number} */ at) => host[at]?.role === "assistant";
  let [first, last] = [from, from];
  while (isNeighbour(first - 1)) first -= 1;
  while (isNeighbour(last + 1)) last += 1;
  for (let at = first; at <= last; at += 1) {
    if (leftOut(host[at])) continue;
    const mine = bySource.get(at);
    if (mine === host[at] || isDeepStrictEqual(mine, host[at])) continue;
    // Blank text is what no request may hold (I6): where the host has it beside its thinking, it alone may go.
    if (isDeepStrictEqual(mine, withoutBlanks(host[at]))) continue;
    // Nor may a message that holds nothing but thinking, where each is one by itself.
    if (joins && mine === undefined && blocksOf(host[at]).every(isThinking)) continue;
    return fail(
      newest,
      mine === undefined
        ? `a neighbour of kept thinking is gone: ${at}`
        : "the latest thinking was modified",
    );
  }
  return [];
}

/** @param {any} block */
const isBlank = (block) =>
  block?.type === "text" && typeof block.text === "string" && block.text.trim() === "";

/** @param {any} message */
function withoutBlanks(message) {
  if (!Array.isArray(message?.content)) return message;
  const content = message.content.filter((/** @type {any} */ block) => !isBlank(block));
  return { ...message, content };
}

/** What a message holds, as blocks. @param {any} message @returns {any[]} */
const blocksOf = ({ content }) =>
  typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);

/**
 * The newest message of the host's whose thinking a joined one holds stands in it whole. What a fold took between two
 * messages makes neighbours of them.
 * @param {any} made @param {readonly any[]} host
 */
function holdsNewest(made, host) {
  const blocks = blocksOf(made);
  const last = blocks.findLast(isThinking);
  return host.some((message) => {
    const own = message?.role === "assistant" ? unblank(message) : [];
    return (
      own.some((block) => isDeepStrictEqual(block, last)) &&
      blocks.some((_, at) => isDeepStrictEqual(blocks.slice(at, at + own.length), own))
    );
  });
}

/** @param {any} message @returns {any[]} */
const unblank = (message) => blocksOf(message).filter((block) => !isBlank(block));

/**
 * Every thinking block in the request is one that the host's message has, byte for byte.
 * @param {readonly any[]} sent
 * @param {readonly any[]} host
 * @param {ReadonlyArray<number | null>} source
 * @param {boolean} joins roles must alternate: a run of the host's goes out as one message of ours
 * @returns {Violation[]}
 */
export function carriedThinking(sent, host, source, joins = false) {
  /** @type {Violation[]} */
  const violations = [];
  for (let index = 0; index < sent.length; index += 1) {
    const from = source[index];
    if (from !== null && from !== undefined && sent[index] === host[from]) continue;
    const isMade = from === null || from === undefined;
    const whose = isMade ? (joins ? host : []) : [host[from]];
    const own = whose.flatMap(thinkingOf);
    for (const block of thinkingOf(sent[index])) {
      if (own.includes(block) || own.some((one) => isDeepStrictEqual(one, block))) continue;
      violations.push({
        rule: "I10",
        index,
        path: "/content",
        message: "a thinking block that the host never had",
      });
    }
  }
  return violations;
}
