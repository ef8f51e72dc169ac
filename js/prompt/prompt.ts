/** System prompt: budget, assembly, focus, tiers, rules. In a Wasm of its own. */
import {
  charsOf,
  listOf,
  objectOf,
  onlyKnown,
  refuseNonFinite,
  shareOf,
  textOf,
} from "../core/arguments.js";
import { edited } from "../core/edit.js";
import { Instance } from "../core/instance.js";
import { apart, argumentJson, wellFormed } from "../core/json.js";
import * as glue from "../glue/prompt_bg.js";
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
} from "../types.js";

export const prompts: Instance = new Instance("prompt", glue);

/** Arguments as JSON in, the answer as JSON out. */
function ask<T>(during: string, work: (length: number) => string, argument: object): T {
  const json = wellFormed(argumentJson(argument, during));
  return JSON.parse(prompts.call(during, () => work(prompts.send(json)))) as T;
}

/**
 * Returns the size that a system prompt may have: a quarter of the usable window, at four characters a token, within 1,000 to 150,000
 * characters, and a quarter of that for each section, within 1,000 to 20,000. If the window is unknown: 150,000 and 20,000.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * promptBudget({ contextTokens: 32_768, maxOutputTokens: 4_096 }); // { maxPerTierChars: 7_168, maxTotalChars: 28_672 }
 */
export function promptBudget(window: ContextWindow = { contextTokens: 0 }): PromptBudget {
  refuseNonFinite("window", objectOf("window", window), 1);
  return ask("promptBudget", glue.budget, window);
}

/**
 * Assembles a system prompt from sections under a budget. Each section is first cut to the limit of one section; then those with the lowest
 * priorities are cut or left out until the whole fits. The plan reports for each section what was done, why, and with which total
 * budget it would be whole.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT` names the section's position.
 * @example
 * const plan = assemblePrompt(sections, { budget: promptBudget(window), focus: requestFocus(query) });
 * context.request(history, { system: plan });
 */
export function assemblePrompt(
  sections: readonly SectionInput[],
  options: {
    /** Limits. Default `promptBudget()`: 20,000 characters a section, 150,000 in total. */
    budget?: PromptBudget | undefined;
    /** What the request is about; raises the priorities of sections that belong to it. Default: priorities as passed. */
    focus?: RequestFocus | undefined;
    /** If protected sections exceed the total budget: cut them `last` (default) or `never`, or throw an `error`. */
    protect?: "last" | "never" | "error" | undefined;
    /**
     * Order of the sections. `insertion` (default): as passed. `stable-first`: sections with `stable` first, for the prompt cache.
     * `aceclaw`: memory tiers with a priority of 60 or more, `base`, sections with other keys, `task-focus`, `rules`, `tool-guidance`,
     * `environment`, `git`, the other tiers, `skills`, `candidates`.
     */
    order?: "insertion" | "stable-first" | "aceclaw" | undefined;
    /** Marks a cut with the words `truncated` of this locale. Default: a comment with the original size. */
    locale?: Locale | undefined;
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
  refuseNonFinite("budget", budget, 1);
  const input = { sections, budget, focus, protect, order, locale };
  const { json, texts } = apart(input, "assemblePrompt");
  const all = [wellFormed(json), ...texts];
  const [planJson, prompt, figures] = prompts.call(
    "assemblePrompt",
    () => [glue.assemble(prompts.sendAll(all)), glue.prompt(), glue.figures()] as const,
  );
  const { words, ...plan } = JSON.parse(planJson) as Assembled;
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
 * Cuts the middle out of a text and puts a marker there. Cuts between graphemes, and at the end of a line if one is near. The result is
 * never longer than `maxChars`.
 *
 * @param maxChars UTF-16 code units that the result may have; `Infinity` cuts nothing
 * @throws {PlimsollError} `INVALID_ARGUMENT`, `TOO_LARGE`.
 * @example
 * truncateText(toolResult, 30_000, { head: 0.4, tail: 0.6 }).text; // AceClaw's cap of a tool's result
 */
export function truncateText(
  text: string,
  maxChars: number,
  options: {
    /** Weight of the head, 0..1. Head and tail are kept in the ratio of their weights. Default 0.7. */
    head?: number | undefined;
    /** Weight of the tail, 0..1. Default 0.2. */
    tail?: number | undefined;
    /**
     * Text in place of the middle, in which `{original}` becomes the original length. Default
     * `<!-- [TRUNCATED] Original: {original} chars -->` between blank lines.
     */
    marker?: string | undefined;
  } = {},
): {
  /** The text, cut if it was too long. */
  text: string;
  /** UTF-16 code units of the original. */
  originalChars: number;
  /** True if something was cut. */
  truncated: boolean;
} {
  const { head, tail, marker } = onlyKnown("options", options, ["head", "tail", "marker"]);
  textOf("text", text);
  const input = {
    text,
    maxChars: charsOf("maxChars", maxChars),
    head: shareOf("head", head),
    tail: shareOf("tail", tail),
    marker,
  };
  return ask("truncateText", glue.truncate, input);
}

/**
 * Finds out what a request is about: files and symbols that it names, and what it asks for.
 *
 * @param query the user's message
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * requestFocus("Fix `parse_line()` in src/parser.rs").activeFilePaths; // ["src/parser.rs"]
 */
export function requestFocus(
  query: string,
  options: {
    /** Texts of the messages before it, newest last. Files are also searched in the last six. Default none. */
    recent?: readonly string[] | undefined;
    /** Folder of the project; paths inside it are returned relative to it. Default: paths as they are written. */
    projectRoot?: string | undefined;
    /**
     * Languages in which `planSignals` are recognized: some of `en`, `zh`, `vi`, `es`, `de`, `fr`, `ja`, `ko`, `ru`, `pt`. Default: all.
     */
    languages?: readonly string[] | undefined;
  } = {},
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
 * Returns the section `task-focus` of a focus: the query, its files, its symbols and what it asks for, in AceClaw's words. `null` if
 * nothing is known about the request. `Workspace.sections(focus)` has the same section.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * const about = focusSection(focus);
 * const plan = assemblePrompt(about ? [...sections, about] : sections, { focus, order: "aceclaw" });
 */
export function focusSection(focus: RequestFocus): Section | null {
  const input = { files: [], focus: objectOf("focus", focus) };
  return ask<Section[]>("focusSection", glue.workspace, input)[0] ?? null;
}

/**
 * Returns the eight memory tiers as sections, highest priority first. A tier whose files are blank has no section.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT` for an unknown tier.
 * @example
 * const sections = memoryTiers([{ tier: "workspace", content: await readFile("AGENTS.md", "utf8"), path: "AGENTS.md" }]);
 */
export function memoryTiers(
  files: ReadonlyArray<{
    /** Its tier. */
    tier: MemoryTier;
    /** Its text. */
    content: string;
    /** Its path, for the report. */
    path?: string | undefined;
  }>,
): Section[] {
  listOf("files", files);
  return ask("memoryTiers", glue.tiers, { files });
}

/**
 * Returns the rules that apply to one of the active files, as sections `rules:<name>` in the order of their names. A rule is a Markdown
 * file with `paths:` in its front matter; other files are left out.
 *
 * @param activeFilePaths paths of files that the request is about, as in `RequestFocus`
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * const sections = matchRules(rules, requestFocus(query).inferredFilePaths);
 */
export function matchRules(
  rules: ReadonlyArray<{
    /** Its path; the name is the file name without `.md`. */
    path: string;
    /** Front matter and text. */
    content: string;
  }>,
  activeFilePaths: readonly string[],
): Section[] {
  listOf("rules", rules);
  listOf("activeFilePaths", activeFilePaths);
  return ask("matchRules", glue.rules, { files: rules, active: activeFilePaths });
}

/**
 * Shortens the descriptions of tools, the longest first, until they have at most `maxChars` UTF-16 code units together. The first
 * paragraph of each is kept (of a single paragraph 200 characters), so that the result can be longer. Takes definitions of any provider: `{ name, description }`, OpenAI's
 * `{ type: "function", function }`, Gemini's `{ functionDeclarations }`, Bedrock's `{ toolSpec }`. A tool whose description is not
 * cut is returned as the same object. Leave out tools that the provider runs: a tool without a description throws.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT`.
 * @example
 * const tools = trimToolDescriptions(definitions, 20_000);
 */
export function trimToolDescriptions<T extends object>(tools: readonly T[], maxChars: number): T[] {
  listOf("tools", tools);
  const seen = tools.map((tool, at) => outline(objectOf(`tools[${at}]`, tool), OUTLINE));
  const input = { tools: seen, maxChars: charsOf("maxChars", maxChars) };
  return edited([...tools], ask<Op[]>("trimToolDescriptions", glue.trim, input));
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

/** Options of `buildContext` and `compressText`. */
type InWords = {
  /** Language of the words that are added. Default `en`. */
  locale?: Locale | undefined;
  /** Characters (UTF-16 code units) that count as one token. Default 4. */
  charsPerToken?: number | undefined;
};
const IN_WORDS = ["locale", "charsPerToken"];

/**
 * Joins memories and a message into one text within a budget, as OneClaw does. The message is always whole; memories that do not fit are
 * left out, and a line says so.
 *
 * @param budgetTokens tokens that the text may have
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
  const input = { memories, text: message, maxChars, locale };
  return ask("buildContext", glue.remember, input);
}

/**
 * Cuts a text to a number of tokens, and adds a word that says so.
 *
 * @param targetTokens tokens that the result may have; `Infinity` cuts nothing
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
