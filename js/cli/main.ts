/** The `plimsoll` command: reads the command line, opens the file, hands both to a command, prints what it answers. */
import "./builtin-modules.js";
import { readFileSync } from "node:fs";
import { suggestion } from "../core/nearest.js";
import { Screen } from "../render/screen.js";
import { check } from "./check.js";
import { checkText } from "./check-text.js";
import { wantsColor } from "./color.js";
import { diffText, rawText, sentText } from "./detail-text.js";
import { Exit, note, OK, PAST, UNREADABLE, usage } from "./errors.js";
import { find } from "./find.js";
import { findText } from "./find-text.js";
import { help } from "./help.js";
import { inspect } from "./inspect.js";
import { inspectText } from "./inspect-text.js";
import { detailText, FORMS, listText, look } from "./list.js";
import { map } from "./map.js";
import { mapText } from "./map-text.js";
import { next } from "./next.js";
import { nextText } from "./next-text.js";
import {
  type Arguments,
  COMMANDS,
  type Command,
  integer,
  inWords,
  parse,
  refuse,
  topOf,
} from "./options.js";
import { page, pageText, wantsPage } from "./page.js";
import { playFiles } from "./play-files.js";
import { prompt } from "./prompt.js";
import { plainPrompt, promptText } from "./prompt-text.js";
import { withoutCalls } from "./replay.js";
import { replayText } from "./replay-text.js";
import { rpc } from "./rpc.js";
import { isFile, source, sources } from "./source.js";
import { harmlessJson } from "./text.js";
import { turns } from "./turns.js";
import { turnsText } from "./turns-text.js";

/** What a command answers: a document, the text of it, and how it ends where that is not well. */
interface Answer {
  report: unknown;
  text: (screen: Screen) => readonly string[];
  code?: number;
}

const RUN: Readonly<Record<Command, (args: Arguments) => Answer | Promise<Answer>>> = {
  inspect: async (args) => {
    if (wantsPage(args)) {
      const made = await page(args);
      return { report: made.page, text: () => pageText(made) };
    }
    const opened = source(args, "inspect");
    if (args.has("chat")) {
      if (args.has("top")) throw usage("--top is not an option of inspect --chat");
      const looked = look(opened, args);
      return { report: looked.report, text: (screen) => listText(screen, looked) };
    }
    const report = inspect(opened, args);
    return { report, text: (screen) => inspectText(screen, report) };
  },
  detail: (args) => {
    const word = argument(args, "detail", "KEY");
    if (isFile(word)) refuseOrder(args, "detail", "KEY", word);
    const key = word.replace(/^#?(?=\d+$)/, "message:");
    const form = FORMS.filter((name) => args.has(name));
    if (form.length > 1) throw usage(`use only one of ${inWords(form.map(dashed), "and")}`);
    const looked = look(source(args, "detail"), args, key, form[0]);
    const draw = {
      raw: () => rawText(looked),
      sent: () => sentText(looked),
      diff: (screen: Screen) => diffText(screen, looked),
    };
    const text = (screen: Screen) => detailText(screen, looked, key);
    return { report: looked.report, text: form[0] ? draw[form[0]] : text };
  },
  map: (args) => {
    const report = map(source(args, "map"), args);
    return { report, text: (screen) => mapText(screen, report) };
  },
  turns: (args) => {
    const report = turns(source(args, "turns"));
    const rows = { byCall: args.has("calls"), every: args.has("all") };
    return { report, text: (screen) => turnsText(screen, report, rows) };
  },
  find: (args) => {
    const text = argument(args, "find", "TEXT");
    // Other files may be named in the session: their names are searched for.
    if (/\.jsonl?$/.test(text) && isFile(text)) refuseOrder(args, "find", "TEXT", text);
    const top = topOf(args, 30);
    const report = find(source(args, "find"), text, args);
    const code = report.found > 0 ? OK : PAST;
    return { report, text: (screen) => findText(screen, report, top), code };
  },
  next: (args) => {
    const top = topOf(args, 5);
    const report = next(source(args, "next"), args);
    return { report, text: (screen) => nextText(screen, report, args.has("all"), top) };
  },
  replay: async (args) => {
    const report = await playFiles(args, process.argv.slice(2));
    const every = args.has("calls");
    const shown = every || report.runs.length === 1 ? report : withoutCalls(report);
    return { report: shown, text: (screen) => replayText(screen, report, every) };
  },
  check: (args) => {
    const report = check(sources(args, "check"), args);
    return {
      report,
      text: (screen) => checkText(screen, report, args.has("call")),
      code: report.ok ? OK : PAST,
    };
  },
  rpc: async (args) => {
    if (args.files.length === 0) throw usage("FILE is missing: plimsoll rpc FILE");
    if (args.files.includes("-"))
      throw usage("rpc reads requests from standard input: name a file");
    await rpc(sources(args, "rpc"), process.stdin, process.stdout);
    return { report: null, text: () => [] };
  },
  prompt: async (args) => {
    const report = await prompt(args);
    const draw = (screen: Screen) =>
      args.has("text") ? plainPrompt(report) : promptText(screen, report);
    return { report, text: draw };
  },
};

async function main(argv: readonly string[]): Promise<{ text: string; code: number }> {
  const args = parse(argv);
  const done = (text: string, code: number = OK) => ({ text, code });
  if (args.version) return done(`${version()}\n`);
  if (args.command === "help") return done(help(commandOf(args.files[0])));
  if (args.help) return done(help(commandOf(args.command)));
  const command = commandOf(args.command);
  if (command === undefined) return done(help());
  refuse(args, command);
  const screen = screenFor(args);
  const { report, text, code } = await RUN[command](args);
  const shown = args.has("json") ? [json(report)] : text(screen);
  return done(shown.map((line) => `${line}\n`).join(""), code);
}

function commandOf(name: string | undefined): Command | undefined {
  const command = COMMANDS.find((one) => one === name);
  if (name !== undefined && command === undefined)
    throw usage(
      `unknown command ${JSON.stringify(name)}.${suggestion(name, COMMANDS)} Commands: ${inWords(COMMANDS, "and")}`,
    );
  return command;
}

/** What stands on the command line before the file. */
function argument(args: Arguments, command: Command, what: string): string {
  const [first, ...files] = args.files;
  if (first === undefined) throw missing(command, what);
  args.files = files;
  return first;
}

/** Refuses a file where something else is to stand: that is missing, or comes after it. */
function refuseOrder(args: Arguments, command: Command, what: string, file: string): void {
  const [next] = args.files;
  if (next === undefined) throw missing(command, what);
  if (isFile(next)) return;
  const shown = /\s/.test(next) ? JSON.stringify(next) : next;
  throw usage(`${what} comes before FILE: plimsoll ${command} ${shown} ${file}`);
}

function missing(command: Command, what: string): Exit {
  return usage(`${what} is missing: plimsoll ${command} ${what} FILE`);
}

function screenFor(args: Arguments): Screen {
  const when = args.text("color");
  if (when !== undefined && !["auto", "always", "never"].includes(when))
    throw usage(`--color: auto, always or never, got ${JSON.stringify(when)}`);
  const { stdout, env } = process;
  const own = stdout.isTTY ? Math.min(120, Math.max(40, stdout.columns || 80)) : 80;
  return new Screen({
    color: wantsColor(when, env, stdout.isTTY === true),
    ascii: args.has("ascii") || env.TERM === "dumb",
    width: integer("width", args.text("width"), 40, 400) ?? own,
  });
}

function version(): string {
  const manifest: unknown = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  );
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown";
}

const json = (report: unknown): string => harmlessJson(JSON.stringify(report, null, 2));

/** Prints and sets the exit code. A reader that goes away early, as `head` does, is no error. */
async function run(): Promise<void> {
  // Without a listener Node would end with 1, which means that a limit is exceeded.
  process.stderr.on("error", () => {});
  process.stdout.on("error", (error) => {
    if (isGone(error)) return;
    const { code } = error as { code?: string };
    note(`standard output cannot be written (${code ?? error.message})`);
    process.exitCode = UNREADABLE;
  });
  try {
    const { text, code } = await main(process.argv.slice(2));
    process.stdout.write(text);
    process.exitCode = code;
  } catch (error) {
    if (isGone(error)) return;
    note(error instanceof Error ? error.message : String(error));
    process.exitCode = error instanceof Exit ? error.code : UNREADABLE;
  }
}

const dashed = (name: string): string => `--${name}`;

const isGone = (error: unknown): boolean => (error as { code?: string } | null)?.code === "EPIPE";

await run();
