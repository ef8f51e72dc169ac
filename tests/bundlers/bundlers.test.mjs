/** The packed package through bundlers without any configuration. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import * as esbuild from "esbuild";
import * as vite from "vite";
import { chromiumPath, openPage } from "../support/chromium.mjs";
import { emptyFolder, project, run, skip, write } from "../support/project.mjs";

const MAIN = `import * as plimsoll from "plimsoll";
import { check } from "./check.mjs";
globalThis.answer = check(plimsoll);
console.log(globalThis.answer);`;
const WORKER = `import * as plimsoll from "plimsoll";
import { check } from "./check.mjs";
postMessage(check(plimsoll));`;
const html = (script) => `<!doctype html><script type="module" src="/${script}"></script>`;

const folder = project({
  "main.js": MAIN,
  "worker.js": WORKER,
  "start.js": `const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
worker.onmessage = ({ data }) => { globalThis.answer = data; };`,
  "index.html": html("main.js"),
  "worker.html": html("start.js"),
});
const expected = run(process.execPath, ["main.js"], folder);
const entry = { entryPoints: [join(folder, "main.js")], bundle: true, logLevel: "error" };

for (const [format, name] of [
  ["esm", "out.mjs"],
  ["cjs", "out.cjs"],
]) {
  test(`esbuild, ${format} for Node, run where there is no package`, async () => {
    const elsewhere = emptyFolder();
    await esbuild.build({ ...entry, platform: "node", format, outfile: join(elsewhere, name) });
    assert.equal(run(process.execPath, [name], elsewhere), expected);
  });
}

test("a bundle holds the Wasm that its imports need, and no other", async () => {
  const sizes = [];
  for (const names of [
    "{ PlimsollError }",
    "{ ContextManager }",
    "{ ContextManager, readSession }",
  ]) {
    const contents = `export ${names} from "plimsoll";`;
    const stdin = { contents, resolveDir: folder };
    const options = { bundle: true, format: "esm", write: false, metafile: true };
    const { outputFiles, metafile } = await esbuild.build({ stdin, ...options });
    const [{ inputs }] = Object.values(metafile.outputs);
    const texts = Object.keys(inputs).filter((path) => path.endsWith("_text.js"));
    sizes.push([texts.map((path) => path.replace(/.*\//, "")), outputFiles[0].contents.length]);
  }
  const both = ["plimsoll_text.js", "sessions_text.js"];
  assert.deepEqual(
    sizes.map(([texts]) => texts.sort()),
    [["plimsoll_text.js"], ["plimsoll_text.js"], both],
  );
  assert.ok(sizes[2][1] > sizes[1][1] + 100_000, JSON.stringify(sizes));
});

test("esbuild, for the browser", async (t) => {
  if (!chromiumPath()) return skip(t, "there is no chromium in PATH");
  const out = emptyFolder();
  await esbuild.build({ ...entry, minify: true, outfile: join(out, "main.js") });
  write(out, { "index.html": html("main.js") });
  assert.equal(await openPage(out, "index.html"), expected);
});

for (const page of ["index.html", "worker.html"]) {
  test(`Vite, ${page}`, async (t) => {
    if (!chromiumPath()) return skip(t, "there is no chromium in PATH");
    const outDir = emptyFolder();
    const build = { outDir, emptyOutDir: true, rollupOptions: { input: join(folder, page) } };
    await vite.build({ root: folder, configFile: false, logLevel: "warn", build });
    assert.equal(await openPage(outDir, page), expected);
  });
}
