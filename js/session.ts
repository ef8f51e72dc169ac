/** Session files of agents, which have a Wasm of their own. */
import { invalid } from "./errors.js";
import * as glue from "./glue/sessions_bg.js";
import { Seam } from "./seam.js";
import type { SessionFile } from "./types.js";

export const sessions: Seam = new Seam("sessions", glue);

/**
 * Reads an agent's session file: pi and OpenClaw JSONL, Claude Code JSONL, Codex rollouts, arrays of Anthropic or OpenAI
 * messages. What could not be read is in `receipt`, line by line.
 *
 * @param options `leaf`: the entry whose branch is read (pi), or the run of a file that holds several; default the newest.
 * @throws {PlimsollError} `UNKNOWN_FORMAT`, `INVALID_ARGUMENT`, `TOO_LARGE`.
 * @example
 * const session = readSession(await readFile("session.jsonl"));
 */
export function readSession(
  bytes: Uint8Array | string,
  options: { leaf?: string } = {},
): SessionFile {
  if (typeof bytes !== "string" && !(bytes instanceof Uint8Array)) {
    throw invalid("bytes", "a string or a Uint8Array", bytes);
  }
  const json = sessions.call("readSession", () => {
    const length = typeof bytes === "string" ? sessions.send(bytes) : sessions.sendBytes(bytes);
    return glue.read_session(length, options.leaf);
  });
  return JSON.parse(json) as SessionFile;
}
