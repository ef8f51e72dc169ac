import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readManifest, splitLine } from "../src/manifest.js";

test("a quoted cell may hold a comma (D6)", () => {
  assert.deepEqual(splitLine('"Borealis, of Vik",bulk,168'), ["Borealis, of Vik", "bulk", "168"]);
});

test("a quoted cell may hold doubled quotes", () => {
  assert.deepEqual(splitLine('"Ems ""Queen""",container'), ['Ems "Queen"', "container"]);
});

test("the list in data is read whole", () => {
  const { vessels, faults } = readManifest(readFileSync(new URL("../data/vessels.csv", import.meta.url), "utf8"));
  assert.deepEqual(faults, []);
  assert.equal(vessels.length, 14);
});

test("a bad row is reported with its line", () => {
  const { faults } = readManifest("name,kind,length,draught,gross,hours,asks,hazard\nX,ferry,80,4,2000,5,2026-03-01T04:00Z,no");
  assert.equal(faults.length, 1);
  assert.equal(faults[0].line, 2);
});
