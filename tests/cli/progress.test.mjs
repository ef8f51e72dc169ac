// Progress line of a long command: only on a terminal, after a second, and gone at the end.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ofSources } from "./command.mjs";

const { Progress } = await ofSources("cli/progress.ts");

/** What is written while three runs are played, in steps of 100 calls that take so long. */
function written(isTTY, ms, runs = [100, 300, 600]) {
  const lines = [];
  let now = 0;
  const out = { isTTY, write: (text) => lines.push(text) };
  const progress = new Progress(runs.length, out, () => now);
  for (const calls of runs) progress.expect(1, calls);
  for (const calls of runs) {
    for (let at = 0; at < calls; at += 100) {
      now += ms;
      progress.advance(100);
    }
    progress.finish();
  }
  progress[Symbol.dispose]();
  return lines;
}

test("progress shows runs, calls and remaining time, also within a run, and erases itself at the end", () => {
  assert.deepEqual(written(true, 2000, [100, 200]), [
    "\rplimsoll: 0 of 2 runs, 100 of 300 calls, about 4 s left\x1b[K",
    "\rplimsoll: 1 of 2 runs, 200 of 300 calls, about 2 s left\x1b[K",
    "\rplimsoll: 1 of 2 runs, 300 of 300 calls, about 0 s left\x1b[K",
    "\r\x1b[K",
  ]);
});

test("progress writes at most ten lines a second", () => {
  const lines = written(true, 30, [10_000]);
  assert.ok(lines.length > 10 && lines.length <= 21, `${lines.length} in 3 s`);
});

test("progress takes runs that are not known yet to be like the others", () => {
  const lines = [];
  let now = 0;
  const progress = new Progress(4, { isTTY: true, write: (text) => lines.push(text) }, () => now);
  progress.expect(1, 200);
  now = 5000;
  progress.advance(100);
  assert.deepEqual(lines, [
    "\rplimsoll: 0 of 4 runs, 100 of about 800 calls, about 35 s left\x1b[K",
  ]);
});

test("progress stays silent for the first second and without a terminal", () => {
  assert.deepEqual(written(true, 90), []);
  assert.deepEqual(written(false, 2000), []);
});
