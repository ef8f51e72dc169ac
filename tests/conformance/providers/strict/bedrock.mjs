// @ts-check
/** Bedrock Converse: roles alternate, blocks are keyed by their kind, all results of a turn stand in one message. */
import { badId, checkEach, checkPairs, extraKeys, hasText, isObject } from "./common.mjs";

/**
 * @typedef {import("./common.mjs").Violation} Violation
 * @typedef {import("./common.mjs").Found} Found
 * @typedef {import("./common.mjs").Rules} Rules
 */

const ids = { charset: /^[a-zA-Z0-9_.:-]+$/, max: 64 };
const kinds = [
  "text",
  "image",
  "document",
  "video",
  "audio",
  "toolUse",
  "toolResult",
  "reasoningContent",
  "guardContent",
  "cachePoint",
  "citationsContent",
  "searchResult",
];
/** What only one side says. @type {Record<string, string>} */
const sides = {
  toolUse: "assistant",
  reasoningContent: "assistant",
  toolResult: "user",
  image: "user",
  document: "user",
  video: "user",
};
const inResult = ["text", "json", "image", "document", "video", "searchResult"];

/**
 * @param {readonly any[]} messages
 * @param {Rules} [rules]
 * @returns {Violation[]}
 */
export function strictBedrock(messages, rules = {}) {
  if (!Array.isArray(messages) || messages.length === 0) {
    return [{ rule: "I8", index: 0, path: "", message: "A conversation must have a message" }];
  }
  const violations = checkEach(messages, rules, checkMessage);
  violations.push(...checkPairs(messages.map(toStep)));
  violations.push(...checkRoles(messages));
  if (rules.tools?.length === 0) {
    const index = messages.findIndex((message) => refs(message, "toolUse", 0).length > 0);
    const message =
      "The toolConfig field must be defined when using toolUse and toolResult content blocks.";
    if (index >= 0) violations.push({ rule: "I29", index, path: "/content", message });
  }
  return violations.sort((a, b) => a.index - b.index);
}

/** @param {any} message @param {Rules} rules @returns {Found[]} */
function checkMessage(message, rules) {
  const { role, content } = message;
  const found = extraKeys(message, ["role", "content"], "", rules);
  if (role === "system")
    return [...found, { rule: "I31", path: "/role", message: "system is no role of a message" }];
  if (role !== "user" && role !== "assistant")
    return [
      ...found,
      {
        rule: "shape",
        path: "/role",
        message: "Member must satisfy enum value set: [user, assistant]",
      },
    ];
  if (!Array.isArray(content))
    return [...found, { rule: "shape", path: "/content", message: "a list of blocks is required" }];
  if (content.length === 0) {
    const empty =
      "The content field in the Message object is empty. Add a ContentBlock object to the content field and try again.";
    return [...found, { rule: "I6", path: "/content", message: empty }];
  }
  for (let at = 0; at < content.length; at += 1)
    found.push(...checkBlock(content[at], role, `/content/${at}`, rules));
  return found;
}

/** @param {any} block @param {string} role @param {string} path @param {Rules} rules @returns {Found[]} */
function checkBlock(block, role, path, rules) {
  const present = isObject(block) ? kinds.filter((kind) => block[kind] !== undefined) : [];
  if (present.length !== 1)
    return [{ rule: "shape", path, message: "The ContentBlock object has exactly one member" }];
  const [kind = ""] = present;
  const value = block[kind];
  const found = extraKeys(block, kinds, path, rules);
  if (sides[kind] !== undefined && sides[kind] !== role)
    found.push({
      rule: "shape",
      path: `${path}/${kind}`,
      message: `${kind} blocks stand in ${sides[kind]} messages`,
    });
  if (kind === "text") {
    if (typeof value !== "string")
      found.push({ rule: "shape", path: `${path}/text`, message: "a string is required" });
    else if (!hasText(value)) {
      const blank = `The text field in the ContentBlock object at ${path} is blank. Add text to the text field, and try again.`;
      found.push({ rule: "I6", path: `${path}/text`, message: blank });
    }
    return found;
  }
  if (!isObject(value))
    return [...found, { rule: "shape", path: `${path}/${kind}`, message: "an object is required" }];
  if (kind === "toolUse") found.push(...checkCall(value, `${path}/toolUse`));
  if (kind === "toolResult") found.push(...checkResult(value, `${path}/toolResult`));
  if (
    kind === "reasoningContent" &&
    !isObject(value.reasoningText) &&
    value.redactedContent === undefined
  )
    found.push({
      rule: "shape",
      path: `${path}/${kind}`,
      message: "reasoningText or redactedContent is required",
    });
  return found;
}

/** @param {any} call @param {string} path @returns {Found[]} */
function checkCall(call, path) {
  /** @type {Found[]} */
  const found = [];
  const bad = badId(call.toolUseId, ids);
  if (bad) found.push({ rule: "I5", path: `${path}/toolUseId`, message: bad });
  if (typeof call.name !== "string" || !/^[a-zA-Z0-9_-]{1,64}$/.test(call.name))
    found.push({ rule: "shape", path: `${path}/name`, message: "not a tool's name" });
  if (!isObject(call.input))
    found.push({
      rule: "I30",
      path: `${path}/input`,
      message: "The format of the value at toolUse.input is invalid. Provide a json object",
    });
  return found;
}

/** @param {any} result @param {string} path @returns {Found[]} */
function checkResult(result, path) {
  /** @type {Found[]} */
  const found = [];
  const bad = badId(result.toolUseId, ids);
  if (bad) found.push({ rule: "I5", path: `${path}/toolUseId`, message: bad });
  if (result.status !== undefined && result.status !== "success" && result.status !== "error")
    found.push({ rule: "shape", path: `${path}/status`, message: "success or error" });
  if (!Array.isArray(result.content))
    return [...found, { rule: "shape", path: `${path}/content`, message: "a list is required" }];
  // A blank text in a result is taken; an error without a word is not.
  const silent = result.content.every(
    (/** @type {any} */ one) => typeof one?.text === "string" && !hasText(one.text),
  );
  if (silent && result.status === "error") {
    const message = "The content field of toolResult cannot be empty when status value is error.";
    found.push({ rule: "I6", path: `${path}/content`, message });
  }
  for (let at = 0; at < result.content.length; at += 1) {
    const one = result.content[at];
    if (!isObject(one) || inResult.filter((kind) => one[kind] !== undefined).length !== 1)
      found.push({
        rule: "shape",
        path: `${path}/content/${at}`,
        message: "not a block of a tool result",
      });
  }
  return found;
}

/** @param {any} message @param {"toolUse" | "toolResult"} kind @param {number} index @returns {import("./common.mjs").Ref[]} */
function refs(message, kind, index) {
  if (!Array.isArray(message?.content)) return [];
  return message.content.flatMap((/** @type {any} */ block, /** @type {number} */ at) =>
    isObject(block?.[kind])
      ? [{ id: String(block[kind].toolUseId), index, path: `/content/${at}/${kind}/toolUseId` }]
      : [],
  );
}

/** @param {any} message @param {number} index @returns {import("./common.mjs").Step} */
const toStep = (message, index) => ({
  calls: refs(message, "toolUse", index),
  results: refs(message, "toolResult", index),
  closes: true,
});

/** @param {readonly any[]} messages @returns {Violation[]} */
function checkRoles(messages) {
  /** @type {Violation[]} */
  const violations = [];
  if (messages[0]?.role !== "user") {
    const message =
      "A conversation must start with a user message. Try again with a conversation that starts with a user message.";
    violations.push({ rule: "I7", index: 0, path: "/role", message });
  }
  const last = messages.length - 1;
  if (messages[last]?.role === "assistant") {
    const message = "The conversation must end with a user message";
    violations.push({ rule: "I8", index: last, path: "/role", message });
  }
  for (let index = 1; index <= last; index += 1) {
    if (messages[index]?.role !== messages[index - 1]?.role) continue;
    const message = `roles must alternate between "user" and "assistant", but found multiple "${messages[index]?.role}" roles in a row`;
    violations.push({ rule: "I9", index, path: "/role", message });
  }
  return violations;
}
