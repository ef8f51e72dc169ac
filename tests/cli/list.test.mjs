// `plimsoll inspect --chat` and `plimsoll detail`: the report, and the text under a key.
import assert from "node:assert/strict";
import { test } from "node:test";
import { AUDIT, checkRefusal, file, hostile, json, PLAN, plimsoll, STEERS } from "./command.mjs";

const SIMULATED = ["--preset", "balanced", "--window", "64k"];
const AT = ["--window", "16k", "--reserve", "1000"];

test("only detail prints content, under its key", () => {
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
  for (const name of ["inspect --chat", "inspect", "map", "turns", "check", "next", "replay"])
    for (const more of [[], ["--json"]])
      assert.ok(!plimsoll([...name.split(" "), path, ...more]).out.includes(secret), name);
  for (const key of ["system", "message:0", "message:1"]) {
    assert.ok(plimsoll(["detail", key, path]).out.includes(secret), key);
    assert.ok(json(["detail", key, path]).detail.content.includes(secret), key);
  }
  assert.deepEqual(json(["detail", "message:2", path]).detail, {
    key: "message:2",
    content: "Good.",
  });
});

test("inspect --chat lists the largest messages with state and rule, and the next removals", () => {
  const { out } = plimsoll([
    ...["inspect", "--chat", AUDIT, "--window", "64k", "--preset", "balanced"],
  ]);
  assert.match(out, /^ +message:305 +6 +tool +run .* dropped +fold$/m);
  assert.match(out, /^ +message:475 .* kept +keep$/m);
  assert.match(out, /pressure LOW/);
  assert.match(out, /^Next /m);
  assert.match(
    plimsoll(["inspect", "--chat", AUDIT]).out,
    /the window is assumed; --window sets it/,
  );
});

/** A pi session of three calls, the second after a compaction that took the first two messages. */
function compacted() {
  const [id, time] = ["s", "2026-01-01T00:00:00Z"];
  const say = (role, text) => ({ role, content: [{ type: "text", text }], timestamp: 1 });
  const lines = ["first question", "first answer", "second", "ok", "third", "done"].map(
    (text, at) => ({ type: "message", message: say(at % 2 ? "assistant" : "user", text) }),
  );
  const summary = { summary: "what was asked", firstKeptEntryId: "m2", tokensBefore: 500 };
  lines.splice(3, 0, { type: "compaction", ...summary });
  const all = [
    { type: "session", version: 3, id, timestamp: time, cwd: "/x" },
    ...lines.map((line, at) => ({
      ...line,
      ...{ id: `m${at}`, parentId: at > 0 ? `m${at - 1}` : null, timestamp: time },
    })),
  ];
  return file("compacted.jsonl", all.map((line) => JSON.stringify(line)).join("\n"));
}

test("inspect --chat of a recorded session tells what the agent did, and nothing that the file lacks", () => {
  const { out } = plimsoll(["inspect", "--chat", compacted()]);
  assert.match(out, /^What the agent sent, /);
  assert.match(out, /^Compacted 1$/m);
  assert.match(out, /^not in this file: the system prompt, the tool definitions$/m);
  assert.doesNotMatch(out, /^Prompt/m);
  assert.doesNotMatch(out, /^Next/m);
  const simulated = plimsoll(["inspect", "--chat", compacted(), "--preset", "balanced"]).out;
  assert.match(simulated, /^Next {6}none/m);
  assert.match(simulated, /^not in this file: the system prompt, /m);
  assert.doesNotMatch(simulated, /^Prompt/m);
  // A prompt that is in the file is shown.
  const prompt = json(["inspect", "--chat", PLAN]).totalChars.toLocaleString("en-US");
  const known = plimsoll(["inspect", "--chat", PLAN]).out;
  assert.match(known, new RegExp(`^Prompt {4}${prompt} chars`, "m"));
  assert.doesNotMatch(known, /not in this file: the system prompt/);
});

test("inspect --chat --call reports that call", () => {
  const early = json(["inspect", "--chat", AUDIT, ...AT, "--call", "20"]);
  const { byCall } = json(["turns", AUDIT, ...AT]);
  assert.equal(early.window.used, byCall[19].used);
  assert.ok(early.messages.length < json(["inspect", "--chat", AUDIT, ...AT]).messages.length);
  checkRefusal(
    ["detail", "message:500", AUDIT, "--call", "20"],
    assert,
    /no key "message:500" at call 20\. Did you mean "message:51"\?/,
  );
});

test("an unknown key exits with 2 and lists the nearest keys", () => {
  checkRefusal(
    ["detail", "sistem", PLAN],
    assert,
    /no key "sistem" at call 49\. Did you mean "system"\?\n/,
  );
  checkRefusal(["detail", "mesage:3", PLAN], assert, /Did you mean "message:3"\?\n/);
  checkRefusal(["detail", "message:9999", PLAN], assert, /Did you mean "message:96"\?\n/);
  const keys = /no key "foo" at call 49; plimsoll inspect --chat lists keys\n/;
  checkRefusal(["detail", "foo", PLAN], assert, keys);
  checkRefusal(["detail", "message:9999", PLAN], assert, /no key "message:9999" at call 49/);
  checkRefusal(["detail", "system", AUDIT], assert, /no key "system" at call 235/);
  checkRefusal(["detail"], assert, /KEY is missing: plimsoll detail KEY FILE/);
  checkRefusal(
    ["detail", "system"],
    assert,
    /FILE is missing: no agent session was found for this folder/,
  );
});

test("detail accepts a bucket and lists its messages, largest first", () => {
  const { code, out } = plimsoll(["detail", "result read", AUDIT, "--window", "64k"]);
  assert.equal(code, 0);
  assert.match(out, /^result read$/m);
  assert.match(out, /message:515 /);
});

test("detail prints a text as stored, as sent, or as a diff", () => {
  // Message 305 is a stub at call 200; the fold at call 213 drops it and message 297.
  const at = ["--preset", "balanced", "--window", "64k", "--call", "200"];
  const detailOf = (...args) => plimsoll(["detail", ...args, AUDIT, ...at]);
  const stub = json(["detail", "message:305", AUDIT, ...at, "--diff"]).detail;
  assert.match(stub.sent, /^\[result cut, 7518 tokens/);
  assert.equal(stub.content, json(["detail", "message:305", AUDIT, ...at]).detail.content);
  assert.ok(stub.content.length > 12_000);
  assert.equal(detailOf("message:305", "--raw").out, `${stub.content.trimEnd()}\n`);
  assert.equal(detailOf("message:305", "--sent").out, `${stub.sent}\n`);
  const diff = detailOf("message:305", "--diff").out.trimEnd().split("\n");
  assert.match(diff[1], /^\+\+\+ message:305: stubbed by timed, 7,518 -> \d+ tokens$/);
  assert.equal(diff[2], "@@ -1,276 +1,1 @@");
  assert.equal(diff.filter((line) => /^-(?!-- )/.test(line)).length, 276);
  assert.equal(diff.at(-1), `+${stub.sent}`);

  at.pop();
  at.push("235");
  const gone = detailOf("message:297", "--sent");
  assert.deepEqual([gone.code, gone.out], [0, ""]);
  assert.match(gone.err, /^plimsoll: nothing of it is sent: dropped by fold, 6,720 -> 0 tokens$/m);
  assert.equal(json(["detail", "message:297", AUDIT, ...at, "--sent"]).detail.sent, null);
  assert.match(
    detailOf("message:297", "--diff").out,
    /\n\+\+\+ nothing of it: dropped .*\n@@ -1,250 \+0,0 @@\n-/,
  );
  // People's words go on in the head of a fold.
  const user = detailOf("message:0", "--diff");
  assert.equal(user.out, "");
  assert.match(user.err, /^plimsoll: message:0 is sent as it is$/m);
  assert.equal(detailOf("message:0", "--sent").out, detailOf("message:0", "--raw").out);
});

test("detail answers from what the agent sent, unless a preset is named, and says so first", () => {
  const path = compacted();
  const recorded = /What the agent sent, estimated: [\w ']+, at the last call/;
  const simulated =
    /What Plimsoll would send with the preset balanced and no summarizer, estimated, at the last call/;
  const detailOf = (...args) => plimsoll(["detail", ...args, "--width", "200"]);
  const taken = detailOf("message:0", path, "--sent");
  assert.deepEqual([taken.code, taken.out], [0, ""]);
  assert.match(taken.err, new RegExp(`^plimsoll: ${recorded.source}\n`));
  assert.match(taken.err, /^plimsoll: nothing of it is sent: summarized by fold, 7 -> 0 tokens$/m);
  assert.equal(json(["detail", "message:0", path, "--sent"]).detail.sent, null);
  assert.match(detailOf("message:0", path, "--diff").out, /\n\+\+\+ nothing of it: summarized /);
  // Before the compaction it was sent.
  const before = detailOf("message:0", path, "--sent", "--call", "1");
  assert.equal(before.out, "first question\n");
  assert.match(before.err, /, at call 1 of 3\n$/);
  assert.equal(detailOf("message:4", path, "--sent").out, "third\n");
  assert.match(detailOf("message:4", path, "--diff").err, /message:4 is sent as it is\n$/);

  for (const [args, view] of [
    [[], recorded],
    [["--preset", "balanced"], simulated],
  ]) {
    const lines = detailOf("message:4", path, ...args);
    assert.match(lines.out.split("\n")[0], view);
    assert.equal(lines.err, "");
    for (const form of ["--raw", "--sent", "--diff"])
      assert.match(detailOf("message:4", path, form, ...args).err.split("\n")[0], view);
  }
  // Figures of the same view: a text that Plimsoll cuts was sent whole.
  const sent = json(["detail", "message:305", AUDIT, "--window", "64k", "--sent"]).detail;
  assert.equal(sent.sent, sent.content);
  checkRefusal(
    ["detail", "message:4", path, "--sent", "--ttl", "1h"],
    assert,
    /--ttl: plimsoll detail takes it with --preset/,
  );
});

test("detail takes the number of a message for its key; a file in place of a key or a text is refused", () => {
  const path = compacted();
  for (const key of ["4", "#4", "message:4"]) {
    assert.equal(json(["detail", key, path]).detail.key, "message:4");
    assert.match(plimsoll(["detail", key, path]).out, /^message:4$/m);
  }
  checkRefusal(["detail", "99", path], assert, /no key "message:99" at call 3/);
  checkRefusal(["detail", path], assert, /KEY is missing: plimsoll detail KEY FILE/);
  checkRefusal(["detail", path, "4"], assert, /KEY comes before FILE: plimsoll detail 4 \S+$/m);
  checkRefusal(["find", path], assert, /TEXT is missing: plimsoll find TEXT FILE/);
  checkRefusal(["find", path, "a b"], assert, /TEXT comes before FILE: plimsoll find "a b" \S+$/m);
});

test("detail --diff shows a cut with three lines of context", () => {
  const long = Array.from({ length: 3000 }, (_, line) => `\tline ${line} of many`).join("\n");
  const call = { type: "tool_use", id: "a", name: "read", input: {} };
  const result = { type: "tool_result", tool_use_id: "a", content: long };
  const messages = [
    { role: "user", content: "read it" },
    { role: "assistant", content: [call] },
    { role: "user", content: [result] },
    { role: "assistant", content: "done" },
  ];
  const path = file("long.json", JSON.stringify({ system: "Be kind.", messages }));
  const { out } = plimsoll(["detail", "message:2", path, "--diff", ...SIMULATED]);
  const [, head, range, ...lines] = out.trimEnd().split("\n");
  assert.match(head, /^\+\+\+ message:2: capped by ingest-cap/);
  const [from, before, to, after] = range.match(/\d+/g).map(Number);
  assert.deepEqual([from, to], [from, from]);
  const stay = lines.filter((line) => line.startsWith(" "));
  const [taken, put] = ["-", "+"].map((sign) => lines.filter((line) => line.startsWith(sign)));
  assert.ok(stay.length >= 3 && stay.length <= 6 && from > 1);
  assert.deepEqual([before, after], [taken.length + stay.length, put.length + stay.length]);
  assert.equal(lines[0], ` ${"    "}line ${from - 1} of many`);
  for (const form of ["--raw", "--sent"])
    assert.equal(plimsoll(["detail", "system", path, form]).out, "Be kind.\n");
  assert.ok(
    plimsoll(["detail", "message:2", path, "--raw"]).out.startsWith("\tline 0 of many\n\t"),
  );
});

test("detail refuses two forms at once, and a form of a key without text", () => {
  checkRefusal(
    ["detail", "system", PLAN, "--raw", "--diff"],
    assert,
    /use only one of --raw and --diff/,
  );
  checkRefusal(["detail", "user", PLAN, "--sent"], assert, /--sent: "user" has no text of its own/);
  checkRefusal(
    ["inspect", PLAN, "--sent"],
    assert,
    /--sent is not an option of \w+, only of detail/,
  );
  for (const form of ["--raw", "--sent", "--diff"])
    assert.doesNotMatch(plimsoll(["detail", "message:2", hostile(), form]).out, STEERS);
});
