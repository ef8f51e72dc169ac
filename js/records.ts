/** A session's compactions beside its messages, line by line, and how it goes on from them. */
import { argumentJson } from "./json.js";
import type { CompactionRecord, SessionFile } from "./types.js";

/**
 * One line of JSONL, without its end, as pi and OpenClaw write compactions: for a session file in which every message is a line
 * `{ type: "message", id, parentId, message }`. `readSession` reads it back.
 *
 * @param entry what only the file knows: the id of the entry before it, and of the first message kept. Without the latter
 *   `firstKeptIndex` tells it, which counts the file's messages only where the file's are the history that was compacted.
 * @throws {PlimsollError} `INVALID_ARGUMENT`
 * @example
 * const { record } = await context.compact(history);
 * if (record) await appendFile("session.jsonl", `${recordLine(record)}\n`);
 */
export function recordLine(
  record: CompactionRecord,
  entry: { parentId?: string | null; firstKeptEntryId?: string | null } = {},
): string {
  return argumentJson({ ...record, ...entry }, "record");
}

/**
 * The messages that a session goes on with: after its last compaction the message that stands for what is gone, what was
 * kept, and what followed; all, where there was none. For a pi or OpenClaw file, whose records are ours or theirs.
 *
 * @example
 * const history = resumeMessages(readSession(await readFile("session.jsonl")));
 * const { messages } = await context.prepare(history);
 */
export function resumeMessages(session: SessionFile): unknown[] {
  const { messages, resume } = session;
  if (!resume) return messages.slice();
  return [resume.head, ...resume.kept.flatMap(([from, to]) => messages.slice(from, to))];
}
