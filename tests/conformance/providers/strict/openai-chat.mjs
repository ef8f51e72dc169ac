// @ts-check
/** OpenAI Chat Completions, with the canonical rules of the providers that speak the same format. */
import {
  badId,
  checkEach,
  checkPairs,
  extraKeys,
  hasText,
  isJsonObject,
  isObject,
} from "./common.mjs";

/**
 * @typedef {import("./common.mjs").Violation} Violation
 * @typedef {import("./common.mjs").Found} Found
 * @typedef {import("./common.mjs").Rules} Rules
 */

const roles = new Set(["system", "developer", "user", "assistant", "tool"]);
const leading = new Set(["system", "developer"]);
/** The parts of each role, with the field that a part must have. @type {Record<string, Record<string, string>>} */
const parts = {
  system: { text: "text" },
  developer: { text: "text" },
  user: { text: "text", image_url: "image_url", input_audio: "input_audio", file: "file" },
  assistant: { text: "text", refusal: "refusal" },
  tool: { text: "text" },
};
const fields = [
  "role",
  "content",
  "name",
  "tool_calls",
  "tool_call_id",
  "refusal",
  "reasoning_content",
  "audio",
];

/**
 * @param {readonly any[]} messages
 * @param {Rules} [rules]
 * @returns {Violation[]}
 */
export function strictOpenAiChat(messages, rules = {}) {
  if (!Array.isArray(messages) || messages.length === 0) {
    return [{ rule: "I8", index: 0, path: "", message: "Invalid 'messages': empty array" }];
  }
  const violations = checkEach(messages, rules, checkMessage);
  violations.push(...checkPairs(messages.map(toStep)));
  violations.push(...checkRoles(messages, rules));
  return violations.sort((a, b) => a.index - b.index);
}

/** @param {any} message @param {Rules} rules @returns {Found[]} */
function checkMessage(message, rules) {
  const { role } = message;
  if (!roles.has(role)) {
    return [
      {
        rule: "shape",
        path: "/role",
        message: `Invalid value: ${JSON.stringify(role)} is no role`,
      },
    ];
  }
  const found = extraKeys(message, fields, "", rules);
  if (role === "assistant") found.push(...checkAssistant(message, rules));
  else if (message.tool_calls !== undefined && message.tool_calls !== null) {
    found.push({
      rule: "shape",
      path: "/tool_calls",
      message: `no tool_calls in a ${role} message`,
    });
  }
  if (role === "tool") {
    const bad = badId(message.tool_call_id, {
      charset: rules.ids ?? null,
      max: rules.maxIdLength ?? 64,
    });
    if (bad) found.push({ rule: "I5", path: "/tool_call_id", message: bad });
  }
  found.push(...checkContent(message, rules));
  return found;
}

/** @param {any} message @param {Rules} rules @returns {Found[]} */
function checkContent({ role, content, ...message }, rules) {
  if (role === "assistant" && (content === null || content === undefined)) return [];
  if (typeof content === "string") {
    const mayBeEmpty =
      (role === "tool" && rules.emptyResults !== false) ||
      (role === "assistant" && (Array.isArray(message.tool_calls) || hasText(message.refusal)));
    if (mayBeEmpty || hasText(content)) return [];
    return [{ rule: "I6", path: "/content", message: `a ${role} message must not be empty` }];
  }
  if (!Array.isArray(content)) {
    const saw = content === null ? "null" : typeof content;
    return [
      { rule: "shape", path: "/content", message: `expected a string or a list, got ${saw}` },
    ];
  }
  if (content.length === 0)
    return [{ rule: "I6", path: "/content", message: "empty array, minimum length 1" }];
  return content.flatMap((part, at) => checkPart(part, role, `/content/${at}`, rules));
}

/** @param {any} part @param {string} role @param {string} path @param {Rules} rules @returns {Found[]} */
function checkPart(part, role, path, rules) {
  const field = isObject(part) ? parts[role]?.[part.type] : undefined;
  if (field === undefined)
    return [{ rule: "shape", path, message: `not a part of a ${role} message` }];
  const value = part[field];
  if (part.type !== "text" && part.type !== "refusal") {
    return isObject(value)
      ? []
      : [{ rule: "shape", path: `${path}/${field}`, message: "an object is required" }];
  }
  if (typeof value !== "string")
    return [{ rule: "shape", path: `${path}/${field}`, message: "a string is required" }];
  if (hasText(value) || (role === "tool" && rules.emptyResults !== false)) return [];
  return [{ rule: "I6", path: `${path}/${field}`, message: "text content is empty" }];
}

/** @param {any} message @param {Rules} rules @returns {Found[]} */
function checkAssistant({ content, tool_calls: calls, refusal, audio }, rules) {
  if (calls === undefined || calls === null) {
    if (content !== null && content !== undefined) return [];
    if (hasText(refusal) || isObject(audio)) return [];
    return [
      { rule: "I6", path: "", message: "Assistant message must have either content or tool_calls" },
    ];
  }
  if (!Array.isArray(calls))
    return [{ rule: "shape", path: "/tool_calls", message: "a list is required" }];
  if (calls.length === 0) {
    return [{ rule: "shape", path: "/tool_calls", message: "empty array, minimum length 1" }];
  }
  /** @type {Found[]} */
  const found = [];
  for (let at = 0; at < calls.length; at += 1)
    found.push(...checkCall(calls[at], `/tool_calls/${at}`, rules));
  return found;
}

/** @param {any} call @param {string} path @param {Rules} rules @returns {Found[]} */
function checkCall(call, path, rules) {
  if (!isObject(call)) return [{ rule: "shape", path, message: "a call is an object" }];
  /** @type {Found[]} */
  const found = [];
  const bad = badId(call.id, { charset: rules.ids ?? null, max: rules.maxIdLength ?? 64 });
  if (bad) found.push({ rule: "I5", path: `${path}/id`, message: bad });
  if (call.type === "custom") {
    if (typeof call.custom?.name === "string" && typeof call.custom.input === "string")
      return found;
    return [
      ...found,
      { rule: "shape", path: `${path}/custom`, message: "name and input are required" },
    ];
  }
  if (call.type !== "function" || !isObject(call.function)) {
    return [
      ...found,
      { rule: "shape", path: `${path}/type`, message: "'function' with a function is required" },
    ];
  }
  if (
    typeof call.function.name !== "string" ||
    !/^[a-zA-Z0-9_.:-]{1,128}$/.test(call.function.name)
  ) {
    found.push({ rule: "shape", path: `${path}/function/name`, message: "not a function's name" });
  }
  if (!isJsonObject(call.function.arguments)) {
    found.push({
      rule: "I30",
      path: `${path}/function/arguments`,
      message: "not the JSON text of an object",
    });
  }
  return found;
}

/** @param {any} message @param {number} index @returns {import("./common.mjs").Step} */
function toStep(message, index) {
  if (!isObject(message)) return { calls: [], results: [], closes: true };
  if (message.role === "tool") {
    const id = String(message.tool_call_id);
    return { calls: [], results: [{ id, index, path: "/tool_call_id" }], closes: false };
  }
  const calls =
    message.role === "assistant" && Array.isArray(message.tool_calls) ? message.tool_calls : [];
  return {
    calls: calls.map((call, at) => ({ id: String(call?.id), index, path: `/tool_calls/${at}/id` })),
    results: [],
    closes: true,
  };
}

/** @param {readonly any[]} messages @param {Rules} rules @returns {Violation[]} */
function checkRoles(messages, rules) {
  /** @type {Violation[]} */
  const violations = [];
  const first = messages.findIndex((message) => !leading.has(message?.role));
  if (first < 0 || messages[first]?.role !== "user") {
    const index = Math.max(first, 0);
    violations.push({
      rule: "I7",
      index,
      path: "/role",
      message: "the first message after the system's is the user's",
    });
  }
  const last = messages.length - 1;
  // A system message may come last: only Mistral names the roles that may.
  const role = messages[last]?.role;
  if (role === "assistant" || (rules.systemFirst && leading.has(role))) {
    const message = `Expected last role to be one of: [tool, user] but got ${role}`;
    violations.push({ rule: "I8", index: last, path: "/role", message });
  }
  if (rules.systemFirst && first >= 0) {
    for (let index = first + 1; index < messages.length; index += 1) {
      const role = messages[index]?.role;
      if (!leading.has(role)) continue;
      const message = `Unexpected role '${role}' after role '${messages[index - 1]?.role}'`;
      violations.push({ rule: "I31", index, path: "/role", message });
    }
  }
  if (!rules.alternate) return violations;
  for (let index = 1; index < messages.length; index += 1) {
    const [before, now] = [messages[index - 1]?.role, messages[index]?.role];
    const allowed =
      now === "assistant"
        ? before !== "assistant"
        : now !== "user" || !["user", "tool"].includes(before);
    if (allowed) continue;
    violations.push({
      rule: "I9",
      index,
      path: "/role",
      message: `Unexpected role '${now}' after role '${before}'`,
    });
  }
  return violations;
}
