/** The same Wasm wherever it is built: two folders, two target folders, two homes of cargo. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { emptyFolder, root } from "../support/project.mjs";
import { size } from "../support/size.mjs";

const SOURCES = [".cargo", "Cargo.lock", "Cargo.toml", "rust-toolchain.toml", "src", "xtask"];
/** The smallest stands for all: the way of each is the same. */
const WASMS =
  size === "long"
    ? ["plimsoll-node", "plimsoll", "sessions", "prompt", "compact", "candidates"]
    : ["sessions"];
const xtask = process.env.PLIMSOLL_XTASK;
const home = process.env.CARGO_HOME ?? join(homedir(), ".cargo");

/** A copy of the sources, with the tools of this checkout. @param {string} folder */
function copied(folder) {
  for (const name of SOURCES) cpSync(join(root, name), join(folder, name), { recursive: true });
  mkdirSync(join(folder, "js"));
  symlinkSync(join(root, "js/node_modules"), join(folder, "js/node_modules"));
  return folder;
}

/** A home of cargo that unpacks every package anew, from what was downloaded for this one. */
function otherHome() {
  const other = emptyFolder();
  mkdirSync(join(other, "registry"));
  for (const name of ["registry/index", "registry/cache", "config.toml", "bin"]) {
    if (existsSync(join(home, name))) symlinkSync(join(home, name), join(other, name));
  }
  return other;
}

/** @param {string} folder @param {string} cargoHome @returns {string[]} the hash of each Wasm that is built there */
function built(folder, cargoHome) {
  const env = {
    ...process.env,
    CARGO_HOME: cargoHome,
    CARGO_MANIFEST_DIR: join(folder, "xtask"),
    CARGO_NET_OFFLINE: "true",
  };
  // No limit of time: how long a compiler takes is the machine's business.
  const { status, stdout, stderr } = spawnSync(xtask, ["build", ...WASMS], {
    env,
    encoding: "utf8",
  });
  assert.equal(status, 0, `${stdout}${stderr}`);
  const printed = stdout.trim();
  console.log(printed);
  // The folders are new, so each Wasm was compiled for this test.
  for (const name of WASMS) assert.ok(printed.includes(`${name}.wasm: compiled in`), printed);
  return WASMS.map((name) => {
    const bytes = readFileSync(join(folder, `build/${name}.wasm`));
    const places = [folder, root, cargoHome, home].filter((path) => bytes.includes(path));
    assert.deepEqual(places, [], `${name}.wasm names a folder of this machine`);
    return `${name}.wasm ${createHash("sha256").update(bytes).digest("hex")}`;
  });
}

const missing =
  size === "short"
    ? "skipped: two builds from nothing take minutes: `cargo xtask test --ci machine` makes them"
    : xtask
      ? false
      : "skipped: `cargo xtask test machine` says where the build tool is";
if (missing) console.log(missing);

test("a Wasm has the same bytes in another folder and with another home of cargo", {
  skip: missing,
}, () => {
  const short = built(copied(emptyFolder()), home);
  const folder = join(emptyFolder(), "a folder with a longer name", "and another below it");
  mkdirSync(folder, { recursive: true });
  const long = built(copied(folder), otherHome());
  for (const line of [...short, ...long]) console.log(`sha256 ${line}`);
  assert.deepEqual(long, short);
});
