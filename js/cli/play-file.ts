/** Runs of one file: read and measured once, played one after the other, by the main thread or by a worker. What comes of them is plain data. */
import { letGo } from "../session-files/recording.js";
import type { ReplayOptions, SessionFile } from "../types.js";
import { Exit, UNREADABLE } from "./errors.js";
import { type Facts, facts } from "./header.js";
import type { Arguments } from "./options.js";
import { type Run, runOf } from "./replay.js";
import { type Prices, policy, type Setting, settings } from "./setting.js";
import { attempt, open, playSteps } from "./source.js";

/** Some or all runs of a file. */
export interface Task {
  file: string;
  /** Its place among the files. */
  place: number;
  /** Numbers of the runs, as [from, to): every preset in the first window, then in the next. Without any, the file is only opened. */
  from: number;
  to: number;
}

/** A file that could be opened, and how it is played. */
export interface Opened {
  windows: Array<Setting["window"]>;
  prices: Prices;
  /** Of each run. */
  calls: number;
}

/** An error, as the command ends with it. */
export interface Failure {
  code: number;
  message: string;
  /** Number of the run; `null`: the file could not be opened. */
  run: number | null;
}

/** What comes of a task, bit by bit. */
export type News =
  | { kind: "opened"; opened: Opened }
  /** So many calls more were played. */
  | { kind: "advanced"; calls: number }
  /** A run is complete. What is in the file comes with its first run. */
  | { kind: "played"; number: number; run: Run; facts: Facts | undefined }
  | { kind: "failed"; failure: Failure };

/** Calls that are played at a time: often enough for a line of progress, seldom enough to cost nothing. */
const STEP = 50;

/** The presets to compare. */
export function presetsOf(args: Arguments): string[] {
  const names = args.list("preset");
  return names.length === 0 ? ["balanced"] : names;
}

export function* playFile({ file, from, to }: Task, args: Arguments): Generator<News> {
  let number: number | null = null;
  let session: SessionFile | undefined;
  try {
    const opened = open(file, args);
    session = opened;
    const all = attempt(file, () => settings(args, opened));
    const [first] = all;
    if (first === undefined) return;
    const windows = all.map(({ window }) => window);
    const { prices } = first;
    yield { kind: "opened", opened: { windows, prices, calls: opened.calls.length } };
    const presets = presetsOf(args);
    const wanted = all.flatMap((setting) => presets.map((preset) => ({ setting, preset })));
    for (const [at, { setting, preset }] of wanted.slice(from, to).entries()) {
      number = from + at;
      // Its agent had a summarizer if the file has summaries.
      const options: ReplayOptions = { summaryTokens: "file", ...policy(setting, preset) };
      const steps = playSteps({ file, session, setting, options }, STEP);
      let step = steps.next();
      for (; !step.done; step = steps.next()) yield { kind: "advanced", calls: step.value };
      const replay = step.value;
      const run = runOf({ file, setting, preset, replay });
      const found = number === 0 ? facts({ file, session }, replay) : undefined;
      // Not by `using`, as in `setting.ts`.
      replay[Symbol.dispose]();
      yield { kind: "played", number, run, facts: found };
    }
  } catch (error) {
    yield { kind: "failed", failure: failureOf(error, number) };
  } finally {
    if (session !== undefined) letGo(session);
  }
}

export function failureOf(error: unknown, run: Failure["run"]): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { code: error instanceof Exit ? error.code : UNREADABLE, message, run };
}
