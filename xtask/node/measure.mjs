// Measurements of the assembled package: its size and the imports of its Wasm files, one fact a line.
import { readdirSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "../../js/node_modules/esbuild/lib/main.js";

const [npm] = process.argv.slice(2);
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
const names = readdirSync(`${npm}/dist`).filter((name) => name.endsWith(".wasm"));
const wasms = new Map(names.map((name) => [name, readFileSync(`${npm}/dist/${name}`)]));

/** What a bundle of these exports comes to, without what is only loaded when it is wanted. */
const bundle = async (...exports) => {
  const { outputFiles, metafile } = await build({
    stdin: { contents: exports.map((it) => `export ${it};`).join("\n"), resolveDir: npm },
    bundle: true,
    format: "esm",
    metafile: true,
    minify: true,
    outdir: "out",
    splitting: true,
    write: false,
  });
  const wanted = new Set(["out/stdin.js"]);
  for (const path of wanted) {
    for (const it of metafile.outputs[path].imports)
      if (it.kind === "import-statement") wanted.add(it.path);
  }
  const measured = outputFiles.filter(({ path }) => wanted.has(relative(process.cwd(), path)));
  return Buffer.concat(measured.map(({ contents }) => contents));
};
const MAIN = [
  '{ ContextManager, validate, repair, estimateTokens, estimateRequest, PlimsollError } from "./dist/index.js"',
];
const ENTRIES = readdirSync(`${npm}/dist/entry`).filter((name) => /^\w+\.js$/.test(name));

for (const [name, bytes] of [
  ...wasms,
  ["inspector.html", readFileSync(`${npm}/dist/inspector.html`)],
  ["main", await bundle(...MAIN)],
  [
    "everything",
    await bundle(
      ...["index.js", ...ENTRIES.map((it) => `entry/${it}`)].map((it) => `* from "./dist/${it}"`),
    ),
  ],
  ["slim", await bundle('* from "./dist/slim.js"')],
]) {
  const sizes = [brotliCompressSync(bytes, options), gzipSync(bytes, { level: 9 })];
  console.log(`size ${name} ${bytes.length} ${sizes.map(({ length }) => length).join(" ")}`);
}
for (const [file, bytes] of wasms) {
  for (const { module, name } of WebAssembly.Module.imports(new WebAssembly.Module(bytes))) {
    // A Wasm that is built for Node has the glue of the one that is not.
    const glue = `./${file.replace(/(-node)?\.wasm$/, "_bg.js")}`;
    const from = module === glue ? "glue" : module;
    console.log(`import ${file} ${from} ${name.replace(/_[0-9a-f]{16}$/, "")}`);
  }
}
