/**
 * Entries for Node, the command line and its worker as bundles that share chunks: an import reads a handful of files, which takes
 * half of the time of the files it is made of.
 *
 *     node xtask/node/node-entries.mjs DIST
 */
import { readdirSync, rmSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { rollup } from "../../js/node_modules/rollup/dist/es/rollup.js";
import { minify } from "../../js/node_modules/terser/main.js";

const dist = resolve(process.argv[2]);
const pathIn = (id) => relative(dist, id).split(sep).join("/");
const files = readdirSync(dist, { recursive: true }).map((it) => it.split(sep).join("/"));

/** Public entries, not those of the other runtimes, which bear two endings; each gets a file for Node. */
const ENTRY =
  /^(index|slim|entry\/[\w-]+|compaction\/summarizers|workspace\/index|store\/(?!commits|lock|record)\w+)\.js$/;
const PROGRAM = /^cli\/(main|replay-worker)\.js$/;
const input = {};
for (const file of files) {
  const name = file.slice(0, -".js".length);
  if (ENTRY.test(file)) input[`${name}.node`] = join(dist, file);
  if (PROGRAM.test(file)) input[name] = join(dist, file);
}
const inputs = new Set(Object.values(input));

/** Has a Wasm read from its file where browsers have its text. */
const wasmFiles = {
  name: "wasm files",
  resolveId(source) {
    const [, name] = /\/glue\/(\w+)_text\.js$/.exec(source) ?? [];
    return name === undefined ? null : join(dist, `node/${name}_file.js`);
  },
};

/**
 * Half of the text is a tenth of a start. Names of classes and functions stay for stack traces, and lines are short, since Node
 * prints the whole line that an error comes from.
 */
const shorter = {
  name: "shorter",
  renderChunk: (code) =>
    minify(code, {
      module: true,
      ecma: 2022,
      keep_classnames: true,
      keep_fnames: true,
      format: { max_line_len: 120 },
    }),
};

/** Entries whose files stand in one chunk each, the first one's first. */
const CHUNKS = { main: "index.js", sessions: "entry/sessions.js" };
/** What starts the main Wasm as soon as it is imported, which `slim` must not. It is in the main entry itself: a file less to read. */
const START = /^(index|inline\/core|node\/plimsoll_file)\.js$/;

/** All files that an import of `entry` reads. */
function closure(entry, getModuleInfo) {
  const found = new Set([join(dist, entry)]);
  for (const id of found) getModuleInfo(id)?.importedIds.forEach((it) => void found.add(it));
  return found;
}

let closures;
function manualChunks(id, { getModuleInfo }) {
  const file = pathIn(id);
  if (START.test(file)) return "index.node";
  if (inputs.has(id)) return undefined;
  closures ??= Object.entries(CHUNKS).map(([name, entry]) => [name, closure(entry, getModuleInfo)]);
  const chunk = closures.find(([, ids]) => ids.has(id))?.[0];
  // A Wasm is found beside the folder of the file that names it: `node/`, where all chunks are.
  return chunk ?? /^node\/(\w+)_file\.js$/.exec(file)?.[1];
}

const bundle = await rollup({
  input,
  external: /^[^./]/,
  plugins: [wasmFiles, shorter],
  onwarn: (warning) => {
    throw new Error(warning.message);
  },
});
const { output } = await bundle.write({
  dir: dist,
  chunkFileNames: "node/[name]-[hash].js",
  entryFileNames: "[name].js",
  manualChunks,
});
await bundle.close();

// Nothing imports what the bundles of the programs and the chunks were made of.
const written = new Set(output.map(({ fileName }) => fileName));
for (const file of files.filter((file) => /^(cli|node)\/.+\.js$/.test(file)))
  if (!written.has(file)) rmSync(join(dist, file));
