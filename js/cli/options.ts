/** What may stand on the command line, said once: the parser, the help and the messages all read it here. */
import { parseArgs } from "node:util";
import { usage } from "./errors.js";

export const COMMANDS = ["inspect", "next", "replay", "prompt"] as const;
export type Command = (typeof COMMANDS)[number];

export interface Option {
  name: string;
  /** How its value is called in the help; without one it is a switch. */
  value?: string;
  many?: boolean;
  help: string;
  /** The commands that know it; all if nothing is said. */
  only?: readonly Command[];
}

const SESSION = ["inspect", "next", "replay"] as const;

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
    help: "the policy: balanced (default), economy, retention, ...",
    only: SESSION,
  },
  {
    name: "provider",
    value: "NAME",
    help: "whose rules hold (default: the messages' own)",
    only: SESSION,
  },
  {
    name: "estimator",
    value: "NAME",
    help: "how tokens are estimated: generic (default), claude, ...",
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
    help: "the request of this call instead of the last",
    only: ["inspect"],
  },
  {
    name: "top",
    value: "N",
    help: "single messages listed (default 10, next: 5)",
    only: ["inspect", "next"],
  },
  {
    name: "idle",
    value: "TIME",
    help: "how long after the last call it comes (default 0s)",
    only: ["next"],
  },
  { name: "all", help: "every message, not runs of them", only: ["next"] },
  { name: "calls", help: "every call, not a selection", only: ["replay"] },
  {
    name: "workspace",
    value: "DIR",
    help: "where AGENTS.md, ... are (default: this folder)",
    only: ["prompt"],
  },
  { name: "query", value: "TEXT", help: "what the request asks for", only: ["prompt"] },
  { name: "text", help: "the prompt itself instead of the table", only: ["prompt"] },
  { name: "json", help: "one JSON document instead of text" },
  {
    name: "color",
    value: "WHEN",
    help: "auto, always or never (NO_COLOR, FORCE_COLOR count)",
  },
  { name: "ascii", help: "no signs beyond ASCII" },
  { name: "width", value: "N", help: "columns (default: the terminal's, 80 when piped)" },
];

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
  for (const { name, value, many } of OPTIONS) {
    options[name] = { type: value === undefined ? "boolean" : "string", multiple: many === true };
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
  for (const { name, only } of OPTIONS) {
    if (only !== undefined && !only.includes(command) && given.has(name)) {
      throw usage(`--${name} belongs to plimsoll ${inWords(only, "and")}`);
    }
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

/** The help: as wide as its longest line, at most 80 columns. */
export function help(): string {
  const row = ({ name, value, help: text, only }: Option): string => {
    const left = `  --${name}${value === undefined ? "" : ` ${value}`}`;
    const whose = only === undefined || only === SESSION ? "" : ` (${only.join(", ")})`;
    return `${left.padEnd(20)}${text}${whose}`;
  };
  return [
    "plimsoll: what fills an agent's context window, and what would be sent instead.",
    "",
    "  plimsoll inspect FILE                what fills the window at the last call",
    "  plimsoll next FILE                   what the next request would keep and cut",
    "  plimsoll replay FILE --window 64k    the session call by call, under a policy",
    "  plimsoll replay FILE... --preset A,B --window 32k,64k    several, side by side",
    "  plimsoll prompt --query TEXT         the system prompt of a workspace, and why",
    "",
    "FILE is a session of an agent (JSONL or JSON), or - for standard input.",
    "It is read and never written; nothing leaves the machine.",
    "",
    ...OPTIONS.map(row),
    `  ${"-h, --help".padEnd(18)}this text`,
    `  ${"-V, --version".padEnd(18)}the version`,
    "",
    "Tokens are estimates. The bill counts input: what is read from the cache,",
    "written to it or sent plain, at --prices, in uncached input tokens, at the",
    "session's own times. Recall: of the names that a call used again, the share its",
    "request still held; far: named last over 8,000 tokens back; content: the newest",
    "source still whole; user: people's text still verbatim. Over several files bills",
    "and counts are sums, shares the mean of the files.",
    "",
    "--json gives one document, whose names are kept: schema (plimsoll.inspect/1,",
    "next/1, replay/1, prompt/1), file or files, window, then",
    "  inspect  call, buckets, pressure, largest",
    "  next     request, changes, due, buckets, history (state, rule, since, restore)",
    "  replay   prices, runs (file, window, preset, totals), matrix (a row a preset",
    "           and window, and one named unmanaged; best: where it is the best);",
    "           with one run or --calls also the calls of each run",
    "  prompt   prompt, sections, budget, focus",
    "Exit: 0 done, 2 the command line is wrong, 3 the file cannot be read.",
    "",
  ].join("\n");
}
