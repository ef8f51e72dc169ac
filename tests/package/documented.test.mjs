/** Every name that the package exports, and every member of it, has a comment in the declarations. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { documented } from "../support/declarations.mjs";
import { project } from "../support/project.mjs";

test("every exported name and member has a doc comment", () => {
  const folder = join(project(), "node_modules/plimsoll");
  const { exports } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const system of ["import", "require"]) {
    const entries = Object.values(exports).flatMap((entry) => entry[system]?.types ?? []);
    const { names, uncommented } = documented(entries.map((entry) => join(folder, entry)));
    console.log(`${system}: ${names.length} names, ${uncommented.length} without a comment`);
    assert.ok(entries.length >= 8 && names.length > 700, `${entries.length}, ${names.length}`);
    assert.deepEqual(uncommented, []);
  }
});
