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
    call: "inspect FILE",
    what: "what fills the window at the last call",
    json: ["plimsoll.inspect/1: call, window, absent, buckets, pressure, largest"],
  },
  list: {
    call: "list FILE",
    what: "the same as /context list: every part, its state and why",
    json: [
      "context.inspect/1, as everywhere: window, buckets, sections, messages,",
      "status, compactions, next. It holds no text of the session.",
    ],
  },
  detail: {
    call: "detail KEY FILE",
    what: "the text under a key: system, a section's, message:12",
    notes: ["A key that there is not ends with 2, and the nearest are told."],
    json: ["context.inspect/1, with detail: { key, content }"],
  },
  map: {
    call: "map FILE",
    what: "bars, the biggest first, of what fills the window",
    json: ["plimsoll.map/1: call, window, parts, results, largest"],
  },
  turns: {
    call: "turns FILE",
    what: "pressure turn by turn, what was freed, usage beside estimate",
    notes: [
      "FREED is what an edit or a fold took out of the request. USAGE is what the",
      "provider counted at a turn's last call, where the file has it; x stands for",
      "our estimate of the whole history divided by it.",
    ],
    json: ["plimsoll.turns/1: preset, window, usage, byTurn, byCall"],
  },
  find: {
    call: "find TEXT FILE",
    what: "where a text stands, and whether it is still sent",
    notes: [
      "The text is taken literally. AT is the line and column in what plimsoll detail",
      "shows of the message. Ends with 1 where it stands nowhere.",
    ],
    json: ["plimsoll.find/1: text, call, window, found, sent, places"],
  },
  next: {
    call: "next FILE",
    what: "what the next request would keep and cut, and why",
    json: [
      "plimsoll.next/1: request, window, changes, due, buckets, history (state,",
      "rule, since, restore)",
    ],
  },
  replay: {
    call: "replay FILE...",
    what: "call by call, under one policy or --preset A,B side by side",
    notes: [
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
    call: "check FILE...",
    what: "sessions beside limits: ends with 1 past one of them",
    notes: [
      "Every request has to fit its window and to break no rule of its provider; with",
      "--call only that one. --max is of the last request, or --call's: PART is what",
      "map and inspect name, * stands for any letters; each part is held to it alone.",
    ],
    json: ["plimsoll.check/1: ok, files (file, window, ok, limits)"],
  },
  rpc: {
    call: "rpc FILE...",
    what: "JSON-RPC 2.0 over stdio: context.inspect, a line a message",
    notes: ["sessionId is the file as it is named here, or the end of its path."],
  },
  prompt: {
    call: "prompt --query TEXT",
    what: "the system prompt of a workspace, and why",
    json: ["plimsoll.prompt/1: prompt, sections, budget, focus"],
  },
};

const EXITS = "Exit: 0 done, 2 the command line is wrong, 3 the file cannot be read";

export function help(command?: Command): string {
  return `${(command === undefined ? overview() : page(command)).join("\n")}\n`;
}

function overview(): string[] {
  const shared = (option: Option): boolean =>
    COMMANDS.filter((name) => knows(name, option)).length > COMMANDS.length / 2;
  return [
    "plimsoll: what fills an agent's context window, and what would be sent instead.",
    "",
    ...COMMANDS.map((name) => `  plimsoll ${PAGES[name].call.padEnd(20)}${short(name)}`),
    "  plimsoll COMMAND --help      the options of a command, and its JSON",
    "",
    ...FILE,
    "",
    ...OPTIONS.filter(shared).map(row),
    ...EVERYWHERE,
    "",
    "Tokens are estimates. The policy decides every request of a session anew, from its",
    "first; --json gives one document, whose names are kept.",
    `${EXITS},`,
    "1 past a limit of check, or nothing found by find.",
  ];
}

const FILE = [
  "FILE is a session of an agent (JSONL or JSON), or - for standard input.",
  "It is read and never written; nothing leaves the machine.",
];

const EVERYWHERE = [
  `  ${"-h, --help".padEnd(18)}this text`,
  `  ${"-V, --version".padEnd(18)}the version`,
];

function short(name: Command): string {
  return PAGES[name].what;
}

function page(command: Command): string[] {
  const { call, what, notes = [], json } = PAGES[command];
  const mine = OPTIONS.filter((option) => knows(command, option));
  // What is its own comes first.
  const own = (option: Option): number => (option.only === undefined ? 99 : option.only.length);
  return [
    `plimsoll ${call}`,
    `  ${what}`,
    "",
    ...(command === "prompt" ? [] : [...FILE, ""]),
    ...[...mine].sort((a, b) => own(a) - own(b)).map(row),
    ...EVERYWHERE,
    ...(notes.length === 0 ? [] : ["", ...notes]),
    ...(json === undefined ? [] : ["", "--json:", ...json.map((line) => `  ${line}`)]),
    "",
    command === "check" || command === "find" ? `${EXITS},` : `${EXITS}.`,
    ...(command === "check" ? ["1 past a limit."] : []),
    ...(command === "find" ? ["1 nothing found."] : []),
  ];
}

function row({ name, value, short, help: text }: Option): string {
  const left = `  ${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
  return `${left.padEnd(20)}${left.length < 20 ? "" : "  "}${text}`;
}
