/** Session files of agents. */
import { onlyKnown } from "../core/arguments.js";
import { invalid } from "../core/errors.js";
import * as glue from "../glue/sessions_bg.js";
import type { SessionFile } from "../types.js";
import { sessions } from "./wasm.js";

/**
 * Reads an agent's session file. The format is recognized by the content: pi and OpenClaw, Claude Code, Codex, Copilot CLI, Kimi
 * CLI, Claude Managed Agents, opencode, OpenHands, SWE-agent and mini-swe-agent, Inspect, LangChain, AI SDK, Gemini, and arrays of Anthropic or OpenAI
 * messages. `receipt` lists each line that could not be read.
 *
 * `messages` keep the file's own shape if it is a supported format (`messageFormat`); others are converted to Chat Completions
 * messages.
 *
 * @param bytes content of the file
 * @throws {PlimsollError} `UNKNOWN_FORMAT`, `INVALID_ARGUMENT`, `TOO_LARGE`.
 * @example
 * const session = readSession(await readFile("session.jsonl"));
 */
export function readSession(
  bytes: Uint8Array | string,
  options: {
    /**
     * Id of the entry at which the branch to read ends (pi, Claude Code), or index of a run or sample in a file with several. Default:
     * the newest branch, the first run.
     */
    leaf?: string;
  } = {},
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
