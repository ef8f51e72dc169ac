/** Temp projects with the packed package installed as a user would, far from this repository's own modules. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

/** The repository. */
export const root = fileURLToPath(new URL("../..", import.meta.url));
/** The tools that the tests run, pinned by tests/package-lock.json. */
export const tools = join(root, "tests/node_modules");

/** The packed package: given by `cargo xtask test`, else packed here from `npm/`. */
export function tarball() {
  if (process.env.PLIMSOLL_TARBALL) return process.env.PLIMSOLL_TARBALL;
  const build = join(root, "build");
  const { version } = JSON.parse(readFileSync(join(root, "npm/package.json"), "utf8"));
  execFileSync("npm", ["pack", join(root, "npm"), "--pack-destination", build], { stdio: "pipe" });
  return join(build, `plimsoll-${version}.tgz`);
}

/**
 * A new project, removed when the test file is done.
 * @param {Record<string, string>} files path to text
 * @param {object} manifest what package.json holds besides
 */
export function project(files = {}, manifest = { type: "module" }) {
  const folder = emptyFolder();
  write(folder, { "package.json": JSON.stringify({ private: true, ...manifest }) });
  install(folder);
  cpSync(join(root, "tests/runtimes/check.mjs"), join(folder, "check.mjs"));
  write(folder, files);
  return folder;
}

/** Installs the packed package: as a copy of what `cargo xtask test` installed, since npm takes seconds for each folder; else by npm. */
function install(folder) {
  const [, modules] = /^(.*\/node_modules)\/\.bin\//.exec(process.env.PLIMSOLL_BIN ?? "") ?? [];
  if (modules) {
    cpSync(modules, join(folder, "node_modules"), { recursive: true, verbatimSymlinks: true });
    return;
  }
  execFileSync("npm", ["install", "--offline", "--no-save", "--no-audit", "--no-fund", tarball()], {
    cwd: folder,
    stdio: "pipe",
  });
}

/** Puts the packages of a `node_modules` into a project, as if they were installed there: by hard links where it can. */
export function linkTools(modules, folder) {
  linkFolder(modules, join(folder, "node_modules"));
}

function linkFolder(from, to) {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkFolder(source, target);
    else if (!existsSync(target)) linkFile(source, target);
  }
}

function linkFile(source, target) {
  try {
    linkSync(source, target);
  } catch {
    // Across file systems there are no hard links.
    cpSync(source, target, { verbatimSymlinks: true });
  }
}

/** The paths in a tarball, in its order. */
export function listTarball(path) {
  const bytes = gunzipSync(readFileSync(path));
  const field = (at, length) => bytes.toString("latin1", at, at + length).replace(/\0.*$/s, "");
  const paths = [];
  // Each file is a head of 512 bytes, its name first and its size in octal at 124, and its bytes up to the next 512.
  for (let at = 0; at < bytes.length && bytes[at] !== 0; ) {
    const prefix = field(at + 345, 155);
    paths.push(prefix ? `${prefix}/${field(at, 100)}` : field(at, 100));
    at += 512 + Math.ceil(Number.parseInt(field(at + 124, 12), 8) / 512) * 512;
  }
  return paths;
}

/** The Wasm files of the package in a project, as a user names them: `plimsoll.wasm` and what else there is. */
export function wasmFiles(folder) {
  const files = readdirSync(join(folder, "node_modules/plimsoll/dist"));
  return files.filter((file) => file.endsWith(".wasm"));
}

/** What `check.mjs` answers, which is the same everywhere. */
export function expected(folder) {
  write(folder, { "expected.mjs": `${IMPORTS}console.log(check(plimsoll));` });
  return run(process.execPath, ["expected.mjs"], folder);
}

/** Entries of the package that the programs of the tests use, and their files. */
export const ENTRIES = {
  plimsoll: "index",
  "plimsoll/sessions": "entry/sessions",
  "plimsoll/candidates": "entry/candidates",
  "plimsoll/inspect": "entry/inspect",
};
/** All that they export, as `plimsoll`. @param {(name: string) => string} load code that has what an entry exports */
export const loaded = (load) => {
  const all = Object.keys(ENTRIES).map((name) => `...${load(name)}`);
  return `const plimsoll = { ${all.join(", ")} };\n`;
};

/** How programs of the tests begin. @param {(name: string) => string} pathOf where an entry is imported from */
export function imports(pathOf = (name) => name) {
  const names = Object.keys(ENTRIES);
  const lines = names.map((name, at) => `import * as entry${at} from "${pathOf(name)}";\n`);
  const all = loaded((name) => `entry${names.indexOf(name)}`);
  return `${lines.join("")}import { check } from "./check.mjs";\n${all}`;
}
export const IMPORTS = imports();

/** An empty folder, removed when the test file is done. */
export function emptyFolder() {
  const folder = mkdtempSync(join(tmpdir(), "plimsoll-"));
  folders.push(folder);
  return folder;
}

const folders = [];
process.on("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Writes files into a folder. */
export function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

/** Runs a program to its end and gives what it printed; throws with everything it said if it fails. */
export function run(program, args, folder, variables = process.env) {
  const env = { ...variables, NO_COLOR: "1" };
  delete env.NODE_TEST_CONTEXT;
  const done = spawnSync(program, args, { cwd: folder, encoding: "utf8", env, timeout: 300_000 });
  if (done.error) throw done.error;
  if (done.status !== 0) {
    throw new Error(`${program} ${args.join(" ")} ended with ${done.status ?? done.signal}
${done.stdout}${done.stderr}`);
  }
  return done.stdout.trim();
}

/** Leaves a test out, and says why on a line that `cargo xtask test` shows. */
export function skip(t, reason) {
  console.log(`skipped: ${t.name}: ${reason}`);
  t.skip(reason);
}
