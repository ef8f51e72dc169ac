/** What may stand on the command line, said once: the parser, the help and the messages all read it here. */
import { parseArgs } from "node:util";
import { usage } from "./errors.js";

export const COMMANDS = [
  "inspect",
  "list",
  "detail",
  "map",
  "turns",
  "find",
  "next",
  "replay",
  "check",
  "rpc",
  "prompt",
] as const;
export type Command = (typeof COMMANDS)[number];

export interface Option {
  name: string;
  /** How its value is called in the help; without one it is a switch. */
  value?: string;
  short?: string;
  many?: boolean;
  /** Lines of at most 56 columns. */
  help: string;
  /** The commands that know it; all if nothing is said. */
  only?: readonly Command[];
}

const SESSION = COMMANDS.filter((name) => name !== "prompt");
const PRINTS = COMMANDS.filter((name) => name !== "rpc");

export const OPTIONS: readonly Option[] = [
  {
    name: "window",
    value: "SIZE",
    many: true,
    help: "the model's context window in tokens: 64k, 200000, 1m",
  },
  { name: "reserve", value: "SIZE", help: "tokens of it held back for the answer (default 0)" },
  {
    name: "preset",
    value: "NAME",
    many: true,
    help: "the policy: balanced (default), economy, retention,\ncapacity, aceclaw, aiclaw, openclaw, context-budget,\nhermes",
    only: SESSION,
  },
  {
    name: "provider",
    value: "NAME",
    help: "whose rules hold (default: the messages' own):\nanthropic, openai-chat, openai-responses, gemini,\nbedrock, mistral, deepseek, kimi",
    only: SESSION,
  },
  {
    name: "estimator",
    value: "NAME",
    help: "how tokens are estimated: generic (default), claude,\no200k, cl100k, gemini, gemma3, llama3, qwen, deepseek,\nmistral, chars/4, chars/2.1, cjk",
    only: SESSION,
  },
  {
    name: "prices",
    value: "R,W,O",
    help: "cache read, write, output (default 0.1,1.25,5)",
    only: SESSION,
  },
  {
    name: "ttl",
    value: "TIME",
    help: "how long the prompt cache lives (default 5m)",
    only: SESSION,
  },
  {
    name: "leaf",
    value: "ID",
    help: "the branch that ends at this entry (default: the newest)",
    only: SESSION,
  },
  {
    name: "call",
    value: "N",
    help: "the request of this call (default the last; find: next)",
    only: ["inspect", "list", "detail", "map", "find", "check"],
  },
  {
    name: "top",
    value: "N",
    help: "single messages listed (default 10; next: 5, find: 30)",
    only: ["inspect", "map", "next", "find"],
  },
  { name: "raw", help: "the text alone, all of it", only: ["detail"] },
  { name: "sent", help: "what the request has of it", only: ["detail"] },
  { name: "diff", help: "both, line by line, as diff -u does", only: ["detail"] },
  {
    name: "ignore-case",
    short: "i",
    help: "capital letters and small ones are the same",
    only: ["find"],
  },
  {
    name: "max-pressure",
    value: "SHARE",
    help: "used of what is usable, at every call: 0.85, 85%",
    only: ["check"],
  },
  {
    name: "max-used",
    value: "SIZE",
    help: "tokens of a request, at every call",
    only: ["check"],
  },
  {
    name: "max",
    value: "PART=SIZE",
    many: true,
    help: "tokens of a part: 'result bash=12k', 'result *=8k'",
    only: ["check"],
  },
  {
    name: "idle",
    value: "TIME",
    help: "how long after the last call it comes (default 0s)",
    only: ["next"],
  },
  { name: "all", help: "every row, not a selection or runs", only: ["next", "turns"] },
  { name: "calls", help: "every call, not a selection", only: ["replay", "turns"] },
  {
    name: "workspace",
    value: "DIR",
    help: "where AGENTS.md, ... are (default: this folder)",
    only: ["prompt"],
  },
  { name: "query", value: "TEXT", help: "what the request asks for", only: ["prompt"] },
  { name: "text", help: "the prompt itself instead of the table", only: ["prompt"] },
  { name: "json", help: "one JSON document instead of text", only: PRINTS },
  {
    name: "color",
    value: "WHEN",
    help: "auto, always or never (NO_COLOR, FORCE_COLOR count)",
    only: PRINTS,
  },
  { name: "ascii", help: "no signs beyond ASCII", only: PRINTS },
  {
    name: "width",
    value: "N",
    help: "columns (default: the terminal's, 80 when piped)",
    only: PRINTS,
  },
];

/** Whether a command knows an option. */
export function knows(command: Command, { only }: Option): boolean {
  return only === undefined || only.includes(command);
}

/** The command line, read. */
export interface Given {
  command: string | undefined;
  files: string[];
  help: boolean;
  version: boolean;
  text(name: string): string | undefined;
  /** Every value, also of those that stand between commas; each once. */
  list(name: string): string[];
  has(name: string): boolean;
}

export function parse(argv: readonly string[]): Given {
  const options: Record<
    string,
    { type: "string" | "boolean"; short?: string; multiple?: boolean }
  > = {
    help: { type: "boolean", short: "h" },
    version: { type: "boolean", short: "V" },
  };
  for (const { name, value, many, short } of OPTIONS) {
    options[name] = {
      type: value === undefined ? "boolean" : "string",
      multiple: many === true,
      ...(short === undefined ? {} : { short }),
    };
  }
  const { values, positionals } = read(argv, options);
  const texts = (name: string): string[] => [values[name] ?? []].flat().map(String);
  const [command, ...files] = positionals;
  return {
    command,
    files,
    help: values.help === true,
    version: values.version === true,
    text: (name) => texts(name).at(-1),
    list: (name) => [...new Set(texts(name).flatMap((text) => text.split(",")))],
    has: (name) => values[name] !== undefined,
  };
}

type Values = Record<string, string | boolean | (string | boolean)[] | undefined>;

function read(
  argv: readonly string[],
  options: NonNullable<Parameters<typeof parseArgs>[0]>["options"] & object,
): { values: Values; positionals: string[] } {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true });
  } catch (error) {
    const first = error instanceof Error ? (error.message.split(/\. |\n/)[0] ?? "") : String(error);
    throw usage(`${first}; see plimsoll --help`);
  }
}

/** "a, b or c". */
export function inWords(words: readonly string[], last: "and" | "or"): string {
  const [end = "", ...more] = [...words].reverse();
  return more.length === 0 ? end : `${more.reverse().join(", ")} ${last} ${end}`;
}

/** Options that the command does not know are refused, not ignored. */
export function refuse(given: Given, command: Command): void {
  for (const option of OPTIONS) {
    if (knows(command, option) || !given.has(option.name)) continue;
    throw usage(`--${option.name} belongs to plimsoll ${inWords(option.only ?? [], "and")}`);
  }
}

/** "64k", "200000", "1m" as tokens. */
export function size(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d{1,9}(?:\.\d+)?)([km]?)$/i.exec(text.replaceAll("_", ""));
  const unit = { "": 1, k: 1000, m: 1_000_000 }[match?.[2]?.toLowerCase() ?? ""] ?? 1;
  const tokens = Math.round(Number(match?.[1]) * unit);
  if (match === null || tokens > 1_000_000_000)
    throw usage(`--${name}: a size like 64k, 200000 or 1m, got ${JSON.stringify(text)}`);
  return tokens;
}

/** "5m", "1h", "90s", "250ms" as milliseconds. */
export function duration(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d{1,9}(?:\.\d+)?)(ms|s|m|h|d)$/i.exec(text);
  const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
  if (match === null)
    throw usage(`--${name}: a time like 90s, 5m or 1h, got ${JSON.stringify(text)}`);
  return Math.round(Number(match[1]) * unit[match[2]?.toLowerCase() as keyof typeof unit]);
}

/** "0.85" or "85%" as a share of 1. */
export function share(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const match = /^(\d{1,4}(?:\.\d{1,6})?)(%?)$/.exec(text);
  if (match === null)
    throw usage(`--${name}: a share like 0.85 or 85%, got ${JSON.stringify(text)}`);
  return match[2] === "%" ? Number(match[1]) / 100 : Number(match[1]);
}

/** A whole number within bounds. */
export function whole(
  name: string,
  text: string | undefined,
  low: number,
  high: number,
): number | undefined {
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (!(value >= low && value <= high))
    throw usage(`--${name}: a whole number from ${low} to ${high}, got ${JSON.stringify(text)}`);
  return value;
}

/** How many single messages are listed. */
export function topOf(given: Given, own: number): number {
  return whole("top", given.text("top"), 0, 1_000_000) ?? own;
}
