/** Commands and options, in one table that the parser, the help and the error messages share. */
import { parseArgs } from "node:util";
import { shareIn, sizeIn } from "../core/amounts.js";
import { nearest } from "../core/nearest.js";
import { PRICES } from "../generated.js";
import { usage } from "./errors.js";

export const COMMANDS = [
  "inspect",
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
  /** Name of its value in the help. Without one it is a switch. */
  value?: string;
  short?: string;
  many?: boolean;
  /** Lines of at most 56 columns. */
  help: string;
  /** The commands that have it. Default: all. */
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
  { name: "reserve", value: "SIZE", help: "tokens held back for the answer (default 0)" },
  {
    name: "preset",
    value: "NAME",
    many: true,
    help: "shows what Plimsoll would send with this policy:\nbalanced, economy, retention, capacity, aceclaw,\naiclaw, openclaw, goclaw, context-budget, hermes\n(balanced+lines keeps lines of results that were used)",
    only: SESSION,
  },
  {
    name: "provider",
    value: "NAME",
    help: "with --preset: whose rules requests must satisfy\n(default: by format): anthropic, openai-chat,\nopenai-responses, gemini, bedrock, mistral, deepseek,\nkimi",
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
    help: `with --preset: prices of cache reads, cache writes and\noutput relative to input (default ${[PRICES.cacheRead, PRICES.cacheWrite, PRICES.output]})`,
    only: SESSION,
  },
  {
    name: "ttl",
    value: "TIME",
    help: "with --preset: lifetime of the prompt cache (default 5m)",
    only: SESSION,
  },
  {
    name: "unseen",
    value: "SIZE",
    help: "with --preset: tokens of each request that are not in\nthe file (default: by the provider's counts in it)",
    only: SESSION,
  },
  {
    name: "leaf",
    value: "ID",
    help: "branch that ends at this entry (default: the newest)",
    only: SESSION,
  },
  {
    name: "call",
    value: "N",
    help: "number of the call (default: the last; find: the next)",
    only: ["inspect", "detail", "map", "find", "check"],
  },
  {
    name: "top",
    value: "N",
    help: "how many messages to list (default 10; next 5, find 30)",
    only: ["inspect", "map", "next", "find"],
  },
  { name: "chat", help: "print it as a chat's /context list", only: ["inspect"] },
  {
    name: "html",
    value: "OUT",
    help: "write the inspector with the session in it to this file",
    only: ["inspect"],
  },
  { name: "open", help: "the same in a private temporary folder; open it", only: ["inspect"] },
  {
    name: "unredacted",
    help: "with --html, --open: keep secrets and user names",
    only: ["inspect"],
  },
  { name: "raw", help: "print only the text, without a limit", only: ["detail"] },
  { name: "sent", help: "print what the request contains of it", only: ["detail"] },
  { name: "diff", help: "print the difference between both, like diff -u", only: ["detail"] },
  {
    name: "ignore-case",
    short: "i",
    help: "ignore upper and lower case",
    only: ["find"],
  },
  {
    name: "max-pressure",
    value: "SHARE",
    help: "most that any call may use of the window: 0.85, 85%",
    only: ["check"],
  },
  {
    name: "max-used",
    value: "SIZE",
    help: "most tokens of any request",
    only: ["check"],
  },
  {
    name: "max",
    value: "PART=SIZE",
    many: true,
    help: "most tokens of a part: 'result bash=12k', 'result *=8k'",
    only: ["check"],
  },
  {
    name: "idle",
    value: "TIME",
    help: "time since the last call (default 0s)",
    only: ["next"],
  },
  { name: "all", help: "list every row", only: ["next", "turns"] },
  { name: "calls", help: "list every call", only: ["replay", "turns"] },
  {
    name: "summary-tokens",
    value: "SIZE",
    help: "as if a summarizer answered with so many tokens each\ntime it would be asked; 0: there is none (default:\nsummaries as long as those in the file, if any)",
    only: ["replay"],
  },
  {
    name: "jobs",
    value: "N",
    help: "threads that play runs, 1 to 8 (default: one for each\ncore; 1 if the files are small)",
    only: ["replay"],
  },
  {
    name: "workspace",
    value: "DIR",
    help: "folder with AGENTS.md and so on (default: this one)",
    only: ["prompt"],
  },
  { name: "query", value: "TEXT", help: "text of the request", only: ["prompt"] },
  { name: "text", help: "print the prompt itself", only: ["prompt"] },
  { name: "json", help: "print one JSON document", only: PRINTS },
  {
    name: "color",
    value: "WHEN",
    help: "auto, always or never (NO_COLOR and FORCE_COLOR apply)",
    only: PRINTS,
  },
  { name: "ascii", help: "use only ASCII characters", only: PRINTS },
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
export interface Arguments {
  command: string | undefined;
  files: string[];
  help: boolean;
  version: boolean;
  text(name: string): string | undefined;
  /** Every value, also of those that stand between commas; each once. */
  list(name: string): string[];
  has(name: string): boolean;
}

export function parse(argv: readonly string[]): Arguments {
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
    return parseArgs({ args: joined(argv, options), options, allowPositionals: true });
  } catch (error) {
    const first = error instanceof Error ? (error.message.split(/\. |\n/)[0] ?? "") : String(error);
    const name = /^Unknown option '--([^']*)'/.exec(first)?.[1];
    if (name === undefined) throw usage(valueMissing(error) ?? `${first}; see plimsoll --help`);
    const near = nearest(name, Object.keys(options));
    const advice = near === undefined ? "See plimsoll --help" : `Did you mean "--${near}"?`;
    throw usage(`unknown option "--${name}". ${advice}`);
  }
}

/** The words with "--window -5" as "--window=-5": the option itself then says what it takes. */
function joined(argv: readonly string[], options: Readonly<Record<string, object>>): string[] {
  const end = argv.indexOf("--");
  const words: string[] = [];
  for (const [at, word] of argv.entries()) {
    const last = words.at(-1) ?? "";
    const takesValue = last.startsWith("--") && isValued(options[last.slice(2)]);
    if (takesValue && /^-\d/.test(word) && (end < 0 || at < end))
      words.push(`${words.pop()}=${word}`);
    else words.push(word);
  }
  return words;
}

const isValued = (option: object | undefined): boolean =>
  option !== undefined && "type" in option && option.type === "string";

/** What an option without its value takes. */
function valueMissing(error: unknown): string | undefined {
  const text = error instanceof Error ? error.message : "";
  const name = /^Option '(?:-\w, )?--([\w-]+)/.exec(text)?.[1];
  const option = OPTIONS.find((one) => one.name === name);
  if (option?.value === undefined) return undefined;
  return `--${name} takes ${option.value}: ${option.help.replaceAll("\n", " ")}`;
}

/** "a, b or c". */
export function inWords(words: readonly string[], last: "and" | "or"): string {
  const [end = "", ...more] = [...words].reverse();
  return more.length === 0 ? end : `${more.reverse().join(", ")} ${last} ${end}`;
}

/** Options that the command does not know are refused, not ignored. */
export function refuse(args: Arguments, command: Command): void {
  for (const option of OPTIONS) {
    if (knows(command, option) || !args.has(option.name)) continue;
    throw usage(
      `--${option.name} is not an option of ${command}, only of ${inWords(option.only ?? [], "and")}`,
    );
  }
}

/** "64k", "200000", "1m" as tokens. */
export function size(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const tokens = sizeIn(text);
  if (Number.isNaN(tokens))
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
  const value = shareIn(text);
  if (Number.isNaN(value))
    throw usage(`--${name}: a share like "0.85" or "85%", got ${JSON.stringify(text)}`);
  return value;
}

/** A whole number within bounds. */
export function integer(
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
export function topOf(args: Arguments, own: number): number {
  return integer("top", args.text("top"), 0, 1_000_000) ?? own;
}
