// @ts-check
/**
 * Hosts in miniature: what a host does with its history between two requests, drawn by a seed from the habits that a case has.
 * The history may break rules: results come late or never, ids repeat or are too long.
 */
import { history, hostOptions, random, render } from "./histories.mjs";

/**
 * @typedef {"late" | "missing" | "repeated" | "branch" | "slide" | "copy" | "rename" | "store" | "restart" | "pin" | "compact" | "key" | "model" | "two" | "shorten" | "disorder"} Habit
 * @typedef {import("../providers/pairs.mjs").Pair} Pair
 * @typedef {{ format: string, provider: string, messages: any[], options: any, change: () => string, passed: () => any[], window: () => object, next: () => number, has: (habit: Habit, often: number) => boolean, log: string[] }} Host
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

/**
 * A host with these habits. With `pairs`, its format and provider are one of them, and its messages those of generated histories.
 * @param {number} seed @param {readonly Habit[]} habits @param {readonly Pair[]} [pairs] @returns {Host}
 */
export function makeHost(seed, habits, pairs) {
  const next = random(seed);
  const below = (/** @type {number} */ count) => Math.floor(next() * count);
  const pick = (/** @type {readonly any[]} */ list) => list[below(list.length)];
  const has = (/** @type {Habit} */ habit, /** @type {number} */ often) =>
    habits.includes(habit) && next() < often;
  const words = (/** @type {number} */ count) =>
    Array.from({ length: count }, () => pick(WORDS)).join(" ");
  const [format, provider] = pick(pairs?.map((pair) => [pair.format, pair.provider]) ?? PAIRS);
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
  const taken = pairs ? turnByTurn(seed, format, provider, next, habits) : null;
  const user = (/** @type {string} */ text) =>
    keyed(taken ? taken.user(text) : { role: "user", content: text });

  const grow = () => {
    if (taken) {
      messages.push(...taken.take().map(keyed));
      return;
    }
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

  // A turn that was aborted may leave nothing to send.
  if (taken) messages.push(user(words(8)));
  /** @type {string[]} */
  const log = [];
  const window = () => ({ contextTokens: pick([4_000, 8_000]), maxOutputTokens: 500 });
  const options = {
    window: window(),
    format,
    provider,
    clock: () => now,
    ...(next() < 0.3 ? { keep: "lines" } : {}),
    preset: pick(PRESETS),
    ...(habits.includes("key") ? { key: (/** @type {any} */ message) => message.k } : {}),
    ...taken?.options,
  };
  return {
    ...{ format, provider, messages, options, window, next, has, log },
    /** Says what the host did. */
    change() {
      now += pick([1_000, 3_600_000]);
      if (messages.length > 6 && has("branch", 0.15)) {
        messages.length = Math.max(2, messages.length - 1 - below(8));
        if (next() < 0.5) messages.push(user(`changed ${words(3)}`));
        log.push(`branch at ${messages.length}`);
        return "branch";
      }
      if (messages.length > 14 && has("slide", 0.15)) {
        messages.splice(0, 2 + below(6));
        log.push("slide");
        return "slide";
      }
      if (messages.length > 6 && has("shorten", 0.3)) {
        const at = pick([...messages.keys()].filter((at) => taken || isPlainText(messages[at])));
        if (at !== undefined) messages[at] = shortened(messages[at]);
        log.push(`shorten ${at}`);
        return "shorten";
      }
      if (messages.length > 6 && has("disorder", 0.3)) {
        const at = below(messages.length);
        const way = pick(["insert", "remove", "repeat", "move"]);
        if (way === "insert") messages.splice(at, 0, user(`inserted ${words(3)}`));
        if (way === "repeat") messages.splice(at, 0, structuredClone(messages[at]));
        if (way === "remove") messages.splice(at, 1 + below(3));
        if (way === "move")
          messages.splice(below(messages.length - 1), 0, ...messages.splice(at, 1));
        log.push(`${way} ${at}`);
        return "disorder";
      }
      grow();
      log.push("grow");
      return "grow";
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

/**
 * Messages of generated histories, some turns at a time, as a host of this format has them.
 * @param {number} seed @param {string} format @param {string} provider @param {() => number} next @param {readonly Habit[]} habits
 */
function turnByTurn(seed, format, provider, next, habits) {
  let own = history(seed);
  let left = own.turns;
  let part = 0;
  let id = 0;
  // Instances of classes are neither copied nor kept in a file.
  const isPlain = habits.some((habit) =>
    ["copy", "rename", "store", "key", "shorten"].includes(habit),
  );
  const way = own.way === 0 && isPlain && format === "langchain" ? 1 : own.way;
  /** @param {import("../providers/convert/turns.mjs").Turn[]} turns @returns {any[]} */
  const written = (turns) => {
    // The system's own message stands first or nowhere in pi.
    const clean = format === "pi" || own.clean;
    const messages = render({ ...own, way, clean, turns }, format, provider);
    return messages.map((message) =>
      message.parts && message.id ? { ...message, id: `m${id++}` } : message,
    );
  };
  const take = () => {
    if (left.length === 0) {
      part += 1;
      own = history(seed + part * 7_919);
      left = own.turns;
    }
    const count = 1 + Math.floor(next() * 8);
    const turns = left.slice(0, count);
    left = left.slice(count);
    return written(turns);
  };
  const user = (/** @type {string} */ text) =>
    written([{ role: "user", parts: [{ kind: "text", text }], plain: true }])[0];
  return { take, user, options: hostOptions({ ...own, way }, format) };
}

/** Copies with a new id for each id. @param {any[]} messages @param {() => string} fresh @returns {any[]} */
function renamed(messages, fresh) {
  /** @type {Map<string, string>} */
  const ids = new Map();
  const members = new Set(["id", "tool_use_id", "tool_call_id", "call_id", "callId", "toolCallId"]);
  const renewed = (/** @type {string} */ id) => {
    if (!ids.has(id)) ids.set(id, fresh());
    return ids.get(id);
  };
  return JSON.parse(JSON.stringify(messages), function (name, value) {
    // A message or an item keeps its own.
    if (name === "id" && (this.role || this.parts || this.call_id || this.type === "reasoning"))
      return value;
    // LangChain's signatures are found by the ids of their calls.
    if (name === "__gemini_function_call_thought_signatures__")
      return Object.fromEntries(Object.entries(value).map(([id, own]) => [renewed(id), own]));
    return typeof value === "string" && members.has(name) ? renewed(value) : value;
  });
}

/** The message holds results, or words of the model's, and nothing else. @param {any} message */
function isPlainText({ role, content, tool_calls }) {
  if (Array.isArray(content)) return content[0]?.type === "tool_result";
  return role === "tool" || (role === "assistant" && !tool_calls);
}

/** The message with its longer texts cut by the host, in any format. @param {any} message @returns {any} */
function shortened(message) {
  return JSON.parse(JSON.stringify(message), function (name, value) {
    const isText = TEXTS.has(name) && typeof value === "string" && value.length > 20;
    // What a provider has signed is no host's to cut.
    const isSigned = /thinking|reasoning/i.test(this.type) || SIGNED.some((one) => one in this);
    return isText && !isSigned ? "[cut]" : value;
  });
}
const TEXTS = new Set(["text", "content", "output", "value", "result"]);
const SIGNED = ["signature", "thought", "thoughtSignature", "textSignature", "encrypted_content"];

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
