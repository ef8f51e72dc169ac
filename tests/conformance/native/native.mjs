// @ts-check
/** The core built natively, for the tests that hold the Wasm against it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Where the dump (`examples/dump.rs`) is; `PLIMSOLL_NATIVE` names one that is built. */
export function native() {
  if (process.env.PLIMSOLL_NATIVE) return process.env.PLIMSOLL_NATIVE;
  // The profile of the Rust tests: what they have built is not built again.
  const build = ["build", "--quiet", "--profile", "test", "--example", "dump"];
  const messages = ["--message-format", "json-render-diagnostics"];
  const run = spawnSync("cargo", [...build, ...messages], {
    cwd: root,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (run.error) return undefined;
  assert.equal(run.status, 0, run.stderr);
  const artifacts = run.stdout.split("\n").filter((line) => line.startsWith("{"));
  return artifacts.map((line) => JSON.parse(line).executable).find((path) => path);
}
