/** Summarizers and summaries. */
import type { AbortSignal } from "./web.js";

/**
 * Writes a summary with a model of your choice. `system` and `prompt` are ready to send: the transcript is fenced as data, and secrets are
 * removed. An error or a bad answer is listed in the outcome's `attempts`; it never throws into your turn.
 *
 * @example
 * const summarize: Summarizer = async ({ system, prompt, maxOutputTokens }, { signal }) => {
 *   const answer = await client.complete({ system, prompt, maxTokens: maxOutputTokens, signal });
 *   return { text: answer.text, finishReason: answer.stopReason };
 * };
 */
export type Summarizer = (
  job: SummaryJob,
  control: SummaryControl,
) => Promise<string | SummaryResult>;

/** Signals between Plimsoll and a summarizer. */
export interface SummaryControl {
  /** Aborted if you abort, if a deadline passes, or if the answer is no longer needed. */
  signal: AbortSignal;
  /** Call this when a part of a streamed answer arrives: it restarts the deadline `silenceMs`. */
  alive?: () => void;
}

/** One call to a summarizer. */
export interface SummaryJob {
  /**
   * `whole`: everything at once. `chunk`: one part. `merge`: several parts into one. `update`: adds to the previous summary.
   * `turn-prefix`: the start of a turn whose rest is kept.
   */
  kind: "whole" | "chunk" | "merge" | "update" | "turn-prefix";
  /** Instructions, without any text of the transcript. */
  system: string;
  /** The transcript as fenced text, and the previous summary if this call needs it. */
  prompt: string;
  /** The previous summary. It is already part of `prompt`; do not send it again. */
  previousSummary: string | null;
  /** Most tokens of the answer. */
  maxOutputTokens: number;
  /** An answer of more characters is refused unread; a streaming summarizer can stop reading there. */
  maxOutputChars: number;
  /** Estimated tokens of `system` and `prompt`. */
  inputTokens: number;
  /** Number of the attempt, from 1. */
  attempt: number;
  /** Headings that the answer must have; empty for a chunk. */
  requiredHeadings: string[];
}

/** A summarizer's answer. */
export interface SummaryResult {
  /** The summary. */
  text: string;
  /** Why the model stopped, in the provider's own word (`stop`, `end_turn`, `length`, `max_tokens`, ...). */
  finishReason?: string | null | undefined;
  /** Usage of the call, as the provider reported it. */
  usage?: object | null | undefined;
}

/** Options for summaries. */
export interface SummaryOptions {
  /**
   * A fold that removes fewer tokens than this gets no summary. 0: every fold gets one. Default 0 for the presets of other systems; else
   * by the preset.
   */
  minimumTokens?: number | undefined;
  /**
   * Headings, limits, and the text around a summary: ours, or those of another system. Default: the preset's system; `plimsoll` for our own
   * presets. `context-budget` has the headings of `hermes`.
   */
  template?:
    | "plimsoll"
    | "aceclaw"
    | "aiclaw"
    | "openclaw"
    | "goclaw"
    | "context-budget"
    | "hermes"
    | undefined;
  /** Text before a summary in the request. Default: the template's. */
  prefix?: string | undefined;
  /** Puts a note for your system prompt into `Prepared.systemNote` while there is a summary. Default false; preset `aiclaw` true. */
  systemNote?: boolean | undefined;
  /**
   * Most tokens of a summary. Default: a fifth of the input, from 2,000 to 4,000; AceClaw 4,096; GoClaw 2,000; Hermes 2,000 to 10,000.
   */
  maxTokens?: number | undefined;
  /** Language of a summary, by name or code. Default: the language of the messages. */
  language?: string | undefined;
  /** What summaries should keep, at most 4,000 characters. Sent to the summarizer as data. */
  instructions?: string | undefined;
  /**
   * Removes secrets of about a hundred known forms from prompts, answers, heads, stubs and lists, with or without a summarizer. A function is
   * applied besides, to prompts and answers. `false` removes nothing. Default true.
   */
  redact?: ((text: string) => string) | boolean | undefined;
  /** Window of the summarizer in tokens. Default: the manager's window. A transcript that is larger is sent in chunks, one call each. */
  contextTokens?: number | undefined;
  /** Summarize two chunks at a time; `false`: one after another. Default true. */
  parallel?: boolean | undefined;
  /**
   * Lets `prepare` write summaries ahead of time, in the background, so that a fold does not have to wait for one. Each checkpoint is made from
   * the one before and the messages since; each costs a call. A request that must fold at once uses the last checkpoint if it covers at least
   * half of the tokens. Default false; preset `goclaw` true.
   */
  checkpoints?: boolean | CheckpointOptions | undefined;
  /** A call without any sign of life for so many milliseconds has failed. Default 120,000. */
  silenceMs?: number | undefined;
  /** Most milliseconds for all calls of a compaction together. Default 600,000 (GoClaw's). */
  totalMs?: number | undefined;
}

/** When checkpoints are made. The defaults are GoClaw's. */
export interface CheckpointOptions {
  /** Percents of the usable window. Reaching one makes a checkpoint. Default 25, 50, 75. */
  thresholds?: readonly number[] | undefined;
  /** Also after so many turns since the last checkpoint. Default 15. */
  turns?: number | undefined;
  /** No checkpoint for requests below so many tokens. Default 10,000. */
  minimumTokens?: number | undefined;
  /**
   * The last checkpoint of an earlier process, for a session that is opened without a snapshot. The first history must begin with the
   * messages that it covers, such as `resumeMessages(session)` of a file that was read. Default none; a snapshot has its own.
   */
  last?: Checkpoint | null | undefined;
}

/** A summary made ahead of time, in GoClaw's shape. */
export interface Checkpoint {
  /** Two to four paragraphs. */
  summary: string;
  /** Estimated tokens of the request after which it was made. */
  tokensAtCheckpoint: number;
  /** Number of messages of the history that it covers. */
  messageCountAtCheckpoint: number;
  /** Topics. */
  topics: string[];
  /** Open questions. */
  openQuestions: string[];
  /** Decisions. */
  keyDecisions: string[];
}

/** A checkpoint as one line of JSONL. */
export interface CheckpointRecord {
  type: "checkpoint";
  /** Id of the record; sorts by time. */
  id: string;
  /** ISO 8601 time. */
  timestamp: string;
  /** The checkpoint. */
  checkpoint: Checkpoint;
}
