// `plimsoll list` and `plimsoll detail`: the report, and the text under a key.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AUDIT, file, json, PLAN, plimsoll, refusal } from "./command.mjs";

const AT = ["--window", "16k", "--reserve", "1000"];

test("content is told under its key, and nowhere else", () => {
  const secret = "the combination is 4711";
  const path = file(
    "secret.json",
    JSON.stringify({
      system: `Be discreet: ${secret}.`,
      messages: [
        { role: "user", content: `Remember that ${secret}.` },
        { role: "assistant", content: `I will: ${secret}.` },
        { role: "user", content: "Good." },
        { role: "assistant", content: "Yes." },
      ],
    }),
  );
  for (const name of ["list", "inspect", "map", "turns", "check", "next", "replay"])
    for (const more of [[], ["--json"]])
      assert.ok(!plimsoll([name, path, ...more]).out.includes(secret), name);
  for (const key of ["system", "message:0", "message:1"]) {
    assert.ok(plimsoll(["detail", key, path]).out.includes(secret), key);
    assert.ok(json(["detail", key, path]).detail.content.includes(secret), key);
  }
  assert.deepEqual(json(["detail", "message:2", path]).detail, {
    key: "message:2",
    content: "Good.",
  });
});

test("a list has the largest messages, each with state and rule, and what would go next", () => {
  const { out } = plimsoll(["list", AUDIT, "--window", "64k"]);
  assert.match(out, /^ +message:305 +6 +tool +run .* stubbed +timed$/m);
  assert.match(out, /^ +message:297 .* dropped +fold$/m);
  assert.match(out, /pressure LOW/);
  assert.match(out, /^Next /m);
  assert.match(plimsoll(["list", AUDIT]).out, /the window is assumed; --window sets it/);
});

test("a list of an earlier call is the report of that call", () => {
  const early = json(["list", AUDIT, ...AT, "--call", "20"]);
  const { byCall } = json(["turns", AUDIT, ...AT]);
  assert.equal(early.window.used, byCall[19].used);
  assert.ok(early.messages.length < json(["list", AUDIT, ...AT]).messages.length);
  refusal(["detail", "message:500", AUDIT, "--call", "20"], assert, /no "message:500" at call 20/);
});

test("a key that there is not ends with 2, and the nearest are told", () => {
  refusal(
    ["detail", "sistem", PLAN],
    assert,
    /there is no "sistem" at call 49; close to it: "system" and "message:96"/,
  );
  refusal(["detail", "message:9999", PLAN], assert, /there is no "message:9999"/);
  refusal(["detail", "system", AUDIT], assert, /there is no "system" at call 235/);
  refusal(["detail"], assert, /KEY is missing: plimsoll detail KEY FILE/);
  refusal(["detail", "system"], assert, /a file is missing: plimsoll detail/);
});

test("a bucket is a key, too: its messages, the largest first", () => {
  const { code, out } = plimsoll(["detail", "result read", AUDIT, "--window", "64k"]);
  assert.equal(code, 0);
  assert.match(out, /^result read$/m);
  assert.match(out, /message:515 /);
});
