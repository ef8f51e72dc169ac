// @ts-check
/**
 * Turns: what a message says, in the words of no format. Readers make them of messages, writers make messages of them;
 * the generator writes them too, so that one history can be had in every format.
 *
 * @typedef {{ kind: "text", text: string }} Text
 * @typedef {{ kind: "image", data: string, mime: string }} Image
 * A reasoning of the model. `sig` is the provider's own, opaque; null where the provider signs nothing.
 * @typedef {{ kind: "reasoning", text: string, sig: string | null, id?: string, redacted?: boolean }} Reasoning
 * `raw`: the arguments as text, where they are no JSON. `hosted`: the provider ran it, and this is what it got.
 * @typedef {{ kind: "call", id: string, name: string, input: any, raw?: string, sig?: string | null, hosted?: string, unanswered?: boolean,
 *   ask?: string }} Call
 * `text` null: the result has no content at all. `ok`: the host's approval of the call, where one was asked.
 * @typedef {{ kind: "result", id: string, name?: string | undefined, text: string | null, error: boolean, image?: Image | undefined,
 *   answer?: { id: string, approved: boolean } }} Result
 * @typedef {Text | Image | Reasoning | Call | Result} Part
 * @typedef {{ role: "system" | "user" | "assistant" | "tool", parts: Part[], plain?: boolean, aborted?: string }} Turn
 */

/** @param {Turn} turn @returns {Call[]} */
export const callsOf = (turn) =>
  /** @type {Call[]} */ (
    turn.parts.filter((part) => part.kind === "call" && part.hosted === undefined)
  );

/** @param {Turn} turn @returns {Result[]} */
export const resultsOf = (turn) =>
  /** @type {Result[]} */ (turn.parts.filter((part) => part.kind === "result"));

/** @param {Turn} turn @returns {Reasoning[]} */
export const reasoningOf = (turn) =>
  /** @type {Reasoning[]} */ (turn.parts.filter((part) => part.kind === "reasoning"));

/** @param {Turn} turn */
export const wordsOf = (turn) =>
  turn.parts.flatMap((part) => (part.kind === "text" ? [part.text] : [])).join("\n");

/** @param {Call} call */
export const rawOf = (call) => call.raw ?? JSON.stringify(call.input);

/** The arguments as a provider that wants an object gets them. @param {unknown} text */
export function parsed(text) {
  if (typeof text !== "string") return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
