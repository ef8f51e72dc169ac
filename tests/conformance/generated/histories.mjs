// @ts-check
/**
 * Histories that no agent should write and some do, as turns, so that each can be had in every format: calls without
 * results, results late, twice or of nothing, ids repeated or not legal, blanks, halves of characters, aborted turns.
 * A third of them are clean: there a repair has nothing to do.
 */

import { toAgents } from "../providers/convert/agents.mjs";
import { aiSdkModel, aiSdkUi, createLangchain, langchain, pi } from "../providers/convert/sdk.mjs";
import { writers } from "../providers/convert/wire.mjs";

/**
 * @typedef {import("../providers/convert/turns.mjs").Turn} Turn
 * @typedef {import("../providers/convert/turns.mjs").Part} Part
 * @typedef {{ turns: Turn[], clean: boolean, signed: boolean, way: number, window: number }} History
 */

const WORDS = [
  "alpha",
  "src/foo.rs",
  "parseThing",
  "my_value_x",
  "4711234",
  "日本語",
  "😀",
  "E1234",
  "the",
  "\n",
];
const ODD_IDS = [
  "dup",
  "functions.read:0",
  "with space",
  " padded ",
  "x".repeat(70),
  "a.b",
  "tool_1|fc_2",
  "é",
];
const BLANKS = ["", "  ", "\n"];
const NAMES = ["read", "grep", "bash", "edit"];
const LONE = "cut \ud83d here";

/** A generator of numbers from 0 to 1, the same for the same seed. @param {number} seed */
export function random(seed) {
  // Neighbouring seeds start far apart.
  let state = Math.imul(seed ^ 0x9e37_79b9, 0x85eb_ca6b) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** @param {number} seed @returns {History} */
export function history(seed) {
  const next = random(seed);
  for (let skip = 0; skip < 4; skip += 1) next();
  const below = (/** @type {number} */ n) => Math.floor(next() * n);
  const chance = (/** @type {number} */ share) => next() < share;
  const clean = chance(0.33);
  const signed = chance(0.6);
  const dirty = (/** @type {number} */ share) => !clean && chance(share);
  const words = (/** @type {number} */ most) => {
    const count = below(most) + 1;
    let text = WORDS[below(9)] ?? "";
    for (let at = 1; at < count; at += 1) text += ` ${WORDS[below(WORDS.length)]}`;
    return text;
  };
  const long = (/** @type {number} */ usual) => words(chance(0.12) ? 1500 : usual);
  const phrase = (/** @type {number} */ most) => {
    if (dirty(0.06)) return BLANKS[below(3)] ?? "";
    return dirty(0.02) ? LONE : words(most);
  };
  let opaque = 0;
  const sig = () => `opq-${seed}-${opaque++}-${"Zm9v".repeat(1 + below(3))}==`;
  /** @type {Array<{ id: string, name: string }>} */
  const called = [];
  const id = () => {
    if (dirty(0.05)) return ODD_IDS[below(ODD_IDS.length)] ?? "";
    if (dirty(0.01)) return "";
    if (dirty(0.05) && called.length > 0) return called[below(called.length)]?.id ?? "dup";
    // Nine letters and digits: legal everywhere.
    return `c${String(seed % 10_000).padStart(4, "0")}${String(called.length).padStart(4, "0")}`;
  };
  const image = () => ({
    kind: /** @type {const} */ ("image"),
    data: "iVBORw0KGgo=",
    mime: "image/png",
  });
  /** @param {{ id: string, name: string }} call @returns {import("../providers/convert/turns.mjs").Result} */
  const result = (call) => ({
    kind: "result",
    id: call.id,
    name: call.name,
    text: dirty(0.04) ? null : chance(0.05) ? (clean ? "ok" : "") : dirty(0.01) ? LONE : long(80),
    error: chance(0.1),
    ...(chance(0.04) ? { image: image() } : {}),
  });
  /** @returns {Turn} */
  const user = () => {
    const text = phrase(chance(0.1) ? 400 : 60);
    if (chance(0.5)) return { role: "user", parts: [{ kind: "text", text }], plain: true };
    /** @type {Part[]} */
    const parts = [{ kind: "text", text }];
    if (chance(0.2)) parts.push({ kind: "text", text: phrase(30) });
    if (chance(0.15)) parts.push(image());
    return { role: "user", parts };
  };
  /** @param {number} count of calls @returns {Turn} */
  const assistant = (count) => {
    /** @type {Part[]} */
    const parts = [];
    const reasons = signed ? count > 0 || chance(0.5) : chance(0.3);
    if (reasons && !dirty(0.08))
      parts.push({
        kind: "reasoning",
        text: words(60),
        sig: signed ? sig() : null,
        id: `rs_${seed}_${opaque}`,
      });
    if (count === 0 || chance(0.5)) parts.push({ kind: "text", text: phrase(40) });
    if (chance(0.03)) {
      parts.push({
        kind: "call",
        id: `h${String(seed % 10_000).padStart(4, "0")}${String(opaque).padStart(4, "0")}`,
        name: "web_search",
        input: { query: words(3) },
        hosted: sig(),
      });
      parts.push({ kind: "text", text: words(20) });
    }
    for (let at = 0; at < count; at += 1) {
      const call = { id: id(), name: NAMES[below(NAMES.length)] ?? "read" };
      called.push(call);
      parts.push({
        kind: "call",
        ...call,
        input: { path: long(4), ...(chance(0.1) ? { deep: { list: [1, "a", null] } } : {}) },
        ...(dirty(0.03) ? { raw: "{bad" } : {}),
        ...(signed && at === 0 ? { sig: sig() } : {}),
        ...(chance(0.06) ? { ask: `ap${seed}_${called.length}` } : {}),
      });
    }
    return {
      role: "assistant",
      parts: dirty(0.03) ? [] : parts,
      ...(chance(0.4) ? { plain: true } : {}),
      ...(dirty(0.05) ? { aborted: chance(0.5) ? "aborted" : "error" } : {}),
    };
  };
  /** @type {Turn[]} */
  const turns = [];
  if (chance(0.15)) turns.push({ role: "system", parts: [{ kind: "text", text: words(30) }] });
  const exchange = () => {
    const count = chance(0.75) ? 1 + (chance(0.3) ? below(8) : below(2)) : 0;
    const turn = assistant(count);
    turns.push(turn);
    const own = /** @type {import("../providers/convert/turns.mjs").Call[]} */ (
      turn.parts.filter((part) => part.kind === "call" && part.hosted === undefined)
    );
    let results = own.map((call) => ({
      ...result(call),
      ...(call.ask ? { answer: { id: call.ask, approved: true } } : {}),
    }));
    if (dirty(0.1)) results = results.filter(() => chance(0.6));
    if (dirty(0.04) && results[0]) results.push({ ...results[0] });
    if (dirty(0.1)) results.reverse();
    if (dirty(0.05) && results.length > 0) turns.push(user());
    if (results.length > 1 && dirty(0.15)) {
      turns.push({ role: "tool", parts: results.splice(0, 1) });
      if (chance(0.3)) turns.push(user());
    }
    if (results.length > 0) turns.push({ role: "tool", parts: results });
    return own.length;
  };
  if (clean) {
    for (let left = 1 + below(6); left > 0; left -= 1) {
      turns.push(user());
      for (let steps = below(6); steps > 0; steps -= 1) if (exchange() === 0) break;
      // A clean history alternates: the model's last word stands before the user's next.
      if (turns.at(-1)?.role !== "assistant" && left > 1) turns.push(assistant(0));
    }
    if (turns.at(-1)?.role === "assistant") turns.push(user());
  } else {
    for (let left = 1 + below(20); left > 0; left -= 1) {
      const kind = next();
      if (kind < 0.28) turns.push(user());
      else if (kind < 0.86) exchange();
      else if (kind < 0.92 && called.length > 0) {
        turns.push({
          role: "tool",
          parts: [result(/** @type {any} */ (called[below(called.length)]))],
        });
      } else if (kind < 0.95) turns.push(assistant(0));
      else if (kind < 0.97)
        turns.push({ role: "system", parts: [{ kind: "text", text: phrase(20) }] });
      else
        turns.push({ role: "tool", parts: [result({ id: `foreign${below(9)}`, name: "read" })] });
    }
  }
  return {
    turns,
    clean,
    signed,
    way: below(4),
    window: [600, 1500, 4000, 12_000][below(4)] ?? 600,
  };
}

/** How a format is written: each has up to four ways. @type {Record<string, (history: History, provider: string) => any[]>} */
const formats = {
  anthropic: ({ turns }) =>
    wire(
      "anthropic",
      turns.filter((turn) => turn.role !== "system"),
    ),
  "openai-chat": ({ turns }, provider) =>
    wire("openai-chat", turns.map(withoutHosted), {
      reasoning: provider === "deepseek" || provider === "kimi",
      signatures: provider === "gemini",
    }),
  "openai-responses": ({ turns }) => wire("openai-responses", turns),
  "openai-agents": ({ turns }) => wire("openai-responses", turns).map(toAgents),
  gemini: ({ turns, way }) =>
    wire(
      "gemini",
      turns.filter((turn) => turn.role !== "system"),
      { ids: way % 2 === 0 },
    ),
  "ai-sdk": ({ turns, way }, provider) =>
    way < 2 ? aiSdkModel(turns, provider) : aiSdkUi(turns, provider, way === 3),
  langchain: ({ turns, way }, provider) =>
    langchain(
      turns.map(withoutRaw),
      provider,
      /** @type {const} */ (["instances", "constructors", "stored", "flat"])[way] ?? "flat",
    ),
  // In the middle there is a host's note, which is said by the user.
  pi: ({ turns, clean }, provider) =>
    pi(clean ? turns.filter((turn) => turn.role !== "system") : turns, provider),
};

/** @param {string} kind @param {Turn[]} turns @param {any} [ways] */
const wire = (kind, turns, ways) => turns.flatMap((turn) => writers[kind]?.(turn, ways) ?? []);

/** What the provider ran has no place in OpenAI Chat. @param {Turn} turn @returns {Turn} */
const withoutHosted = (turn) => ({
  ...turn,
  parts: turn.parts.filter((part) => part.kind !== "call" || part.hosted === undefined),
});

/** Arguments that are no JSON are no calls in LangChain. @param {Turn} turn @returns {Turn} */
const withoutRaw = (turn) => ({
  ...turn,
  parts: turn.parts.map((part) =>
    part.kind === "call" ? { ...part, raw: /** @type {any} */ (undefined) } : part,
  ),
});

/**
 * The history as a host of this format has it.
 * @param {History} history @param {string} format @param {string} provider
 * @returns {any[]}
 */
export const render = (history, format, provider) => formats[format]?.(history, provider) ?? [];

/** What a host of this format gives the manager besides. @param {History} history @param {string} format */
export const hostOptions = (history, format) =>
  format === "langchain" && history.way === 0 ? { create: createLangchain } : {};
