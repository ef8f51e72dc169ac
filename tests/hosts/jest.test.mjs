/** The packed package under Jest, without any configuration; under jsdom also with what it hides from the package. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { transformSync } from "esbuild";
import { cell } from "../support/cells.mjs";
import { exampleOf } from "../support/examples.mjs";
import { hostTools } from "../support/matrix.mjs";
import { expected, IMPORTS, linkTools, loaded, project, run, write } from "../support/project.mjs";

const CHECKED = `test("the package answers in Jest as in Node", () => { expect(check(plimsoll)).toBe(process.env.ANSWER); });
`;
const REQUIRED = `const { check } = require("./check.js");
${loaded((name) => `require("${name}")`)}${CHECKED}`;
const JSDOM = "/** @jest-environment jsdom */\n";
/** A Node before 20.16 has no such function. */
const OLD = "process.getBuiltinModule = undefined;\n";

const folder = project(
  {
    "node.test.js": REQUIRED,
    "node.test.mjs": `${IMPORTS}${CHECKED}`,
    "plain.jsdom.test.js": `${JSDOM}${REQUIRED}
test("readSession accepts the Buffer of another realm", () => {
  const bytes = Buffer.from('{"type":"session","version":3}');
  expect(plimsoll.readSession(bytes).receipt.lines).toBe(1);
});`,
    "old.jsdom.test.js": `${JSDOM}${OLD}const plimsoll = require("plimsoll");
test("an environment without text coders gets an error with the remedy", () => {
  expect(() => plimsoll.estimateTokens("text")).toThrow(
    "plimsoll needs TextEncoder and TextDecoder, which this environment lacks: set them as globals (Node has them in node:util)",
  );
});`,
    "guarded.jsdom.test.js": `${JSDOM}${OLD}${exampleOf("docs/runtimes.md", 1)}${REQUIRED}`,
  },
  {},
);
linkTools(hostTools, folder);
const check = readFileSync(join(folder, "check.mjs"), "utf8");
write(folder, { "check.js": transformSync(check, { format: "cjs" }).code });
process.env.ANSWER = expected(folder);

/** Runs the test files of a name: all of their tests have to pass. */
function jest(files, tests, ...flags) {
  const program = join(folder, "node_modules/jest/bin/jest.js");
  const named = ["--testMatch", `**/${files}`, "--json", "--outputFile=result.json"];
  run(process.execPath, [...flags, program, ...named], folder);
  const result = readFileSync(join(folder, "result.json"), "utf8");
  const { success, numPassedTests } = JSON.parse(result);
  assert.deepEqual([success, numPassedTests], [true, tests]);
}

cell("jest-cjs", () => jest("node.test.js", 1));
cell("jest-esm", () => jest("node.test.mjs", 1, "--experimental-vm-modules"));
cell("jest-jsdom", () => jest("*.jsdom.test.js", 4));
