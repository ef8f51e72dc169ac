// @ts-check
/**
 * The commands of the README, line by line, as somebody runs them who has nothing but Node: in a new folder, with an empty home, with
 * no variable of this environment but the path of Node; and with `--long` those of a developer, in a fresh clone with an empty home.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { findProgram } from "../support/matrix.mjs";
import { emptyFolder, root, tarball } from "../support/project.mjs";
import { size } from "../support/size.mjs";

const SESSION = join(root, "examples/sessions/harbour-audit.pi.jsonl");
/** What each command prints. Those of a developer are run with `--long`; the tests are what this is a part of. */
const PRINTS = {
  "npm install plimsoll": /added 1 package/,
  "npx plimsoll inspect session.jsonl": /read 540 of 540 lines[\s\S]*used [\d,]+ \(/,
  "npx plimsoll replay session.jsonl --window 64k": /balanced[\s\S]*saved/,
  "cargo xtask demo": /3\/3 the package[\s\S]*balanced/,
  "cargo xtask test": null,
};

/** The commands of the README, without what is said of them. */
function commands() {
  const text = readFileSync(join(root, "README.md"), "utf8");
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block ?? "");
  const lines = blocks.flatMap((block) => block.split("\n"));
  return lines.map((line) => line.replace(/#.*/, "").trim()).filter(Boolean);
}

/** A folder of these programs alone, for PATH. @param {string[]} names */
function pathOf(names) {
  const folder = emptyFolder();
  for (const name of names) {
    const path = findProgram([name]);
    if (path) symlinkSync(path, join(folder, name));
  }
  return folder;
}

/** @param {string} command @param {string} cwd @param {Record<string, string>} env */
function ran(command, cwd, env) {
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-c", command], {
    cwd,
    env,
    encoding: "utf8",
    maxBuffer: 1e8,
  });
  assert.equal(status, 0, `${command}\n${stdout}${stderr}`);
  return `${stdout}${stderr}`;
}

test("every command of the README is known here", () => {
  assert.deepEqual(commands(), Object.keys(PRINTS));
});

test("the README's commands for users run in a new folder with an empty home", () => {
  const folder = emptyFolder();
  const env = {
    PATH: `${pathOf(["node", "npm", "npx"])}:/bin:/usr/bin`,
    HOME: emptyFolder(),
    npm_config_offline: "true",
    npm_config_update_notifier: "false",
  };
  cpSync(SESSION, join(folder, "session.jsonl"));
  for (const command of commands().filter((it) => /^np[mx] /.test(it))) {
    // The package is not published yet: the packed file stands for its name.
    const local = command.replace("install plimsoll", `install ${tarball()}`);
    const printed = ran(local, folder, env);
    assert.match(printed, PRINTS[/** @type {keyof PRINTS} */ (command)] ?? /./, command);
  }
});

test("the README's demo runs in a fresh clone", {
  skip:
    size !== "long" && "skipped: minutes of building; `cargo xtask test --long package` runs it",
}, () => {
  const folder = join(emptyFolder(), "clone");
  execFileSync("git", ["clone", "--quiet", root, folder]);
  // A home of its own, with what was downloaded for this one: a test needs no network.
  const home = emptyFolder();
  for (const name of [".rustup", ".npm"]) {
    if (existsSync(join(homedir(), name))) symlinkSync(join(homedir(), name), join(home, name));
  }
  const cargo = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  mkdirSync(join(home, ".cargo"));
  for (const name of ["registry", "bin", "config.toml"]) {
    const path = join(cargo, name);
    if (existsSync(path)) symlinkSync(path, join(home, ".cargo", name));
  }
  const programs = ["node", "npm", "npx", "cargo", "rustc", "rustup", "cc", "git"];
  const env = { PATH: `${pathOf(programs)}:/bin:/usr/bin`, HOME: home };
  const printed = ran("cargo xtask demo", folder, env);
  assert.match(printed, PRINTS["cargo xtask demo"]);
});
