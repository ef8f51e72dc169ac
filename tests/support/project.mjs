/** Temp projects with the packed package installed as a user would, far from this repository's own modules. */
import { execFileSync, spawnSync } from "node:child_process";
import {
  cpSync,
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
  execFileSync("npm", ["install", "--offline", "--no-save", "--no-audit", "--no-fund", tarball()], {
    cwd: folder,
    stdio: "pipe",
  });
  cpSync(join(root, "tests/runtimes/check.mjs"), join(folder, "check.mjs"));
  write(folder, files);
  return folder;
}

/** Puts the packages of a `node_modules` into a project, as if they were installed there: by hard links where it can. */
export function linkTools(modules, folder) {
  const target = join(folder, "node_modules");
  const linked = spawnSync("cp", ["-a", "-l", "-n", `${modules}/.`, target]);
  if (linked.status !== 0) {
    cpSync(modules, target, { recursive: true, force: false, verbatimSymlinks: true });
  }
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

/** How most programs of the tests begin. */
export const IMPORTS = `import * as plimsoll from "plimsoll";
import { check } from "./check.mjs";
`;

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
export function run(program, args, folder, given = process.env) {
  const env = { ...given, NO_COLOR: "1" };
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
