/** The packed package through bundlers without any configuration. */
import assert from "node:assert/strict";
import { basename, dirname, extname, join } from "node:path";
import { test } from "node:test";
import { nodeResolve } from "@rollup/plugin-node-resolve";
import * as esbuild from "esbuild";
import { rollup } from "rollup";
import * as vite from "vite";
import webpack from "webpack";
import { cell } from "../support/cells.mjs";
import { openPage, openUrl } from "../support/chromium.mjs";
import { exampleOf } from "../support/examples.mjs";
import { HOSTS } from "../support/matrix.mjs";
import { emptyFolder, expected, IMPORTS, project, run, skip, write } from "../support/project.mjs";
import { slimPrograms } from "./slim.mjs";

const html = (script) => `<!doctype html><script type="module" src="/${script}"></script>`;

const folder = project({
  "main.js": `${IMPORTS}globalThis.answer = check(plimsoll);\nconsole.log(globalThis.answer);`,
  "worker.js": `${IMPORTS}postMessage(check(plimsoll));`,
  "start.js": `const worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
worker.onmessage = ({ data }) => { globalThis.answer = data; };`,
  "index.html": html("main.js"),
  "worker.html": html("start.js"),
  "slim.html": html("vite-slim.js"),
  "example.js": `${exampleOf("docs/runtimes.md", 2)}globalThis.answer = estimateTokens("one two three", "chars/4");`,
});
write(folder, slimPrograms(folder));
const answer = expected(folder);
const main = join(folder, "main.js");

/** What a bundle answers in Node, in a folder from which the package cannot be found. */
async function inNode(name, bundle) {
  const out = emptyFolder();
  await bundle(out, join(out, name));
  assert.equal(run(process.execPath, [name], out), answer);
}

/** What a bundle answers in the browser, again with nothing beside it. */
async function inPage(bundle, page = "index.html") {
  const out = emptyFolder();
  write(out, { [page]: html("main.js") });
  await bundle(out, join(out, "main.js"));
  assert.equal(await openPage(out, page), answer);
}

const built = { entryPoints: [main], bundle: true, logLevel: "error" };
for (const [format, name] of Object.entries({ esm: "out.mjs", cjs: "out.cjs" })) {
  cell(`esbuild-${format}`, () =>
    inNode(name, (_, outfile) => esbuild.build({ ...built, platform: "node", format, outfile })),
  );
}
cell(
  "esbuild-page",
  () => inPage((_, outfile) => esbuild.build({ ...built, minify: true, outfile })),
  "chromium",
);

test("a bundle contains only the Wasm files that its imports need", async () => {
  const sizesOf = [];
  const main = 'export { ContextManager } from "plimsoll";';
  for (const contents of [
    'export { PlimsollError } from "plimsoll";',
    main,
    `${main} export { readSession } from "plimsoll/sessions";`,
    'export { replay } from "plimsoll/sessions";',
    'export { pruneHistoryForContextShare } from "plimsoll/openclaw";',
    'export { renderList } from "plimsoll/inspect";',
  ]) {
    const stdin = { contents, resolveDir: folder };
    const split = { splitting: true, outdir: "out", entryNames: "entry" };
    const options = { bundle: true, format: "esm", write: false, metafile: true, ...split };
    const { outputs } = (await esbuild.build({ stdin, ...options })).metafile;
    // What is only loaded when it is wanted, as the engine of summaries is, stands in chunks of its own.
    const wanted = new Set(["out/entry.js"]);
    for (const path of wanted)
      for (const it of outputs[path].imports)
        if (it.kind === "import-statement") wanted.add(it.path);
    const own = [...wanted].map((path) => outputs[path]);
    const texts = own.flatMap(({ inputs }) => Object.keys(inputs));
    sizesOf.push([
      texts.filter((path) => path.includes("/glue/text/")).map((path) => path.replace(/.*\//, "")),
      own.reduce((sum, { bytes }) => sum + bytes, 0),
    ]);
  }
  const both = ["plimsoll.js", "sessions.js"];
  assert.deepEqual(
    sizesOf.map(([texts]) => texts.sort()),
    [["plimsoll.js"], ["plimsoll.js"], both, ["sessions.js"], ["plimsoll.js"], []],
  );
  assert.ok(sizesOf[2][1] > sizesOf[1][1] + 100_000, JSON.stringify(sizesOf));
});

const viteConfig = { root: folder, configFile: false, logLevel: "warn" };
const chunkSizeWarningLimit = 2000;
const pages = { "vite-page": "index.html", "vite-worker": "worker.html", "vite-slim": "slim.html" };
for (const [id, page] of Object.entries(pages)) {
  const rollupOptions = { input: join(folder, page) };
  const build = { emptyOutDir: true, rollupOptions, chunkSizeWarningLimit };
  const bundle = (outDir) => vite.build({ ...viteConfig, build: { ...build, outDir } });
  cell(id, () => inPage(bundle, page), "chromium");
}
cell(
  "vite-dev",
  async () => {
    const server = await vite.createServer({
      ...viteConfig,
      server: { host: "127.0.0.1", port: 0 },
    });
    try {
      await server.listen();
      assert.equal(await openUrl(server.resolvedUrls.local[0]), answer);
    } finally {
      await server.close();
    }
  },
  "chromium",
);

/** Runs webpack in its production mode; a warning is a failure, but for the one of sizes. */
function pack(entry, target, path, filename) {
  const output = { path, filename };
  const performance = { hints: false };
  const config = { mode: "production", context: folder, entry, target, output, performance };
  return new Promise((done, fail) => {
    webpack(config, (error, stats) => {
      if (error) fail(error);
      else if (stats.hasErrors() || stats.hasWarnings()) fail(new Error(stats.toString()));
      else done();
    });
  });
}
const packed = {
  "webpack-page": "main.js",
  "webpack-worker": "start.js",
  "webpack-slim": "webpack-slim.js",
};
for (const [id, entry] of Object.entries(packed)) {
  cell(id, () => inPage((out) => pack(`./${entry}`, "web", out, "main.js")), "chromium");
}
test("the smaller bundle of docs/runtimes.md runs in a page", async (t) => {
  const missing = HOSTS.chromium.missing();
  if (missing) return skip(t, missing);
  const out = emptyFolder();
  write(out, { "index.html": html("main.js") });
  await pack("./example.js", "web", out, "main.js");
  return assert.equal(await openPage(out, "index.html"), 4);
});
cell("webpack-node", () => inNode("out.cjs", (out) => pack("./main.js", "node20", out, "out.cjs")));

/** Runs Rollup; a warning is a failure. What is loaded when it is wanted makes a second chunk: Rollup wants a folder for them. */
async function roll(format, file) {
  const onwarn = (warning) => {
    throw new Error(warning.message);
  };
  const bundle = await rollup({ input: main, plugins: [nodeResolve()], onwarn });
  const chunkFileNames = `[name]${extname(file)}`;
  await bundle.write({
    dir: dirname(file),
    entryFileNames: basename(file),
    chunkFileNames,
    format,
  });
  await bundle.close();
}
cell("rollup-esm", () => inNode("out.mjs", (_, file) => roll("es", file)));
cell("rollup-cjs", () => inNode("out.cjs", (_, file) => roll("cjs", file)));
cell("rollup-page", () => inPage((_, file) => roll("es", file)), "chromium");
