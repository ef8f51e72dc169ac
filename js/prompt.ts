/** The system prompt: budget, assembly, focus, tiers, rules. It has a Wasm of its own. */
import { edited } from "./carry.js";
import { invalid } from "./errors.js";
import * as glue from "./glue/prompt_bg.js";
import { apart, argumentJson, whole } from "./json.js";
import { onlyKnown } from "./known.js";
import { Seam } from "./seam.js";
import type {
  ContextWindow,
  Locale,
  MemoryTier,
  Op,
  PromptBudget,
  PromptPlan,
  RequestFocus,
  Section,
  SectionInput,
  SectionReport,
} from "./types.js";

export const prompts: Seam = new Seam("prompt", glue);

/** Arguments as JSON in, the answer as JSON out. */
function ask<T>(during: string, work: (length: number) => string, argument: object): T {
  const json = whole(argumentJson(argument, during));
  return JSON.parse(prompts.call(during, () => work(prompts.send(json)))) as T;
}

/**
 * Characters that a system prompt may have: 20,000 a section and 150,000 in all, or about a quarter of the usable window at
 * four characters a token, clamped to 1,000..20,000 and 1,000..150,000.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * promptBudget({ contextTokens: 32_768, maxOutputTokens: 4_096 }); // { maxPerTierChars: 7_168, maxTotalChars: 28_672 }
 */
export function promptBudget(window: ContextWindow = { contextTokens: 0 }): PromptBudget {
  optionsOf("window", window);
  return ask("promptBudget", glue.budget, window);
}

/**
 * Sections under a budget: each cut to its own share first, then the lowest priorities go until the whole fits. The report
 * says of each section what became of it, why, and from which total on it would be whole.
 *
 * @param options `focus` lifts priorities (`requestFocus`); `protect`: protected sections over the total are cut `last`
 * (default), `never`, or are an `error`; `order`: `insertion` as passed (default), `stable-first` for prompt caches, or `aceclaw`
 * (memory tiers with a priority of 60 or more, `base`, sections with other keys, `task-focus`, `rules`, `tool-guidance`,
 * `environment`, `git`, the other tiers, `skills`, `candidates`); `locale`: whose `truncated` marks a cut, instead of the usual comment.
 * @throws {PlimsollError} `INVALID_ARGUMENT` with the section's place.
 * @example
 * const plan = assemblePrompt(sections, { budget: promptBudget(window), focus: requestFocus(query) });
 * context.request(history, { system: plan });
 */
export function assemblePrompt(
  sections: readonly SectionInput[],
  options: {
    budget?: PromptBudget;
    focus?: RequestFocus;
    protect?: "last" | "never" | "error";
    order?: "insertion" | "stable-first" | "aceclaw";
    locale?: Locale;
  } = {},
): PromptPlan {
  listOf("sections", sections);
  const {
    budget = promptBudget(),
    focus,
    protect,
    order,
    locale,
  } = onlyKnown("options", options, ["budget", "focus", "protect", "order", "locale"]);
  const given = { sections, budget, focus, protect, order, locale };
  const { json, texts } = apart(given, "assemblePrompt");
  const all = [whole(json), ...texts];
  const [told, prompt, figures] = prompts.call(
    "assemblePrompt",
    () => [glue.assemble(prompts.sendAll(all)), glue.prompt(), glue.figures()] as const,
  );
  const { words, ...plan } = JSON.parse(told) as Assembled;
  const reports = Array.from({ length: figures.length / FIGURES }, (_, at) =>
    report(words, figures, FIGURES * at),
  );
  const blocks = [
    { text: prompt.slice(0, plan.stablePrefixChars), stable: true },
    { text: prompt.slice(plan.stablePrefixChars), stable: false },
  ].filter(({ text }) => text !== "");
  return { prompt, blocks, ...plan, sections: reports, budget, focus: focus ?? null };
}

/** A plan as it crosses: what its sections say is one list of words, and figures beside it tell which are whose (`src/prompt/calls.rs`). */
type Assembled = Omit<PromptPlan, "prompt" | "blocks" | "budget" | "focus" | "sections"> & {
  words: unknown[];
};
const FIGURES = 15;

function report(words: unknown[], figures: Uint32Array, at: number): SectionReport {
  const figure = (place: number) => figures[at + place] as number;
  const text = (place: number) => words[figure(place)] as string;
  const included = figure(7) === 1;
  return {
    key: text(10),
    sourceType: text(11),
    scopeType: text(12),
    inclusionReason: text(13),
    priority: figure(0),
    basePriority: figure(1),
    protected: figure(2) === 1,
    originalChars: figure(3),
    finalChars: figure(4),
    estimatedTokens: figure(5),
    offset: included ? figure(6) : null,
    included,
    truncated: figure(8) === 1,
    evidence: (words[figure(14)] as string[] | undefined) ?? [],
    wholeFromTotalChars: figure(9),
  };
}

/**
 * A text cut to so many characters: 70 % of what is kept from its head, 20 % from its tail, a marker between. Cuts between
 * graphemes, the head at a line's end if one is near. Never longer than `maxChars`; `Infinity` cuts nothing.
 *
 * @param options shares of head and tail, 0..1; a marker of your own, in which `{original}` is the text's length.
 * @throws {PlimsollError} `INVALID_ARGUMENT`, `TOO_LARGE`.
 * @example
 * truncateText(toolResult, 30_000, { head: 0.4, tail: 0.6 }).text; // AceClaw's cap of a tool's result
 */
export function truncateText(
  text: string,
  maxChars: number,
  options: { head?: number; tail?: number; marker?: string } = {},
): { text: string; originalChars: number; truncated: boolean } {
  const { head, tail, marker } = onlyKnown("options", options, ["head", "tail", "marker"]);
  textOf("text", text);
  const given = {
    text,
    maxChars: charsOf("maxChars", maxChars),
    head: share("head", head),
    tail: share("tail", tail),
    marker,
  };
  return ask("truncateText", glue.truncate, given);
}

/**
 * What a request is about: the query in short, files and symbols that it names, what it asks for.
 *
 * @param options `recent`: the messages before it, newest last (files are looked for in the last six); `projectRoot`: files
 * are told from there; `languages`: whose words count, default all (`en`, `zh`, `vi`, `es`, `de`, `fr`, `ja`, `ko`, `ru`, `pt`).
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 */
export function requestFocus(
  query: string,
  options: { recent?: readonly string[]; projectRoot?: string; languages?: readonly string[] } = {},
): Required<RequestFocus> {
  const { recent, projectRoot, languages } = onlyKnown("options", options, [
    "recent",
    "projectRoot",
    "languages",
  ]);
  textOf("query", query);
  return ask("requestFocus", glue.focus, { query, recent, projectRoot, languages });
}

/**
 * The section `task-focus` of a focus: the query, its files, its symbols and what it asks for, in AceClaw's words. `null` if
 * nothing is known of the request. `Workspace.sections(focus)` has the same section.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * const about = focusSection(focus);
 * const plan = assemblePrompt(about ? [...sections, about] : sections, { focus, order: "aceclaw" });
 */
export function focusSection(focus: RequestFocus): Section | null {
  const given = { files: [], focus: optionsOf("focus", focus) };
  return ask<Section[]>("focusSection", glue.workspace, given)[0] ?? null;
}

/**
 * The eight memory tiers as sections, from files that the host has read; blank ones are none.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT` for a tier that there is not.
 */
export function memoryTiers(
  files: ReadonlyArray<{ tier: MemoryTier; content: string; path?: string }>,
): Section[] {
  listOf("files", files);
  return ask("memoryTiers", glue.tiers, { files });
}

/**
 * The rules (Markdown with `paths:` in its front matter) that are about one of the active files, as `rules:<name>` sections
 * by name. What is no rule is left out.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 */
export function matchRules(
  rules: ReadonlyArray<{ path: string; content: string }>,
  activeFilePaths: readonly string[],
): Section[] {
  listOf("rules", rules);
  listOf("activeFilePaths", activeFilePaths);
  return ask("matchRules", glue.rules, { files: rules, active: activeFilePaths });
}

/**
 * The same tools with shorter descriptions, together at most `maxChars` characters if their first paragraphs leave that room:
 * the longest are cut first. Takes definitions of any provider: `{ name, description }`, OpenAI's
 * `{ type: "function", function }`, Gemini's `{ functionDeclarations }`, Bedrock's `{ toolSpec }`. A tool whose description stays is
 * the same object. Leave out tools that the provider runs: a tool without a description is refused by name.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * const tools = trimToolDescriptions(definitions, 20_000);
 */
export function trimToolDescriptions<T extends object>(tools: readonly T[], maxChars: number): T[] {
  listOf("tools", tools);
  const seen = tools.map((tool, at) => outline(optionsOf(`tools[${at}]`, tool), OUTLINE));
  const given = { tools: seen, maxChars: charsOf("maxChars", maxChars) };
  return edited([...tools], ask<Op[]>("trimToolDescriptions", glue.trim, given));
}

/** Levels below a tool at which a provider may have its description. */
const OUTLINE = 3;

/** The upper levels of a tool: schemas further down may hold anything, and are not needed. */
function outline(value: unknown, levels: number): unknown {
  if (typeof value !== "object" || value === null) return typeof value === "function" ? 0 : value;
  if (levels <= 0) return 0;
  if (Array.isArray(value)) return value.map((item) => outline(item, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [name, outline(item, levels - 1)]),
  );
}

type InWords = { locale?: Locale; charsPerToken?: number };
const IN_WORDS = ["locale", "charsPerToken"];

/**
 * Memories and a message within a budget, as OneClaw puts them together. The message is always whole; memories that do not
 * fit are left out, and a line says so.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 */
export function buildContext(
  memories: readonly string[],
  message: string,
  budgetTokens: number,
  options: InWords = {},
): string {
  const { locale, charsPerToken } = onlyKnown("options", options, IN_WORDS);
  listOf("memories", memories);
  textOf("message", message);
  const maxChars = charsOf("budgetTokens", budgetTokens, charsPerToken ?? 4);
  const given = { memories, text: message, maxChars, locale };
  return ask("buildContext", glue.remember, given);
}

/**
 * A text cut to so many tokens, with a word behind it that says so; `Infinity` changes nothing.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 */
export function compressText(text: string, targetTokens: number, options: InWords = {}): string {
  const { locale, charsPerToken } = onlyKnown("options", options, IN_WORDS);
  textOf("text", text);
  const maxChars = charsOf("targetTokens", targetTokens, charsPerToken ?? 4);
  return ask("compressText", glue.compress, { text, maxChars, locale });
}

/** The sections of a workspace's files, by their names; rules only with a focus; for a subagent only what one is shown. */
export function workspaceSections(
  files: ReadonlyArray<{ name: string; path: string; content: string }>,
  rules: ReadonlyArray<{ name: string; path: string; content: string }>,
  focus: RequestFocus | undefined,
  subagent: boolean,
): Section[] {
  return ask("Workspace.sections", glue.workspace, { files, rules, focus, subagent });
}

/** A number of characters or tokens as characters, in which there is no infinity. */
function charsOf(argument: string, amount: number, chars = 1): number {
  if (typeof amount !== "number" || !(amount >= 0)) throw invalid(argument, "0 or more", amount);
  if (typeof chars !== "number" || !(chars > 0)) throw invalid("charsPerToken", "over 0", chars);
  return Math.min(Math.floor(amount * chars), Number.MAX_SAFE_INTEGER);
}

function textOf(argument: string, text: unknown): string {
  if (typeof text === "string") return text;
  throw invalid(argument, "a string", text);
}

function listOf(argument: string, list: unknown): void {
  if (!Array.isArray(list)) throw invalid(argument, "an array", list);
}

function optionsOf<T>(argument: string, options: T): T {
  if (typeof options === "object" && options !== null) return options;
  throw invalid(argument, "an object", options);
}

/** A share as the core takes it: in thousandths. */
function share(argument: string, value: number | undefined): number | undefined {
  if (value === undefined || (value >= 0 && value <= 1)) return value && Math.round(value * 1000);
  throw invalid(argument, "a share, 0 to 1", value);
}
