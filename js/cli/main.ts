/** The `plimsoll` command: reads the command line, opens the file, hands both to a command, prints what it answers. */
import { readFileSync } from "node:fs";
import { PlimsollError, readSession, replay } from "../index.js";
import type { Replay, SessionFile } from "../types.js";
import { Exit, isOption, OK, UNREADABLE, unreadable, usage } from "./errors.js";
import { inspect } from "./inspect.js";
import { inspectText } from "./inspect-text.js";
import { next } from "./next.js";
import { nextText } from "./next-text.js";
import { COMMANDS, type Given, help, inWords, parse, refuse, whole } from "./options.js";
import { prompt } from "./prompt.js";
import { plainPrompt, promptText } from "./prompt-text.js";
import { type Played, replayReport, withoutCalls } from "./replay.js";
import { replayText } from "./replay-text.js";
import { PRICES, policy, type Setting, setting, settings } from "./setting.js";
import { Screen, wantsColor } from "./style.js";
import { harmless, harmlessJson } from "./text.js";

const NAMES = inWords(COMMANDS, "or");

async function main(argv: readonly string[]): Promise<string> {
  const given = parse(argv);
  if (given.version) return `${version()}\n`;
  if (given.help || given.command === "help") return help();
  const command = COMMANDS.find((name) => name === given.command);
  if (given.command === undefined)
    throw usage(`a command is missing: ${NAMES}; see plimsoll --help`);
  if (command === undefined)
    throw usage(`${JSON.stringify(given.command)} is no command: ${NAMES}; see plimsoll --help`);
  refuse(given, command);
  if (command === "prompt") return runPrompt(screenFor(given), given);
  const [file, ...more] = given.files;
  if (file === undefined) throw usage(`a file is missing: plimsoll ${command} FILE`);
  const screen = screenFor(given);
  if (command === "replay") return runReplay(screen, given);
  if (more.length > 0) throw usage(`one file at a time, got ${given.files.length}`);
  const [preset, ...presets] = given.list("preset");
  if (presets.length > 0)
    throw usage(`--preset: one for plimsoll ${command}; plimsoll replay compares several`);
  const session = open(file, given);
  const wanted = setting(given, session);
  return command === "inspect"
    ? runInspect(screen, file, session, wanted, preset, given)
    : runNext(screen, file, session, wanted, preset, given);
}

async function runPrompt(screen: Screen, given: Given): Promise<string> {
  const report = await prompt(given);
  if (given.has("json")) return json(report);
  return lines(given.has("text") ? plainPrompt(report) : promptText(screen, report));
}

function runInspect(
  screen: Screen,
  file: string,
  session: SessionFile,
  wanted: Setting,
  preset: string | undefined,
  given: Given,
): string {
  const played = play(file, session, wanted, preset);
  const report = inspect(file, session, played, wanted, given);
  return given.has("json") ? json(report) : lines(inspectText(screen, report));
}

function runNext(
  screen: Screen,
  file: string,
  session: SessionFile,
  wanted: Setting,
  preset: string | undefined,
  given: Given,
): string {
  const top = whole("top", given.text("top"), 0, 1_000_000) ?? 5;
  const report = attempt(file, () => next(file, session, wanted, policy(wanted, preset), given));
  return given.has("json") ? json(report) : lines(nextText(screen, report, given.has("all"), top));
}

function runReplay(screen: Screen, given: Given): string {
  const names = given.list("preset");
  const presets = names.length === 0 ? ["balanced"] : names;
  const opened = [...new Set(given.files)].map((file) => {
    const session = open(file, given);
    return { file, session, settings: settings(given, session) };
  });
  agree(opened);
  const played = opened.flatMap(({ file, session, settings }) =>
    settings.flatMap((setting) =>
      presets.map((preset): Played => {
        return { file, session, setting, preset, replay: play(file, session, setting, preset) };
      }),
    ),
  );
  const prices = opened[0]?.settings[0]?.prices ?? PRICES;
  const report = replayReport(played, prices);
  for (const { replay } of played) replay[Symbol.dispose]();
  const isOne = report.runs.length === 1 || given.has("calls");
  if (given.has("json")) return json(isOne ? report : withoutCalls(report));
  return lines(replayText(screen, report, given.has("calls")));
}

/** Sessions of different windows have no row in common. */
function agree(opened: ReadonlyArray<{ file: string; settings: readonly Setting[] }>): void {
  const own = opened.map(({ settings }) => settings.map((one) => one.window));
  const other = own.findIndex((one) => JSON.stringify(one) !== JSON.stringify(own[0]));
  if (other > 0)
    throw usage(
      `--window: is missing, and ${opened[0]?.file} and ${opened[other]?.file} have different ones`,
    );
}

function play(
  file: string,
  session: SessionFile,
  wanted: Setting,
  preset: string | undefined,
): Replay {
  const played = attempt(file, () => replay(session, policy(wanted, preset)));
  if (played.calls.length === 0)
    throw unreadable(file, "holds no model call: nothing was ever sent");
  return played;
}

function open(file: string, given: Given): SessionFile {
  const bytes = load(file);
  const leaf = given.text("leaf");
  return attempt(file, () => readSession(bytes, leaf === undefined ? {} : { leaf }));
}

function load(file: string): Uint8Array {
  try {
    return readFileSync(file === "-" ? 0 : file);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const told: Record<string, string> = {
      ENOENT: "no such file",
      EACCES: "may not be read",
      EISDIR: "is a folder; name a session file in it",
      EAGAIN: "nothing on standard input",
    };
    throw unreadable(file, told[code] ?? (code || "cannot be read"));
  }
}

/** What the package refuses is said in its own words: a wrong option is the command line's fault, the rest the file's. */
function attempt<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Exit) throw error;
    if (error instanceof PlimsollError && isOption(error)) throw usage(error.message);
    throw unreadable(file, error instanceof Error ? error.message : String(error));
  }
}

function screenFor(given: Given): Screen {
  const when = given.text("color");
  if (when !== undefined && !["auto", "always", "never"].includes(when))
    throw usage(`--color: auto, always or never, got ${JSON.stringify(when)}`);
  const { stdout, env } = process;
  const own = stdout.isTTY ? Math.min(120, Math.max(40, stdout.columns || 80)) : 80;
  return new Screen({
    color: wantsColor(when, env, stdout.isTTY === true),
    ascii: given.has("ascii") || env.TERM === "dumb",
    width: whole("width", given.text("width"), 40, 400) ?? own,
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

const json = (report: unknown): string => `${harmlessJson(JSON.stringify(report, null, 2))}\n`;
const lines = (text: readonly string[]): string => `${text.join("\n")}\n`;

/** Prints and sets the exit code. A reader that goes away early, as `head` does, is no error. */
async function run(): Promise<void> {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") process.exitCode = UNREADABLE;
  });
  try {
    process.stdout.write(await main(process.argv.slice(2)));
    process.exitCode = OK;
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    process.stderr.write(`plimsoll: ${harmless(told)}\n`);
    process.exitCode = error instanceof Exit ? error.code : UNREADABLE;
  }
}

await run();
