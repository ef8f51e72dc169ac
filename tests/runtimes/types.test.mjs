/** The packed package in a TypeScript program: it compiles, and what comes out runs. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cell } from "../support/cells.mjs";
import { expected, project, root, run, tools, write } from "../support/project.mjs";

/** Uses the types of what `check.mjs` calls, and runs it. */
const PROGRAM = `import * as plimsoll from "plimsoll";
import { CandidateStore } from "plimsoll/candidates";
import { renderDetail, renderList } from "plimsoll/inspect";
import { readSession } from "plimsoll/sessions";
import { check } from "./check.mjs";

const tokens: number = plimsoll.estimateTokens("text", "o200k");
const options: plimsoll.ContextManagerOptions<Message> = { window: { contextTokens: 6_000 } };
interface Message { role: "user" | "assistant"; content: string; mine: symbol }
const manager = new plimsoll.ContextManager<Message>(options);
const sent: Message[] = manager.request([{ role: "user", content: "x", mine: Symbol() }]).messages;
const session: plimsoll.SessionFile = readSession("{\\"type\\":\\"session\\",\\"version\\":3}");
// @ts-expect-error a session has no such field
session.pages;
if (tokens < 1 || sent.length !== 1 || session.receipt.lines !== 1) throw new Error("wrong");
const all = { ...plimsoll, CandidateStore, renderDetail, renderList, readSession };
console.log(check(all));
`;
const CHECK = `export declare function check(plimsoll: object): string;\n`;
const options = {
  target: "es2022",
  lib: ["es2022", "dom"],
  strict: true,
  types: [],
  outDir: "out",
};
const config = (compilerOptions, file) =>
  JSON.stringify({ compilerOptions: { ...options, ...compilerOptions }, files: [file] });

const folder = project({
  "program.mts": PROGRAM,
  // CommonJS imports an ES module where it may be asynchronous.
  "program.cts": PROGRAM.replace('import { check } from "./check.mjs";\n', "").replace(
    "console.log(check(all))",
    'import("./check.mjs").then(({ check }) => console.log(check(all)))',
  ),
  "program.ts": PROGRAM,
  "check.d.mts": CHECK,
  "esm.json": config({ module: "nodenext" }, "program.mts"),
  "cjs.json": config({ module: "nodenext" }, "program.cts"),
  "bundler.json": config({ module: "esnext", moduleResolution: "bundler" }, "program.ts"),
});
write(folder, { "out/check.mjs": readFileSync(join(folder, "check.mjs"), "utf8") });
const answer = expected(folder);

/** Compiles by a configuration and runs what it wrote. */
function compileAndRun(name, file) {
  run(join(root, "js/node_modules/.bin/tsc"), ["--project", `${name}.json`], folder);
  return run(process.execPath, [`out/${file}`], folder);
}

cell("ts-nodenext-esm", () => assert.equal(compileAndRun("esm", "program.mjs"), answer));
cell("ts-nodenext-cjs", () => assert.equal(compileAndRun("cjs", "program.cjs"), answer));
cell("ts-bundler", () => {
  compileAndRun("bundler", "program.js");
  const args = ["out/program.js", "--bundle", "--platform=node", "--outfile=out/one.cjs"];
  run(join(tools, ".bin/esbuild"), args, folder);
  assert.equal(run(process.execPath, ["out/one.cjs"], folder), answer);
});
