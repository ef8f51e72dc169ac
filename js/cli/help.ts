/** The help: of all commands, or of one. Rows of options come from the one table of them; at most 80 columns. */
import { COMMANDS, type Command, knows, OPTIONS, type Option } from "./options.js";

interface Page {
  /** How it is called. */
  call: string;
  /** What it tells. */
  what: string;
  /** What else one has to know. */
  notes?: readonly string[];
  /** Its JSON document, beside `schema`; none where it has none. */
  json?: readonly string[];
}

const PAGES: Readonly<Record<Command, Page>> = {
  inspect: {
    call: "inspect [FILE]",
    what: "what fills the window at the last call",
    json: ["plimsoll.inspect/1: call, window, absent, buckets, pressure, largest"],
  },
  list: {
    call: "list [FILE]",
    what: "the report as a list, as /context list shows it",
    json: [
      "context.inspect/1, as everywhere: window, buckets, sections, messages,",
      "status, compactions, next. It holds no text of the session.",
    ],
  },
  detail: {
    call: "detail KEY [FILE]",
    what: "the text under a key: system, message:12, ...",
    notes: [
      "A key that there is not ends with 2, and the nearest are told. A text is cut",
      "after 12,000 characters; whole, and alone, it is by --raw, --sent and --diff.",
    ],
    json: [
      "context.inspect/1, with detail: { key, content }; by --sent and --diff also",
      "sent: null where nothing of it is",
    ],
  },
  map: {
    call: "map [FILE]",
    what: "what fills the window, as bars, biggest first",
    json: ["plimsoll.map/1: call, window, parts, results, largest"],
  },
  turns: {
    call: "turns [FILE]",
    what: "pressure turn by turn, and what was freed",
    notes: [
      "FREED is what edits and folds took out of requests. WHOLE is the history without",
      "management, at a turn's last call; USAGE what the provider counted there, where",
      "the file has it.",
    ],
    json: ["plimsoll.turns/1: preset, window, usage, absent,", "compactions, byTurn, byCall"],
  },
  find: {
    call: "find TEXT [FILE]",
    what: "where a text stands, and if it is still sent",
    notes: [
      "The text is taken literally. AT is the line and column in what plimsoll detail",
      "shows of the message. Ends with 1 where it stands nowhere.",
    ],
    json: ["plimsoll.find/1: text, call, window, found, sent, places"],
  },
  next: {
    call: "next [FILE]",
    what: "what the next request would keep and cut",
    json: [
      "plimsoll.next/1: request, window, changes, due, buckets, history (state,",
      "rule, since, restore)",
    ],
  },
  replay: {
    call: "replay FILE...",
    what: "call by call, under one policy or several",
    notes: [
      "  plimsoll replay FILE... --preset A,B --window 32k,64k    several, side by side",
      "",
      "The bill counts input: what is read from the cache, written to it or sent",
      "plain, at --prices, in uncached input tokens, at the session's own times.",
      "Recall: of the names that a call used again, the share its request still held;",
      "far: named last over 8,000 tokens back; content: the newest source still whole;",
      "user: people's text still verbatim. Over several files bills and counts are",
      "sums, shares the mean of the files.",
    ],
    json: [
      "plimsoll.replay/1: files, prices, runs (file, window, preset, totals), matrix",
      "(a row a preset and window, and one named unmanaged; best: where it is the",
      "best); with one run or --calls also the calls of each run",
    ],
  },
  check: {
    call: "check [FILE...]",
    what: "limits: ends with 1 where one is passed",
    notes: [
      "Every request has to fit its window and to break no rule of its provider; with",
      "--call only that one. --max is of the last request, or --call's: PART is what",
      "map and inspect name, * stands for any letters; each part is held to it alone.",
    ],
    json: ["plimsoll.check/1: ok, files (file, window, ok, limits)"],
  },
  rpc: {
    call: "rpc FILE...",
    what: "the report over stdio, by JSON-RPC 2.0",
    notes: ["sessionId is the file as it is named here, or the end of its path."],
  },
  prompt: {
    call: "prompt --query TEXT",
    what: "the system prompt of a workspace, and why",
    json: ["plimsoll.prompt/1: prompt, sections, budget, focus"],
  },
};

/** How a command ends, where not as all do. */
const FAILS: Readonly<Partial<Record<Command, string>>> = {
  check: "1 past a limit,",
  find: "1 nothing found,",
};

export function help(command?: Command): string {
  return `${(command === undefined ? overview() : page(command)).join("\n")}\n`;
}

function overview(): string[] {
  const isCommon = ({ only }: Option): boolean => (only?.length ?? COMMANDS.length) > FEW;
  return [
    "plimsoll: what fills an agent's context window, and what would be sent instead.",
    "",
    ...COMMANDS.map((name) => `  plimsoll ${PAGES[name].call.padEnd(21)}${PAGES[name].what}`),
    `  ${"plimsoll COMMAND --help".padEnd(30)}a command's own options, and its JSON`,
    "",
    ...FILE,
    "",
    ...OPTIONS.filter(isCommon).map(row),
    ...EVERYWHERE,
    "",
    "Tokens are estimates. The requests of a session are decided anew, by --preset.",
    "--json gives one document, whose names are kept.",
    ...exits("1 past a limit (check) or nothing found (find),"),
  ];
}

function exits(fail: string): string[] {
  const parts = [
    "Exit: 0 done,",
    fail,
    "2 the command line is wrong,",
    "3 the file cannot be read.",
  ];
  const lines: string[] = [];
  for (const part of parts.filter(Boolean)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + part.length >= 80) lines.push(part);
    else lines[lines.length - 1] = `${last} ${part}`;
  }
  return lines;
}

/** An option that so many commands know, or fewer, is their own. */
const FEW = 6;

const FILE = [
  "FILE is a session of an agent (JSONL or JSON), or - for standard input; where",
  "[FILE] is not named, the newest of Claude Code or pi in this folder, else of",
  "Codex or OpenClaw, and which that is stands on standard error.",
  "It is read and never written; nothing leaves the machine.",
];

const EVERYWHERE = [
  `  ${"-h, --help".padEnd(22)}this text`,
  `  ${"-V, --version".padEnd(22)}the version`,
];

function page(command: Command): string[] {
  const { call, what, notes = [], json } = PAGES[command];
  const mine = OPTIONS.filter((option) => knows(command, option));
  const isOwn = ({ only }: Option): boolean => only !== undefined && only.length <= FEW;
  return [
    `plimsoll ${call}`,
    `  ${what}`,
    "",
    ...(command === "prompt" ? [] : [...FILE, ""]),
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
