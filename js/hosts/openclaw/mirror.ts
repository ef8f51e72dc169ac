/**
 * Shortens results in the host's transcript that a fold has removed, so that a turn which the host's own engine answers fits as well. The
 * originals are kept in a file of the session.
 */
import { createHash } from "node:crypto";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { HostMessage, ReadPage, Rewrite, Rewritten, SessionTarget } from "./host.js";
import { entriesOf, keyOf, textOf } from "./transcript.js";

/** Characters of a result above which it is shortened. */
const BULKY = 1_000;

const isBulky = (message: HostMessage): boolean =>
  message.role === "toolResult" && textOf(message).length > BULKY;

export class Mirror {
  readonly #folder: string;

  /** @param folder where originals are kept */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Contents of the results of a session that were shortened, by key. */
  async originals(session: string): Promise<Map<string, unknown>> {
    const text = await readFile(this.#fileOf(session), "utf8").catch(absent);
    const originals = new Map<string, unknown>();
    for (const line of text.split("\n")) {
      try {
        const { key, content } = JSON.parse(line);
        originals.set(key, content);
      } catch {
        // The process ended while it wrote this line; what it was for stayed whole.
      }
    }
    return originals;
  }

  /**
   * Shortens results in the host's transcript.
   *
   * @param removed messages that a fold has removed
   */
  async shorten(
    session: string,
    removed: readonly HostMessage[],
    page: ReadPage,
    target: SessionTarget,
    rewrite: Rewrite,
  ): Promise<Rewritten> {
    const keys = new Set(removed.filter(isBulky).map(keyOf));
    const found: { entryId: string; message: HostMessage }[] = [];
    for await (const { entryId, message } of entriesOf(page, target)) {
      if (entryId && isBulky(message) && keys.has(keyOf(message))) found.push({ entryId, message });
    }
    if (found.length === 0) return { changed: false, bytesFreed: 0, rewrittenEntries: 0 };
    await this.#keep(
      session,
      found.map(({ message }) => message),
    );
    const replacements = found.map(({ entryId, message }) => {
      const text = `[Plimsoll removed this result after it was summarized: ${textOf(message).length} characters]`;
      return { entryId, message: { ...message, content: [{ type: "text", text }] } };
    });
    return rewrite({ replacements });
  }

  /** They are on disk before the host's copies go. */
  async #keep(session: string, results: readonly HostMessage[]): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    const lines = results.map(
      (one) => `\n${JSON.stringify({ key: keyOf(one), content: one.content })}`,
    );
    const file = await open(this.#fileOf(session), "a");
    try {
      await file.appendFile(lines.join(""));
      await file.sync();
    } finally {
      await file.close();
    }
  }

  #fileOf(session: string): string {
    return join(this.#folder, `${createHash("sha256").update(session).digest("hex")}.jsonl`);
  }
}

function absent(error: unknown): string {
  if ((error as { code?: unknown }).code === "ENOENT") return "";
  throw error;
}
