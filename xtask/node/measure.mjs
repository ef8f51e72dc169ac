// Measurements of the assembled package: its size and the imports of its Wasm files, one fact a line.
import { readdirSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { bundle } from "./bundle.mjs";

const [npm] = process.argv.slice(2);
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
const names = readdirSync(`${npm}/dist`).filter((name) => name.endsWith(".wasm"));
const wasms = new Map(names.map((name) => [name, readFileSync(`${npm}/dist/${name}`)]));

const MAIN = [
  '{ ContextManager, validate, repair, estimateTokens, estimateRequest, PlimsollError } from "./dist/index.js"',
];
const ENTRIES = readdirSync(`${npm}/dist/entry`).filter((name) => /^\w+\.js$/.test(name));

const parts = [
  ...wasms,
  ["inspector.html", readFileSync(`${npm}/dist/inspector.html`)],
  ["main", (await bundle(npm, ...MAIN)).atOnce],
  [
    "everything",
    (
      await bundle(
        npm,
        ...["index.js", ...ENTRIES.map((it) => `entry/${it}`)].map((it) => `* from "./dist/${it}"`),
      )
    ).atOnce,
  ],
  ["slim", (await bundle(npm, '* from "./dist/slim.js"')).atOnce],
];
// Compressing takes seconds: a Wasm is weighed as it is, the page by gzip, bundles by brotli, all of them at once.
const weighed = parts.map(async ([name, bytes]) => {
  const isBundle = !/\.(wasm|html)$/.test(name);
  const brotli = isBundle ? (await promisify(brotliCompress)(bytes, options)).length : 0;
  const zipped = name.endsWith(".html") ? (await promisify(gzip)(bytes, { level: 9 })).length : 0;
  return `size ${name} ${bytes.length} ${brotli} ${zipped}`;
});
for (const line of await Promise.all(weighed)) console.log(line);
for (const [file, bytes] of wasms) {
  for (const { module, name } of WebAssembly.Module.imports(new WebAssembly.Module(bytes))) {
    // A Wasm that is built for Node has the glue of the one that is not.
    const glue = `./${file.replace(/(-node)?\.wasm$/, "_bg.js")}`;
    const from = module === glue ? "glue" : module;
    console.log(`import ${file} ${from} ${name.replace(/_[0-9a-f]{16}$/, "")}`);
  }
}
