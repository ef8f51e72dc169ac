// @ts-check
/**
 * The faults that agents were seen to have, a row each: its name, what is done to the package, and what came out (printed). Rows
 * stand in `faults/`: what a summarizer does, what a history is like, what a session goes through.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { job } from "./faults/job.mjs";
import { skip } from "./talk.mjs";

const rows = [...job];

for (const { fault, name, done, run, later } of rows)
  test(`${fault} ${name}: ${done}`, { skip }, async () => {
    const out = await run();
    assert.notEqual(out, "");
    console.log(`${fault} ${name} | ${done} | ${out}`);
    if (later) console.log(`skipped: ${fault}: ${later}`);
  });
