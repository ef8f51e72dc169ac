// @ts-check
/** Large session files: one session over and over, each time with its ids renamed. */
import { readFileSync } from "node:fs";

/**
 * A pi file of about so many bytes.
 * @param {string} source path of a pi file @param {number} bytes
 */
export function repeated(source, bytes) {
  const [head = "", ...lines] = readFileSync(source, "utf8").trim().split("\n");
  const parts = [head];
  let size = head.length;
  let parent = null;
  for (let round = 0; size < bytes; round += 1) {
    const renamed = (/** @type {unknown} */ id) => `${String(id)}-${round}`;
    for (const line of lines) {
      const entry = JSON.parse(line);
      // Older files have no ids: their lines are a chain as they are.
      if (entry.id !== undefined) {
        entry.id = renamed(entry.id);
        entry.parentId = parent;
        parent = entry.id;
      }
      const text = JSON.stringify(entry).replace(
        /"((?:toolu_|call_)[\w|-]+)"/g,
        (_, id) => `"${id}${round}"`,
      );
      parts.push(text);
      size += text.length + 1;
    }
  }
  return Buffer.from(`${parts.join("\n")}\n`);
}
