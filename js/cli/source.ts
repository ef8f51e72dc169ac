/** A session of the command line: opened, with the window and the policy it is looked at under, and played. */
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { readSession, replay } from "../entry/sessions.js";
import { PlimsollError } from "../index.js";
import type { InspectReport, Replay, ReplayOptions, SessionFile } from "../types.js";
import { Exit, isOption, note, unreadable, usage } from "./errors.js";
import { newest } from "./newest.js";
import { type Arguments, type Command, integer } from "./options.js";
import { policy, type Setting, setting } from "./setting.js";

/** Commands that show a simulation, with and without a preset. */
const SIMULATES: readonly Command[] = ["find", "next", "replay"];
/** Options that only change a simulation. A recorded request has the provider's counts, and the provider has accepted or refused it. */
const OF_SIMULATIONS = ["provider", "prices", "ttl", "unseen"];

/** A file, and how it is looked at. */
export interface Source {
  /** As it was named. */
  file: string;
  session: SessionFile;
  setting: Setting;
  options: ReplayOptions;
}

/** Every file of a command that takes one window and one preset; the newest session of an agent where none is named. */
export function sources(args: Arguments, command: Command): Source[] {
  const files = args.files.length > 0 ? args.files : [found()];
  return [...new Set(files)].map((file) => sourceOf(file, args, command));
}

/** The one file of a command that takes one. */
export function source(args: Arguments, command: Command): Source {
  if (args.files.length > 1)
    throw usage(`plimsoll ${command} takes one file, got ${args.files.length}`);
  return sourceOf(args.files[0] ?? found(), args, command);
}

function sourceOf(file: string, args: Arguments, command: Command): Source {
  const [preset, ...presets] = args.list("preset");
  if (presets.length > 0)
    throw usage(`--preset: plimsoll ${command} takes one; plimsoll replay compares several`);
  const idle = OF_SIMULATIONS.find((name) => args.has(name));
  if (preset === undefined && !SIMULATES.includes(command) && idle !== undefined)
    throw usage(`--${idle}: plimsoll ${command} takes it with --preset`);
  const session = open(file, args);
  const wanted = attempt(file, () => setting(args, session));
  return { file, session, setting: wanted, options: policy(wanted, preset) };
}

/** The newest session of an agent; its path is printed to stderr. */
function found(): string {
  const file = newest(process.cwd(), process.env);
  if (file === undefined)
    throw usage(`FILE is missing: no agent session was found for this folder`);
  note(`using the newest session: ${file}`);
  return file;
}

export function play(source: Source): Replay {
  const steps = playSteps(source, Number.POSITIVE_INFINITY);
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

/** Plays so many calls at a time; each time it yields how many. */
export function* playSteps(
  { file, session, options }: Source,
  calls: number,
): Generator<number, Replay> {
  const played = attempt(file, () => replay(session, { ...options, calls }));
  wantCalls(file, played);
  yield played.calls.length;
  while (played.calls.length < session.calls.length) {
    const before = played.calls.length;
    attempt(file, () => played.advance(calls));
    yield played.calls.length - before;
  }
  return played;
}

/** Refuses a file without a call: there is nothing to show. */
export function wantCalls(file: string, { calls }: { calls: readonly unknown[] }): void {
  if (calls.length === 0) throw unreadable(file, "holds no model call: nothing was ever sent");
}

/** The call that is asked for, from 1; the last if none is. */
export function callOf(args: Arguments, { calls }: { calls: readonly unknown[] }): number {
  return integer("call", args.text("call"), 1, calls.length) ?? calls.length;
}

/** The report of a call, from 1: what every view of a session shows. */
export function reportAt(
  { file }: Source,
  played: Pick<Replay, "report">,
  call: number,
  detailKey?: string,
): InspectReport {
  const options = detailKey === undefined ? {} : { detailKey };
  return { ...attempt(file, () => played.report(call - 1, options)), sessionId: file };
}

export function open(file: string, args: Arguments): SessionFile {
  const bytes = load(file);
  const leaf = args.text("leaf");
  return attempt(file, () => readSession(bytes, leaf === undefined ? {} : { leaf }));
}

/** Whether a word of the command line names a file. */
export function isFile(word: string): boolean {
  return statSync(word, { throwIfNoEntry: false })?.isFile() === true;
}

/** Bytes of a file; 0 for standard input. What is plainly no file is refused without reading it. */
export function sizeOf(file: string): number {
  if (file === "-") return 0;
  try {
    accessSync(file, constants.R_OK);
    const found = statSync(file);
    if (found.isDirectory()) throw notRead(file, "EISDIR");
    return found.size;
  } catch (error) {
    throw error instanceof Exit ? error : notRead(file, codeOf(error));
  }
}

function load(file: string): Uint8Array {
  try {
    return readFileSync(file === "-" ? 0 : file);
  } catch (error) {
    throw notRead(file, codeOf(error));
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EACCES: "may not be read",
  EISDIR: "is a folder; name a session file in it",
  EAGAIN: "nothing on standard input",
};

function notRead(file: string, code: string): Exit {
  return unreadable(file, REASONS[code] ?? (code || "cannot be read"));
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** What the package refuses is said in its own words: a wrong option is the command line's fault, the rest the file's. */
export function attempt<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Exit) throw error;
    if (error instanceof PlimsollError && isOption(error)) throw usage(error.message);
    throw unreadable(file, error instanceof Error ? error.message : String(error));
  }
}
