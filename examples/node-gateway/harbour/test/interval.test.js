import assert from "node:assert/strict";
import { test } from "node:test";
import { contains, gaps, intersect, interval, merge, overlaps } from "../src/interval.js";

test("stays that only touch do not collide (rule 1)", () => {
  assert.equal(overlaps(interval(0, 60), interval(60, 120)), false);
  assert.equal(overlaps(interval(60, 120), interval(0, 60)), false);
});

test("stays that share a minute collide", () => {
  assert.equal(overlaps(interval(0, 61), interval(60, 120)), true);
});

test("the intersection of neighbours is nothing", () => {
  assert.equal(intersect(interval(0, 60), interval(60, 120)), null);
});

test("gaps are what is left", () => {
  assert.deepEqual(gaps(interval(0, 100), [interval(10, 20), interval(15, 40)]), [{ from: 0, to: 10 }, { from: 40, to: 100 }]);
});

test("merge joins neighbours", () => {
  assert.deepEqual(merge([interval(5, 9), interval(0, 5)]), [{ from: 0, to: 9 }]);
});

test("a part is inside the whole", () => {
  assert.equal(contains(interval(0, 10), interval(3, 10)), true);
  assert.equal(contains(interval(0, 10), interval(3, 11)), false);
});
