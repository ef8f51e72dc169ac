/** The engine's own transcript of a session. The host shows only a window of its one, which slides with each turn. */
import type { HostMessage, ReadPage, SessionTarget } from "./host.js";

/** The host puts a made message with this text before a window that would begin with an answer. */
const BOOTSTRAP = "(session bootstrap)";
/** More pages than this are not read: at the host's 1 MB a page no session is as large. */
const MOST_PAGES = 1_000;

export class Transcript {
  #messages: HostMessage[] = [];
  /** Index of each message by its key. */
  #places = new Map<string, number>();

  /** The messages, as a list that later changes do not touch. */
  list(): HostMessage[] {
    return this.#messages.slice();
  }

  get length(): number {
    return this.#messages.length;
  }

  has(message: HostMessage): boolean {
    return this.#places.has(keyOf(message));
  }

  /** Appends a message unless it is there. */
  append(message: HostMessage): void {
    const key = keyOf(message);
    if (this.#places.has(key)) return;
    this.#places.set(key, this.#messages.length);
    this.#messages.push(withoutDetails(message));
  }

  /**
   * Follows what the host shows: from its first message on that is known, its list replaces ours; what comes before stays. So a turn that
   * the host has taken back goes, and what its window has left behind is kept.
   */
  follow(shown: readonly HostMessage[]): void {
    const real = shown.filter(({ content }) => content !== BOOTSTRAP);
    const first = real.findIndex((message) => this.has(message));
    const known = this.#messages;
    const places = this.#places;
    const start = first < 0 ? known.length : (places.get(keyOf(real[first] as HostMessage)) ?? 0);
    // Before the first known message, the host has only lines of its own, such as a summary of what we still have.
    const rest = first > 0 && start > 0 ? real.slice(first) : real;
    this.#messages = known.slice(0, start);
    this.#places = new Map([...places].filter(([, place]) => place < start));
    for (const message of rest) {
      const place = places.get(keyOf(message));
      this.append((place === undefined ? undefined : known[place]) ?? message);
    }
  }

  /** A second transcript that begins as this one. */
  copy(): Transcript {
    const twin = new Transcript();
    for (const message of this.#messages) twin.append(message);
    return twin;
  }

  /**
   * Appends the host's transcript.
   *
   * @param originals contents of results that were shortened there, by key
   * @param ended entries of messages that a reset has ended
   * @returns false if the host cannot give it now
   */
  async read(
    page: ReadPage,
    target: SessionTarget,
    originals: ReadonlyMap<string, unknown>,
    ended: ReadonlySet<string>,
  ): Promise<boolean> {
    const entries = entriesOf(page, target);
    for (;;) {
      const { done, value } = await entries.next();
      if (done) return value;
      const { entryId, message } = value;
      if (entryId && ended.has(entryId)) continue;
      const content = originals.get(keyOf(message));
      this.append(content === undefined ? message : { ...message, content });
    }
  }
}

/** A message of the host's transcript with the id of its entry. */
interface Entry {
  message: HostMessage;
  entryId?: string;
}

/**
 * The host's transcript, page by page, so that a long one does not hold up the host.
 *
 * @returns false if the host cannot give it now
 */
export async function* entriesOf(
  page: ReadPage,
  target: SessionTarget,
): AsyncGenerator<Entry, boolean> {
  let cursor: string | undefined;
  let maxBytes: number | undefined;
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const found = await page({
      ...target,
      ...(cursor && { cursor }),
      ...(maxBytes && { maxBytes }),
    });
    if (found.kind !== "page") return found.kind === "missing";
    for (const { entryId, message } of found.entries) {
      if (message && typeof message.role === "string")
        yield { message, ...(entryId && { entryId }) };
    }
    if (!found.hasMore) return true;
    // One entry that is larger than a page comes in a page of its own.
    maxBytes = found.requiredBytes;
    cursor = found.cursor;
  }
  return true;
}

/**
 * A message as itself, in whichever of the host's views: an id may have lost its punctuation, a body may be shortened. Without a time
 * its text tells it.
 */
export function keyOf(message: HostMessage): string {
  const { role, timestamp, toolCallId, content } = message;
  const blocks: { type?: unknown; id?: unknown }[] = Array.isArray(content) ? content : [];
  const calls = blocks.flatMap((block) => (block?.type === "toolCall" ? [bare(block.id)] : []));
  const ids = toolCallId === undefined ? calls.join() : bare(toolCallId);
  const isTimed = typeof timestamp === "number" && timestamp > 0;
  return `${role}:${isTimed ? timestamp : ""}:${ids}${isTimed || ids ? "" : textOf(message)}`;
}

const bare = (id: unknown): string => String(id ?? "").replace(/[^a-zA-Z0-9]/g, "");

/** The text of a message. */
export function textOf({ content }: HostMessage): string {
  if (typeof content === "string") return content;
  const blocks: { text?: unknown }[] = Array.isArray(content) ? content : [];
  return blocks.map((block) => (typeof block?.text === "string" ? block.text : "")).join("");
}

/** What the host shows its user goes to no model. */
function withoutDetails(message: HostMessage): HostMessage {
  if (message.details === undefined) return message;
  const { details: _, ...rest } = message;
  return rest;
}
