// @ts-check
/**
 * pi (and OpenClaw): what a transcript must be so that pi's own conversion makes a valid request of it.
 *
 * pi leaves an aborted or failed assistant message out when it converts, with its calls; a result of such a call would
 * then stand alone on the wire. A message of the user's side is `user`, or one of the roles pi turns into user text.
 */
import { badId, checkEach, checkPairs, extraKeys, hasText, isObject } from "./common.mjs";

/**
 * @typedef {import("./common.mjs").Violation} Violation
 * @typedef {import("./common.mjs").Found} Found
 * @typedef {import("./common.mjs").Rules} Rules
 */

const userLike = new Set([
  "user",
  "custom",
  "hookMessage",
  "bashExecution",
  "branchSummary",
  "compactionSummary",
]);
/** @type {Record<string, readonly string[]>} */
const fields = {
  user: ["role", "content", "timestamp"],
  toolResult: ["role", "toolCallId", "toolName", "content", "details", "isError", "timestamp"],
};

/**
 * @param {readonly any[]} messages
 * @param {Rules} [rules]
 * @returns {Violation[]}
 */
export function strictPi(messages, rules = {}) {
  if (!Array.isArray(messages) || messages.length === 0) {
    return [{ rule: "I8", index: 0, path: "", message: "at least one message is required" }];
  }
  // What is left out never comes on the wire, whole characters or not; and pi cleans the system messages that it replays.
  const isCleaned = (/** @type {any} */ message) => leftOut(message) || message?.role === "system";
  const violations = checkEach(messages, rules, checkMessage).filter(
    ({ rule, index }) => rule !== "I26" || !isCleaned(messages[index]),
  );
  violations.push(...checkPairs(messages.map(toStep)));
  const sent = messages
    .map((message, index) => ({ message, index }))
    .filter(({ message }) => !leftOut(message));
  const [first, last] = [sent.find(({ message }) => message?.role !== "system"), sent.at(-1)];
  if (first && !userLike.has(first.message?.role)) {
    violations.push({
      rule: "I7",
      index: first.index,
      path: "/role",
      message: "the first message is the user's",
    });
  }
  if (!last || last.message?.role === "assistant") {
    const index = last?.index ?? 0;
    violations.push({
      rule: "I8",
      index,
      path: "/role",
      message: "the last message is the user's or a result",
    });
  }
  if (rules.alternate) violations.push(...checkAlternation(sent));
  return violations.sort((a, b) => a.index - b.index);
}

/** What pi does not put on the wire. @param {any} message */
const leftOut = (message) =>
  (message?.role === "assistant" &&
    (message.stopReason === "aborted" || message.stopReason === "error")) ||
  (message?.role === "bashExecution" && message.excludeFromContext === true);

/** @param {any} message @param {Rules} rules @returns {Found[]} */
function checkMessage(message, rules) {
  const found = extraKeys(message, fields[message.role] ?? Object.keys(message), "", rules);
  if (rules.plain && message.timestamp !== undefined && typeof message.timestamp !== "number") {
    found.push({ rule: "shape", path: "/timestamp", message: "milliseconds since the epoch" });
  }
  switch (message.role) {
    // pi replays what the system says by itself, and an empty message of it may declare tools.
    case "system":
      if (typeof message.content === "string" || Array.isArray(message.content)) return found;
      return [...found, { rule: "shape", path: "/content", message: "a string or blocks" }];
    case "user":
    case "custom":
    case "hookMessage":
      return [...found, ...checkContent(message.content, ["text", "image"], rules)];
    case "assistant":
      if (!Array.isArray(message.content)) {
        return [
          ...found,
          { rule: "shape", path: "/content", message: "a list of blocks is required" },
        ];
      }
      if (leftOut(message)) return found;
      return [...found, ...checkContent(message.content, ["text", "thinking", "toolCall"], rules)];
    case "toolResult":
      return [...found, ...checkResult(message, rules)];
    case "bashExecution":
      if (typeof message.command === "string" && typeof message.output === "string") return found;
      return [...found, { rule: "shape", path: "", message: "command and output are required" }];
    case "branchSummary":
    case "compactionSummary":
      if (hasText(message.summary)) return found;
      return [...found, { rule: "I6", path: "/summary", message: "a summary is not empty" }];
    default:
      return [
        ...found,
        {
          rule: "shape",
          path: "/role",
          message: `${JSON.stringify(message.role)} is no role of pi`,
        },
      ];
  }
}

/** @param {any} message @param {Rules} rules @returns {Found[]} */
function checkResult(message, rules) {
  /** @type {Found[]} */
  const found = [];
  const bad = badId(message.toolCallId, { charset: null, max: Infinity });
  if (bad) found.push({ rule: "I5", path: "/toolCallId", message: bad });
  if (typeof message.toolName !== "string" || message.toolName === "") {
    found.push({ rule: "shape", path: "/toolName", message: "a tool's name is required" });
  }
  if (typeof message.isError !== "boolean") {
    found.push({ rule: "shape", path: "/isError", message: "a boolean is required" });
  }
  if (!Array.isArray(message.content)) {
    return [...found, { rule: "shape", path: "/content", message: "a list of blocks is required" }];
  }
  // pi joins the texts of a result, so blank ones are an empty result and no error by themselves.
  const onlyBlank = message.content.every(
    (/** @type {any} */ block) =>
      block?.type === "text" && typeof block.text === "string" && !hasText(block.text),
  );
  if (onlyBlank && rules.emptyResults !== false) return found;
  return [...found, ...checkContent(message.content, ["text", "image"], rules)];
}

/** @param {any} content @param {readonly string[]} known @param {Rules} rules @returns {Found[]} */
function checkContent(content, known, rules) {
  if (typeof content === "string") {
    return hasText(content)
      ? []
      : [{ rule: "I6", path: "/content", message: "the content is empty" }];
  }
  if (!Array.isArray(content)) {
    return [{ rule: "shape", path: "/content", message: "a string or a list of blocks" }];
  }
  if (content.length === 0)
    return [{ rule: "I6", path: "/content", message: "the content is empty" }];
  /** @type {Found[]} */
  const found = [];
  for (let at = 0; at < content.length; at += 1)
    found.push(...checkBlock(content[at], known, `/content/${at}`, rules));
  return found;
}

/** @param {any} block @param {readonly string[]} known @param {string} path @param {Rules} rules @returns {Found[]} */
function checkBlock(block, known, path, rules) {
  if (!isObject(block) || !known.includes(block.type))
    return [{ rule: "shape", path, message: "not a block of this role" }];
  switch (block.type) {
    case "text":
      if (typeof block.text !== "string")
        return [{ rule: "shape", path: `${path}/text`, message: "a string is required" }];
      if (hasText(block.text)) return [];
      return [{ rule: "I6", path: `${path}/text`, message: "the text is empty" }];
    case "image":
      if (typeof block.data === "string" && typeof block.mimeType === "string") return [];
      return [{ rule: "shape", path, message: "data and mimeType are required" }];
    case "thinking":
      if (typeof block.thinking === "string") return [];
      return [{ rule: "shape", path: `${path}/thinking`, message: "a string is required" }];
    default:
      return checkCall(block, path, rules);
  }
}

/** @param {any} block @param {string} path @param {Rules} rules @returns {Found[]} */
function checkCall(block, path, rules) {
  const found = extraKeys(
    block,
    ["type", "id", "name", "arguments", "thoughtSignature", "partialJson"],
    path,
    rules,
  );
  const bad = badId(block.id, { charset: null, max: Infinity });
  if (bad) found.push({ rule: "I5", path: `${path}/id`, message: bad });
  if (typeof block.name !== "string" || block.name === "") {
    found.push({ rule: "shape", path: `${path}/name`, message: "a tool's name is required" });
  }
  if (!isObject(block.arguments)) {
    found.push({ rule: "I30", path: `${path}/arguments`, message: "the arguments are an object" });
  }
  return found;
}

/** @param {any} message @param {number} index @returns {import("./common.mjs").Step} */
function toStep(message, index) {
  if (!isObject(message)) return { calls: [], results: [], closes: true };
  if (message.role === "toolResult") {
    return {
      calls: [],
      results: [{ id: String(message.toolCallId), index, path: "/toolCallId" }],
      closes: false,
    };
  }
  if (message.role === "bashExecution" && leftOut(message))
    return { calls: [], results: [], closes: false };
  const blocks =
    message.role === "assistant" && !leftOut(message) && Array.isArray(message.content)
      ? message.content
      : [];
  /** @type {import("./common.mjs").Ref[]} */
  const calls = [];
  for (let at = 0; at < blocks.length; at += 1) {
    if (blocks[at]?.type === "toolCall")
      calls.push({ id: String(blocks[at].id), index, path: `/content/${at}/id` });
  }
  return { calls, results: [], closes: true };
}

/** @param {ReadonlyArray<{ message: any, index: number }>} sent @returns {Violation[]} */
function checkAlternation(sent) {
  const side = (/** @type {any} */ message) =>
    message?.role === "assistant" ? "assistant" : "user";
  return sent
    .filter(({ message }, at) => {
      const before = sent[at - 1]?.message;
      if (!before || side(before) !== side(message)) return false;
      return message.role !== "toolResult" || before.role !== "toolResult";
    })
    .map(({ message, index }) => ({
      rule: "I9",
      index,
      path: "/role",
      message: `found multiple ${side(message)} messages in a row`,
    }));
}
