/** Searches for every exported name, to find those that nobody uses. */
import { call, exportsOf, grep, lines, pairs, sources } from "./shared.mjs";

export function* unusedExports() {
  const [listing] = yield {
    text: "I will look at every export and search for each name.",
    calls: [call("list", { path: "src" })],
  };
  const unused = [];
  for (const path of sources(listing)) {
    const [declared] = yield { calls: [grep("^export ", path)] };
    const names = lines(declared).flatMap((line) => exportsOf(line.replace(/^[^ ]+ /, "")));
    for (const batch of pairs(names)) {
      const hits = yield {
        calls: batch.map((name) => call("grep", { pattern: `\\b${name}\\b`, path: "." })),
      };
      for (const [index, result] of hits.entries()) {
        const elsewhere = lines(result).filter(
          (line) => !line.startsWith(`${path}:`) && /\.js:/.test(line),
        );
        if (elsewhere.length === 0) unused.push({ path, name: batch[index] });
      }
    }
  }
  return {
    text: [
      "Exported and used nowhere else:",
      ...unused.map(({ path, name }) => `- \`${name}\` in ${path}`),
    ].join("\n"),
  };
}
