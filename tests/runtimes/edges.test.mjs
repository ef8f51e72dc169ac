/** The packed package in runtimes that compile no bytes: they are handed the Wasm as a module. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { EdgeRuntime } from "edge-runtime";
import * as esbuild from "esbuild";
import { cell } from "../support/cells.mjs";
import { emptyFolder, expected, IMPORTS, project, tools, write } from "../support/project.mjs";

const FETCH = "export default { fetch() { return new Response(check(plimsoll)); } };";
const folder = project({
  "worker.js": `${IMPORTS}${FETCH}`,
  "edge.js": `${IMPORTS}addEventListener("fetch", (event) => {
  event.respondWith(new Response(check(plimsoll)));
});`,
});
const answer = expected(folder);

/** A configuration of workerd that serves these files, the first of them being the program. */
function workerdConfig(files) {
  const kind = (file) => (file.endsWith(".wasm") ? "wasm" : "esModule");
  const modules = files.map((file) => `(name = "${file}", ${kind(file)} = embed "${file}")`);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [${modules.join(", ")}],
    compatibilityDate = "2026-01-01",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);`;
}

/** What a worker of these files answers. */
async function askWorkerd(served, files) {
  write(served, { "config.capnp": workerdConfig(files) });
  const args = ["serve", "config.capnp", "--control-fd=3"];
  const stdio = ["ignore", "ignore", "pipe", "pipe"];
  const worker = spawn(join(tools, ".bin/workerd"), args, { cwd: served, stdio });
  let errors = "";
  worker.stderr.on("data", (text) => {
    errors += text;
  });
  const gone = new Promise((done) => worker.on("exit", done));
  try {
    const listens = new Promise((resolve) => {
      worker.stdio[3].on("data", (text) => resolve(JSON.parse(String(text).split("\n")[0]).port));
    });
    const port = await Promise.race([listens, gone]);
    if (port === undefined || worker.exitCode !== null) throw new Error(errors);
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assert.equal(response.status, 200, errors);
    return await response.text();
  } finally {
    worker.kill();
    await gone;
  }
}

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
  const files = readdirSync(out).sort((a, b) => Number(b === "worker.js") - Number(a === "worker.js"));
  assert.equal(await askWorkerd(out, files), answer);
});

cell("workerd-modules", async () => {
  const dist = "node_modules/plimsoll/dist";
  const files = readdirSync(join(folder, dist), { recursive: true })
    .filter((file) => /\.(js|wasm)$/.test(file) && !/^(cjs|cli)\b|^edge/.test(file))
    .map((file) => `${dist}/${file}`);
  const program = `${IMPORTS.replace('"plimsoll"', `"./${dist}/workerd.js"`)}${FETCH}`;
  write(folder, { "modules.js": program });
  assert.equal(await askWorkerd(folder, ["modules.js", "check.mjs", ...files]), answer);
});

/** As hosts of edge functions do: `x.wasm?module` becomes a module that the host has compiled. */
const given = new Map();
const asModule = {
  name: "wasm as module",
  setup(build) {
    build.onResolve({ filter: /\.wasm\?module$/ }, ({ path, resolveDir }) => {
      const file = join(resolveDir, path.replace("?module", ""));
      return { path: file, namespace: "module" };
    });
    build.onLoad({ filter: /.*/, namespace: "module" }, ({ path }) => {
      const name = `wasm_${basename(path, ".wasm")}`;
      given.set(name, new WebAssembly.Module(readFileSync(path)));
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
    extend: (context) => Object.assign(context, Object.fromEntries(given)),
    initialCode: outputFiles[0].text,
  });
  const response = await runtime.dispatchFetch("http://127.0.0.1/");
  assert.equal(await response.text(), answer);
  assert.ok(given.size > 0);
});
