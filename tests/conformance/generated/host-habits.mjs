// @ts-check
/**
 * Hosts in miniature: what a host does with its history between two requests, drawn by a seed from the habits that a case has.
 * The history may break rules: results come late or never, ids repeat or are too long.
 */
import { random } from "./histories.mjs";

/**
 * @typedef {"late" | "missing" | "repeated" | "branch" | "slide" | "copy" | "rename" | "store" | "restart" | "pin" | "compact" | "key"} Habit
 * @typedef {{ format: string, provider: string, messages: any[], options: any, change: () => void, passed: () => any[], next: () => number, has: (habit: Habit, often: number) => boolean, log: string[] }} Host
 */

/** Formats and the providers to which they go. */
const PAIRS = /** @type {const} */ ([
  ["anthropic", "anthropic"],
  ["anthropic", "bedrock"],
  ["openai-chat", "openai-chat"],
  ["openai-chat", "mistral"],
  ["openai-chat", "deepseek"],
  ["openai-chat", "kimi"],
]);
const WORDS = "src/alpha.rs ERR_4821 fooBarBaz the value is x=1 line\n done".split(" ");
const PRESETS = [undefined, undefined, "economy", "capacity", "retention"];

/** A host with these habits. @param {number} seed @param {readonly Habit[]} habits @returns {Host} */
export function makeHost(seed, habits) {
  const next = random(seed);
  const below = (/** @type {number} */ count) => Math.floor(next() * count);
  const pick = (/** @type {readonly any[]} */ list) => list[below(list.length)];
  const has = (/** @type {Habit} */ habit, /** @type {number} */ often) =>
    habits.includes(habit) && next() < often;
  const words = (/** @type {number} */ count) =>
    Array.from({ length: count }, () => pick(WORDS)).join(" ");
  const [format, provider] = pick(PAIRS);
  const wire = WIRES[/** @type {"anthropic" | "openai-chat"} */ (format)];
  let now = 1e12;
  let id = 0;
  const keyed = (/** @type {any} */ message) =>
    habits.includes("key") ? { ...message, k: `k${id++}` } : message;
  const ids = () =>
    Array.from({ length: 1 + below(3) }, () =>
      pick([`t${id++}`, `bad id.${id++}`, has("repeated", 1) ? `again${below(3)}` : `t${id++}`]),
    );
  /** @type {any[]} */
  const messages = [];
  const user = (/** @type {string} */ text) => keyed({ role: "user", content: text });

  const grow = () => {
    messages.push(user(words(8)));
    for (let round = below(4); round >= 0; round -= 1) {
      const calls = ids();
      messages.push(keyed(wire.calls(calls, next() < 0.5 ? words(6) : "", () => words(2))));
      const answered = has("missing", 0.15) ? calls.slice(1) : calls;
      if (has("late", 0.15)) messages.push(user(`meanwhile ${words(3)}`));
      if (answered.length > 0)
        messages.push(...wire.results(answered, () => words(below(250))).map(keyed));
    }
    if (next() < 0.8) messages.push(keyed({ role: "assistant", content: words(12) }));
  };

  /** @type {string[]} */
  const log = [];
  const options = {
    window: { contextTokens: pick([4_000, 8_000]), maxOutputTokens: 500 },
    format,
    provider,
    clock: () => now,
    ...(next() < 0.3 ? { keep: "lines" } : {}),
    preset: pick(PRESETS),
    ...(habits.includes("key") ? { key: (/** @type {any} */ message) => message.k } : {}),
  };
  return {
    ...{ format, provider, messages, options, next, has, log },
    change() {
      now += pick([1_000, 3_600_000]);
      if (messages.length > 6 && has("branch", 0.15)) {
        messages.length = Math.max(2, messages.length - 1 - below(8));
        if (next() < 0.5) messages.push(user(`changed ${words(3)}`));
        log.push(`branch at ${messages.length}`);
      } else if (messages.length > 14 && has("slide", 0.15)) {
        messages.splice(0, 2 + below(6));
        log.push("slide");
      } else {
        grow();
        log.push("grow");
      }
    },
    /** The history as it is passed: the objects, copies of them, or copies whose calls have new ids. */
    passed() {
      if (has("rename", 0.2)) {
        log.push("rename");
        return renamed(messages, () => `n${id++}`);
      }
      return has("copy", 0.3) ? structuredClone(messages) : messages;
    },
  };
}

/** Copies with a new id for each id. @param {any[]} messages @param {() => string} fresh @returns {any[]} */
function renamed(messages, fresh) {
  /** @type {Map<string, string>} */
  const ids = new Map();
  const members = new Set(["id", "tool_use_id", "tool_call_id"]);
  return JSON.parse(JSON.stringify(messages), (name, value) => {
    if (typeof value !== "string" || !members.has(name)) return value;
    if (!ids.has(value)) ids.set(value, fresh());
    return ids.get(value);
  });
}

/** Calls and results as each wire has them. */
const WIRES = {
  anthropic: {
    calls: (
      /** @type {string[]} */ ids,
      /** @type {string} */ text,
      /** @type {() => string} */ path,
    ) => ({
      role: "assistant",
      content: [
        ...(text === "" ? [] : [{ type: "text", text }]),
        ...ids.map((id) => ({ type: "tool_use", id, name: "read", input: { path: path() } })),
      ],
    }),
    results: (/** @type {string[]} */ ids, /** @type {() => string} */ text) => [
      {
        role: "user",
        content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: text() })),
      },
    ],
  },
  "openai-chat": {
    calls: (
      /** @type {string[]} */ ids,
      /** @type {string} */ text,
      /** @type {() => string} */ path,
    ) => ({
      role: "assistant",
      content: text === "" ? null : text,
      tool_calls: ids.map((id) => ({
        id,
        type: "function",
        function: { name: "read", arguments: JSON.stringify({ path: path() }) },
      })),
    }),
    results: (/** @type {string[]} */ ids, /** @type {() => string} */ text) =>
      ids.map((id) => ({ role: "tool", tool_call_id: id, content: text() })),
  },
};
