/** Summaries by the host's summarizers, also ahead of their time. */

/**
 * Writes a summary: any model of the host's, or none. Gets system text and prompt ready to be sent, as fenced data and without
 * secrets. Whatever it throws or gives is an attempt in the outcome, and never an error in the host's turn.
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

export interface SummaryControl {
  /** Aborted when the host aborts, when a deadline is over, and when nobody waits for the answer any more. */
  signal: AbortSignal;
  /** Tells that something comes: the deadline for silence starts anew. For answers that stream. */
  alive?: () => void;
}

/** One call to a summarizer. */
export interface SummaryJob {
  /** All at once, a part, parts into one, an update of the previous summary, or the beginning of a turn whose rest is kept. */
  kind: "whole" | "chunk" | "merge" | "update" | "turn-prefix";
  /** Rules of ours; nothing of the transcript. */
  system: string;
  /** The transcript as inert, fenced text, with the previous summary where it belongs to this call. */
  prompt: string;
  /** The same previous summary as in `prompt`, for a host that tells of it; not to be sent again. */
  previousSummary: string | null;
  maxOutputTokens: number;
  /** An answer of more characters is refused unread: whoever streams may stop reading there. */
  maxOutputChars: number;
  /** Of `system` and `prompt`. */
  inputTokens: number;
  /** From 1. */
  attempt: number;
  /** Headings without which the answer is not taken; none for a part. */
  requiredHeadings: string[];
}

export interface SummaryResult {
  text: string;
  /** The provider's own word is understood. */
  finishReason?: string | null | undefined;
  usage?: object | null | undefined;
}

/** How summaries are made. */
export interface SummaryOptions {
  /** A fold that drops fewer tokens goes without a summary; 0: every fold has one. Default by the preset. */
  minimumTokens?: number;
  /** Headings, caps and figures of a family: ours (default), or of AceClaw, AIClaw, OpenClaw, Hermes. */
  template?: "plimsoll" | "aceclaw" | "aiclaw" | "openclaw" | "hermes";
  /** What stands before a summary, instead of the template's words. */
  prefix?: string;
  /** Tokens that a summary may have. Default by template: a fifth of the input, 2,000 to 4,000; AceClaw 4,096; Hermes 2,000 to 10,000. */
  maxTokens?: number;
  /** The language of a summary, by name or code. Default: the user's, by the words of the messages. */
  language?: string;
  /** What the host would like to be kept, at most 4,000 characters; it goes as data. */
  instructions?: string;
  /**
   * Secrets of some hundred known forms are taken out of everything that goes out and comes in, and of the names and errors that heads, lists
   * and stubs tell of, with or without a summarizer; a function besides (for prompts and answers), `false` never.
   */
  redact?: ((text: string) => string) | boolean;
  /** The summarizer's window. Default: the manager's. Longer parts go in chunks. */
  contextTokens?: number;
  /** Two calls at once where there are chunks. Default false. */
  parallel?: boolean;
  /**
   * Summaries are made ahead, in the background, by `prepare`, each from the one before and what came since, so that a fold
   * finds one: a request that would not fit otherwise takes it at once if it is of half its tokens or more, with an extract of
   * what came since; a fold that can wait only asks for what it lacks. Default false: each costs a call.
   */
  checkpoints?: boolean | CheckpointOptions;
  /** Milliseconds that a call may be silent before it counts as failed. Default 120,000. */
  silenceMs?: number;
  /** Milliseconds that all calls of a compaction may take together. Default 600,000 (GoClaw's). */
  totalMs?: number;
}

/** When checkpoints are made; the figures are GoClaw's. */
export interface CheckpointOptions {
  /** Percents of the usable window; newly reached, each is one. Default 25, 50, 75. */
  thresholds?: readonly number[];
  /** And after so many turns of the user since the last. Default 15. */
  turns?: number;
  /** Under so many tokens of a request there is none. Default 10,000. */
  minimumTokens?: number;
}

/** A summary of the session that was made ahead, as GoClaw writes it. */
export interface Checkpoint {
  /** Two to four paragraphs. */
  summary: string;
  /** Tokens of the request that it was made after: an estimate, whatever a provider counted. */
  tokensAtCheckpoint: number;
  /** It tells of the messages before this one of the history. */
  messageCountAtCheckpoint: number;
  topics: string[];
  openQuestions: string[];
  keyDecisions: string[];
}

/** One line of JSONL: a checkpoint beside the messages. */
export interface CheckpointRecord {
  type: "checkpoint";
  /** Sorts as checkpoints came. */
  id: string;
  timestamp: string;
  checkpoint: Checkpoint;
}
