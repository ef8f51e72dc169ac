// @ts-check
/** The token tables' fit (`fit/`): its lists, its solver, and its estimates beside the package's. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../../support/project.mjs";
import { native } from "../native/native.mjs";
import { loadPackage } from "../support/package.mjs";

const own = join(root, "build/fit/venv/bin/python");
const python = existsSync(own) ? own : "python3";

/**
 * What a script in Python prints, as JSON; `input` is the JSON that it reads.
 * @param {string} script
 * @param {unknown} [input]
 */
function run(script, input) {
  const done = spawnSync(python, ["-c", `import json, sys\nsys.path.insert(0, "fit")\n${script}`], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1" },
    input: JSON.stringify(input ?? null),
    maxBuffer: 2 ** 28,
  });
  if (done.error) return undefined;
  assert.equal(done.status, 0, done.stderr);
  return JSON.parse(done.stdout);
}

/** Why a test that needs these modules of Python is left out; false if it is not. */
function lacking(/** @type {string} */ modules) {
  const { status } = spawnSync(python, ["-c", `import ${modules}`]);
  return status === 0 ? false : `skipped: python3 with ${modules} is absent`;
}

test("no package is both fitted to and tested with", { skip: lacking("tomllib") }, () => {
  const packages = run("import fetch\nprint(json.dumps(fetch.packages()))");
  const named = (/** @type {string} */ use) =>
    packages.filter((it) => it.use === use).map((it) => it.name);
  const trained = new Set(named("train"));
  assert.ok(trained.size > 40 && named("test").length > 15);
  assert.equal(new Set(packages.map((it) => it.name)).size, packages.length, "listed once");
  const bench = JSON.parse(readFileSync(join(root, "benches/estimate/package.json"), "utf8"));
  for (const name of [...named("test"), ...Object.keys(bench.devDependencies), "plimsoll"]) {
    assert.ok(!trained.has(name), `${name} is a test package`);
  }
  for (const { name, version, sha256 } of packages) {
    assert.match(version, /^\d+\.\d+/, name);
    assert.match(sha256, /^[0-9a-f]{64}$/, name);
  }
});

test("the fit finds the weights that counts were made with", {
  skip: lacking("numpy, scipy"),
}, () => {
  const found = run(`
import numpy as np
from pairs import WEIGHTS
from scipy.sparse import csr_matrix
from solve import integers, solve
random = np.random.default_rng(7)
known = random.integers(4, 90, 60)
often = random.poisson(6, (600, 60)).astype(float)
tokens = np.maximum(1, np.round(often @ known / 64))
places = np.concatenate([np.arange(40) * 97, WEIGHTS - 1 - np.arange(20)])
matrix = csr_matrix((600, WEIGHTS)).tolil()
matrix[:, places] = often
start = np.full(WEIGHTS, 40.0)
runs = [integers(solve(matrix.tocsr(), tokens, np.full(600, 1 / 600), start)) for _ in range(2)]
print(json.dumps({
    "off": np.abs(runs[0][places] - known).tolist(),
    "unseen": int(np.delete(runs[0], places).max()),
    "same": bool((runs[0] == runs[1]).all()),
}))`);
  assert.ok(Math.max(...found.off) <= 4, `off by ${found.off}`);
  assert.equal(found.unseen, 40, "a weight that no text has stays");
  assert.ok(found.same, "a second run gives the same");
});

const { api, why } = await loadPackage();
const dump = api && native();
const reason = dump ? lacking("numpy") : why || "skipped: there is no cargo";
test("the fit estimates as the package does", { skip: reason }, () => {
  const dumped = spawnSync(String(dump), ["tables"], { encoding: "utf8", maxBuffer: 2 ** 24 });
  const texts = [
    ...["", "a", "Hello, world", "─".repeat(40), `x${" ".repeat(90)}y`, "=".repeat(17), "🙂🙂"],
    `${"-".repeat(16)}\r\n${"─".repeat(7)}${"━".repeat(9)}`,
    readFileSync(join(root, "docs/policies.md"), "utf8"),
    readFileSync(join(root, "examples/sessions/harbour-audit.pi.jsonl"), "utf8").slice(0, 200_000),
    "Привет, мир! 你好，世界。こんにちは 안녕하세요 שלום नमस्ते\n".repeat(9),
  ];
  const tables = JSON.parse(dumped.stdout);
  const found = run(
    `
import numpy as np
from pairs import estimate
tables, texts = json.load(sys.stdin)
classes = np.array(tables["byte_class"], np.uint8)
print(json.dumps({name: [estimate(text, table, classes) for text in texts] for name, table in tables["weights"].items()}))`,
    [tables, texts],
  );
  assert.equal(Object.keys(found).length, 10);
  for (const [name, tokens] of Object.entries(found)) {
    assert.deepEqual(
      tokens,
      texts.map((text) => api.estimateTokens(text, name)),
      name,
    );
  }
});
