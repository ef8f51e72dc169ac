// @ts-check
/**
 * The OpenAI Agents SDK: each item as its protocol has it, and then as its converter sends it to Responses.
 */
import { toResponses } from "../convert/agents.mjs";
import { checkEach, isObject } from "./common.mjs";
import { strictOpenAiResponses } from "./openai-responses.mjs";

/**
 * @typedef {import("./common.mjs").Violation} Violation
 * @typedef {import("./common.mjs").Found} Found
 * @typedef {import("./common.mjs").Rules} Rules
 */

/** What each item must have, and of which type. @type {Record<string, Record<string, string>>} */
const members = {
  function_call: { callId: "string", name: "string", arguments: "string" },
  function_call_result: { callId: "string", name: "string", status: "string" },
  computer_call: { callId: "string" },
  computer_call_result: { callId: "string", output: "object" },
  shell_call: { callId: "string", action: "object" },
  shell_call_output: { callId: "string", output: "object" },
  apply_patch_call: { callId: "string", operation: "object" },
  apply_patch_call_output: { callId: "string", status: "string" },
  hosted_tool_call: { name: "string" },
  reasoning: { content: "object" },
  compaction: { encrypted_content: "string" },
};
const statuses = new Set(["in_progress", "completed", "incomplete"]);
/** Types of parts, by who says them. @type {Record<string, readonly string[]>} */
const parts = {
  user: ["input_text", "input_image", "input_file", "audio"],
  assistant: ["output_text", "refusal", "audio", "image"],
};

/** @param {readonly any[]} items @param {Rules} [rules] @returns {Violation[]} */
export function strictOpenAiAgents(items, rules = {}) {
  const own = checkEach(items, rules, checkItem);
  if (own.some(({ rule }) => rule === "shape")) return own;
  const { cache: _, plain: __, ...rest } = rules;
  return strictOpenAiResponses(items.map(toResponses), rest);
}

/** @param {any} item @returns {Found[]} */
function checkItem(item) {
  const shape = (/** @type {string} */ path, /** @type {string} */ message) => [
    { rule: "shape", path, message },
  ];
  if (!isObject(item)) return shape("", "an item is an object");
  const kind = item.type ?? "message";
  if (kind === "message") return checkMessage(item, shape);
  const must = members[kind];
  if (!must) return shape("/type", `Invalid discriminator value: ${JSON.stringify(kind)}`);
  for (const [name, type] of Object.entries(must)) {
    if (typeof item[name] !== type) return shape(`/${name}`, `Invalid input: expected ${type}`);
  }
  if (kind.startsWith("function_call") && item.status !== undefined && !statuses.has(item.status))
    return shape("/status", "Invalid option");
  if (kind !== "function_call_result") return [];
  const { output } = item;
  const isText = output?.type === "text" && typeof output.text === "string";
  const known = typeof output === "string" || isText || Array.isArray(output);
  return known || output?.type === "image" ? [] : shape("/output", "Invalid input");
}

/** @param {any} item @param {(path: string, message: string) => Found[]} shape @returns {Found[]} */
function checkMessage({ role, content, status }, shape) {
  if (role === "system")
    return typeof content === "string" ? [] : shape("/content", "Invalid input: expected string");
  const known = parts[role];
  if (!known) return shape("/role", "Invalid discriminator value");
  if (role === "assistant" && !statuses.has(status)) return shape("/status", "Invalid option");
  if (role === "user" && typeof content === "string") return [];
  if (!Array.isArray(content)) return shape("/content", "Invalid input: expected array");
  const at = content.findIndex((part) => !known.includes(part?.type));
  return at < 0 ? [] : shape(`/content/${at}`, "Invalid discriminator value");
}
