/** Pins, and restored texts of messages that were shortened. */
import type { SessionAccess } from "../compaction/session-access.js";
import { textOf } from "../core/arguments.js";
import { invalid } from "../core/errors.js";
import { messageJson } from "../core/json.js";
import { call, send } from "../core/main.js";

export function pin<M>(
  session: SessionAccess<M>,
  what: { index: number } | { text: string },
): string {
  return session.alone("pin", () => pinned(session, what));
}

function pinned<M>(session: SessionAccess<M>, what: { index: number } | { text: string }): string {
  const manager = session.manager();
  const { text, index } = (what ?? {}) as { text?: unknown; index?: number };
  if (text !== undefined) {
    if (typeof text === "string" && text.trim() !== "") return `p${pinText(session, text)}`;
    throw invalid("text", "a text that is not blank", text);
  }
  if (index === undefined) throw invalid("what", "{ index } or { text }", what);
  const isPlace = index !== undefined && Number.isInteger(index) && index >= 0;
  const number = isPlace ? session.history.numberOf(index) : null;
  const message = number === null ? undefined : session.history.messages[number];
  if (number === null || message === undefined)
    throw invalid(
      "index",
      "a message of the history you passed last, no summary and no placeholder",
      index,
    );
  const json = messageJson(message, number);
  return `p${call("pin", () => manager.pin(number, send(json)))}`;
}

/** The newest message that holds the text holds the pin. */
function pinText<M>(session: SessionAccess<M>, text: string): number {
  const manager = session.manager();
  const { messages } = session.history;
  for (let number = messages.length - 1; number >= 0; number--) {
    if (!holds(messages[number], text)) continue;
    const json = messageJson(messages[number], number);
    const id = call("pin", () => {
      const length = send(json);
      return manager.pin_found(number, length, send(json + text));
    });
    if (id !== undefined) return id;
  }
  return call("pin", () => manager.pin_text(send(text)));
}

/** Some text in the message holds this one. Only those messages are written out as JSON: a history may hold thousands. */
function holds(message: unknown, text: string): boolean {
  const seen = new Set<unknown>();
  const rest: unknown[] = [message];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === "string" && value.includes(text)) return true;
    if (typeof value !== "object" || value === null || seen.has(value)) continue;
    seen.add(value);
    // Bytes hold no text.
    if (!ArrayBuffer.isView(value)) for (const inner of Object.values(value)) rest.push(inner);
  }
  return false;
}

export function unpin<M>(session: SessionAccess<M>, id: string): boolean {
  // The core's ids have 29 bits, so nine digits at most.
  const number = /^p(\d{1,9})$/.exec(textOf("id", id))?.[1];
  if (number === undefined) return false;
  const manager = session.manager();
  return call("unpin", () => manager.unpin(Number(number)));
}

/** The text of a block; null if the host has changed its message since. */
export function recalled<M>(
  session: SessionAccess<M>,
  number: number,
  block: number,
): string | null {
  const message = session.history.messages[number];
  if (message === undefined) return null;
  const json = messageJson(message, number);
  const manager = session.manager();
  return call("recall", () => manager.recalled(number, block, send(json))) ?? null;
}
