/** The packed package in runtimes that compile no bytes: they are handed the Wasm as a module. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { EdgeRuntime } from "edge-runtime";
import * as esbuild from "esbuild";
import { cell } from "../support/cells.mjs";
import {
  ENTRIES,
  emptyFolder,
  expected,
  IMPORTS,
  imports,
  project,
  write,
} from "../support/project.mjs";
import { askWorkerd } from "../support/workerd.mjs";

const FETCH = "export default { fetch() { return new Response(check(plimsoll)); } };";
const folder = project({
  "worker.js": `${IMPORTS}${FETCH}`,
  "edge.js": `${IMPORTS}addEventListener("fetch", (event) => {
  event.respondWith(new Response(check(plimsoll)));
});`,
});
const answer = expected(folder);

cell("workerd-bundle", async () => {
  const out = emptyFolder();
  await esbuild.build({
    entryPoints: [join(folder, "worker.js")],
    bundle: true,
    format: "esm",
    conditions: ["workerd"],
    loader: { ".wasm": "copy" },
    outdir: out,
    logLevel: "error",
  });
  assert.equal(await askWorkerd(out, "worker.js", readdirSync(out)), answer);
});

cell("workerd-modules", async () => {
  const dist = "node_modules/plimsoll/dist";
  const { metafile } = await esbuild.build({
    absWorkingDir: folder,
    entryPoints: Object.values(ENTRIES).map((file) => `${dist}/${file}.workerd.js`),
    bundle: true,
    format: "esm",
    loader: { ".wasm": "file" },
    outdir: folder,
    metafile: true,
    write: false,
  });
  const program = imports((name) => `./${dist}/${ENTRIES[name]}.workerd.js`) + FETCH;
  write(folder, { "modules.js": program });
  const files = ["check.mjs", ...Object.keys(metafile.inputs)];
  assert.equal(await askWorkerd(folder, "modules.js", files), answer);
});

/** As hosts of edge functions do: `x.wasm?module` becomes a module that the host has compiled. */
const globals = new Map();
const asModule = {
  name: "wasm as module",
  setup(build) {
    build.onResolve({ filter: /\.wasm\?module$/ }, ({ path, resolveDir }) => {
      const file = join(resolveDir, path.replace("?module", ""));
      return { path: file, namespace: "module" };
    });
    build.onLoad({ filter: /.*/, namespace: "module" }, ({ path }) => {
      const name = `wasm_${basename(path, ".wasm")}`;
      globals.set(name, new WebAssembly.Module(readFileSync(path)));
      return { contents: `export default ${name};` };
    });
  },
};

cell("edge", async () => {
  const { outputFiles } = await esbuild.build({
    entryPoints: [join(folder, "edge.js")],
    bundle: true,
    format: "iife",
    conditions: ["edge-light"],
    plugins: [asModule],
    write: false,
    logLevel: "error",
  });
  const runtime = new EdgeRuntime({
    extend: (context) => Object.assign(context, Object.fromEntries(globals)),
    initialCode: outputFiles[0].text,
  });
  const response = await runtime.dispatchFetch("http://127.0.0.1/");
  assert.equal(await response.text(), answer);
  assert.ok(globals.size > 0);
});
