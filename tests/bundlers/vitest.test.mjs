/** The packed package under Vitest, without any configuration. */
import assert from "node:assert/strict";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { cell } from "../support/cells.mjs";
import { expected, IMPORTS, project, run, tools } from "../support/project.mjs";

const folder = project({
  "check.test.mjs": `import { expect, test } from "vitest";
${IMPORTS}test("the package answers in Vitest as in Node", () => { expect(check(plimsoll)).toBe(process.env.ANSWER); });`,
});
const answer = expected(folder);
symlinkSync(join(tools, "vitest"), join(folder, "node_modules/vitest"));

cell("vitest", () => {
  process.env.ANSWER = answer;
  assert.match(run(join(tools, ".bin/vitest"), ["run"], folder), /1 passed/);
});
