// `plimsoll replay` over presets, windows and files.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AUDIT, checkRefusal, EXPORTS, json, PLAN, plimsoll } from "./command.mjs";

const SHARES = ["recall", "farRecall", "contentRecall", "userText"];
const COUNTS = ["bill", "edits", "folds", "epochs", "overWindow", "violations"];
const MATRIX = ["replay", PLAN, EXPORTS, "--preset", "economy,retention", "--window", "8k,16k"];
const checkNear = (a, b) =>
  assert.ok(Math.abs(a - b) < 1e-6 * Math.max(1, Math.abs(b)), `${a} ${b}`);

test("a replay has a row for each preset and window and one unmanaged row, each the sum of its runs", () => {
  const { files, runs, matrix } = json([...MATRIX, "--calls"]);
  assert.deepEqual(
    files.map((one) => one.file),
    [PLAN, EXPORTS],
  );
  assert.equal(runs.length, 8);
  assert.deepEqual(
    matrix.map((row) => `${row.window} ${row.preset}`),
    [8000, 16_000].flatMap((window) =>
      ["economy", "retention", "unmanaged"].map((preset) => `${window} ${preset}`),
    ),
  );
  for (const row of matrix.filter(({ preset }) => preset !== "unmanaged")) {
    const mine = runs.filter(
      (run) => run.preset === row.preset && run.window.contextTokens === row.window,
    );
    const sum = (of) => mine.reduce((all, run) => all + of(run), 0);
    assert.deepEqual([row.sessions, row.calls], [2, sum((run) => run.calls.length)]);
    checkNear(
      row.bill,
      sum((run) => run.totals.bill),
    );
    checkNear(row.saved, 1 - row.bill / sum((run) => run.totals.unmanagedBill));
    assert.equal(
      row.edits,
      sum((run) => run.calls.filter((one) => one.event === "edit").length),
    );
    for (const name of ["folds", "epochs", "overWindow", "violations"])
      assert.equal(
        row[name],
        sum((run) => run.totals[name]),
        name,
      );
    for (const name of SHARES) {
      const known = mine.map((run) => run.totals[name]).filter((one) => one !== null);
      assert.ok(known.every((one) => one >= 0 && one <= 1));
      if (known.length > 0) checkNear(row[name], known.reduce((a, b) => a + b) / known.length);
      else assert.equal(row[name], null);
    }
  }
});

test("the unmanaged row counts requests that contain the whole history", () => {
  const { runs, matrix } = json([...MATRIX, "--calls", "--reserve", "500"]);
  for (const row of matrix.filter(({ preset }) => preset === "unmanaged")) {
    const mine = runs.filter(
      (run) => run.preset === "economy" && run.window.contextTokens === row.window,
    );
    const sizes = mine.flatMap((run) => run.calls.map((one) => one.unmanaged));
    assert.equal(row.overWindow, sizes.filter((tokens) => tokens > row.window - 500).length);
    assert.equal(row.peak, Math.max(...sizes));
    assert.deepEqual([row.saved, row.edits, row.violations, row.userText], [0, 0, null, 1]);
    assert.deepEqual(row.best, []);
  }
});

test("what is saved is marked where the unmanaged session would not have fitted the window", () => {
  const args = ["replay", AUDIT, PLAN, "--preset", "economy,balanced", "--window", "32k,200k"];
  const { runs, matrix } = json([...args, "--calls"]);
  const overOf = ({ window, calls }) =>
    calls.filter(({ unmanaged }) => unmanaged > window.contextTokens).length;
  for (const run of runs) assert.equal(run.unmanagedOverWindow, overOf(run));
  for (const row of matrix) {
    const mine = runs.filter(
      (run) => run.window.contextTokens === row.window && run.preset === "economy",
    );
    assert.equal(
      row.unmanagedOverWindow,
      mine.map(overOf).reduce((a, b) => a + b),
    );
    assert.equal(row.unmanagedOverWindow > 0, row.window === 32_000);
  }
  const { out } = plimsoll(args);
  const [, small, large] = out.split(/^WINDOW /m);
  for (const [table, mark] of [
    [small, "!"],
    [large, ""],
  ])
    for (const preset of ["economy", "balanced"])
      assert.match(table, new RegExp(`^${preset} +[\\d,*]+ +-?[\\d.]+${mark} `, "m"));
  assert.match(out, /^! unmanaged would not have fitted this window$/m);
  const one = (window) => plimsoll(["replay", AUDIT, "--window", window]).out;
  assert.match(one("32k"), /^BILL .*% saved if unmanaged had fitted$/m);
  assert.match(one("200k"), /^BILL .*% saved$/m);
});

test("regret is a preset's cost above the cheapest preset that retains as much", () => {
  const presets = ["economy", "balanced", "retention", "aceclaw", "hermes"];
  const { matrix } = json(["replay", PLAN, EXPORTS, "--preset", presets.join(), "--window", "8k"]);
  const rows = matrix.filter(({ preset }) => preset !== "unmanaged");
  const cheapestFirst = rows.toSorted((a, b) => a.bill - b.bill);
  const recall = (row) => Math.round(1000 * row.recall);
  for (const row of rows) {
    const rival = cheapestFirst.find((other) => recall(other) >= recall(row));
    checkNear(row.regret, row.bill / rival.bill - 1);
  }
  assert.equal(cheapestFirst[0].regret, 0);
  const found = rows.filter(({ regret }) => regret > 0);
  assert.ok(found.length > 0 && found.length < rows.length, JSON.stringify(rows));
  assert.equal(matrix.find(({ preset }) => preset === "unmanaged").regret, null);
  const { out } = plimsoll(["replay", PLAN, EXPORTS, "--preset", presets.join(), "--window", "8k"]);
  const [{ preset, regret }] = found;
  const line = out.split("\n").find((one) => one.startsWith(preset));
  assert.equal(line.split(/\s+/)[3], (100 * regret).toFixed(1));
});

test("a sign marks the best value of a column unless all are equal", () => {
  const { matrix } = json(MATRIX);
  let marks = 0;
  for (const window of [8000, 16_000]) {
    const rows = matrix.filter((row) => row.window === window && row.preset !== "unmanaged");
    for (const name of [...COUNTS, ...SHARES]) {
      const shown = (row) =>
        SHARES.includes(name) ? -Math.round(1000 * row[name]) : Math.round(row[name]);
      const [a, b] = rows.map(shown);
      assert.equal(rows[0].best.includes(name), a < b, name);
      assert.equal(rows[1].best.includes(name), b < a, name);
      marks += Number(a !== b);
    }
  }
  assert.ok(marks > 4);
  const { out } = plimsoll([...MATRIX, "--width", "120"]);
  assert.equal(
    out
      .split("\n")
      .filter((line) => !line.startsWith("*"))
      .join()
      .match(/\*/g).length,
    marks,
  );
  assert.match(out, /^\* no preset is better in this window/m);
});

test("--prices and --ttl change the bill", () => {
  const bills = (...more) => json(["replay", AUDIT, "--window", "32k", ...more]);
  const usual = bills();
  assert.deepEqual(bills("--prices", "0.1,1.25,5").runs, usual.runs);
  assert.deepEqual(bills("--ttl", "300s").runs, usual.runs);
  assert.deepEqual(usual.prices, { cacheRead: 0.1, cacheWrite: 1.25, output: 5, cacheTtlMs: 3e5 });
  const { runs } = bills(
    "--prices",
    "1,1,5",
    "--ttl",
    "1h",
    "--preset",
    "balanced,hermes",
    "--calls",
  );
  assert.equal(runs.length, 2, "also of a preset that does not go by prices");
  for (const { calls, totals } of runs) {
    checkNear(
      totals.bill,
      calls.reduce((all, one) => all + one.used, 0),
    );
    checkNear(
      totals.unmanagedBill,
      calls.reduce((all, one) => all + one.unmanaged, 0),
    );
  }
  assert.ok(bills("--ttl", "0s").runs[0].totals.unmanagedBill > usual.runs[0].totals.unmanagedBill);
});

test("JSON has the calls of one run, and of several runs only with --calls", () => {
  const has = (args) => json(args).runs.every((run) => Array.isArray(run.calls));
  assert.ok(has(["replay", PLAN, "--window", "16k"]));
  assert.ok(has([...MATRIX, "--calls"]));
  assert.ok(json(MATRIX).runs.every((run) => run.calls === undefined));
});

test("a replay shows all columns from a width of 60, and no line is wider than the screen", () => {
  for (const width of [40, 60, 80, 120]) {
    const { out } = plimsoll([...MATRIX, "--width", String(width)]);
    for (const line of out.split("\n")) assert.ok([...line].length <= width, `${width}: ${line}`);
    if (width < 60) continue;
    const heads = out
      .split("\n")
      .filter((line) => line.startsWith("PRESET"))
      .join(" ");
    for (const head of [
      "BILL",
      "EDITS",
      "FOLDS",
      "RECALL",
      "FAR",
      "CONTENT",
      "USER",
      "OVER",
      "INVALID",
    ])
      assert.ok(heads.includes(head), `${width}: ${head}`);
    assert.match(out, /^unmanaged /m);
  }
  assert.match(plimsoll([...MATRIX, "--ascii"]).out, /^[\n -~]*$/);
});

test("replay refuses wrong options and says what is allowed", () => {
  const cases = [
    [
      ["replay", PLAN, "--preset", "economy,greedy"],
      /preset: expected one of balanced, economy, retention/,
    ],
    [["replay", PLAN, "--window", "16k,"], /--window: a size like 64k, 200000 or 1m, got ""/],
    [
      ["replay", PLAN, "--window", "8k,16k", "--reserve", "9k"],
      /--reserve: must be less than the window of 8000/,
    ],
    [["replay", PLAN, "--prices", "0.1,1.25"], /--prices: cache read, cache write and output/],
    [["replay", PLAN, "--prices", "0.1,-1,5"], /--prices: /],
    [["replay", PLAN, "--ttl", "5"], /--ttl: a time like 90s, 5m or 1h, got "5"/],
    [
      ["prompt", "--ttl", "5m"],
      /--ttl is not an option of \w+, only of inspect, detail, .* check and rpc/,
    ],
  ];
  for (const [args, message] of cases) checkRefusal(args, assert, message);
  checkRefusal(["replay", PLAN, "absent.json"], assert, /absent\.json: no such file/, 3);
});
