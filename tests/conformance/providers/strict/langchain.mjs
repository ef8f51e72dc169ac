// @ts-check
/**
 * LangChain: what a message must be by itself, an instance or what it is written as. The two places where a call may
 * stand, `tool_calls` and a `tool_use` block of the content, say the same.
 */
import { langchainFields } from "../convert/read.mjs";
import { badId, checkEach, isObject } from "./common.mjs";

/**
 * @typedef {import("./common.mjs").Violation} Violation
 * @typedef {import("./common.mjs").Found} Found
 * @typedef {import("./common.mjs").Rules} Rules
 */

/**
 * @param {readonly any[]} messages
 * @param {Rules} [rules]
 * @returns {Violation[]}
 */
export function strictLangchain(messages, rules = {}) {
  if (!Array.isArray(messages) || messages.length === 0)
    return [{ rule: "I8", index: 0, path: "", message: "messages must not be empty" }];
  return checkEach(messages, rules, checkMessage);
}

/** @param {any} message @returns {Found[]} */
function checkMessage(message) {
  const { role, fields } = langchainFields(message);
  if (role === "")
    return [
      { rule: "shape", path: "", message: "MESSAGE_COERCION_FAILURE: no message of LangChain" },
    ];
  const { content } = fields;
  /** @type {Found[]} */
  const found = [];
  if (typeof content !== "string" && !Array.isArray(content))
    found.push({ rule: "shape", path: "/content", message: "a string or a list of blocks" });
  const blocks = Array.isArray(content) ? content : [];
  for (let at = 0; at < blocks.length; at += 1) {
    const ok =
      typeof blocks[at] === "string" ||
      (isObject(blocks[at]) && typeof blocks[at].type === "string");
    if (!ok) found.push({ rule: "shape", path: `/content/${at}`, message: "a block has its type" });
  }
  if (role === "tool") {
    const bad = badId(fields.tool_call_id, { charset: null, max: Infinity });
    if (bad) found.push({ rule: "I5", path: "/tool_call_id", message: bad });
  }
  return role === "assistant" ? [...found, ...checkCalls(fields, blocks)] : found;
}

/** @param {any} fields @param {any[]} blocks @returns {Found[]} */
function checkCalls(fields, blocks) {
  /** @type {Found[]} */
  const found = [];
  const calls = Array.isArray(fields.tool_calls) ? fields.tool_calls : [];
  for (let at = 0; at < calls.length; at += 1) {
    const [call, path] = [calls[at], `/tool_calls/${at}`];
    const bad = badId(call?.id, { charset: null, max: Infinity });
    if (bad) found.push({ rule: "I5", path: `${path}/id`, message: bad });
    if (typeof call?.name !== "string" || call.name === "")
      found.push({ rule: "shape", path: `${path}/name`, message: "a tool's name is required" });
    if (!isObject(call?.args))
      found.push({ rule: "I30", path: `${path}/args`, message: "the args are an object" });
  }
  const ids = calls.map((/** @type {any} */ call) => call?.id);
  const uses = blocks.filter((block) => block?.type === "tool_use").map((block) => block.id);
  if (uses.length > 0 && JSON.stringify(uses) !== JSON.stringify(ids))
    found.push({
      rule: "I5",
      path: "/content",
      message: "the tool_use blocks are not the tool_calls",
    });
  const signed = Object.keys(
    fields.additional_kwargs?.__gemini_function_call_thought_signatures__ ?? {},
  );
  if (signed.some((id) => !ids.includes(id)))
    found.push({
      rule: "I20",
      path: "/additional_kwargs",
      message: "a thought signature of a call that is not there",
    });
  return found;
}
