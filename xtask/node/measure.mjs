// What the assembled package weighs and what its Wasm asks of JavaScript, one fact a line.
import { readFileSync } from "node:fs";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "../../js/node_modules/esbuild/lib/main.js";

const [npm] = process.argv.slice(2);
const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } };
const wasm = readFileSync(`${npm}/dist/plimsoll.wasm`);
const bundle = async (entry) => {
  const { outputFiles } = await build({
    entryPoints: [`${npm}/dist/${entry}`],
    bundle: true,
    format: "esm",
    minify: true,
    write: false,
  });
  return outputFiles[0].contents;
};

for (const [name, bytes] of [
  ["wasm", wasm],
  ["main", await bundle("index.js")],
  ["slim", await bundle("slim.js")],
]) {
  console.log(`size ${name} ${bytes.length} ${brotliCompressSync(bytes, options).length}`);
}
for (const { module, name } of WebAssembly.Module.imports(new WebAssembly.Module(wasm))) {
  console.log(`import ${module} ${name.replace(/_[0-9a-f]{16}$/, "")}`);
}
