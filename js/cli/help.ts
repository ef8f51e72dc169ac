/** The help: an overview of all commands, or the page of one. Rows of options come from the table in `options.ts`; at most 80 columns. */
import { COMMANDS, type Command, knows, OPTIONS, type Option } from "./options.js";

interface Page {
  /** Its arguments. */
  usage: string;
  /** What it prints. */
  what: string;
  /** Command lines that show its use. */
  examples: readonly string[];
  /** What else a reader has to know. */
  notes?: readonly string[];
  /** Its JSON document; none for a command without one. */
  json?: readonly string[];
}

const PAGES: Readonly<Record<Command, Page>> = {
  inspect: {
    usage: "inspect [FILE]",
    what: "what fills the window at the last call",
    examples: [
      "plimsoll inspect session.jsonl --window 200k",
      "plimsoll inspect session.jsonl --call 40 --chat",
      "plimsoll inspect session.jsonl --html session.html",
    ],
    notes: [
      "--html and --open make a page of the session, without secrets that are known by",
      "their form and without names of users in paths; what was taken out is listed on",
      "standard error. Secrets in other forms stay: read the page before you share it.",
    ],
    json: [
      "plimsoll.inspect/1: view, call, window, absent, buckets, pressure, largest",
      "with --chat context.inspect/1: window, buckets, sections, messages, status,",
      "compactions, next. It contains no text of a message, but the summaries of",
      "compactions.",
      "with --html and --open plimsoll.page/1: file, bytes, redacted",
    ],
  },
  detail: {
    usage: "detail KEY [FILE]",
    what: "the text of a message or of the system prompt",
    examples: [
      "plimsoll detail message:12 session.jsonl",
      "plimsoll detail 12 session.jsonl --diff --preset balanced",
    ],
    notes: [
      "KEY is system, message:N, or N for short. A text is cut after 12,000 characters,",
      "except with --raw, --sent and --diff. --sent and --diff show what the agent",
      "sent of it, with --preset what Plimsoll would send.",
    ],
    json: [
      "context.inspect/1 with detail: { key, content }; with --sent and --diff also",
      "sent, null if nothing of it is sent",
    ],
  },
  map: {
    usage: "map [FILE]",
    what: "what fills the window, as bars",
    examples: ["plimsoll map session.jsonl"],
    json: ["plimsoll.map/1: view, call, window, parts, results, largest"],
  },
  turns: {
    usage: "turns [FILE]",
    what: "pressure turn by turn, and what was freed",
    examples: ["plimsoll turns session.jsonl --window 64k"],
    notes: [
      "FREED: tokens removed by the agent's compactions; with --preset by edits and",
      "folds. With --preset also WHOLE: tokens of the whole history at the turn's last",
      "call, and USAGE: what the provider counted, if the file has it.",
    ],
    json: [
      "plimsoll.turns/1: view, preset, window, usage, calibration, absent,",
      "compactions, byTurn, byCall",
    ],
  },
  find: {
    usage: "find TEXT [FILE]",
    what: "where a text is, and whether it is still sent",
    examples: ['plimsoll find "parseLine(" session.jsonl'],
    notes: [
      "TEXT is taken literally. AT is the line and column in the text that plimsoll",
      "detail prints. Exits with 1 if the text is not found.",
    ],
    json: ["plimsoll.find/1: text, call, window, found, sent, places"],
  },
  next: {
    usage: "next [FILE]",
    what: "what the next request would keep and cut",
    examples: ["plimsoll next session.jsonl --idle 2h"],
    json: [
      "plimsoll.next/1: request, window, changes, due, buckets, history (state,",
      "rule, since, restore)",
    ],
  },
  replay: {
    usage: "replay FILE...",
    what: "every call under one policy, or several compared",
    examples: [
      "plimsoll replay session.jsonl --window 64k",
      "plimsoll replay *.jsonl --preset economy,balanced --window 32k,64k",
      "plimsoll replay session.jsonl --window 64k --summary-tokens 1500",
    ],
    notes: [
      "The bill counts input: cache reads, cache writes and plain input, at --prices,",
      "in uncached input tokens, at the session's own times.",
      "Recall: of the names that a call used again, the share its request contained.",
      "Far: last named more than 8,000 tokens back. Content: the newest source was sent",
      "whole. User: share of the user's text sent verbatim. Over several files bills",
      "and counts are sums, shares the mean of the files.",
      "Summaries: the bill contains what one reads, as plain input, and the summary as",
      "output; one is smaller where there is less room for it.",
      "SAVED with !: the unmanaged session would not have fitted the window.",
    ],
    json: [
      "plimsoll.replay/1: files, prices, runs (file, window, preset, assumed,",
      "totals, unmanagedOverWindow), matrix (a row for each preset and window, and",
      "one named unmanaged; best: where it is the best); with one run or --calls",
      "their calls too",
    ],
  },
  check: {
    usage: "check [FILE...]",
    what: "check limits; exit 1 if any is exceeded",
    examples: ["plimsoll check *.jsonl --max-pressure 0.85 --max 'result *=12k'"],
    notes: [
      "Always checked: every request fits its window, with --preset also that it",
      "breaks no rule of its provider; with --call only that request. --max applies to",
      "the last request (or --call's). PART is a name that map and inspect print; *",
      "matches any characters. PART?=SIZE: no error if no session has the part.",
    ],
    json: ["plimsoll.check/1: ok, files (file, window, ok, limits)"],
  },
  rpc: {
    usage: "rpc FILE...",
    what: "serve the report as JSON-RPC 2.0 over stdio",
    examples: ["plimsoll rpc session.jsonl < requests.jsonl"],
    notes: ["sessionId is the file as it is named here, or the end of its path."],
  },
  prompt: {
    usage: "prompt --query TEXT",
    what: "the system prompt of a workspace, and why",
    examples: ['plimsoll prompt --workspace . --query "fix src/parser.ts"'],
    json: ["plimsoll.prompt/1: prompt, sections, budget, focus"],
  },
};

/** Commands by what a user wants to do. */
const GROUPS: ReadonlyArray<{ title: string; commands: readonly Command[] }> = [
  { title: "Look at a session", commands: ["inspect", "map", "turns", "find", "detail"] },
  { title: "Try a policy", commands: ["next", "replay", "check"] },
  { title: "Other", commands: ["rpc", "prompt"] },
];

/** Words that the screens use. */
const LEGEND = [
  "  call     a request to the model     epoch    requests that only grow",
  "  edit     earlier messages changed   fold     old messages replaced by a head",
  "  stub     one line for a result      cap      a large result as head and tail",
  "  head     summary and names          made     messages that Plimsoll added",
  "  dropped  not sent any more          thinned  parts of a message removed",
];

/** Exit codes of commands with a meaning of their own for 1. */
const FAILS: Readonly<Partial<Record<Command, string>>> = {
  check: "1 a limit is exceeded,",
  find: "1 not found,",
};

export function help(command?: Command): string {
  return `${(command === undefined ? overview() : page(command)).join("\n")}\n`;
}

function overview(): string[] {
  const isCommon = ({ only }: Option): boolean => (only?.length ?? COMMANDS.length) > FEW;
  return [
    "plimsoll: what fills an agent's context window, and what would be sent instead.",
    "",
    "Usage: plimsoll COMMAND [FILE] [options]",
    "",
    ...GROUPS.flatMap(({ title, commands }) => [
      `${title}:`,
      ...commands.map((name) => `  plimsoll ${PAGES[name].usage.padEnd(20)} ${PAGES[name].what}`),
      "",
    ]),
    "Examples:",
    `  ${PAGES.inspect.examples[0]}`,
    `  ${PAGES.replay.examples[0]}`,
    "  plimsoll COMMAND --help    the options of a command, and its JSON",
    "",
    ...FILE,
    "",
    "Options:",
    ...OPTIONS.filter(isCommon).map(row),
    ...EVERYWHERE,
    "",
    "Words:",
    ...LEGEND,
    "",
    "inspect, detail, map, turns, check and rpc show what the agent sent, by the",
    "provider's count if the file has one. With --preset they show what Plimsoll",
    "would send, as replay, next and find do: those tokens are estimates.",
    ...exits("1 limit exceeded (check) or not found (find),"),
  ];
}

function exits(fail: string): string[] {
  const parts = ["Exit: 0 done,", fail, "2 wrong command line,", "3 unreadable file."];
  const lines: string[] = [];
  for (const part of parts.filter(Boolean)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + part.length >= 80) lines.push(part);
    else lines[lines.length - 1] = `${last} ${part}`;
  }
  return lines;
}

/** An option of at most so many commands is listed on their pages only. */
const FEW = 6;

const FILE = [
  "FILE is an agent's session (JSONL or JSON), or - for standard input. Without",
  "[FILE], the newest session of Claude Code, pi or Qwen Code for this folder is",
  "used (else Cline, Codex, Copilot CLI, Gemini CLI, Kimi Code, OpenClaw); its",
  "path is printed to stderr. Files are only read; nothing leaves this machine.",
];

const EVERYWHERE = [
  `  ${"-h, --help".padEnd(22)}print this text`,
  `  ${"-V, --version".padEnd(22)}print the version`,
];

function page(command: Command): string[] {
  const { usage, what, examples, notes = [], json } = PAGES[command];
  const mine = OPTIONS.filter((option) => knows(command, option));
  const isOwn = ({ only }: Option): boolean => only !== undefined && only.length <= FEW;
  const finds = usage.includes("[FILE");
  return [
    `plimsoll ${usage}`,
    `  ${what}`,
    "",
    "Examples:",
    ...examples.map((line) => `  ${line}`),
    "",
    ...(finds ? [...FILE, ""] : []),
    "Options:",
    ...mine.filter(isOwn).map(row),
    ...mine.filter((option) => !isOwn(option)).map(row),
    ...EVERYWHERE,
    ...(notes.length === 0 ? [] : ["", ...notes]),
    ...(json === undefined ? [] : ["", "--json:", ...json.map((line) => `  ${line}`)]),
    "",
    ...exits(FAILS[command] ?? ""),
  ];
}

const LEFT = 24;

function row({ name, value, short, help: text }: Option): string {
  const letter = short === undefined ? "" : `-${short}, `;
  const left = `  ${letter}--${name}${value === undefined ? "" : ` ${value}`}`;
  return left.padEnd(LEFT) + text.replaceAll("\n", `\n${" ".repeat(LEFT)}`);
}
