/** Session files of agents, which have a Wasm of their own. */
import { invalid } from "./errors.js";
import * as glue from "./glue/sessions_bg.js";
import { onlyKnown } from "./known.js";
import { Seam } from "./seam.js";
import type { SessionFile } from "./types.js";

export const sessions: Seam = new Seam("sessions", glue);

/**
 * Reads an agent's session file, known by what it holds: pi and OpenClaw, Claude Code, Codex, Copilot CLI, Kimi CLI,
 * opencode, OpenHands, SWE-agent and mini-swe-agent, Inspect, LangChain, AI SDK, Gemini, and arrays of Anthropic or OpenAI
 * messages. What could not be read is in `receipt`, line by line.
 *
 * `messages` are the file's own where they are of a format that is read (`messageFormat`), else Chat Completions messages.
 *
 * @param options `leaf`: the entry whose branch is read (pi, Claude Code), or the index of a run or sample where a file
 *   holds several; default the newest branch, the first run.
 * @throws {PlimsollError} `UNKNOWN_FORMAT`, `INVALID_ARGUMENT`, `TOO_LARGE`.
 * @example
 * const session = readSession(await readFile("session.jsonl"));
 */
export function readSession(
  bytes: Uint8Array | string,
  options: { leaf?: string } = {},
): SessionFile {
  // By tag, not `instanceof`: bytes may come from another realm (Node's Buffer under jest-environment-jsdom).
  const tag = Object.prototype.toString.call(bytes);
  if (typeof bytes !== "string" && tag !== "[object Uint8Array]") {
    throw invalid("bytes", "a string or a Uint8Array", bytes);
  }
  const { leaf } = onlyKnown("options", options, ["leaf"]);
  const json = sessions.call("readSession", () => {
    const length = typeof bytes === "string" ? sessions.send(bytes) : sessions.sendBytes(bytes);
    return glue.read_session(length, leaf);
  });
  return JSON.parse(json) as SessionFile;
}
