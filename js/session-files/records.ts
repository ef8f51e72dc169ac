/** Compactions and checkpoints in session files: a record as a line, and the history after the last compaction. */
import { listOf, objectOf } from "../core/arguments.js";
import { argumentJson } from "../core/json.js";
import type { CheckpointRecord, CompactionRecord, SessionFile } from "../types.js";

/**
 * Returns a compaction or a checkpoint as one line of JSONL, without a line break, as pi and OpenClaw write it. It belongs in a session
 * file in which every message is a line `{ type: "message", id, parentId, message }`; `readSession` reads it back.
 *
 * @param record the compaction, from `CompactionOutcome.record`, or the checkpoint, from the event `checkpoint`
 * @param entry ids of the file
 * @throws {PlimsollError} `INVALID_ARGUMENT`
 * @example
 * const { record } = await context.compact(history);
 * if (record) await appendFile("session.jsonl", `${recordLine(record)}\n`);
 */
export function recordLine(
  record: CompactionRecord | CheckpointRecord,
  entry: {
    /** Id of the entry before this line. */
    parentId?: string | null;
    /**
     * Of a compaction: id of the first message that is kept. Needed if the file has messages that are not in the history that was compacted; else
     * `firstKeptIndex` of the record is enough.
     */
    firstKeptEntryId?: string | null;
  } = {},
): string {
  return argumentJson({ ...record, ...entry }, "record");
}

/**
 * Returns the messages with which a session continues. After a compaction in a pi or OpenClaw file these are the message that
 * replaces the older ones, the messages kept, and everything that followed; without one, all messages.
 *
 * @example
 * const history = resumeMessages(readSession(await readFile("session.jsonl")));
 * const { messages } = await context.prepare(history);
 */
export function resumeMessages(session: SessionFile): unknown[] {
  const { messages, resume } = objectOf("session", session);
  listOf("session.messages", messages);
  if (!resume) return messages.slice();
  return [resume.head, ...resume.kept.flatMap(([from, to]) => messages.slice(from, to))];
}
