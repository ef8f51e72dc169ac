// `plimsoll check`: limits, and how it ends.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AUDIT, checkRefusal, EXPORTS, file, json, PLAN, plimsoll } from "./command.mjs";

/** A simulation: the recorded sessions were not managed. */
const AT = ["--window", "64k", "--preset", "balanced"];
const check = (...args) => plimsoll(["check", AUDIT, ...AT, ...args]);
const limitsOf = (...args) =>
  JSON.parse(plimsoll(["check", AUDIT, ...AT, ...args, "--json"]).out).files[0].limits;

test("check exits with 0 within all limits and with 1 above one, and prints ok or OVER", () => {
  const within = check("--max-pressure", "0.75");
  assert.equal(within.code, 0);
  assert.match(within.out, /^pressure +75\.0% +71\.1% .* ok$/m);
  assert.match(within.out, /1 session, 3 limits: all ok\n$/);
  const past = check("--max-pressure", "0.5");
  assert.equal(past.code, 1);
  assert.equal(past.err, "");
  assert.match(past.out, /^pressure +50\.0% +71\.1% .* OVER$/m);
  assert.match(past.out, /1 session, 3 limits: 1 OVER\n$/);
});

test("--max-pressure takes a share or a percentage, and no number that could be either", () => {
  assert.equal(check("--max-pressure", "50%").code, 1);
  assert.equal(check("--max-pressure", "1").code, 0);
  for (const text of ["85", "1.01"])
    checkRefusal(
      ["check", AUDIT, ...AT, "--max-pressure", text],
      assert,
      /--max-pressure: a share like "0\.85" or "85%", got "/,
    );
});

test("a figure equal to its limit passes", () => {
  const { runs } = json(["replay", AUDIT, ...AT]);
  const peak = Math.max(...runs[0].calls.map((one) => one.used));
  assert.equal(check("--max-used", String(peak)).code, 0);
  assert.equal(check("--max-used", String(peak - 1)).code, 1);
  const parts = json(["map", AUDIT, ...AT]);
  const read = parts.results.find(({ tool }) => tool === "read").tokens;
  assert.equal(check("--max", `result read=${read}`).code, 0);
  assert.equal(check("--max", `result read=${read - 1}`).code, 1);
});

test("check measures the fullest request, or the call that --call names", () => {
  const { runs } = json(["replay", EXPORTS, "--window", "16k"]);
  const used = runs[0].calls.map((one) => one.used);
  const peak = Math.max(...used);
  assert.notEqual(peak, used.at(-1), "the last request is not the fullest");
  const of = (...more) =>
    json([
      "check",
      EXPORTS,
      "--window",
      "16k",
      "--preset",
      "balanced",
      "--max-used",
      "16k",
      ...more,
    ]).files[0].limits.find(({ limit }) => limit === "used");
  assert.deepEqual([of().measured, of().call], [peak, used.indexOf(peak) + 1]);
  assert.deepEqual([of("--call", "5").measured, of("--call", "5").call], [used[4], 5]);
});

test("--max checks each part that its pattern matches, and a sum if it names the sum", () => {
  const { parts, results } = json(["map", AUDIT, ...AT]);
  const each = limitsOf("--max", "result *=5k").filter(({ limit }) => limit === "result *");
  const over = results.filter(({ tokens }) => tokens > 5000);
  assert.deepEqual(
    each.map(({ part, measured, ok }) => [part, measured, ok]),
    over.map(({ tool, tokens }) => [`result ${tool}`, tokens, false]),
  );
  const [one, ...more] = limitsOf("--max", "result*=20k").slice(2);
  assert.deepEqual([one.part, one.ok, more.length], [`result ${results[0].tool}`, true, 0]);
  const [all] = limitsOf("--max", "results=20k").slice(2);
  const total = parts.find(({ part }) => part === "results").tokens;
  assert.deepEqual([all.part, all.measured, all.ok], ["results", total, total <= 20_000]);
  const [none] = limitsOf("--max", "result nobody?=1").slice(2);
  assert.deepEqual([none.part, none.measured, none.ok], [null, 0, true]);
  assert.match(check("--max", "result nobody?=1").out, /no such part +ok$/m);
});

test("check refuses a limit on a part that no session has", () => {
  checkRefusal(
    ["check", AUDIT, ...AT, "--max", "result reed=5k"],
    assert,
    /--max: no part is named "result reed"\. Did you mean "result read"\? Parts: system, .*\. Write 'result reed\?=SIZE' if it may be absent/,
  );
  const mixed = ["check", AUDIT, PLAN, ...AT, "--max", "result grep=1m"];
  assert.equal(plimsoll(mixed).code, 0, "one session that has the part is enough");
});

test("a request that does not fit fails without any option", () => {
  const long = JSON.stringify([
    { role: "user", content: "All of this matters. ".repeat(2000) },
    { role: "assistant", content: "It does." },
  ]);
  const path = file("long.json", long);
  const { code, out } = plimsoll(["check", path, "--window", "2k"]);
  assert.equal(code, 1);
  assert.match(out, /^request fits +2,000 +[\d,]+ .* OVER$/m);
  assert.match(out, /OVER by/);
  assert.equal(plimsoll(["check", path, "--window", "200k"]).code, 0);
});

test("check applies no provider rules to recorded requests", () => {
  const limits = json(["check", AUDIT, "--window", "200k"]).files[0].limits;
  assert.deepEqual(
    limits.map(({ limit, ok }) => [limit, ok]),
    [["fits", true]],
  );
});

test("check counts provider rules that a simulated request breaks", () => {
  const [, rules] = limitsOf();
  assert.deepEqual([rules.limit, rules.most, rules.measured, rules.ok], ["violations", 0, 0, true]);
});

test("check says at which calls it looked for broken rules", () => {
  const rules = (...more) =>
    /^rules broken .*$/m.exec(plimsoll(["check", AUDIT, ...AT, ...more]).out);
  assert.match(rules()[0], / every call +ok$/);
  assert.match(rules("--call", "3")[0], / call 3 +ok$/);
});

test("check fails if one of several files exceeds a limit", () => {
  const both = ["check", AUDIT, PLAN, ...AT, "--max-used", "30k"];
  const { code, out } = plimsoll(both);
  assert.equal(code, 1);
  assert.match(out, /^used .* OVER$/m);
  assert.match(out, /^used .* ok$/m);
  assert.match(out, /2 sessions, 6 limits: 1 OVER\n$/);
  const report = JSON.parse(plimsoll([...both, "--json"]).out);
  assert.deepEqual([report.ok, ...report.files.map((one) => one.ok)], [false, false, true]);
});

test("check refuses malformed limits", () => {
  const cases = [
    [["--max-pressure", "much"], /--max-pressure: a share like "0\.85" or "85%", got "much"/],
    [["--max-used", "lots"], /--max-used: a size like 64k/],
    [
      ["--max", "result bash"],
      /--max: a part and a size like 'result bash=12k', got "result bash"/,
    ],
    [["--max", "=12k"], /--max: a part and a size/],
    [["--max", "tools="], /--max: a size like/],
  ];
  for (const [args, message] of cases) checkRefusal(["check", AUDIT, ...args], assert, message);
  checkRefusal(["check"], assert, /FILE is missing: no agent session was found for this folder/);
  checkRefusal(
    ["inspect", AUDIT, "--max-used", "1k"],
    assert,
    /--max-used is not an option of \w+, only of check/,
  );
});
