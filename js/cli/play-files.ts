/** `plimsoll replay FILE...`: the runs of all files, played in worker threads if that takes less time than starting them. */
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import { unreadable, usage } from "./errors.js";
import { type Arguments, integer } from "./options.js";
import { failureOf, type News, playFile, presetsOf, type Task } from "./play-file.js";
import { Progress } from "./progress.js";
import type { ReplayReport } from "./replay.js";
import { Runs } from "./replay-runs.js";
import type { Done } from "./replay-worker.js";
import { sizeOf } from "./source.js";

/** At most so many threads: each has the memory of the core once more. */
const MOST_JOBS = 8;
/** Fewer bytes, each counted once for each run of its file, are played faster than threads start. */
const WORTH = 2_000_000;

/** @param argv the command line, which each thread reads for itself */
export async function playFiles(args: Arguments, argv: readonly string[]): Promise<ReplayReport> {
  if (args.files.length === 0) throw usage("FILE is missing: plimsoll replay FILE");
  const files = [...new Set(args.files)];
  const each = Math.max(1, args.list("window").length) * presetsOf(args).length;
  const jobs = jobsOf(args, files, each);
  const tasks = tasksOf(files, each, jobs);
  using progress = new Progress(files.length * each);
  const runs = new Runs(files, tasks, progress);
  const threads = Math.min(jobs, tasks.length);
  if (threads > 1) await inThreads(runs, argv, threads);
  // What no thread could play is played here.
  for (let task = runs.next(); task && !runs.failure; task = runs.next()) {
    for (const news of playFile(task, args)) runs.take(task, news);
  }
  return runs.report();
}

function jobsOf(args: Arguments, files: readonly string[], each: number): number {
  const wanted = integer("jobs", args.text("jobs"), 1, MOST_JOBS);
  const bytes = files.map(sizeOf).reduce((all, one) => all + one, 0) * each;
  const own = bytes < WORTH ? 1 : Math.min(availableParallelism(), MOST_JOBS);
  return Math.min(wanted ?? own, files.length * each);
}

/** A task for each file, or several if there are fewer files than threads. Standard input and pipes have no size and can be read only once. */
function tasksOf(files: readonly string[], each: number, jobs: number): Task[] {
  return files.flatMap((file, place) => {
    const parts = sizeOf(file) === 0 ? 1 : Math.min(each, Math.ceil(jobs / files.length));
    return Array.from({ length: parts }, (_, part) => {
      const [from = 0, to = each] = [part, part + 1].map((at) => Math.floor((at * each) / parts));
      return { file, place, from, to };
    });
  });
}

/** Plays tasks until none is left, or the command has to fail. What no thread could begin is left. */
async function inThreads(runs: Runs, argv: readonly string[], amount: number): Promise<void> {
  const threads: Worker[] = [];
  try {
    const file = new URL("./replay-worker.js", import.meta.url);
    while (threads.length < amount) threads.push(new Worker(file, { workerData: argv }));
  } catch {
    // Node can be run without the right to start threads.
  }
  await new Promise<void>((done) => {
    const all = threads.map((thread) => playAll(thread, runs, done));
    Promise.all(all).then(() => done());
  });
  await Promise.all(threads.map((thread) => thread.terminate()));
}

/** @param fail is called where the others have nothing more to play */
async function playAll(thread: Worker, runs: Runs, fail: () => void): Promise<void> {
  let isAlive = true;
  for (let task = runs.next(); task; task = isAlive ? runs.next() : undefined) {
    isAlive = await playIn(thread, task, runs);
    if (runs.failure !== undefined) return fail();
  }
}

/** Plays a task in a thread: false if the thread has ended. */
function playIn(thread: Worker, task: Task, runs: Runs): Promise<boolean> {
  return new Promise((done) => {
    let isBegun = false;
    const hear = (news: News | Done): void => {
      isBegun = true;
      if (news.kind !== "done") runs.take(task, news);
      if (news.kind === "done" || runs.failure !== undefined) end(true);
    };
    const lose = ({ message }: Error): void => {
      const failure = failureOf(unreadable(task.file, message), task.from);
      if (isBegun) runs.take(task, { kind: "failed", failure });
      else runs.putBack(task);
      end(false);
    };
    const end = (isAlive: boolean): void => {
      thread.off("message", hear).off("error", lose);
      done(isAlive);
    };
    thread.on("message", hear).on("error", lose);
    thread.postMessage(task);
  });
}
