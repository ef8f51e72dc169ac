/**
 * Node's entries, the command line and its worker as bundles that share their chunks: an import reads half as many files, in four
 * fifths of the time.
 *
 *     node xtask/node/node-entries.mjs DIST
 */
import { readdirSync, writeFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { build } from "../../js/node_modules/esbuild/lib/main.js";

const dist = resolve(process.argv[2]);
/**
 * What stays as it is, with all that it imports: entries without a bundle share the state and the classes in it (`slim`, stores,
 * the workspace), and the files of `node/` find a Wasm beside them.
 */
const SHARED = [
  /^(candidates|core|glue|prompt|store|workspace)\/.+\.js$/,
  /^node\/(core|\w+_file)\.js$/,
  /^session-files\/wasm\.js$/,
];
/** Stands for `dist` in a path until it is known where the importing file goes. */
const DIST = "dist:";

const pathIn = (path) => relative(dist, path).split(sep).join("/");
const files = readdirSync(dist, { recursive: true }).map((it) => it.split(sep).join("/"));
const options = { bundle: true, format: "esm", outdir: dist, packages: "external", write: false };
const roots = files.filter((file) => SHARED.some((one) => one.test(file)));
const { metafile } = await build({
  ...options,
  entryPoints: roots.map((file) => join(dist, file)),
  metafile: true,
  platform: "node",
});
const kept = new Set(Object.keys(metafile.inputs).map((path) => pathIn(resolve(path))));
const shared = {
  name: "shared",
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
      const file = pathIn(join(resolveDir, path));
      return kept.has(file) ? { path: DIST + file, external: true } : undefined;
    });
  },
};
const ENTRY = /^((index|entry\/[\w-]+)\.node|cli\/(main|replay-worker))\.js$/;
const entries = files.filter((file) => ENTRY.test(file));
const { outputFiles } = await build({
  ...options,
  chunkNames: "node/[name]-[hash]",
  entryPoints: entries.map((file) => join(dist, file)),
  legalComments: "none",
  outbase: dist,
  platform: "node",
  plugins: [shared],
  splitting: true,
  target: "es2022",
});
for (const { path, text } of outputFiles) {
  const up = relative(dirname(path), dist) || ".";
  writeFileSync(path, text.replaceAll(`"${DIST}`, `"${up}/`));
}
