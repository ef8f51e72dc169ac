// @ts-check
/**
 * The faults that agents were seen to have, a row each: its name, what is done to the package, and what came out (printed). Rows
 * stand in `faults/`: what a summarizer does, what a history is like, what a session goes through.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { skip } from "../support/agent-session.mjs";
import { history } from "./history.mjs";
import { job } from "./job.mjs";
import { meanwhile } from "./meanwhile.mjs";
import { state } from "./state.mjs";

const rows = [...job, ...meanwhile, ...history, ...state];

for (const { fault, name, done, run, later } of rows)
  test(`${name}: ${done} (${fault})`, { skip }, async () => {
    const out = await run();
    assert.notEqual(out, "");
    console.log(`${fault} ${name} | ${done} | ${out}`);
    if (later) console.log(`skipped: ${fault}: ${later}`);
  });

test("the table has a row for each of the 40 faults", () => {
  const numbers = rows.map(({ fault }) => Number(fault.slice(1))).sort((a, b) => a - b);
  assert.deepEqual(
    numbers,
    Array.from({ length: 40 }, (_, at) => at + 1),
  );
});
