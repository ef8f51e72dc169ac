// @ts-check
/**
 * What every provider asks of a request: JSON values, well-formed Unicode, calls answered where they stand.
 *
 * @typedef {{ rule: string, index: number, path: string, message: string }} Violation
 * @typedef {{
 *   thinking?: boolean,        // whether the request enables extended thinking; undefined: not checked
 *   alternate?: boolean,       // the provider does not merge runs of one role (Bedrock, older Anthropic, Mistral)
 *   emptyResults?: boolean,    // false: an empty tool result is refused (Kimi, GLM, Bedrock); default: accepted
 *   plain?: boolean,           // true: a message holds the fields of the format and no others
 *   tools?: readonly object[], // given: tools used in the history must be declared; counted for cache_control
 *   maxIdLength?: number,      // default 64
 *   anyIds?: boolean,          // an endpoint that speaks the format and gives ids that its author would refuse
 *   ids?: RegExp,              // what an id looks like (Mistral: nine letters and digits)
 *   system?: unknown,          // counted for cache_control
 *   systemFirst?: boolean,     // system messages stand at the start or nowhere (Mistral)
 *   signed?: boolean,          // the model signs its calls (Gemini 3)
 *   cache?: WeakMap<object, Found[]>, // remembers what each frozen message holds by itself
 * }} Rules
 * @typedef {{ rule: string, path: string, message: string }} Found
 * @typedef {{ id: string, index: number, path: string }} Ref
 * @typedef {{ calls: Ref[], results: Ref[], closes: boolean }} Step
 */

/** @param {unknown} value @returns {value is Record<string, any>} */
export const isObject = (value) =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !ArrayBuffer.isView(value);

/** True when there is something to read besides white space. @param {unknown} text */
export const hasText = (text) => typeof text === "string" && /\S/u.test(text);

/** Whether a text is the JSON of an object. @param {unknown} text */
export function isJsonObject(text) {
  if (typeof text !== "string") return false;
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/**
 * A surrogate without its other half makes the body invalid JSON for the provider. Node 18 has no isWellFormed.
 * @param {string} text
 */
export function isWellFormed(text) {
  const own = /** @type {any} */ (text).isWellFormed;
  if (typeof own === "function") return own.call(text);
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0xd800 || unit > 0xdfff) continue;
    const next = text.charCodeAt(at + 1);
    if (unit > 0xdbff || !(next >= 0xdc00 && next <= 0xdfff)) return false;
    at += 1;
  }
  return true;
}

/**
 * I26 and JSON: walks a message without recursion, so that no depth can end the checker itself.
 * @param {unknown} root
 * @returns {Found[]}
 */
export function checkValues(root) {
  /** @type {Found[]} */
  const found = [];
  /** @type {Array<{ value: any, path: string, above: object[] }>} */
  const open = [{ value: root, path: "", above: [] }];
  while (open.length > 0) {
    const { value, path, above } = /** @type {any} */ (open.pop());
    const bad = unsendable(value);
    if (bad) found.push({ rule: bad.rule, path, message: bad.message });
    if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) continue;
    if (above.includes(value)) {
      found.push({ rule: "shape", path, message: "a cycle: not a JSON value" });
      continue;
    }
    const below = [...above, value];
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at += 1) {
        if (value[at] === undefined) {
          found.push({ rule: "shape", path: `${path}/${at}`, message: "undefined in a list" });
        } else open.push({ value: value[at], path: `${path}/${at}`, above: below });
      }
      continue;
    }
    for (const key of Object.keys(value)) {
      if (!isWellFormed(key)) found.push({ rule: "I26", path, message: "a key with half a pair" });
      if (value[key] !== undefined)
        open.push({ value: value[key], path: `${path}/${key}`, above: below });
    }
  }
  return found;
}

/** @param {unknown} value @returns {{ rule: string, message: string } | null} */
function unsendable(value) {
  switch (typeof value) {
    case "string":
      return isWellFormed(value) ? null : { rule: "I26", message: "no low surrogate in string" };
    case "number":
      return Number.isFinite(value) ? null : { rule: "shape", message: `${value} is not JSON` };
    case "bigint":
    case "function":
    case "symbol":
      return { rule: "shape", message: `a ${typeof value} is not JSON` };
    default:
      return null;
  }
}

/**
 * Runs the checks that need one message only, once for each message object.
 * @param {readonly any[]} messages
 * @param {Rules} rules
 * @param {(message: any, rules: Rules) => Found[]} checkMessage
 * @returns {Violation[]}
 */
export function checkEach(messages, rules, checkMessage) {
  /** @type {Violation[]} */
  const violations = [];
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index];
    if (!isObject(message)) {
      const saw = message === null ? "null" : typeof message;
      violations.push({
        rule: "shape",
        index,
        path: "",
        message: `a message is an object, not ${saw}`,
      });
      continue;
    }
    const kept = rules.cache?.get(message);
    const found = kept ?? [...checkValues(message), ...checkMessage(message, rules)];
    if (!kept) rules.cache?.set(message, found);
    for (const one of found) violations.push({ ...one, index });
  }
  return violations;
}

/**
 * I1, I2, I3, I5 by place: `steps` are the turns of the request in order. A step with calls must be answered by the
 * steps directly after it, until one `closes` (anything that is not a result).
 * @param {readonly Step[]} steps
 * @returns {Violation[]}
 */
export function checkPairs(steps) {
  /** @type {Violation[]} */
  const violations = [];
  /** @type {Map<string, number>} */
  const later = new Map();
  for (const { id } of steps.flatMap((step) => step.results))
    later.set(id, (later.get(id) ?? 0) + 1);
  /** @type {Map<string, { at: Ref, answered: boolean }>} */
  let open = new Map();
  /** @type {Set<string>} */
  const seen = new Set();
  /** @type {Set<string>} */
  const misplaced = new Set();
  const close = () => {
    for (const [id, { at, answered }] of open) {
      if (answered) continue;
      const moved = (later.get(id) ?? 0) > 0;
      if (moved) misplaced.add(id);
      const message = moved
        ? `the result of ${id} does not follow its call`
        : `${id} has no result directly after it`;
      violations.push({ rule: moved ? "I3" : "I1", index: at.index, path: at.path, message });
    }
    open = new Map();
  };
  for (const step of steps) {
    if (step.calls.length > 0 || step.closes) {
      if (step.results.length === 0) close();
    }
    for (const at of step.results) {
      later.set(at.id, (later.get(at.id) ?? 0) - 1);
      const call = open.get(at.id);
      if (!call) {
        if (misplaced.has(at.id)) continue;
        violations.push({
          rule: "I2",
          ...where(at),
          message: `${at.id} answers no call of the previous turn`,
        });
      } else if (call.answered) {
        violations.push({ rule: "I1", ...where(at), message: `${at.id} is answered twice` });
      } else call.answered = true;
    }
    if (step.results.length > 0 && step.closes) close();
    for (const at of step.calls) {
      if (seen.has(at.id)) {
        violations.push({
          rule: "I5",
          ...where(at),
          message: `the id ${at.id} is on the wire twice`,
        });
      }
      seen.add(at.id);
      open.set(at.id, { at, answered: false });
    }
  }
  close();
  return violations;
}

/** @param {Ref} at */
const where = ({ index, path }) => ({ index, path });

/**
 * I5 for one id.
 * @param {unknown} id
 * @param {{ charset: RegExp | null, max: number }} limits
 * @returns {string | null} what is wrong with it
 */
export function badId(id, { charset, max }) {
  if (typeof id !== "string") return `an id is a string, not ${id === null ? "null" : typeof id}`;
  if (id.length === 0) return "an id is not empty";
  if (id.trim() !== id) return "an id has no white space around it";
  if (charset && !charset.test(id))
    return `the id ${JSON.stringify(id.slice(0, 80))} should match ${charset}`;
  return id.length > max ? `the id is ${id.length} long, at most ${max} are allowed` : null;
}

/**
 * @param {Record<string, any>} value
 * @param {readonly string[]} known
 * @param {string} path
 * @param {Rules} rules
 * @returns {Found[]}
 */
export function extraKeys(value, known, path, rules) {
  if (!rules.plain) return [];
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => ({
      rule: "shape",
      path: `${path}/${key}`,
      message: "Extra inputs are not permitted",
    }));
}
