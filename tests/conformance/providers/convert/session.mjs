// @ts-check
/** A recorded session in another format than its own: what was said, called and given, and which requests there were. */
import { render } from "../../generated/histories.mjs";
import { readers } from "./read.mjs";

/**
 * @typedef {import("./turns.mjs").Turn} Turn
 * @typedef {import("./turns.mjs").Part} Part
 */

/** Whether a session of this format can be read as turns. @param {string} format */
export const isReadable = (format) => readers[format] !== undefined;

/**
 * The session's turns: items of one response together, every call with an id of its own where the format has none,
 * every result with the name of what it answers.
 * @param {any} session what `readSession` gave
 * @returns {Turn[]}
 */
export function turnsOfSession({ messageFormat, messages }) {
  /** @type {Turn[]} */
  const turns = [];
  /** Calls that wait for their results, by name. @type {Array<{ id: string, name: string }>} */
  let open = [];
  /** @type {Map<string, string>} */
  const names = new Map();
  let made = 0;
  const read = messages.flatMap(
    (/** @type {any} */ message) => readers[messageFormat]?.(message, "") ?? [],
  );
  for (const turn of read) {
    const parts = turn.parts.map((/** @type {Part} */ part) => {
      if (part.kind === "call") {
        const id = part.id || `call${String(made++).padStart(5, "0")}`;
        names.set(id, part.name);
        open.push({ id, name: part.name });
        return { ...part, id };
      }
      if (part.kind !== "result") return part;
      const at = open.findIndex((one) => (part.id ? one.id === part.id : one.name === part.name));
      const id = part.id || (open[at]?.id ?? `none${made++}`);
      if (at >= 0) open = open.toSpliced(at, 1);
      return { ...part, id, name: part.name ?? names.get(id) ?? "unknown" };
    });
    const last = turns.at(-1);
    // Results may come one by one, and reasoning, words and calls of one response as items.
    const joins =
      turn.role === "tool" ||
      (turn.role === "assistant" &&
        messageFormat.startsWith("openai-") &&
        messageFormat !== "openai-chat");
    if (joins && last?.role === turn.role) last.parts.push(...parts);
    else turns.push({ ...turn, parts });
  }
  return turns;
}

/**
 * @param {Turn[]} turns
 * @param {any} session the recorded one
 * @param {string} format @param {string} provider @param {number} way of writing
 * @returns {any} a session, as `readSession` would have given it
 */
export function rendered(turns, session, format, provider, way) {
  const history = (/** @type {Turn[]} */ own) => ({
    turns: own,
    clean: false,
    signed: false,
    way,
    window: 0,
  });
  const messages = render(history(turns), format, provider);
  /** @type {Array<{ sent: number }>} */
  const calls = [];
  const isUi = format === "ai-sdk" && way >= 2;
  let count = 0;
  for (const turn of turns) {
    if (turn.role === "assistant" && count > 0 && calls.at(-1)?.sent !== count)
      calls.push({ sent: count });
    if (isUi) count += turn.role === "tool" ? 0 : 1;
    else count += render(history([turn]), format, provider).length;
  }
  return { messageFormat: format, messages, calls, system: session.system };
}
