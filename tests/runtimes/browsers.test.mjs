/** The packed package in browsers, without a bundler. */
import assert from "node:assert/strict";
import { cell } from "../support/cells.mjs";
import * as chromium from "../support/chromium.mjs";
import * as firefox from "../support/firefox.mjs";
import {
  ENTRIES,
  expected,
  IMPORTS,
  imports,
  project,
  wasmFiles,
  write,
} from "../support/project.mjs";

const DIST = "/node_modules/plimsoll/dist/";
const folder = project();
const paths = Object.fromEntries(
  Object.entries(ENTRIES).map(([name, file]) => [name, `${DIST}${file}.js`]),
);
const wasms = wasmFiles(folder).map((file) => DIST + file);

const page = (script) => `<!doctype html><script type="importmap">
${JSON.stringify({ imports: { ...paths, "plimsoll/slim": `${DIST}slim.js` } })}
</script><script type="module">${script}</script>`;
/** A page that starts each Wasm file, at `url`, and then the check. */
const slim = (start) =>
  page(`import * as plimsoll from "plimsoll/slim";
import { check } from "./check.mjs";
for (const url of ${JSON.stringify(wasms)}) ${start};
globalThis.answer = check(plimsoll);`);

write(folder, {
  "main.html": page(`${IMPORTS}globalThis.answer = check(plimsoll);`),
  "policy.html": page(`${IMPORTS}try { globalThis.answer = check(plimsoll); }
catch (error) { globalThis.answer = String(error); }`),
  "worker.html": page(`const worker = new Worker("worker.js", { type: "module" });
worker.onerror = (event) => { throw new Error(event.message); };
worker.onmessage = ({ data }) => { globalThis.answer = data; };`),
  "worker.js": `${imports((name) => paths[name])}postMessage(check(plimsoll));`,
  "slim-url.html": slim("await plimsoll.init(new URL(url, location))"),
  "slim-stream.html": slim("await plimsoll.init(WebAssembly.compileStreaming(fetch(url)))"),
  "slim-bytes.html": slim("plimsoll.initSync(await (await fetch(url)).arrayBuffer())"),
});

const answer = expected(folder);
const policy = "script-src 'self' 'unsafe-inline'";

for (const [name, { openPage }] of Object.entries({ chromium, firefox })) {
  for (const path of ["main", "worker", "slim-url", "slim-stream", "slim-bytes"]) {
    cell(`${name}-${path}`, async () => {
      assert.equal(await openPage(folder, `${path}.html`), answer);
    });
  }
  cell(`${name}-csp`, async () => {
    const under = (text) => openPage(folder, "policy.html", { "content-security-policy": text });
    assert.match(await under(policy), /content security policy|CSP/i);
    assert.equal(await under(`${policy} 'wasm-unsafe-eval'`), answer);
  });
}
