/** Functions over a whole history, without a session: prune it for one request, keep its last turns, keep its share. */
import { ContextManager } from "./context.js";
import { call, send } from "./core.js";
import { invalid } from "./errors.js";
import * as glue from "./glue/plimsoll_bg.js";
import { argumentJson } from "./json.js";
import { onlyKnown } from "./known.js";
import type {
  Channels,
  ContextManagerOptions,
  ContextWindow,
  Estimator,
  Format,
  Parts,
  PolicyOptions,
  Provider,
  PruneResult,
  ShareResult,
} from "./types.js";
import { within } from "./within.js";

/**
 * Prunes a history for one request, as AceClaw describes it: nothing is kept of the decision and nothing is folded. At or
 * below the preset's trigger, and where it would gain nothing, the messages come back as they are.
 *
 * @throws {PlimsollError} as `ContextManager.request`; `INVALID_ARGUMENT` for an option that the preset does not have.
 * @example
 * const window = { contextTokens: 200_000, maxOutputTokens: 16_384 };
 * const { messages, applied } = pruneForRequest(history, { preset: "aceclaw", window, system });
 */
export function pruneForRequest<M>(
  messages: readonly M[],
  options: PolicyOptions &
    Parts & {
      window: ContextWindow;
      format?: Format;
      provider?: Provider;
      estimator?: Estimator;
    },
): PruneResult<M> {
  const { system, tools, unseenTokens, open, signal, ...policy } = options;
  const result = once(messages, policy, { system, tools, unseenTokens, open, signal });
  if (result.applied) return result;
  const { originalTokens } = result;
  return { ...result, messages: [...messages], edits: [], prunedTokens: originalTokens };
}

/**
 * What AIClaw loads of a long history: the newest turns whole; of those before them results and texts cut to their first
 * characters; of all older ones what the user said and what the model answered last. Then it is mended for the provider.
 * What may not leave a request, such as the newest Anthropic thinking with its call, stays as it is.
 *
 * @throws {PlimsollError} as `limitTurns`; `INVALID_ARGUMENT` for a limit that is no number.
 * @example
 * const { messages, originalTokens, prunedTokens } = tierHistory(history);
 */
export function tierHistory<M>(
  messages: readonly M[],
  options: {
    /** Turns that stay whole, the newest counted; at least 1. Default 3. */
    fullTurns?: number;
    /** Turns before them whose bodies are cut. Default 5. */
    lightTurns?: number;
    /** UTF-16 code units that they keep of a result. Default 300. */
    resultChars?: number;
    /** And of a text. Default 500. */
    textChars?: number;
    format?: Format;
    provider?: Provider;
    estimator?: Estimator;
  } = {},
): PruneResult<M> {
  const { format, provider, estimator, ...tiers } = options;
  return once(messages, { format, provider, estimator, tiers, window: { contextTokens: 0 } });
}

/** One request, of which nothing is kept. */
function once<M>(messages: readonly M[], options: object, parts?: Parts): PruneResult<M> {
  const all = {
    ...options,
    transient: true,
    clock: () => 0,
  } as unknown as ContextManagerOptions<M>;
  using manager = new ContextManager<M>(all);
  const request = manager.request(messages, parts);
  const { used: prunedTokens, tokensSaved } = manager.status();
  const originalTokens = prunedTokens + tokensSaved;
  const applied = request.edits.length > 0 && prunedTokens < originalTokens;
  return {
    messages: request.messages,
    applied,
    originalTokens,
    prunedTokens,
    edits: request.edits,
  };
}

/**
 * Keeps from the n-th last real user message on, and the system's messages at the start; a call stays with its results.
 *
 * @param turns undefined, 0 or less: all of them.
 * @throws {PlimsollError} `MALFORMED_MESSAGE`, `UNKNOWN_FORMAT`, `INVALID_ARGUMENT`, `TOO_LARGE`.
 * @example
 * const recent = limitTurns(history, 20);
 */
export function limitTurns<M>(
  messages: readonly M[],
  turns: number | undefined,
  options: { format?: Format } = {},
): M[] {
  onlyKnown("options", options, ["format"]);
  if (turns !== undefined && !Number.isInteger(turns)) {
    throw invalid("turns", "a whole number, or nothing for all turns", turns);
  }
  const wanted = Math.min(Math.max(turns ?? 0, 0), 2 ** 32 - 1);
  const kept = within("limitTurns", messages, options, (manager) =>
    call("limitTurns", () => manager.last_turns(wanted)),
  ) as Ranges;
  return taken(messages, kept);
}

/**
 * How many turns the session of this key keeps, by the settings of its channel, as OpenClaw looks it up; undefined: all of
 * them. `agent:<id>:<channel>:dm:<user>`, with or without the agent and a thread or topic behind the user.
 *
 * @throws {PlimsollError} `INVALID_ARGUMENT` for a limit that is no whole number.
 * @example
 * const turns = historyLimitFromSessionKey("telegram:dm:123", { telegram: { dmHistoryLimit: 20 } }); // 20
 */
export function historyLimitFromSessionKey(
  sessionKey: string | undefined,
  channels: Channels | undefined,
): number | undefined {
  const given = { ...(sessionKey ? { sessionKey } : {}), channels: channels ?? {} };
  const json = argumentJson(given, "channels");
  return call("historyLimitFromSessionKey", () => glue.history_limit(send(json)));
}

/**
 * Drops the oldest chunk, a half by default, until the history has at most its share of the window, as OpenClaw does. A
 * call goes with its results, and the system's messages at the start stay. One chunk always stays.
 *
 * @throws {PlimsollError} as `limitTurns`.
 * @example
 * const { messages, droppedMessages } = pruneHistoryForContextShare({ messages: history, maxContextTokens: 200_000 });
 */
export function pruneHistoryForContextShare<M>(given: {
  messages: readonly M[];
  maxContextTokens: number;
  /** Default 0.5. */
  maxHistoryShare?: number;
  /** Chunks that the history is split into; the oldest goes. Default 2. */
  parts?: number;
  format?: Format;
  estimator?: Estimator;
}): ShareResult<M> {
  const known = ["messages", "maxContextTokens", "maxHistoryShare", "parts", "format", "estimator"];
  const { messages, format, estimator, ...share } = onlyKnown("options", given, known);
  const options = { ...(format ? { format } : {}), ...(estimator ? { estimator } : {}) };
  const json = argumentJson(share, "options");
  const during = "pruneHistoryForContextShare";
  const { kept, ...counts } = within(during, messages, options, (manager) =>
    call(during, () => manager.share(send(json))),
  ) as { kept: Ranges } & Omit<ShareResult<M>, "messages" | "droppedMessagesList">;
  const isKept = (index: number): boolean => kept.some(([from, to]) => index >= from && index < to);
  const droppedMessagesList = messages.filter((_, index) => !isKept(index));
  return { messages: taken(messages, kept), droppedMessagesList, ...counts };
}

/** Positions, as [from, to). */
type Ranges = Array<[number, number]>;

function taken<M>(messages: readonly M[], kept: Ranges): M[] {
  return kept.flatMap(([from, to]) => messages.slice(from, to));
}
