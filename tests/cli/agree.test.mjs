// One source of every number: all commands and the wire say the same of a session, to the digit.
import assert from "node:assert/strict";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { size, sized } from "../support/size.mjs";
import { AUDIT, EXPORTS, here, json, PLAN, plimsoll, spawned } from "./command.mjs";

const SHARED = here("../shared/data/sessions");

/** The project's own sessions, and of every third folder of the shared ones the smallest (with --ci of every folder, with --long each). */
function sessions() {
  const own = [AUDIT, EXPORTS, PLAN];
  if (!existsSync(SHARED)) {
    console.log(
      "skipped: ../shared/data/sessions is absent; the recorded examples alone are compared",
    );
    return own;
  }
  const folders = readdirSync(SHARED, { withFileTypes: true }).filter((one) => one.isDirectory());
  const third = folders.filter((_, at) => at % 3 === 0);
  const shared = sized({ short: third, ci: folders, long: folders }).flatMap(({ name }) => {
    const files = readdirSync(join(SHARED, name))
      .map((file) => join(SHARED, name, file))
      .filter((path) => /\.(jsonl?|traj)$/.test(path))
      .sort((a, b) => statSync(a).size - statSync(b).size);
    return size === "long" ? files : files.slice(0, 1);
  });
  return [...own, ...shared];
}

/** A figure as every text writes it: `used 34,313`. */
function figure(out, name) {
  const found = new RegExp(`\\b${name}\\s+(-?[\\d,]+)`, "i").exec(out);
  return found?.[1];
}

const digits = (value) => value.toLocaleString("en-US");

/** The reports of all files over the wire, and what `check` tells of each. */
function asked(files, at) {
  const asks = files.map((sessionId, id) => {
    return JSON.stringify({ jsonrpc: "2.0", id, method: "context.inspect", params: { sessionId } });
  });
  const { out } = spawned(["rpc", ...files, ...at], { input: asks.join("\n") });
  const answers = out.split("\n").filter(Boolean);
  assert.equal(answers.length, files.length);
  const checks = checkedAt(files, at);
  return files.map((file, index) => {
    return { file, report: JSON.parse(answers[index]).result, checked: checks[index] };
  });
}

/** What the agents sent, and what Plimsoll would send. */
const VIEWS = [[], ["--preset", "balanced"]];

for (const preset of VIEWS)
  test(`all JSON documents of a session have the same figures ${preset.join(" ") || "as recorded"}`, () =>
    checkAgreement(preset));

function checkAgreement(preset) {
  const at = ["--window", "64k", "--reserve", "4000", ...preset];
  for (const { file, report, checked } of asked(sessions(), at)) {
    const { window, status, buckets, contextWindowTokens } = report;
    assert.equal(window.used + window.reserve + window.free, contextWindowTokens, file);
    assert.equal(window.used, status.used);
    assert.equal(
      buckets.reduce((sum, one) => sum + one.tokens, 0),
      window.used,
    );
    assert.deepEqual(json(["inspect", "--chat", file, ...at]), report, "the list is the wire's");
    const seen = json(["inspect", file, ...at]);
    const mapped = json(["map", file, ...at]);
    const turned = json(["turns", file, ...at]);
    for (const view of [seen, mapped, turned, checked]) {
      const { contextTokens, source, ...figures } = view.window;
      assert.deepEqual([contextTokens, figures], [contextWindowTokens, window], view.schema);
      assert.equal(source, "given");
    }
    assert.equal(turned.byCall.at(-1).used, window.used);
    assert.deepEqual(mapped.buckets, buckets);
    const sent = seen.buckets.filter((one) => one.sentTokens !== 0);
    assert.deepEqual(
      sent.map((one) => [one.bucket, one.sentTokens]).sort(),
      buckets.flatMap(({ bucket, tokens }) => (tokens !== 0 ? [[bucket, tokens]] : [])).sort(),
    );
    const last = turned.byCall.at(-1);
    if (preset.length === 0 && last.usage !== null)
      assert.deepEqual(
        [last.used, last.source, seen.view.source],
        [last.usage, "provider", "provider"],
      );
  }
}

test("all commands print the same figures", () => {
  for (const at of [
    ["--window", "64k", "--reserve", "4000"],
    ["--window", "12k"],
    ["--window", "64k", "--preset", "balanced"],
  ]) {
    for (const { file, report } of asked([PLAN, AUDIT], at)) {
      for (const name of ["inspect --chat", "inspect", "map", "turns", "check"]) {
        const text = plimsoll([...name.split(" "), file, ...at, "--width", "120"]).out;
        for (const part of ["used", "reserve", "free", "trigger", "target"])
          if (report.window[part] !== null && !(part === "free" && report.window.free < 0))
            assert.equal(
              figure(text, part),
              digits(report.window[part]),
              `${name} ${file}: ${part}`,
            );
      }
    }
  }
});

/** A check may end with 1: the document is there all the same. */
function checkedAt(files, at) {
  return JSON.parse(plimsoll(["check", ...files, ...at, "--json"]).out).files;
}

test("the first edit happens at the first request above the displayed trigger", () => {
  const at = ["--window", "16k", "--preset", "aceclaw"];
  const { byCall, window } = json(["turns", EXPORTS, ...at]);
  const first = byCall.findIndex(({ unmanaged }) => unmanaged > window.trigger);
  assert.ok(first > 10);
  assert.ok(byCall.slice(0, first).every(({ event }) => event === null));
  assert.notEqual(byCall[first].event, null);
});
