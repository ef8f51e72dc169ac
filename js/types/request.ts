/** Results of calls: a request, a pruned history, and what is sent with it. */
import type { Edit, Violation } from "../generated.js";
import type { CompactionOutcome, Floor } from "./compaction.js";

/** A request to send, and what was done to make it. */
export interface Prepared<M> {
  /** The messages to send. Unchanged messages are the objects you passed in. */
  messages: M[];
  /** For each message the index of its original in your history; `null` if it is a synthetic message. */
  source: ReadonlyArray<number | null>;
  /** `false` if the request is still larger than the usable window, by our estimate, after everything removable was removed. */
  fits: boolean;
  /** Why it does not fit; `null` if it does. */
  why: Unfit | null;
  /** What was invalid in your history and was repaired. */
  repairs: Violation[];
  /**
   * Indexes into `messages` after which a cache marker (Anthropic: `cache_control`) pays off: the head of a fold, the end of what the
   * last request had too, the end. At most 3, and at most 4 together with your own markers in `system` and `tools`. Empty if
   * the provider takes no markers.
   */
  cacheBreakpoints: readonly number[];
  /** Number of the epoch. It rises when something other than the end of the request changes. */
  epoch: number;
  /** Index of the first message that differs from the previous request; -1: system or tools; `null`: it only grew. */
  firstChanged: number | null;
  /** Tokens of the request, with system prompt and tools. */
  tokens: number;
  /** `usage+estimate` if the provider's own counts (`observe`) are part of `tokens`; else `estimate`. */
  tokensSource: "usage+estimate" | "estimate";
  /**
   * How many messages of the session the host no longer passes: it shows a window of its transcript, or took a request of ours for it.
   * What is still sent of them is sent as it was, until it is larger than what the host holds or room is made.
   */
  forgotten: number;
  /** Edits that are new in this request. */
  edits: Edit[];
  /**
   * How room was made for this request, or `null` if none was needed. Its status is that of the strongest step: `pruned` (edits),
   * `folded` (a fold without a summary), `truncated` (old bodies cut) or `discarded` (the oldest messages dropped). `none`: a fold was due
   * and was not carried out; `reason` says why. Positions refer to the history you passed. The sizes of a fold made in the background are
   * those of when it was made.
   */
  compaction: CompactionOutcome | null;
  /**
   * What the request needs besides, so that the provider drops thinking that an edit has made invalid instead of refusing the request
   * (Anthropic and Bedrock; see the option `thinking`). Empty until an edit leaves such thinking in the request, and always with
   * `thinking: "drop"`. `apply` and `applyHeaders` merge it in; spread over your body it would replace your own `thinking`.
   */
  hints: {
    /** Members to merge into the request body. */
    body?: Record<string, unknown>;
    /** Headers to add to the request. */
    headers?: Record<string, string>;
  };
  /**
   * A line for the end of your system prompt: earlier messages have become a summary. The same after every later fold. `null` until there is
   * a summary, and unless the preset is `aiclaw` or you set `summary.systemNote`. `apply` adds it to `system` or `instructions` of your
   * body, once; if your system prompt is elsewhere, add it yourself.
   */
  systemNote: string | null;
  /**
   * The body that you send, as a new object: with these messages where the format has them (`messages`, `input` of OpenAI
   * Responses, `contents` of Gemini), cache markers at `cacheBreakpoints` as far as the provider takes more, and `hints`. What
   * you have set stays, but for the member with the messages: your own `thinking`, cache markers, and lists. Your body is not
   * modified.
   *
   * A hint makes `thinking` adaptive if the body has none; with `{ type: "disabled" }` there is none. If the body has `betas`, as
   * in `client.beta.messages` of Anthropic's SDK, the beta that the hint needs is added to it; else use `applyHeaders`.
   * Hosts of LangChain and pi have no member for hints: choose `thinking: "drop"` there.
   *
   * @throws {PlimsollError} `INVALID_ARGUMENT` if `body` is no object.
   * @example
   * await client.messages.create(prepared.apply({ model, max_tokens, system, tools }), { headers: prepared.applyHeaders() });
   */
  apply<B extends object>(body: B): B & Body<M>;
  /**
   * The headers that you send, as a new object: with those that `hints` needs, added to your own value of the same name.
   *
   * @param headers default none
   */
  applyHeaders(headers?: Record<string, string>): Record<string, string>;
}

/** Why a request does not fit. */
export interface Unfit {
  /** Tokens over the usable window. */
  overTokens: number;
  /** What cannot be removed, in tokens. Its parts, without `reserveTokens` and `windowTokens`, sum to the request. */
  floor: Floor;
  /** What would help, in words: the largest part first. */
  help: string[];
}

/** The member that holds a request's messages: one of these, by the format. */
export interface Body<M> {
  /** The messages, in every format but these two. */
  messages: M[];
  /** The messages, of OpenAI Responses and its Agents SDK. */
  input: M[];
  /** The messages, of Gemini. */
  contents: M[];
}

/** A history pruned for one request. */
export interface PruneResult<M> {
  /** The messages to send. Unchanged messages are the objects you passed in. */
  messages: M[];
  /** `false` if nothing was changed. */
  applied: boolean;
  /** Tokens of the request before, with system prompt and tools. */
  originalTokens: number;
  /** Tokens of the request after, with system prompt and tools. */
  prunedTokens: number;
  /** `false` if `messages` are still too large for the usable window. */
  fits: boolean;
  /** Why they do not fit; `null` if they do. */
  why: Unfit | null;
  /**
   * `false` if shortening tool results was not enough: whole turns were dropped or texts were cut to make it fit, or it still does
   * not fit. If you compact by yourself, do it now, from your own history.
   */
  isEnough: boolean;
  /** What was changed; empty if nothing was. */
  edits: Edit[];
}

/** A history cut down to its share of a window. */
export interface ShareResult<M> {
  /** The messages that are kept, in order. */
  messages: M[];
  /** The messages that were dropped, in order. */
  droppedMessagesList: M[];
  /** Number of chunks that were dropped. */
  droppedChunks: number;
  /** Number of messages that were dropped. */
  droppedMessages: number;
  /** Estimated tokens that were dropped. */
  droppedTokens: number;
  /** Estimated tokens that are kept, without the system messages at the start. */
  keptTokens: number;
  /** The limit for `keptTokens`: `maxContextTokens * maxHistoryShare`, at least 1. */
  budgetTokens: number;
}

/** How many turns the sessions of each channel keep, by the channel's name. A limit of 0 keeps all. */
export type Channels = Readonly<
  Record<
    string,
    {
      /** Turns of a session for which no other limit is set. */
      historyTurns?: number | undefined;
      /** Turns of direct messages. */
      dmHistoryLimit?: number | undefined;
      /** Limits for the direct messages of single users, by user id. */
      dms?:
        | Readonly<
            Record<
              string,
              {
                /** Turns of the direct messages of this user. */
                historyLimit?: number | undefined;
              }
            >
          >
        | undefined;
    }
  >
>;

/** A prompt that asks the agent to write its notes, for the end of a request. */
export interface FlushPrompt {
  /** Percentage of the usable window that was crossed: 50, 75 or 90. */
  threshold: number;
  /** The prompt. */
  text: string;
}

/** A tool for the agent, with parameters in plain JSON Schema. */
export interface AgentTool {
  /** Its name. */
  name: string;
  /** When and how to use it, for the model. */
  description: string;
  /** JSON Schema of its arguments, for `input_schema`, `function.parameters` or `jsonSchema()`. */
  parameters: {
    type: "object";
    /** Schema of each argument. */
    properties: Record<string, object>;
    /** Names of the arguments that are required. */
    required: string[];
  };
}
