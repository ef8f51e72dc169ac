// Progress line of a long command: only on a terminal, after a second, and gone at the end.
import assert from "node:assert/strict";
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { here } from "./command.mjs";

const bin = realpathSync(process.env.PLIMSOLL_BIN ?? here("npm/dist/cli.js"));
const { Progress } = await import(pathToFileURL(join(dirname(bin), "cli/progress.js")).href);

/** What three runs write, each of which takes so long. */
function written(isTTY, ms) {
  const lines = [];
  let now = 0;
  const out = { isTTY, write: (text) => lines.push(text) };
  const progress = new Progress([100, 300, 600], out, () => now);
  for (const result of ["a", "b", "c"]) {
    const got = progress.next(() => {
      now += ms;
      return result;
    });
    assert.equal(got, result);
  }
  progress[Symbol.dispose]();
  return lines;
}

test("progress shows runs, calls and remaining time, and erases itself at the end", () => {
  assert.deepEqual(written(true, 2000), [
    "\rplimsoll: 1 of 3 runs, 100 of 1,000 calls, about 18 s left\x1b[K",
    "\rplimsoll: 2 of 3 runs, 400 of 1,000 calls, about 6 s left\x1b[K",
    "\r\x1b[K",
  ]);
});

test("progress stays silent for the first second and without a terminal", () => {
  assert.deepEqual(written(true, 300), []);
  assert.deepEqual(written(false, 2000), []);
});
