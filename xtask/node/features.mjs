/**
 * The weights of bundles that import one thing of the package: the table of docs/runtimes.md.
 *
 *     node xtask/node/features.mjs NPM check|write
 *
 * `check` fails if a figure of the page is off by more than 2 %; `write` renews the table.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { brotliCompressSync } from "node:zlib";
import { bundle } from "./bundle.mjs";

const [npm, mode] = process.argv.slice(2);
const PAGE = "docs/runtimes.md";
const BEGIN = "<!-- features: `node xtask/node/features.mjs npm write` writes this table -->";
const END = "<!-- /features -->";
const ALLOWED = 0.02;

/** What is imported, its entry, and the file of it in `dist`. */
const FEATURES = [
  ["estimateTokens", "plimsoll", "index"],
  ["validate", "plimsoll", "index"],
  ["ContextManager", "plimsoll", "index"],
  ["assemblePrompt", "plimsoll", "index"],
  ["readSession", "plimsoll/sessions", "entry/sessions"],
  ["replay", "plimsoll/sessions", "entry/sessions"],
  ["CandidateStore", "plimsoll/candidates", "entry/candidates"],
  ["ContextManager", "plimsoll/slim", "slim"],
];

const kilobytes = (bytes) => {
  const { length } = bytes;
  return length === 0 ? "" : String(Math.round(length / 1000));
};
const rows = [];
for (const [name, entry, file] of FEATURES) {
  const { atOnce, later } = await bundle(npm, `{ ${name} } from "./dist/${file}.js"`);
  const figures = [atOnce, later].flatMap((bytes) =>
    bytes.length === 0 ? [bytes, bytes] : [bytes, brotliCompressSync(bytes)],
  );
  rows.push([`\`${name}\` of \`${entry}\``, ...figures.map(kilobytes)]);
}
const line = (cells) => `| ${cells.join(" | ")} |`;
const table = [
  line(["a bundle with", "kB", "of brotli", "loaded when first used", "of brotli"]),
  "|---|---|---|---|---|",
  ...rows.map(line),
];

const page = readFileSync(PAGE, "utf8");
const [before, rest] = page.split(BEGIN);
const [written, after] = (rest ?? "").split(END);
if (after === undefined) throw new Error(`${PAGE} has no table between ${BEGIN} and ${END}`);
if (mode === "write") {
  writeFileSync(PAGE, `${before}${BEGIN}\n${table.join("\n")}\n${END}${after}`);
} else {
  const cells = (text) => text.split("|").map((cell) => cell.trim());
  const lines = written.trim().split("\n");
  const isSame = (a = "", b = "") =>
    a === b || Math.abs(Number(a) - Number(b)) <= Math.max(1, Number(a) * ALLOWED);
  const off = table.filter((row, at) => {
    const page = cells(lines[at] ?? "");
    return !cells(row).every((cell, column) => isSame(cell, page[column]));
  });
  if (off.length > 0 || lines.length !== table.length) {
    console.error(
      `${PAGE}: these rows are off by more than 2 %; \`node xtask/node/features.mjs npm write\` renews them:\n${off.join("\n")}`,
    );
    process.exitCode = 1;
  }
}
