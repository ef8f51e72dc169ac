/** Options as the core takes them; functions and stores stay in JavaScript. */
import { flagOf, own, refuseNonFinite } from "../core/arguments.js";
import { hasMembers, invalid, kindOf } from "../core/errors.js";
import { argumentJson } from "../core/json.js";
import type {
  ContextManagerOptions,
  ManagerOptions,
  Parts,
  Summarizer,
  SummaryOptions,
} from "../types.js";

/** Functions and names that only the facade uses. */
const OURS = new Set([
  ...["key", "create", "id", "clock", "on"],
  ...["summarize", "summary", "isSummary", "appendOnly"],
]);
/** Members of `Parts`. */
export const PARTS = ["system", "tools", "unseenTokens", "open", "signal"] as const;

/** The parts that the core measures. What JSON would drop without a word is refused. */
export function partsOf({ system, tools, unseenTokens, open }: Parts): Record<string, unknown> {
  const values = {
    system: system ?? null,
    tools: tools ?? null,
    unseenTokens: unseenTokens ?? null,
    open: open ?? null,
  };
  refuseNonFinite("unseenTokens", unseenTokens);
  // As JSON, a Map has no members.
  const isJson = Array.isArray(tools) || hasMembers(tools) || isOfOwnJson(tools);
  if (typeof tools === "object" && tools !== null && !isJson)
    throw invalid("tools", "an array or a record of definitions", tools);
  for (const [name, value] of Object.entries(values)) {
    if (["function", "symbol", "bigint"].includes(typeof value))
      throw invalid(name, "a value that JSON can hold", value, kindOf(value));
  }
  return values;
}

/** It says itself how it is written. */
function isOfOwnJson(value: unknown): boolean {
  return typeof (value as { toJSON?: unknown } | null)?.toJSON === "function";
}

const FUNCTIONS = ["key", "isSummary", "create", "clock", "on"] as const;

/** The core's options as JSON. What it does not know it refuses by name. */
export function coreOptions<M>(options: ManagerOptions<M>): string {
  if (!hasMembers(options)) throw invalid("options", "an object with a `window`", options);
  const settings: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || OURS.has(name)) continue;
    if (name === "estimator" && typeof value === "function") {
      // The core is told that there is one, and given its numbers.
      settings[name] = null;
      continue;
    }
    if (name === "estimator" && typeof value !== "string")
      throw invalid(name, "a name or a function", value);
    // No option of the core's is a function: it says what it takes instead.
    if (typeof value !== "function") refuseNonFinite(name, value);
    settings[name] = typeof value === "function" ? "a function" : value;
  }
  const { summary, summarize, ...rest } = own(options);
  const { id } = rest as { id?: unknown };
  if (id !== undefined && typeof id !== "string") throw invalid("id", "a string", id);
  flagOf("appendOnly", (rest as { appendOnly?: unknown }).appendOnly);
  for (const name of FUNCTIONS) {
    const value: unknown = rest[name];
    if (value !== undefined && typeof value !== "function")
      throw invalid(name, "a function", value);
  }
  if (summarizersOf({ summarize }).length > 0) settings.summarizes = true;
  if (summary !== undefined) settings.summary = coreSummary(summary);
  const { window } = settings;
  if (!hasMembers(window)) throw invalid("window", "{ contextTokens }", window);
  const size: Partial<Record<"contextTokens", unknown>> = own(window);
  // What is missing would count as 0, a window that is unknown, and nothing would be removed.
  size.contextTokens ??= null;
  settings.window = size;
  return argumentJson(settings, "options");
}

/** The options of summaries, less the host's function. */
function coreSummary(summary: unknown): object {
  if (!hasMembers(summary)) throw invalid("summary", "an object of options", summary);
  const settings: Record<string, unknown> = own({ ...summary });
  // A function is applied on this side, besides the core's own patterns.
  if (typeof settings.redact === "function") settings.redact = true;
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value === "function") {
      throw invalid(`summary.${name}`, "a value, not a function", value);
    }
    refuseNonFinite(`summary.${name}`, value);
  }
  return settings;
}

/** The same of all options, as they are now. */
export function owned<M>(options: ContextManagerOptions<M>): ContextManagerOptions<M> {
  const { summary, ...rest } = own(options);
  return own(summary ? { ...rest, summary: own(summary) } : rest);
}

/** With the options of summaries that its preset sets; those that the host has set win. */
export function withSummary<M>(
  options: ContextManagerOptions<M>,
  ofPreset: SummaryOptions,
): ContextManagerOptions<M> {
  const summary: SummaryOptions = own(ofPreset);
  for (const [name, value] of Object.entries(options.summary ?? {}))
    if (value !== undefined) Object.assign(summary, { [name]: value });
  return own({ ...options, summary });
}

/** The host's summarizers, in order. */
export function summarizersOf({
  summarize,
}: {
  summarize?: Summarizer | readonly Summarizer[] | undefined;
}): readonly Summarizer[] {
  const all = (Array.isArray(summarize) ? summarize : summarize ? [summarize] : []) as unknown[];
  for (const one of all) {
    if (typeof one !== "function") {
      throw invalid("summarize", "a function, or functions in order", one);
    }
  }
  return all as Summarizer[];
}
