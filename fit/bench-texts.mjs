/**
 * Texts of the published benchmark, and those of recorded sessions beside this repository where they are: only ever test texts.
 * Writes them as JSON to standard output.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { texts } from "../benches/estimate/texts.mjs";
import { readSession } from "../npm/dist/entry/sessions.node.js";

const rows = texts.flatMap(({ group, name, pieces }) =>
  pieces.map((text) => ({ kind: group, language: name, package: "benches/estimate", text })),
);
const CHARS = 3_000;
/** At most so many pieces of a session. */
const PIECES = 12;

const folder = fileURLToPath(new URL("../../shared/data/sessions/", import.meta.url));
if (existsSync(folder)) {
  for (const format of readdirSync(folder, { withFileTypes: true }).filter((it) =>
    it.isDirectory(),
  )) {
    const files = readdirSync(folder + format.name, { recursive: true }).filter((it) =>
      /\.jsonl?$/.test(it),
    );
    for (const file of files.sort()) {
      try {
        const { messages } = readSession(readFileSync(`${folder}${format.name}/${file}`));
        const text = messages
          .map((message) => JSON.stringify(message.content ?? message))
          .join("\n");
        const count = Math.min(PIECES, Math.floor(text.length / CHARS));
        for (let at = 0; at < count; at += 1) {
          const start = Math.floor((at * text.length) / count);
          rows.push({
            kind: "sessions",
            language: format.name,
            package: "sessions",
            text: text.slice(start, start + CHARS).toWellFormed(),
          });
        }
      } catch (error) {
        console.error(`${format.name}/${file} is left out: ${error.message.slice(0, 80)}`);
      }
    }
  }
} else {
  console.error("skipped: ../shared is absent, and so are its recorded sessions");
}
process.stdout.write(JSON.stringify(rows));
