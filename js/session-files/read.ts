/** Session files of agents. */
import { withDisposed } from "../core/disposed.js";
import type { Handle } from "../core/handle.js";
import type * as glue from "../glue/sessions_bg.js";
import type { OpenSession, ReadOptions } from "../types.js";
import { sessionOf } from "./opened.js";
import { SessionReader } from "./reader.js";

/**
 * Reads an agent's session file. The format is recognized by the content: pi and OpenClaw, Claude Code, Codex, Gemini CLI, Qwen
 * Code, Copilot CLI, Kimi CLI, Claude Managed Agents, opencode, OpenHands, SWE-agent and mini-swe-agent, Inspect, LangChain, AI SDK, Gemini, and arrays of Anthropic or OpenAI
 * messages. `receipt` lists each line that could not be read.
 *
 * `messages` keep the file's own shape if it is a supported format (`messageFormat`); those of Gemini CLI and Qwen Code are converted to Gemini
 * contents, all others to Chat Completions messages.
 *
 * The messages become objects when `messages` is first read; `message(index)` gives one of them. Until then replays and recorded views
 * need no second copy.
 *
 * @param bytes content of the file
 * @throws {PlimsollError} `UNKNOWN_FORMAT`, `INVALID_ARGUMENT`, `TOO_LARGE`.
 * @example
 * const session = readSession(await readFile("session.jsonl"));
 */
export function readSession(bytes: Uint8Array | string, options: ReadOptions = {}): OpenSession {
  const read = (): Handle<glue.OpenSession> =>
    withDisposed(new SessionReader(options), (reader) => {
      reader.push(bytes);
      return reader.finished("readSession");
    });
  return sessionOf(read(), read);
}
