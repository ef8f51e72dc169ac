/** A worker thread of `plimsoll replay`: plays the runs of the files that it is handed, and posts what comes of them. */
import "./builtin-modules.js";
import { parentPort, workerData } from "node:worker_threads";
import { parse } from "./options.js";
import { type News, playFile, type Task } from "./play-file.js";

/** The end of a task. */
export interface Done {
  kind: "done";
}

const port = parentPort;
const args = parse(workerData as string[]);

port?.on("message", (task: Task) => {
  const post = (news: News | Done): void => port.postMessage(news);
  for (const news of playFile(task, args)) post(news);
  post({ kind: "done" });
});
