// @ts-check
/** Gemini: contents of `user` and `model`, each a list of parts; calls and responses are counted, not named. */
import { checkEach, extraKeys, hasText, isObject } from "./common.mjs";

/**
 * @typedef {import("./common.mjs").Violation} Violation
 * @typedef {import("./common.mjs").Found} Found
 * @typedef {import("./common.mjs").Rules} Rules
 */

const roles = new Set(["user", "model", "function"]);
const kinds = [
  "text",
  "inlineData",
  "fileData",
  "functionCall",
  "functionResponse",
  "executableCode",
  "codeExecutionResult",
  "toolCall",
  "toolResponse",
];
const beside = ["thought", "thoughtSignature", "videoMetadata", "mediaResolution", "partMetadata"];
/** What only one side says. @type {Record<string, string>} */
const sides = {
  functionCall: "model",
  executableCode: "model",
  codeExecutionResult: "model",
  functionResponse: "user",
};

/**
 * @param {readonly any[]} contents
 * @param {Rules} [rules] `signed`: the calls of the current turn carry thought signatures (Gemini 3)
 * @returns {Violation[]}
 */
export function strictGemini(contents, rules = {}) {
  if (!Array.isArray(contents) || contents.length === 0) {
    return [{ rule: "I8", index: 0, path: "", message: "contents are required" }];
  }
  const violations = checkEach(contents, rules, checkContent);
  violations.push(...checkTurns(contents));
  if (rules.signed) violations.push(...checkSigned(contents));
  return violations.sort((a, b) => a.index - b.index);
}

/** @param {any} content @param {Rules} rules @returns {Found[]} */
function checkContent(content, rules) {
  const { role, parts } = content;
  const found = extraKeys(content, ["role", "parts"], "", rules);
  if (role === "system")
    return [
      ...found,
      { rule: "I31", path: "/role", message: "Please use a valid role: user, model." },
    ];
  if (!roles.has(role))
    return [
      ...found,
      { rule: "shape", path: "/role", message: "Please use a valid role: user, model." },
    ];
  if (!Array.isArray(parts))
    return [...found, { rule: "shape", path: "/parts", message: "a list of parts is required" }];
  if (parts.length === 0)
    return [...found, { rule: "I6", path: "/parts", message: "contents.parts must not be empty." }];
  for (let at = 0; at < parts.length; at += 1)
    found.push(...checkPart(parts[at], role, `/parts/${at}`, rules));
  return found;
}

/** @param {any} part @param {string} role @param {string} path @param {Rules} rules @returns {Found[]} */
function checkPart(part, role, path, rules) {
  if (!isObject(part)) return [{ rule: "shape", path, message: "a part is an object" }];
  const present = kinds.filter((kind) => part[kind] !== undefined);
  const found = extraKeys(part, [...kinds, ...beside], path, rules);
  if (part.thoughtSignature !== undefined && typeof part.thoughtSignature !== "string")
    found.push({
      rule: "I20",
      path: `${path}/thoughtSignature`,
      message: "Invalid/Corrupted thought signature",
    });
  if (present.length !== 1) {
    const empty = present.length === 0 && part.thoughtSignature !== undefined;
    if (!empty)
      found.push({ rule: "shape", path, message: "oneof field 'data': exactly one is set" });
    return found;
  }
  const [kind = ""] = present;
  const value = part[kind];
  const side = role === "model" ? "model" : "user";
  if (sides[kind] !== undefined && sides[kind] !== side)
    found.push({
      rule: "shape",
      path: `${path}/${kind}`,
      message: `${kind} stands in ${sides[kind]} contents`,
    });
  if (kind === "text") {
    if (typeof value !== "string")
      found.push({ rule: "shape", path: `${path}/text`, message: "a string is required" });
    else if (!hasText(value) && part.thoughtSignature === undefined)
      found.push({ rule: "I6", path: `${path}/text`, message: "it has an empty text parameter" });
  } else if (!isObject(value)) {
    found.push({ rule: "shape", path: `${path}/${kind}`, message: "an object is required" });
  } else if (kind === "functionCall" || kind === "functionResponse") {
    found.push(...checkFunction(kind, value, `${path}/${kind}`));
  }
  return found;
}

/** @param {string} kind @param {any} value @param {string} path @returns {Found[]} */
function checkFunction(kind, value, path) {
  /** @type {Found[]} */
  const found = [];
  if (typeof value.name !== "string" || value.name === "")
    found.push({
      rule: "shape",
      path: `${path}/name`,
      message: "the name of the function is required",
    });
  if (value.id !== undefined && typeof value.id !== "string")
    found.push({ rule: "I5", path: `${path}/id`, message: "an id is a string" });
  if (kind === "functionCall" && value.args !== undefined && !isObject(value.args))
    found.push({ rule: "I30", path: `${path}/args`, message: "the args are an object" });
  if (kind === "functionResponse" && !isObject(value.response))
    found.push({ rule: "shape", path: `${path}/response`, message: "the response is an object" });
  return found;
}

/** @param {any} content @param {string} kind @returns {any[]} */
const all = (content, kind) =>
  Array.isArray(content?.parts)
    ? content.parts.filter((/** @type {any} */ part) => isObject(part?.[kind]))
    : [];

/** I1-I3, I7, I8, I18, I19: turns by their place. @param {readonly any[]} contents @returns {Violation[]} */
function checkTurns(contents) {
  /** @type {Violation[]} */
  const violations = [];
  const fail = (
    /** @type {string} */ rule,
    /** @type {number} */ index,
    /** @type {string} */ message,
  ) => violations.push({ rule, index, path: "", message });
  if (contents[0]?.role !== "user") fail("I7", 0, "the first content is the user's");
  const last = contents.length - 1;
  /** @type {Set<string>} */
  const seen = new Set();
  for (let index = 0; index <= last; index += 1) {
    const [before, content, next] = [contents[index - 1], contents[index], contents[index + 1]];
    const calls = all(content, "functionCall");
    const responses = all(content, "functionResponse");
    for (const { functionCall } of calls) {
      const { id } = functionCall;
      if (seen.has(id)) fail("I5", index, `the id ${id} is on the wire twice`);
      // Ids are optional, and an empty one is none.
      if (id) seen.add(id);
    }
    if (calls.length > 0) {
      if (index > 0 && before?.role === "model")
        fail(
          "I18",
          index,
          "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        );
      const answered = all(next, "functionResponse");
      if (answered.length === 0)
        fail("I1", index, "the function call turn has no function response turn after it");
      else if (answered.length !== calls.length)
        fail(
          "I19",
          index,
          "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
        );
      else if (!sameNames(calls, answered))
        fail("I19", index, "the responses are not those of the functions called");
      else if (!sameIds(calls, answered))
        fail("I5", index, "the ids of the responses are not those of the calls");
    }
    if (responses.length > 0 && all(before, "functionCall").length === 0)
      fail(
        "I2",
        index,
        "Please ensure that function response turn comes immediately after a function call turn.",
      );
    if (index === last && content?.role === "model")
      fail("I8", index, "the contents end with the user's turn");
  }
  return violations;
}

/** @param {any[]} calls @param {any[]} responses */
function sameNames(calls, responses) {
  const names = (/** @type {any[]} */ of, /** @type {string} */ kind) =>
    of
      .map((part) => String(part[kind].name))
      .sort()
      .join("\n");
  return names(calls, "functionCall") === names(responses, "functionResponse");
}

/** Ids are optional, and an empty one is none; where both sides have them they are the same, each once. @param {any[]} calls @param {any[]} responses */
function sameIds(calls, responses) {
  const called = calls.map((part) => part.functionCall.id).filter(Boolean);
  const answered = responses.map((part) => part.functionResponse.id).filter(Boolean);
  if (called.length !== calls.length || answered.length !== responses.length) return true;
  if (new Set(called).size !== called.length) return false;
  return called.sort().join("\n") === answered.sort().join("\n");
}

/** I20: in the current turn the first call of each step is signed. @param {readonly any[]} contents @returns {Violation[]} */
function checkSigned(contents) {
  const turn = contents.findLastIndex(
    (content) => content?.role === "user" && all(content, "functionResponse").length === 0,
  );
  return contents.flatMap((content, index) => {
    const [first] = all(content, "functionCall");
    if (index < turn || !first || typeof first.thoughtSignature === "string") return [];
    const message = `Function call is missing a thought_signature in functionCall parts. … function call \`${first.functionCall.name}\``;
    return [{ rule: "I20", index, path: "/parts", message }];
  });
}
