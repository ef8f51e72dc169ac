import assert from "node:assert/strict";
import { test } from "node:test";
import { extremes, height, windows } from "../src/tide.js";

test("two high waters in a day, more or less", () => {
  const highs = extremes(0, 1440).filter((extreme) => extreme.kind === "high");
  assert.equal(highs.length, 2);
});

test("a shallow vessel can always cross", () => {
  assert.deepEqual(windows(0, 1440, 9, 2), [{ from: 0, to: 1440 }]);
});

test("a deep one has to wait for the tide", () => {
  const open = windows(0, 1440, 6, 6.2);
  assert.ok(open.length >= 1);
  for (const window of open) assert.ok(height(window.from) > height(window.from - 60));
});
