/** Functions over a whole history, without a session: prune it for one request, limit its turns, limit its share. */
import { objectOf, onlyKnown } from "../core/arguments.js";
import { withDisposed } from "../core/disposed.js";
import { invalid } from "../core/errors.js";
import { argumentJson } from "../core/json.js";
import { call, send } from "../core/main.js";
import * as glue from "../glue/plimsoll_bg.js";
import { ContextManager } from "../session/context.js";
import type {
  Channels,
  ContextManagerOptions,
  Parts,
  PolicyOptions,
  PresetOptions,
  PruneResult,
  ShareResult,
} from "../types.js";
import { within } from "./one-shot.js";

/**
 * Prunes a history for one request, without keeping a session and without folding. At or below the preset's trigger, or if nothing
 * would be saved, the messages are returned unchanged.
 *
 * @throws {PlimsollError} as `ContextManager.request`; `INVALID_ARGUMENT` for an option that the preset does not have.
 * @example
 * const window = { contextTokens: 200_000, maxOutputTokens: 16_384 };
 * const { messages, applied } = pruneForRequest(history, { preset: "aceclaw", window, system });
 */
export function pruneForRequest<M>(
  messages: readonly M[],
  options: PolicyOptions &
    PresetOptions &
    Parts &
    Pick<ContextManagerOptions<M>, "window" | "format" | "provider" | "estimator">,
): PruneResult<M> {
  const own = objectOf("options", options);
  const { system, tools, unseenTokens, open, signal, ...policy } = own;
  const result = once(messages, policy, { system, tools, unseenTokens, open, signal });
  if (result.applied) return result;
  const { originalTokens } = result;
  return { ...result, messages: [...messages], edits: [], prunedTokens: originalTokens };
}

/**
 * Shortens a long history in tiers, as AIClaw loads it. The newest turns stay whole. In the turns before them tool results and texts are
 * cut to their first characters. Of each older turn only the user's messages and the model's last answer stay. The result is
 * repaired for the provider; what a provider requires, such as the newest Anthropic thinking with its call, stays whole.
 *
 * @throws {PlimsollError} as `limitTurns`; `INVALID_ARGUMENT` for a limit that is no number.
 * @example
 * const { messages, originalTokens, prunedTokens } = tierHistory(history);
 */
export function tierHistory<M>(
  messages: readonly M[],
  options: Pick<ContextManagerOptions<M>, "format" | "provider" | "estimator"> & {
    /** Newest turns that stay whole, at least 1. Default 3. */
    fullTurns?: number | undefined;
    /** Turns before them in which results and texts are cut. Default 5. */
    lightTurns?: number | undefined;
    /** UTF-16 code units kept of each of their tool results. Default 300. */
    resultChars?: number | undefined;
    /** UTF-16 code units kept of each of their texts. Default 500. */
    textChars?: number | undefined;
  } = {},
): PruneResult<M> {
  const { format, provider, estimator, ...tiers } = objectOf("options", options);
  return once(messages, { format, provider, estimator, tiers, window: { contextTokens: 0 } });
}

/** One request, of which nothing is kept. */
function once<M>(messages: readonly M[], options: object, parts?: Parts): PruneResult<M> {
  const all = {
    ...options,
    transient: true,
    clock: () => 0,
  } as unknown as ContextManagerOptions<M>;
  const { request, status } = withDisposed(new ContextManager<M>(all), (manager) => {
    const request = manager.request(messages, parts);
    return { request, status: manager.status() };
  });
  const { used: prunedTokens, tokensSaved } = status;
  const originalTokens = prunedTokens + tokensSaved;
  const { edits, fits, why } = request;
  const applied = edits.length > 0 && prunedTokens < originalTokens;
  const isEnough = fits && edits.every(({ rule }) => rule !== "hard-fit");
  return {
    messages: request.messages,
    applied,
    originalTokens,
    prunedTokens,
    fits,
    why,
    isEnough,
    edits,
  };
}

/**
 * Keeps the last turns of a history, and the system messages at its start. A turn begins with a message from a person; a tool call stays
 * with its results.
 *
 * @param turns number of turns; `undefined`, 0 or less keeps all
 * @throws {PlimsollError} `MALFORMED_MESSAGE`, `UNKNOWN_FORMAT`, `INVALID_ARGUMENT`, `TOO_LARGE`.
 * @example
 * const recent = limitTurns(history, 20);
 */
export function limitTurns<M>(
  messages: readonly M[],
  turns: number | undefined,
  options: Pick<ContextManagerOptions<M>, "format"> = {},
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
 * Looks up how many turns the session with this key keeps, as OpenClaw does; `undefined` means all.
 *
 * @param sessionKey `agent:<id>:<channel>:dm:<user>`, with or without the agent, and with or without a thread or topic after the user
 * @param channels the limits of each channel
 * @throws {PlimsollError} `INVALID_ARGUMENT` for a limit that is no whole number.
 * @example
 * const turns = historyLimitFromSessionKey("telegram:dm:123", { telegram: { dmHistoryLimit: 20 } }); // 20
 */
export function historyLimitFromSessionKey(
  sessionKey: string | undefined,
  channels: Channels | undefined,
): number | undefined {
  const input = { ...(sessionKey ? { sessionKey } : {}), channels: channels ?? {} };
  const json = argumentJson(input, "channels");
  return call("historyLimitFromSessionKey", () => glue.history_limit(send(json)));
}

/**
 * Drops the oldest chunk of a history until it has at most its share of the window, as OpenClaw does. A tool call is dropped with its
 * results. System messages at the start are kept, and so is the last chunk.
 *
 * @throws {PlimsollError} as `limitTurns`.
 * @example
 * const { messages, droppedMessages } = pruneHistoryForContextShare({ messages: history, maxContextTokens: 200_000 });
 */
export function pruneHistoryForContextShare<M>(
  settings: Pick<ContextManagerOptions<M>, "format" | "estimator"> & {
    /** The history. */
    messages: readonly M[];
    /** The window in tokens. */
    maxContextTokens: number;
    /** Share of the window that the history may have, 0..1. Default 0.5. */
    maxHistoryShare?: number | undefined;
    /** Number of chunks into which the history is split each time; the oldest is dropped. Default 2. */
    parts?: number | undefined;
  },
): ShareResult<M> {
  const known = ["messages", "maxContextTokens", "maxHistoryShare", "parts", "format", "estimator"];
  const { messages, format, estimator, ...share } = onlyKnown("options", settings, known);
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
