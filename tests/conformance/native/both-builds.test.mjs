// @ts-check
/** The build for speed, which Node reads, and the build for size give the same bytes: of requests, reports and replays. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { packagePath } from "../support/package.mjs";

const entry = packagePath();
const why = entry ? "" : "skipped: the package is not built";
if (why) console.log(why);

test("the build for speed and the build for size give the same bytes", {
  skip: why || false,
}, () => {
  const [fast, small] = ["index.node.js", "index.js"].map((name) =>
    digests(join(dirname(entry ?? ""), name)),
  );
  assert.ok(fast && fast.length > 3, "there are sessions");
  assert.deepEqual(fast, small);
  console.log(`the same bytes of both builds: ${fast.length} sessions`);
});

/** A line for each session: its name, and the hash of all answers. @param {string} entry */
function digests(entry) {
  const script = fileURLToPath(new URL("./answers-digest.mjs", import.meta.url));
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], {
    env: { ...process.env, PLIMSOLL: entry },
    encoding: "utf8",
  });
  assert.equal(status, 0, stderr);
  return stdout.split("\n").filter((line) => line.startsWith("digest "));
}
