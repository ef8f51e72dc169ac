// @ts-check
/**
 * OpenAI Responses: the items of `input`. What the model gave in one response is a run of items (reasoning, words,
 * calls); its outputs follow before anything else is said.
 */
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

const inputs = new Set(["user", "system", "developer"]);
const leading = new Set(["system", "developer"]);
/** Parts of what goes in and of what came out, each with the field it must have. @type {Record<string, Record<string, string>>} */
const parts = {
  in: { input_text: "text", input_image: "", input_file: "", input_audio: "input_audio" },
  out: { output_text: "text", refusal: "refusal" },
};
/** A call that the host carries out, and what answers it. @type {Record<string, string>} */
const answers = {
  function_call: "function_call_output",
  custom_tool_call: "custom_tool_call_output",
  local_shell_call: "local_shell_call_output",
  shell_call: "shell_call_output",
  apply_patch_call: "apply_patch_call_output",
  computer_call: "computer_call_output",
};
const outputs = new Set(Object.values(answers));
/** What the server did by itself: carried back as it came. */
const hosted = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_call",
  "mcp_list_tools",
  "mcp_approval_request",
  "tool_search_call",
  "tool_search_output",
]);
/** Opaque by itself: what stands for a history that the server has folded, or for an item that it keeps. */
const standins = new Set([
  "compaction",
  "compaction_summary",
  "context_compaction",
  "item_reference",
]);

/** @param {any} item */
export const kindOf = (item) =>
  isObject(item) ? String(item.type ?? (item.role ? "message" : undefined)) : "none";
/** Whether an item is of the model's side. @param {any} item */
export const isOutput = (item) => {
  const kind = kindOf(item);
  if (kind === "message") return item.role === "assistant";
  return kind in answers || hosted.has(kind) || kind === "reasoning";
};

/**
 * @param {readonly any[]} items
 * @param {Rules} [rules]
 * @returns {Violation[]}
 */
export function strictOpenAiResponses(items, rules = {}) {
  if (!Array.isArray(items) || items.length === 0) {
    return [{ rule: "I8", index: 0, path: "", message: "Invalid 'input': empty array" }];
  }
  const violations = checkEach(items, rules, checkItem);
  violations.push(...checkPairs(toSteps(items)));
  violations.push(...checkReasoning(items));
  violations.push(...checkApprovals(items));
  violations.push(...checkEnds(items));
  return violations.sort((a, b) => a.index - b.index);
}

/** @param {any} item @param {Rules} rules @returns {Found[]} */
function checkItem(item, rules) {
  const kind = kindOf(item);
  if (kind === "message") return checkMessage(item, rules);
  if (kind in answers) return checkCall(item, kind, rules);
  if (outputs.has(kind)) return checkOutput(item, kind, rules);
  if (kind === "reasoning") {
    const found = extraKeys(
      item,
      ["type", "id", "summary", "content", "encrypted_content", "status"],
      "",
      rules,
    );
    if (!Array.isArray(item.summary))
      found.push({
        rule: "shape",
        path: "/summary",
        message: "Missing required parameter: 'summary'",
      });
    return found;
  }
  if (kind === "mcp_approval_response") {
    const bad = badId(item.approval_request_id, { charset: null, max: Infinity });
    return bad ? [{ rule: "I4", path: "/approval_request_id", message: bad }] : [];
  }
  if (hosted.has(kind) || standins.has(kind)) return [];
  return [{ rule: "shape", path: "/type", message: `Invalid value: '${kind}'` }];
}

/** @param {any} item @param {Rules} rules @returns {Found[]} */
function checkMessage(item, rules) {
  const found = extraKeys(item, ["type", "role", "content", "id", "status", "phase"], "", rules);
  const side = item.role === "assistant" ? "out" : "in";
  if (side === "in" && !inputs.has(item.role)) {
    return [
      ...found,
      { rule: "shape", path: "/role", message: `Invalid value: ${JSON.stringify(item.role)}` },
    ];
  }
  if (typeof item.content === "string") {
    if (hasText(item.content)) return found;
    return [
      ...found,
      { rule: "I6", path: "/content", message: `the ${item.role} message is empty` },
    ];
  }
  if (!Array.isArray(item.content))
    return [
      ...found,
      { rule: "shape", path: "/content", message: "expected a string or an array" },
    ];
  if (item.content.length === 0)
    return [...found, { rule: "I6", path: "/content", message: "the content is empty" }];
  for (let at = 0; at < item.content.length; at += 1)
    found.push(...checkPart(item.content[at], side, `/content/${at}`));
  return found;
}

/** @param {any} part @param {string} side @param {string} path @returns {Found[]} */
function checkPart(part, side, path) {
  const field = isObject(part) ? parts[side]?.[part.type] : undefined;
  if (field === undefined)
    return [{ rule: "shape", path, message: `Invalid value: ${JSON.stringify(part?.type)}` }];
  if (part.type === "input_image" || part.type === "input_file") {
    const source = part.image_url ?? part.file_id ?? part.file_data ?? part.file_url;
    return typeof source === "string"
      ? []
      : [{ rule: "shape", path, message: "an image or file has its source" }];
  }
  if (part.type === "input_audio") return [];
  if (typeof part[field] !== "string")
    return [{ rule: "shape", path: `${path}/${field}`, message: "a string is required" }];
  return hasText(part[field])
    ? []
    : [{ rule: "I6", path: `${path}/${field}`, message: "MissingParameter: input.content.text" }];
}

/** @param {any} item @param {string} kind @param {Rules} rules @returns {Found[]} */
function checkCall(item, kind, rules) {
  /** @type {Found[]} */
  const found = [];
  const bad = badId(callId(item), { charset: null, max: rules.maxIdLength ?? 64 });
  if (bad) found.push({ rule: "I5", path: "/call_id", message: bad });
  const named = kind === "function_call" || kind === "custom_tool_call";
  if (named && (typeof item.name !== "string" || !/^[a-zA-Z0-9_.:-]{1,128}$/.test(item.name)))
    found.push({ rule: "shape", path: "/name", message: "not a function's name" });
  if (kind === "function_call" && !isJsonObject(item.arguments))
    found.push({ rule: "I30", path: "/arguments", message: "not the JSON text of an object" });
  if (kind === "custom_tool_call" && typeof item.input !== "string")
    found.push({ rule: "shape", path: "/input", message: "a string is required" });
  return found;
}

/** @param {any} item @param {string} kind @param {Rules} rules @returns {Found[]} */
function checkOutput(item, kind, rules) {
  const found = extraKeys(item, ["type", "call_id", "output", "id", "status"], "", rules);
  const bad = badId(callId(item), { charset: null, max: rules.maxIdLength ?? 64 });
  if (bad) found.push({ rule: "I5", path: "/call_id", message: bad });
  const { output } = item;
  if (kind !== "function_call_output" && kind !== "custom_tool_call_output") return found;
  if (typeof output === "string") {
    if (rules.emptyResults === false && !hasText(output))
      found.push({ rule: "I6", path: "/output", message: "the output is empty" });
    return found;
  }
  if (!Array.isArray(output))
    return [...found, { rule: "shape", path: "/output", message: "Missing required parameter" }];
  for (let at = 0; at < output.length; at += 1) {
    const parted = checkPart(output[at], "in", `/output/${at}`);
    found.push(...parted.filter((one) => one.rule !== "I6" || rules.emptyResults === false));
  }
  return found;
}

/** @param {any} item */
const callId = (item) =>
  item.call_id ?? (/^local_shell/.test(String(item.type)) ? item.id : undefined);

/** The run of one response is one step; each output and each message of the other side is one. @param {readonly any[]} items */
function toSteps(items) {
  /** @type {import("./common.mjs").Step[]} */
  const steps = [];
  let inRun = false;
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index];
    const kind = kindOf(item);
    if (standins.has(kind)) continue;
    const ref = { id: String(isObject(item) ? callId(item) : undefined), index, path: "/call_id" };
    if (outputs.has(kind)) {
      steps.push({ calls: [], results: [ref], closes: false });
      inRun = false;
      continue;
    }
    if (!isOutput(item)) {
      steps.push({ calls: [], results: [], closes: true });
      inRun = false;
      continue;
    }
    if (!inRun) steps.push({ calls: [], results: [], closes: true });
    inRun = true;
    if (kind in answers) steps.at(-1)?.calls.push(ref);
  }
  return steps;
}

/** I14: a reasoning item stands directly before what the model did with it. @param {readonly any[]} items @returns {Violation[]} */
function checkReasoning(items) {
  /** @type {Violation[]} */
  const violations = [];
  for (let index = 0; index < items.length; index += 1) {
    if (kindOf(items[index]) !== "reasoning" || isOutput(items[index + 1])) continue;
    if (kindOf(items[index + 1]) === "item_reference") continue;
    const message = `Item '${items[index].id}' of type 'reasoning' was provided without its required following item.`;
    violations.push({ rule: "I14", index, path: "", message });
  }
  return violations;
}

/** I4: an approval answers a request for it. @param {readonly any[]} items @returns {Violation[]} */
function checkApprovals(items) {
  const asked = new Set(
    items.filter((item) => kindOf(item) === "mcp_approval_request").map((item) => item.id),
  );
  return items.flatMap((item, index) =>
    kindOf(item) === "mcp_approval_response" && !asked.has(item.approval_request_id)
      ? [
          {
            rule: "I4",
            index,
            path: "/approval_request_id",
            message: `no approval request ${item.approval_request_id}`,
          },
        ]
      : [],
  );
}

/** I7 and I8. @param {readonly any[]} items @returns {Violation[]} */
function checkEnds(items) {
  /** @type {Violation[]} */
  const violations = [];
  const first = items.findIndex((item) => !leading.has(item?.role) && !standins.has(kindOf(item)));
  const folded = items.some((item) => standins.has(kindOf(item)));
  if (!folded && (first < 0 || items[first]?.role !== "user")) {
    const message = "the first item after the system's is the user's";
    violations.push({ rule: "I7", index: Math.max(first, 0), path: "/role", message });
  }
  const last = items.length - 1;
  if (isOutput(items[last])) {
    const message = "the input ends with what the user or a tool said";
    violations.push({ rule: "I8", index: last, path: "/role", message });
  }
  return violations;
}
