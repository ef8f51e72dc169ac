// @ts-check
/** Anthropic Messages, first party: runs of one role are one turn. */
import { badId, checkEach, checkPairs, extraKeys, hasText, isObject } from "./common.mjs";

/**
 * @typedef {import("./common.mjs").Violation} Violation
 * @typedef {import("./common.mjs").Found} Found
 * @typedef {import("./common.mjs").Rules} Rules
 */

const ids = { charset: /^[a-zA-Z0-9_-]+$/, max: 64 };
const thinkingTypes = new Set(["thinking", "redacted_thinking"]);
/** Blocks the server made itself, carried back as they came. */
const opaqueTypes = new Set([
  "server_tool_use",
  "web_search_tool_result",
  "web_fetch_tool_result",
  "code_execution_tool_result",
  "bash_code_execution_tool_result",
  "text_editor_code_execution_tool_result",
  "tool_search_tool_result",
  "mcp_tool_use",
  "mcp_tool_result",
  "container_upload",
  "compaction",
]);
const inResult = new Set(["text", "image", "document", "search_result", "tool_reference"]);

/**
 * @param {readonly any[]} messages
 * @param {Rules} [rules]
 * @returns {Violation[]}
 */
export function strictAnthropic(messages, rules = {}) {
  if (!Array.isArray(messages) || messages.length === 0) {
    return [
      { rule: "I8", index: 0, path: "", message: "messages: at least one message is required" },
    ];
  }
  const violations = checkEach(messages, rules, checkMessage);
  const turns = merged(messages);
  violations.push(...checkRoles(messages, turns, rules));
  violations.push(...checkResultsFirst(turns));
  violations.push(...checkPairs(turns.map(toStep)));
  violations.push(...checkServerTools(turns).violations);
  violations.push(...checkThinking(turns, rules));
  violations.push(...checkRequest(messages, rules));
  return violations.sort((a, b) => a.index - b.index);
}

/** @param {any} message @param {Rules} rules @returns {Found[]} */
function checkMessage(message, rules) {
  const { role, content } = message;
  const found = extraKeys(message, ["role", "content"], "", rules);
  if (role === "system")
    return [...found, { rule: "I31", path: "/role", message: "Unexpected role 'system'" }];
  if (role !== "user" && role !== "assistant") {
    return [
      ...found,
      { rule: "shape", path: "/role", message: `Unexpected role ${JSON.stringify(role)}` },
    ];
  }
  if (typeof content === "string") {
    if (!hasText(content))
      found.push({ rule: "I6", path: "/content", message: "must have non-empty content" });
    return found;
  }
  if (!Array.isArray(content)) {
    return [...found, { rule: "shape", path: "/content", message: "a string or a list of blocks" }];
  }
  if (content.length === 0)
    found.push({ rule: "I6", path: "/content", message: "must have non-empty content" });
  for (let at = 0; at < content.length; at += 1) {
    found.push(...checkBlock(content[at], role, `/content/${at}`, rules));
  }
  return found;
}

/** @param {any} block @param {string} role @param {string} path @param {Rules} rules @returns {Found[]} */
function checkBlock(block, role, path, rules) {
  if (!isObject(block)) return [{ rule: "shape", path, message: "a block is an object" }];
  const only = (/** @type {string} */ allowed) =>
    role === allowed
      ? []
      : [{ rule: "shape", path, message: `${block.type} blocks stand in ${allowed} messages` }];
  switch (block.type) {
    case "text":
      return checkText(block, path, rules);
    case "image":
    case "document":
      if (isObject(block.source)) return only("user");
      return [{ rule: "shape", path: `${path}/source`, message: "Field required" }];
    case "search_result":
      return only("user");
    case "tool_use":
      return [...only("assistant"), ...checkCall(block, path, rules)];
    case "tool_result":
      return [...only("user"), ...checkResult(block, path, rules)];
    case "thinking":
    case "redacted_thinking":
      return [...only("assistant"), ...checkThinkingBlock(block, path)];
    default:
      if (opaqueTypes.has(block.type)) return [];
      return [
        {
          rule: "shape",
          path: `${path}/type`,
          message: `Input tag ${JSON.stringify(block.type)} is unknown`,
        },
      ];
  }
}

/** @param {any} block @param {string} path @param {Rules} rules @returns {Found[]} */
function checkText(block, path, rules) {
  const found = extraKeys(block, ["type", "text", "cache_control", "citations"], path, rules);
  if (typeof block.text !== "string")
    found.push({ rule: "shape", path: `${path}/text`, message: "Field required" });
  else if (!hasText(block.text)) {
    found.push({
      rule: "I6",
      path: `${path}/text`,
      message: "text content blocks must contain non-whitespace text",
    });
    if (block.cache_control) {
      found.push({
        rule: "I13",
        path,
        message: "cache_control cannot be set for empty text blocks",
      });
    }
  }
  return found;
}

/** @param {any} block @param {string} path @param {Rules} rules @returns {Found[]} */
function checkCall(block, path, rules) {
  const found = extraKeys(
    block,
    ["type", "id", "name", "input", "cache_control", "caller"],
    path,
    rules,
  );
  const bad = badId(block.id, {
    charset: rules.anyIds ? null : ids.charset,
    max: rules.maxIdLength ?? ids.max,
  });
  if (bad) found.push({ rule: "I5", path: `${path}/id`, message: bad });
  if (typeof block.name !== "string" || !/^[a-zA-Z0-9_-]{1,128}$/.test(block.name)) {
    found.push({
      rule: "shape",
      path: `${path}/name`,
      message: "String should match '^[a-zA-Z0-9_-]{1,128}$'",
    });
  }
  if (!isObject(block.input)) {
    found.push({
      rule: "I30",
      path: `${path}/input`,
      message: "Input should be a valid dictionary",
    });
  }
  return found;
}

/** @param {any} block @param {string} path @param {Rules} rules @returns {Found[]} */
function checkResult(block, path, rules) {
  const known = ["type", "tool_use_id", "content", "is_error", "cache_control"];
  const found = extraKeys(block, known, path, rules);
  const bad = badId(block.tool_use_id, {
    charset: rules.anyIds ? null : ids.charset,
    max: rules.maxIdLength ?? ids.max,
  });
  if (bad) found.push({ rule: "I5", path: `${path}/tool_use_id`, message: bad });
  if (block.is_error !== undefined && typeof block.is_error !== "boolean") {
    found.push({ rule: "shape", path: `${path}/is_error`, message: "a boolean" });
  }
  const { content } = block;
  const empty =
    content === undefined || content === "" || (Array.isArray(content) && content.length === 0);
  if (empty) {
    if (rules.emptyResults === false)
      found.push({ rule: "I6", path: `${path}/content`, message: "is empty" });
    return found;
  }
  if (typeof content === "string") return found;
  if (!Array.isArray(content)) {
    return [
      ...found,
      { rule: "shape", path: `${path}/content`, message: "a string or a list of blocks" },
    ];
  }
  for (let at = 0; at < content.length; at += 1) {
    const inner = content[at];
    const here = `${path}/content/${at}`;
    if (!isObject(inner) || !inResult.has(inner.type)) {
      found.push({ rule: "shape", path: here, message: "not a block of a tool result" });
    } else if (inner.type === "text") found.push(...checkText(inner, here, rules));
    else if ((inner.type === "image" || inner.type === "document") && !isObject(inner.source)) {
      found.push({ rule: "shape", path: `${here}/source`, message: "Field required" });
    }
  }
  return found;
}

/** @param {any} block @param {string} path @returns {Found[]} */
function checkThinkingBlock(block, path) {
  /** @type {Found[]} */
  const found = [];
  const fields = block.type === "thinking" ? ["thinking", "signature"] : ["data"];
  for (const field of fields) {
    if (typeof block[field] !== "string")
      found.push({ rule: "shape", path: `${path}/${field}`, message: "Field required" });
  }
  if (block.cache_control !== undefined) {
    found.push({
      rule: "I13",
      path,
      message: "thinking.cache_control: Extra inputs are not permitted",
    });
  }
  return found;
}

/**
 * The turns the model sees: neighbours of one role are one.
 * @param {readonly any[]} messages
 * @returns {Array<{ role: string, index: number, blocks: Array<{ block: any, index: number, path: string }> }>}
 */
function merged(messages) {
  /** @type {ReturnType<typeof merged>} */
  const turns = [];
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index];
    if (!isObject(message)) continue;
    let turn = turns.at(-1);
    if (!turn || turn.role !== message.role) {
      turn = { role: message.role, index, blocks: [] };
      turns.push(turn);
    }
    const content = Array.isArray(message.content)
      ? message.content
      : [{ type: "text", text: message.content }];
    for (let at = 0; at < content.length; at += 1) {
      if (isObject(content[at]))
        turn.blocks.push({ block: content[at], index, path: `/content/${at}` });
    }
  }
  return turns;
}

/** @param {ReturnType<typeof merged>[number]} turn @returns {import("./common.mjs").Step} */
function toStep(turn) {
  const refs = (/** @type {string} */ type, /** @type {string} */ field) =>
    turn.blocks
      .filter(({ block }) => block.type === type)
      .map(({ block, index, path }) => ({ id: String(block[field]), index, path }));
  return {
    calls: refs("tool_use", "id"),
    results: refs("tool_result", "tool_use_id"),
    closes: true,
  };
}

/** @param {readonly any[]} messages @param {ReturnType<typeof merged>} turns @param {Rules} rules @returns {Violation[]} */
function checkRoles(messages, turns, rules) {
  /** @type {Violation[]} */
  const violations = [];
  if (turns[0] && turns[0].role !== "user") {
    violations.push({
      rule: "I7",
      index: 0,
      path: "/role",
      message: 'first message must use the "user" role',
    });
  }
  // A turn that was paused is passed back as it is: the model goes on with it.
  if (turns.at(-1)?.role === "assistant" && checkServerTools(turns).open === 0) {
    const index = messages.length - 1;
    violations.push({
      rule: "I8",
      index,
      path: "/role",
      message: "The conversation must end with a user message",
    });
  }
  if (!rules.alternate) return violations;
  for (let index = 1; index < messages.length; index += 1) {
    if (messages[index]?.role === messages[index - 1]?.role) {
      const message = `roles must alternate, but found multiple ${messages[index]?.role} roles in a row`;
      violations.push({ rule: "I9", index, path: "/role", message });
    }
  }
  return violations;
}

/** I3: the results of a turn stand before its text. @param {ReturnType<typeof merged>} turns @returns {Violation[]} */
function checkResultsFirst(turns) {
  /** @type {Violation[]} */
  const violations = [];
  for (const { role, blocks } of turns) {
    if (role !== "user") continue;
    const other = blocks.findIndex(({ block }) => block.type !== "tool_result");
    const late = blocks.findLast(({ block }) => block.type === "tool_result");
    if (other < 0 || !late || blocks.indexOf(late) < other) continue;
    violations.push({
      rule: "I3",
      index: late.index,
      path: late.path,
      message: "tool_result blocks must come first",
    });
  }
  return violations;
}

/**
 * Tools that the server runs: each result answers a call before it, in the same turn, or in a later one if only results of
 * the client's stand between. A call may wait for its result only where the request ends, or as long as the client's tools are called
 * for it: a turn after their results has the result, calls again, or waits for a tool of the server's itself.
 * @param {ReturnType<typeof merged>} turns
 */
function checkServerTools(turns) {
  /** @type {Violation[]} */
  const violations = [];
  /** @type {Map<string, { index: number, path: string }>} */
  const open = new Map();
  const refuse = (/** @type {string[]} */ ids) => {
    for (const id of ids) {
      const at = /** @type {{ index: number, path: string }} */ (open.get(id));
      const message = `tool use ${id} was found without a corresponding result block`;
      violations.push({ rule: "I1", ...at, message });
      open.delete(id);
    }
  };
  for (const { role, blocks } of turns) {
    if (role !== "assistant") {
      if (!blocks.every(({ block }) => block.type === "tool_result")) refuse([...open.keys()]);
      continue;
    }
    const earlier = [...open.keys()];
    for (const { block, index, path } of blocks) {
      if (block.type === "server_tool_use" || block.type === "mcp_tool_use")
        open.set(String(block.id), { index, path });
      else if (/_tool_result$/.test(block.type) && !open.delete(String(block.tool_use_id))) {
        const message = `unexpected tool_use_id found in ${block.type}: ${block.tool_use_id}`;
        violations.push({ rule: "I2", index, path, message });
      }
    }
    const waits = [...open.keys()].some((id) => !earlier.includes(id));
    if (!waits && !blocks.some(({ block }) => block.type === "tool_use"))
      refuse(earlier.filter((id) => open.has(id)));
  }
  return { violations, open: open.size };
}

/** I11: what one request shows of extended thinking. @param {ReturnType<typeof merged>} turns @param {Rules} rules @returns {Violation[]} */
function checkThinking(turns, rules) {
  const last = turns.at(-1);
  if (!last || rules.thinking === undefined) return [];
  const isThinking = (/** @type {{ block: any }} */ { block }) => thinkingTypes.has(block.type);
  if (!rules.thinking) {
    if (last.role !== "assistant" || !last.blocks.some(isThinking)) return [];
    const message = "When thinking is disabled, a final assistant message cannot contain thinking";
    return [{ rule: "I11", index: last.index, path: "/content", message }];
  }
  const inLoop = (/** @type {number} */ at) =>
    turns[at]?.blocks.some(({ block }) => block.type === "tool_result");
  let at = turns.length - 1;
  if (!inLoop(at)) return [];
  // The loop reaches back to the last user turn that is a request, not results.
  while (at >= 2 && inLoop(at)) {
    const step = turns[at - 1];
    if (step?.blocks[0] && isThinking(step.blocks[0])) return [];
    at -= 2;
  }
  const final = turns[turns.length - 2];
  const message =
    "Expected `thinking` or `redacted_thinking`: a final assistant message must start with a thinking block";
  return [{ rule: "I11", index: final?.index ?? 0, path: "/content/0/type", message }];
}

/** Rules over the whole request: cache markers, declared tools, number of images. @param {readonly any[]} messages @param {Rules} rules @returns {Violation[]} */
function checkRequest(messages, rules) {
  /** @type {Violation[]} */
  const violations = [];
  let markers = countMarkers(rules.system) + countMarkers(rules.tools);
  let images = 0;
  for (let index = 0; index < messages.length; index += 1) {
    const content = messages[index]?.content;
    if (!Array.isArray(content)) continue;
    const before = markers;
    for (const block of content) {
      if (!isObject(block)) continue;
      const inner =
        block.type === "tool_result" && Array.isArray(block.content) ? block.content : [];
      markers += (block.cache_control ? 1 : 0) + countMarkers(inner);
      images += [block, ...inner].filter((one) => one?.type === "image").length;
      if (block.type === "tool_use" && rules.tools?.length === 0) {
        violations.push({
          rule: "I29",
          index,
          path: "/content",
          message: "tools used in history are not declared",
        });
      }
    }
    if (before <= 4 && markers > 4) {
      const message = "A maximum of 4 blocks with cache_control may be provided";
      violations.push({ rule: "I13", index, path: "/content", message });
    }
  }
  if (images > 100)
    violations.push({ rule: "I27", index: 0, path: "", message: `${images} images, at most 100` });
  return violations;
}

/** @param {unknown} blocks */
function countMarkers(blocks) {
  return Array.isArray(blocks)
    ? blocks.filter((block) => isObject(block) && block.cache_control).length
    : 0;
}
