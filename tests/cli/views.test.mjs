// Rules for every command that shows a session: it fits the screen, colour only paints, nothing in a session acts.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import {
  AUDIT,
  checkRefusal,
  EVIL,
  EXPORTS,
  file,
  folder,
  hostile,
  json,
  PLAN,
  plimsoll,
  STEERS,
  spawned,
} from "./command.mjs";

const AT = ["--window", "16k", "--reserve", "1000"];
/** Each command, as it is called on a file. */
const VIEWS = {
  inspect: (path) => ["inspect", path],
  "inspect --chat": (path) => ["inspect", "--chat", path],
  detail: (path) => ["detail", "message:1", path],
  map: (path) => ["map", path],
  turns: (path) => ["turns", path],
  "turns by call": (path) => ["turns", "--calls", path],
  find: (path) => ["find", "a", path],
  next: (path) => ["next", path],
  check: (path) => [
    "check",
    path,
    "--preset",
    "balanced",
    "--max-pressure",
    "0.99",
    "--max",
    "result *=90k",
  ],
  "inspect simulated": (path) => ["inspect", path, "--preset", "balanced"],
  "map simulated": (path) => ["map", path, "--preset", "balanced"],
  "turns simulated": (path) => ["turns", path, "--preset", "balanced"],
};
const SCHEMAS = {
  inspect: "plimsoll.inspect/1",
  "inspect --chat": "context.inspect/1",
  detail: "context.inspect/1",
  map: "plimsoll.map/1",
  turns: "plimsoll.turns/1",
  find: "plimsoll.find/1",
  next: "plimsoll.next/1",
  check: "plimsoll.check/1",
};

/** A view of a file that is there: it ends with 0. */
function text(args) {
  const { code, out, err } = plimsoll([...args, ...AT]);
  assert.equal(code, 0, `${args.join(" ")}: ${err}`);
  assert.equal(err, "");
  return out;
}

/** Its lines, but for those of a text that is shown as it is, below a rule. */
function drawn(out) {
  const lines = out.split("\n");
  const rule = lines.findIndex((line) => /^[─-]{40,}$/.test(line));
  return rule < 0 ? lines : lines.slice(0, rule + 1);
}

test("no command prints a line wider than the screen", () => {
  for (const [name, view] of Object.entries(VIEWS)) {
    for (const width of [40, 60, 120]) {
      for (const line of drawn(text([...view(PLAN), "--width", String(width)])))
        assert.ok([...line].length <= width, `${name} at ${width}: ${line}`);
    }
    const piped = drawn(text(view(AUDIT)));
    assert.ok(Math.max(...piped.map((line) => [...line].length)) <= 80, `${name}: 80 when piped`);
  }
});

test("piped text has no escape sequences, and --color changes no text", () => {
  for (const [name, view] of Object.entries(VIEWS)) {
    const bare = text(view(PLAN));
    assert.ok(!bare.includes("\u001b["), name);
    const painted = text([...view(PLAN), "--color", "always"]);
    assert.ok(painted.includes("\u001b["), `${name}: colour`);
    assert.ok(!text([...view(PLAN), "--color", "never"]).includes("\u001b["));
    // The bar of a window and its legend are letters where there is no colour.
    const words = (out) => out.split("\n").filter((line) => !/ [SDHUATCRIO] |[·╱]{2}/.test(line));
    const plain = words(bare);
    const stripped = stripVTControlCharacters(painted).split("\n");
    for (const line of plain) assert.ok(stripped.includes(line), `${name}: ${line}`);
  }
});

test("a joined emoji is printed unchanged and counts as two columns", () => {
  const family = "👩‍👩‍👧";
  const called = (id, name, words) => [
    { role: "assistant", content: [{ type: "tool_use", id, name, input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: words }] },
  ];
  const messages = [
    { role: "user", content: `Who is aboard? ${family}` },
    ...called("a", family, "word ".repeat(900)),
    ...called("b", "crew", "word ".repeat(700)),
    { role: "assistant", content: "All." },
  ];
  const path = file("family.json", JSON.stringify(messages));
  for (const args of [["map"], ["inspect"], ["find", family]]) {
    const out = text([...args, path]);
    assert.ok(out.includes(family) && !out.includes("200d"), out);
  }
  const rows = text(["map", path]).replaceAll(family, "##").split("\n");
  const ends = ["##", "crew"].map((name) => rows.find((row) => row.startsWith(`R  ${name} `)));
  assert.equal(ends[0]?.search(/ \d+\.\d {2}/), ends[1]?.search(/ \d+\.\d {2}/), rows.join("\n"));
  assert.ok(Number(ends[0]?.search(/ \d+\.\d {2}/)) > 0);
});

test("every command prints only ASCII with --ascii", () => {
  for (const [name, view] of Object.entries(VIEWS)) {
    if (name === "detail") continue; // It shows the text as it is.
    assert.match(text([...view(PLAN), "--ascii"]), /^[\n -~]*$/, name);
  }
});

test("every command's JSON names its schema", () => {
  for (const [name, schema] of Object.entries(SCHEMAS)) {
    const report = JSON.parse(text([...VIEWS[name](PLAN), "--json"]));
    assert.equal(report.schema, schema);
  }
});

test("every command reads a session from standard input", () => {
  const input = readFileSync(PLAN);
  for (const view of Object.values(VIEWS)) {
    const piped = spawned([...view("-"), ...AT], { input });
    assert.equal(piped.code, 0, piped.err);
    const named = text(view(PLAN));
    const rest = (out) => out.replaceAll(PLAN, "-").split("\n").slice(1).join("\n");
    assert.equal(rest(piped.out), rest(named));
  }
});

test("escape sequences in a session never reach the terminal", () => {
  const path = hostile();
  for (const [name, view] of Object.entries(VIEWS)) {
    const argv = view(path).map((word) => (word === "a" ? EVIL.slice(0, 12) : word));
    for (const more of [["--json"], ["--width", "40"], ["--preset", EVIL]]) {
      const { code, out, err } = plimsoll([...argv, "--window", "64k", ...more]);
      // The core leaves what joins letters, and tabs: they do nothing.
      assert.doesNotMatch((out + err).replace(/[\t\u200d]/g, ""), STEERS, `${name} ${more}`);
      assert.equal(code, more[0] === "--preset" ? 2 : 0, `${name}: ${err}`);
      if (more[0] === "--width")
        for (const line of drawn(out)) assert.ok([...line].length <= 40, `${name}: ${line}`);
    }
  }
});

test("every command exits with 2 for a wrong command line and 3 for an unreadable file", () => {
  for (const [name, view] of Object.entries(VIEWS)) {
    const command = name.split(" ")[0];
    const cases = [
      [view(AUDIT).filter((word) => word !== AUDIT), / is missing: /],
      [[...view(AUDIT), "--preset", "economy,balanced"], /--preset: plimsoll \w+ takes one/],
      [[...view(AUDIT), "--window", "8k,16k"], /--window: one for this command/],
      [[...view(AUDIT), "--window", "many"], /--window: a size like/],
      [[...view(AUDIT), "--width", "9"], /--width: a whole number from 40 to 400/],
      [[...view(AUDIT), "--query", "x"], /--query is not an option of \w+, only of prompt/],
      [[...view(AUDIT), "--calling", "x"], /--calling/],
    ];
    if (command !== "check") cases.push([[...view(AUDIT), PLAN], /takes one file, got 2/]);
    for (const [args, expected] of cases) checkRefusal(args, assert, expected);
    checkRefusal(view(join(folder, "absent.json")), assert, /absent\.json: no such file/, 3);
    checkRefusal(view(file("noise.json", "\u0000\u0001")), assert, /noise\.json: /, 3);
    const silent = JSON.stringify([{ role: "user", content: "Anybody there?" }]);
    if (name !== "next")
      checkRefusal(view(file("silent.json", silent)), assert, /silent\.json: .*no model call/, 3);
  }
});

test("an unknown call is refused with the range of calls", () => {
  for (const name of ["inspect", "inspect --chat", "detail", "map", "find", "check"])
    checkRefusal(
      [...VIEWS[name](EXPORTS), "--call", "74"],
      assert,
      /--call: a whole number from 1 to 73, got "74"/,
    );
  for (const name of ["turns", "next"])
    checkRefusal(
      [...VIEWS[name](EXPORTS), "--call", "3"],
      assert,
      /--call is not an option of \w+, only of inspect/,
    );
});

test("every command has a help page within 80 columns", () => {
  const all = plimsoll(["--help"]).out;
  const views = Object.keys(SCHEMAS).filter((name) => !name.includes(" "));
  for (const name of [...views, "replay", "rpc", "prompt"]) {
    assert.match(all, new RegExp(`^  plimsoll ${name} .*  `, "m"));
    const { code, out } = plimsoll([name, "--help"]);
    assert.equal(code, 0);
    assert.equal(plimsoll(["help", name]).out, out);
    assert.match(out, new RegExp(`^plimsoll ${name} .*\n  \\w`));
    assert.match(out, /Exit: 0 done/);
    if (SCHEMAS[name]) assert.ok(out.includes(SCHEMAS[name]), name);
    for (const line of out.split("\n")) assert.ok(line.length <= 80, line);
  }
  checkRefusal(["inspct", "--help"], assert, /unknown command "inspct"\. Did you mean "inspect"\?/);
});

test("--unseen adds tokens to each simulated request", () => {
  const at = ["inspect", AUDIT, "--preset", "balanced", "--window", "64k", "--unseen"];
  const unseen = (size) => {
    const { buckets } = json([...at, size]);
    return buckets.find(({ bucket }) => bucket === "unseen")?.sentTokens;
  };
  // No size of the window or the history changes it; what a policy edits may depend on it.
  assert.deepEqual([unseen("20k"), unseen("0")], [20_000, undefined]);
});

test("options that change a simulation alone are refused without one", () => {
  const options = { unseen: "5k", provider: "mistral", prices: "1,1,1", ttl: "1h" };
  for (const [name, value] of Object.entries(options)) {
    for (const command of ["inspect", "check", "turns", "map", "rpc"]) {
      const refused = plimsoll([command, AUDIT, `--${name}`, value]);
      assert.equal(refused.code, 2);
      assert.match(
        refused.err,
        new RegExp(`--${name}: plimsoll ${command} takes it with --preset`),
      );
    }
    for (const words of [
      ["inspect", AUDIT, "--preset", "balanced"],
      ["detail", "message:3", AUDIT, "--diff", "--preset", "balanced"],
      ["detail", "message:3", AUDIT, "--sent", "--preset", "balanced"],
    ])
      assert.equal(plimsoll([...words, `--${name}`, value]).code, 0, words.join(" "));
  }
});

test("a narrow terminal shows what the figures are in two lines", () => {
  const { out } = plimsoll(["inspect", AUDIT, "--width", "60"]);
  const [what, count] = out.split("\n");
  assert.equal(what, "What the agent sent");
  assert.equal(count, "estimated: the file has no counts of the provider");
});

test("attachments that are no part of the messages are counted", () => {
  const line = (type, uuid, parentUuid, rest) =>
    JSON.stringify({ type, uuid, parentUuid, sessionId: "s", ...rest });
  const message = (role, text) => ({ message: { role, content: [{ type: "text", text }] } });
  const path = file(
    "attached.jsonl",
    [
      line("user", "a", null, message("user", "explain @notes.md")),
      line("attachment", "b", "a", { attachment: { type: "file", filename: "notes.md" } }),
      line("assistant", "c", "b", message("assistant", "It is a list.")),
    ].join("\n"),
  );
  const { out } = plimsoll(["inspect", path]);
  assert.ok(out.includes("1 attachment left out"), out);
  assert.ok(!plimsoll(["inspect", AUDIT]).out.includes("left out"));
});

test("on forty columns what is read of a file and what is missing in it is broken at spaces, not cut", () => {
  const { out } = plimsoll(["inspect", AUDIT, "--width", "40"]);
  const lines = out.split("\n");
  assert.ok(lines.every((line) => line.length <= 40));
  const text = lines.join(" ");
  for (const sentence of [
    "estimated: the file has no counts of the provider",
    "read 540 of 540 lines, 0 unknown, 0 broken",
    "Window 200,000 (assumed; --window sets it) · at the last call",
    "not in this file: the system prompt, the tool definitions",
  ])
    assert.ok(text.includes(sentence), `${sentence}\n${out}`);
  // A text without an end does not fill the screen, and a word without a space is cut.
  const messages = [{ role: "user", content: "go" }];
  for (const name of [`${"long ".repeat(40)}.json`, `${"x".repeat(90)}.json`]) {
    const path = file(name, JSON.stringify([...messages, { role: "assistant", content: "ok" }]));
    const head = plimsoll(["inspect", path, "--width", "40"]).out.split("\nopenai")[0] ?? "";
    assert.ok(head.split("\n").length <= 6, head);
    assert.ok(
      head.split("\n").every((line) => line.length <= 40),
      head,
    );
  }
});
