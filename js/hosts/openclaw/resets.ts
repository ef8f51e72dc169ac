/** Resets of a session: `/new` keeps its id and the older messages of its transcript, which no model is sent from then on. */
import type { ReadEvents, SessionTarget, TranscriptEvent } from "./host.js";

export class Resets {
  /** Entry of the newest reset. */
  newest: string | undefined;
  /** Entries of messages that a reset has ended. */
  ended: Set<string> = new Set();
  /** Entries of messages since then. */
  #since: { id: string; role: unknown }[] = [];
  #cursor: string | undefined;

  /** Reads on in the host's transcript. True: another reset is the newest. */
  async look(read: ReadEvents, target: SessionTarget): Promise<boolean> {
    const before = this.newest;
    // The host has replaced its transcript, or the cursor is within the turn that is under way.
    const goesOn = this.#cursor !== undefined && (await this.#go(read, target).catch(() => false));
    if (goesOn) return this.newest !== before;
    const anew = new Resets();
    if (!(await anew.#go(read, target))) return false;
    this.newest = anew.newest;
    this.ended = anew.ended;
    this.#since = anew.#since;
    this.#cursor = anew.#cursor;
    return this.newest !== before;
  }

  async #go(read: ReadEvents, target: SessionTarget): Promise<boolean> {
    let maxBytes: number | undefined;
    for (;;) {
      const cursor = this.#cursor;
      const found = await read({
        ...target,
        ...(cursor && { cursor }),
        ...(maxBytes && { maxBytes }),
      });
      if (found.kind !== "page") return false;
      for (const { event } of found.events) this.#take(event);
      this.#cursor = found.cursor;
      if (!found.hasMore) return true;
      maxBytes = found.requiredBytes;
      if (found.cursor === cursor && !maxBytes) return true;
    }
  }

  #take(event: TranscriptEvent): void {
    const { id, type, message } = event;
    if (type === "message" && id) this.#since.push({ id, role: message?.role });
    if (type !== "reset") return;
    this.newest = id;
    // A reset may keep the end of the conversation, without results.
    const first = this.#since.findIndex((one) => one.id === event.firstKeptEntryId);
    const since = this.#since.splice(0);
    for (const [at, one] of since.entries()) {
      if (first >= 0 && at >= first && one.role !== "toolResult") this.#since.push(one);
      else this.ended.add(one.id);
    }
  }
}
