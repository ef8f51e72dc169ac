/** What a call comes to: a request, a history pruned or cut, and what goes out with it. */
import type { Edit, Violation } from "../generated.js";
import type { CompactionOutcome } from "./compaction.js";

/** A request, and what is to be said about it. */
export interface Prepared<M> {
  messages: M[];
  /** For each message the index of the history message it is or edits; null = made by us. */
  source: ReadonlyArray<number | null>;
  /** False: even what may not go is over the usable window, by our estimate. */
  fits: boolean;
  /** What had to be repaired in the host's history. */
  repairs: Violation[];
  /**
   * Messages of it after which a cache marker pays, where the provider takes markers: the head of a fold, what the last
   * request had too, the end. At most 3, and with the host's own in `system` and `tools` at most 4.
   */
  cacheBreakpoints: readonly number[];
  /** Changes only when something other than the end of the request changes. */
  epoch: number;
  /** First message that differs from the previous request; -1: system or tools; null: it only grew. */
  firstChanged: number | null;
  tokens: number;
  tokensSource: "usage+estimate" | "estimate";
  /**
   * How many messages of the session the host no longer passes: it shows a window of its transcript, or took a request of ours for it.
   * What is still sent of them is sent as it was, until it is larger than what the host holds or room is made.
   */
  forgotten: number;
  /** Edits that are new in this request. */
  edits: Edit[];
  /**
   * What room was made for this request, by the deepest step that was taken; null: none was needed. `pruned`: edits,
   * `discarded`: the oldest went, `truncated`: old bodies were cut or, with a `record`, a fold; `none`: a fold was wanted, and
   * why it was not carried out. Its positions are those of the history that was passed.
   */
  compaction: CompactionOutcome | null;
  hints: { body?: Record<string, unknown>; headers?: Record<string, string> };
}

/** A history pruned for one request. */
export interface PruneResult<M> {
  messages: M[];
  /** False: nothing was done, and `messages` are the host's own. */
  applied: boolean;
  /** Tokens of the request, system and tools counted in. */
  originalTokens: number;
  prunedTokens: number;
  edits: Edit[];
}

/** A history cut down to its share of a window. */
export interface ShareResult<M> {
  messages: M[];
  droppedMessagesList: M[];
  droppedChunks: number;
  droppedMessages: number;
  droppedTokens: number;
  keptTokens: number;
  budgetTokens: number;
}

/** How many turns the sessions of a channel keep. */
export type Channels = Readonly<
  Record<
    string,
    {
      /** For whatever has no limit of its own. */
      historyTurns?: number | undefined;
      /** For direct messages. */
      dmHistoryLimit?: number | undefined;
      /** For the direct messages of one user. */
      dms?: Readonly<Record<string, { historyLimit?: number | undefined }>> | undefined;
    }
  >
>;

/** A prompt for notes, for the end of a request. */
export interface FlushPrompt {
  /** Percent of the usable window that was newly crossed: 50, 75 or 90. */
  threshold: number;
  text: string;
}

/** A tool in plain JSON Schema: spread into `input_schema`, `function.parameters` or `jsonSchema()`. */
export interface AgentTool {
  name: string;
  description: string;
  parameters: { type: "object"; properties: Record<string, object>; required: string[] };
}
