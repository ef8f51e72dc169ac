// @ts-check
/**
 * The AI SDK: what its own checks take (AI_InvalidPromptError, AI_MissingToolResultsError,
 * AI_ToolCallNotFoundForApprovalError) before any adapter sees a message. Of a ModelMessage, or of a UIMessage.
 */
import { badId, checkEach, extraKeys, isObject } from "./common.mjs";

/**
 * @typedef {import("./common.mjs").Violation} Violation
 * @typedef {import("./common.mjs").Found} Found
 * @typedef {import("./common.mjs").Rules} Rules
 */

/** @type {Record<string, readonly string[]>} */
const model = {
  user: ["text", "image", "file"],
  assistant: [
    "text",
    "file",
    "reasoning",
    "reasoning-file",
    "custom",
    "tool-call",
    "tool-result",
    "tool-approval-request",
  ],
  tool: ["tool-result", "tool-approval-response"],
};
const outputs = ["text", "json", "execution-denied", "error-text", "error-json", "content"];
const states = [
  "input-streaming",
  "input-available",
  "approval-requested",
  "approval-responded",
  "output-available",
  "output-error",
  "output-denied",
];
const fields = ["id", "role", "parts", "content", "providerOptions", "metadata"];

/**
 * @param {readonly any[]} messages
 * @param {Rules} [rules]
 * @returns {Violation[]}
 */
export function strictAiSdk(messages, rules = {}) {
  if (!Array.isArray(messages) || messages.length === 0)
    return [{ rule: "I8", index: 0, path: "", message: "messages must not be empty" }];
  const violations = checkEach(messages, rules, checkMessage);
  violations.push(...checkApprovals(messages), ...checkAnswered(messages));
  return violations.sort((a, b) => a.index - b.index);
}

/** @param {any} message @param {Rules} rules @returns {Found[]} */
function checkMessage(message, rules) {
  const found = extraKeys(message, fields, "", rules);
  if (Array.isArray(message.parts)) return [...found, ...checkUi(message)];
  const { role, content } = message;
  if (role === "system") {
    if (typeof content === "string") return found;
    return [
      ...found,
      { rule: "shape", path: "/content", message: "AI_InvalidPromptError: a string is required" },
    ];
  }
  const known = model[role];
  if (!known)
    return [
      ...found,
      { rule: "shape", path: "/role", message: `AI_InvalidPromptError: ${JSON.stringify(role)}` },
    ];
  if (typeof content === "string" && role !== "tool") return found;
  if (!Array.isArray(content))
    return [
      ...found,
      {
        rule: "shape",
        path: "/content",
        message: "AI_InvalidPromptError: a list of parts is required",
      },
    ];
  if (content.length === 0)
    found.push({ rule: "I6", path: "/content", message: "the content is empty" });
  for (let at = 0; at < content.length; at += 1)
    found.push(...checkPart(content[at], known, `/content/${at}`));
  return found;
}

/** @param {any} part @param {readonly string[]} known @param {string} path @returns {Found[]} */
function checkPart(part, known, path) {
  if (!isObject(part) || !known.includes(part.type))
    return [{ rule: "shape", path, message: "AI_InvalidPromptError: not a part of this role" }];
  /** @type {Found[]} */
  const found = [];
  const want = (/** @type {string} */ field) => {
    if (typeof part[field] !== "string")
      found.push({
        rule: "shape",
        path: `${path}/${field}`,
        message: "AI_InvalidPromptError: a string is required",
      });
  };
  switch (part.type) {
    case "text":
    case "reasoning":
      want("text");
      return found;
    case "tool-call":
    case "tool-result": {
      const bad = badId(part.toolCallId, { charset: null, max: Infinity });
      if (bad) found.push({ rule: "I5", path: `${path}/toolCallId`, message: bad });
      want("toolName");
      if (
        part.type === "tool-result" &&
        !(isObject(part.output) && outputs.includes(part.output.type))
      )
        found.push({
          rule: "shape",
          path: `${path}/output`,
          message: "AI_InvalidPromptError: an output with its type is required",
        });
      return found;
    }
    case "tool-approval-request":
      want("approvalId");
      want("toolCallId");
      return found;
    case "tool-approval-response":
      want("approvalId");
      if (typeof part.approved !== "boolean")
        found.push({
          rule: "shape",
          path: `${path}/approved`,
          message: "AI_InvalidPromptError: a boolean is required",
        });
      return found;
    default:
      return found;
  }
}

/** @param {any} message @returns {Found[]} */
function checkUi({ role, parts }) {
  /** @type {Found[]} */
  const found = [];
  if (!["system", "user", "assistant"].includes(role))
    found.push({
      rule: "shape",
      path: "/role",
      message: `${JSON.stringify(role)} is no role of a UIMessage`,
    });
  const spoken = parts.filter((/** @type {any} */ part) => part?.type !== "step-start");
  if (spoken.length === 0)
    found.push({ rule: "I6", path: "/parts", message: "the parts are empty" });
  for (let at = 0; at < parts.length; at += 1) {
    const [part, path] = [parts[at], `/parts/${at}`];
    if (!isObject(part) || typeof part.type !== "string") {
      found.push({ rule: "shape", path, message: "a part has its type" });
      continue;
    }
    if ((part.type === "text" || part.type === "reasoning") && typeof part.text !== "string")
      found.push({ rule: "shape", path: `${path}/text`, message: "a string is required" });
    if (!part.type.startsWith("tool-") && part.type !== "dynamic-tool") continue;
    const bad = badId(part.toolCallId, { charset: null, max: Infinity });
    if (bad) found.push({ rule: "I5", path: `${path}/toolCallId`, message: bad });
    if (!states.includes(part.state))
      found.push({
        rule: "shape",
        path: `${path}/state`,
        message: `${JSON.stringify(part.state)} is no state of a call`,
      });
    if (part.state === "output-available" && part.output === undefined)
      found.push({
        rule: "shape",
        path: `${path}/output`,
        message: "a call whose output is there has it",
      });
    if (part.state === "output-error" && typeof part.errorText !== "string")
      found.push({ rule: "shape", path: `${path}/errorText`, message: "a string is required" });
    if (part.approval !== undefined && typeof part.approval?.id !== "string")
      found.push({ rule: "I4", path: `${path}/approval`, message: "an approval has its id" });
  }
  return found;
}

/** I4: an approval's request stands beside its call, its answer after it. @param {readonly any[]} messages @returns {Violation[]} */
function checkApprovals(messages) {
  /** @type {Violation[]} */
  const violations = [];
  /** @type {Set<string>} */
  const asked = new Set();
  for (let index = 0; index < messages.length; index += 1) {
    const content = Array.isArray(messages[index]?.content) ? messages[index].content : [];
    const calls = new Set(
      content.flatMap((/** @type {any} */ part) =>
        part?.type === "tool-call" ? [part.toolCallId] : [],
      ),
    );
    for (let at = 0; at < content.length; at += 1) {
      const part = content[at];
      const fail = (/** @type {string} */ message) =>
        violations.push({ rule: "I4", index, path: `/content/${at}`, message });
      if (part?.type === "tool-approval-request") {
        asked.add(part.approvalId);
        if (!calls.has(part.toolCallId))
          fail(
            `AI_ToolCallNotFoundForApprovalError: Tool call "${part.toolCallId}" not found for approval request "${part.approvalId}".`,
          );
      } else if (part?.type === "tool-approval-response" && !asked.has(part.approvalId)) {
        fail(`AI_InvalidToolApprovalError: no request "${part.approvalId}"`);
      }
    }
  }
  return violations;
}

/**
 * I1: `convertToLanguageModelPrompt` pairs by ids, whatever the wire does, and throws where the user or the system speaks, or
 * the prompt ends, before a call has its result. What is decided has it from the SDK.
 * @param {readonly any[]} messages
 * @returns {Violation[]}
 */
function checkAnswered(messages) {
  /** @type {Violation[]} */
  const violations = [];
  /** @type {Map<string, { index: number, path: string }>} */
  const open = new Map();
  /** @type {Map<string, string>} */
  const asked = new Map();
  const close = () => {
    for (const [id, at] of open)
      violations.push({
        rule: "I1",
        ...at,
        message: `AI_MissingToolResultsError: Tool result is missing for tool call ${id}.`,
      });
    open.clear();
  };
  for (let index = 0; index < messages.length; index += 1) {
    const { role, content } = messages[index] ?? {};
    if (role === "user" || role === "system") close();
    const parts = Array.isArray(content) ? content : [];
    for (let at = 0; at < parts.length; at += 1) {
      const part = parts[at];
      if (role === "assistant" && part?.type === "tool-call" && !part.providerExecuted)
        open.set(part.toolCallId, { index, path: `/content/${at}` });
      if (part?.type === "tool-approval-request") asked.set(part.approvalId, part.toolCallId);
      if (role !== "tool") continue;
      if (part?.type === "tool-result") open.delete(part.toolCallId);
      if (part?.type === "tool-approval-response") open.delete(asked.get(part.approvalId) ?? "");
    }
  }
  close();
  return violations;
}
