/**
 * Configurations of other systems, in their own words, as options of ours. Words are renamed and units converted; a figure that a
 * configuration leaves out is the preset's.
 */
import { own } from "../core/arguments.js";
import { invalid, unknownOption } from "../core/errors.js";
import type { Channels, ManagerOptions, PromptBudget } from "../types.js";

/** A system whose configuration `optionsFrom` reads. */
export type ConfiguredSystem =
  | "aceclaw"
  | "aiclaw"
  | "openclaw"
  | "goclaw"
  | "context-budget"
  | "oneclaw"
  | "hermes";

/** Options that a configuration may set. */
type Settings = Partial<
  Pick<
    ManagerOptions<unknown>,
    | "window"
    | "estimator"
    | "trigger"
    | "triggerTokens"
    | "target"
    | "protectFirst"
    | "protectLast"
    | "protectTurns"
    | "noop"
    | "summary"
  >
>;

/** What a configuration sets, by where it goes. What it does not mention is absent. */
export interface ConfiguredOptions {
  /** For `new ContextManager`: the system's preset and what the configuration changes. Add `window` if it is not configured. */
  options:
    | (Settings & {
        /** The system's preset. */
        preset: Exclude<ConfiguredSystem, "oneclaw">;
        /** What comes after shortening. */
        strategy?: "summarize" | "truncate" | "discard";
      })
    | (Settings & {
        /** OneClaw has no way of its own to make room. */
        preset?: never;
        /** Not of it. */
        strategy?: never;
      });
  /** For `openaiCompatible`: where the summarizer is and which model it has. */
  summarizer?: {
    /** URL of the server. */
    baseUrl?: string;
    /** Name of the model. */
    model?: string;
  };
  /** For `assemblePrompt`: the limits that are configured. */
  budget?: Partial<PromptBudget>;
  /** For `historyLimitFromSessionKey`. */
  channels?: Channels;
  /** For `Workspace`. */
  workspace?: {
    /** Seconds between two reads of all files; 0: off. */
    poll?: number;
  };
}

/** Where a value goes, what it must be, and what becomes of it; or why there is no place for it. */
type Word = string | { to: string; is: "number" | "string" | "boolean" | "object"; of?: Convert };
type Convert = (value: never, name: string) => unknown;

const number = (to: string, of?: Convert): Word => ({ to, is: "number", ...(of && { of }) });
const text = (to: string): Word => ({ to, is: "string" });
const flag = (to: string, of?: Convert): Word => ({ to, is: "boolean", ...(of && { of }) });

const WINDOW = number("options.window.contextTokens");
const CHANNELS: Word = { to: "channels", is: "object" };
const percent = (value: number): number => value / 100;
const not = (value: boolean): boolean => !value;
const ratio = (value: number, name: string): string => {
  if (value === 4 || value === 2.1) return `chars/${value}`;
  throw invalid(name, "4 or 2.1, or an `estimator` of yours", value);
};
const SYSTEM = "no value: pass the system prompt as `system` with each request";
const FIXED = "no value: preset `goclaw` has GoClaw's own figure, which no option changes";

/** The words of each system, by their paths. */
const WORDS: Readonly<Record<ConfiguredSystem, Readonly<Record<string, Word>>>> = {
  aceclaw: {
    contextTokens: WINDOW,
    maxOutput: number("options.window.maxOutputTokens"),
    threshold: number("options.trigger"),
    pruneTarget: number("options.target"),
    protectedTurns: number("options.protectTurns"),
    systemPromptTokens: SYSTEM,
    maxPerTierChars: number("budget.maxPerTierChars"),
    maxTotalChars: number("budget.maxTotalChars"),
  },
  aiclaw: { FastModelName: text("summarizer.model") },
  openclaw: { "agents.defaults.contextTokens": WINDOW, channels: CHANNELS },
  goclaw: {
    "session.compaction.ollama.url": text("summarizer.baseUrl"),
    "session.compaction.ollama.model": text("summarizer.model"),
    "session.compaction.preferCheckpoint": flag("options.summary.checkpoints"),
    "session.compaction.reserveTokens": FIXED,
    "session.compaction.maxMessages": FIXED,
    "session.compaction.keepPercent": FIXED,
    "session.compaction.minMessages": FIXED,
    "promptCache.pollInterval": number("workspace.poll"),
    channels: CHANNELS,
  },
  // Its comments decide: `headProtection` keeps the last messages, `tailProtection` the first.
  "context-budget": {
    "agents.defaults.contextTokens": WINDOW,
    "agents.defaults.compaction.enabled": flag("options.noop", not),
    "agents.defaults.compaction.strategy": text("options.strategy"),
    "agents.defaults.compaction.thresholdPct": number("options.trigger", percent),
    "agents.defaults.compaction.headProtection": number("options.protectLast"),
    "agents.defaults.compaction.tailProtection": number("options.protectFirst"),
    "agents.defaults.compaction.summaryPrefix": text("options.summary.prefix"),
  },
  oneclaw: {
    chars_per_token: number("options.estimator", ratio),
    budget_tokens: WINDOW,
    system_prompt: SYSTEM,
  },
  hermes: {
    context_length: WINDOW,
    threshold_percent: number("options.trigger"),
    threshold_tokens: number("options.triggerTokens"),
    protect_first_n: number("options.protectFirst"),
    protect_last_n: number("options.protectLast"),
  },
};

/**
 * Reads the configuration of another system, in its own words, and returns the same as options of ours. The configuration may be whole or
 * one of its inner objects, such as `compaction` alone.
 *
 * @param system whose configuration it is
 * @param config the configuration as an object
 * @throws {PlimsollError} `INVALID_ARGUMENT` names a word that the system does not have (with the nearest that it has), one that has no
 * counterpart here, and a value of the wrong type.
 * @example
 * const { options } = optionsFrom("context-budget", { contextTokens: 131_072, compaction: { thresholdPct: 80 } });
 * const context = new ContextManager({ window, ...options }); // preset "context-budget", trigger 0.8; `window` if none is configured
 */
export function optionsFrom(system: ConfiguredSystem, config: object): ConfiguredOptions {
  const isKnown = typeof system === "string" && Object.hasOwn(WORDS, system);
  const words = isKnown ? WORDS[system] : undefined;
  if (!words) throw invalid("system", `one of ${Object.keys(WORDS).join(", ")}`, system);
  if (!isObject(config)) throw invalid("config", "an object", config);
  const found: ConfiguredOptions = { options: {} };
  if (system !== "oneclaw") found.options = { preset: system };
  read(words, baseOf(words, config), "", config, found);
  return found;
}

/** Where this object belongs in the configuration of its system: the outermost path under which one of its names is known. */
function baseOf(words: Readonly<Record<string, Word>>, config: object): string {
  const bases = Object.keys(words).flatMap((path) => {
    const names = path.split(".");
    return names.map((_, depth) =>
      names
        .slice(0, depth)
        .map((name) => `${name}.`)
        .join(""),
    );
  });
  bases.sort((one, other) => one.length - other.length);
  const members = Object.keys(config);
  const knows = (base: string) => members.some((name) => namesAt(words, base).includes(name));
  return bases.find(knows) ?? "";
}

/** The names that stand directly under a path. */
function namesAt(words: Readonly<Record<string, Word>>, base: string): string[] {
  const under = Object.keys(words).filter((path) => path.startsWith(base));
  return [...new Set(under.map((path) => path.slice(base.length).split(".")[0] as string))];
}

function read(
  words: Readonly<Record<string, Word>>,
  base: string,
  shown: string,
  config: object,
  found: ConfiguredOptions,
): void {
  for (const [name, value] of Object.entries(own(config))) {
    if (value === undefined) continue;
    const word = words[`${base}${name}`];
    const path = `${shown}${name}`;
    if (typeof word === "string") throw invalid(path, word, value);
    if (word) {
      const fits = word.is === "object" ? isObject(value) : typeof value === word.is;
      if (!fits || Number.isNaN(value)) throw invalid(path, `a value of type ${word.is}`, value);
      put(found, word.to.split("."), word.of ? word.of(value as never, path) : value);
    } else if (!namesAt(words, base).includes(name)) {
      throw unknownOption(path, namesAt(words, base), value);
    } else {
      if (!isObject(value)) throw invalid(path, "an object", value);
      read(words, `${base}${name}.`, `${path}.`, value, found);
    }
  }
}

/** Puts a value at a path, whose objects are made. */
function put(found: object, path: readonly string[], value: unknown): void {
  let at = found as Record<string, unknown>;
  for (const name of path.slice(0, -1)) {
    at[name] ??= {};
    at = at[name] as Record<string, unknown>;
  }
  at[path.at(-1) as string] = value;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
