// The packed command, from outside: what holds for every command line, and for processes and terminals.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { AUDIT, ENV, EXPORTS, file, folder, PLAN, plimsoll, spawned, start } from "./command.mjs";

const SESSIONS = [AUDIT, PLAN, EXPORTS];
const REPLAY = ["replay", PLAN, "--window", "16k"];
const INSPECT = ["inspect", PLAN, "--window", "16k"];

test("--help and --version print to stdout and exit with 0", () => {
  const help = spawned(["--help"]);
  assert.equal(help.code, 0);
  assert.match(help.out, /plimsoll replay FILE/);
  for (const line of help.out.split("\n")) assert.ok(line.length <= 80, line);
  assert.deepEqual(spawned([]), help, "without a command the help is printed");
  const version = spawned(["--version"]);
  assert.equal(version.code, 0);
  assert.match(version.out, /^\d+\.\d+\.\d+\S*\n$/);
});

test("a process has the same output and exit code as the thread that runs commands in these tests", () => {
  const lines = [
    [0, INSPECT],
    [0, [...REPLAY, "--json"]],
    [1, ["check", PLAN, "--max-used", "1k"]],
    [2, ["inspect", PLAN, "--windw", "64k"]],
    [3, ["inspect", join(folder, "absent.jsonl")]],
  ];
  for (const [code, args] of lines) {
    const ran = spawned(args);
    assert.equal(ran.code, code, args.join(" "));
    assert.deepEqual(plimsoll(args), ran);
  }
});

test("the help names every policy, provider and estimator that an error names", () => {
  for (const name of ["preset", "provider", "estimator"]) {
    const { err } = plimsoll(["next", AUDIT, `--${name}`, "none-such"]);
    const allowed = err.match(/expected (?:one of )?(.*), got "none-such"/)?.[1] ?? "";
    const names = allowed.replaceAll('"', "").split(", ");
    assert.ok(names.length > 7, err);
    const pages = [["--help"], ["next", "--help"], ["replay", "--help"]];
    for (const { out } of pages.map((page) => plimsoll(page))) {
      const [, rest = ""] = out.split(`  --${name} `);
      const [described = ""] = rest.split("\n  -");
      for (const one of names)
        assert.match(described, new RegExp(`[ \n]${one}[, \n(]|${one}$`), one);
      for (const line of out.split("\n")) assert.ok(line.length <= 80, line);
    }
  }
});

test("a wrong command line exits with 2 and says what is allowed", () => {
  const cases = [
    [
      ["inspcet", AUDIT],
      /unknown command "inspcet"\. Did you mean "inspect"\? Commands: inspect, detail, /,
    ],
    [["inspect"], /FILE is missing: no agent session was found for this folder/],
    [["inspect", AUDIT, AUDIT], /takes one file/],
    [["inspect", AUDIT, "--windw", "64k"], /unknown option "--windw"\. Did you mean "--window"\?/],
    [["inspect", AUDIT, "--nonsense"], /unknown option "--nonsense"\. See plimsoll --help/],
    [["inspect", AUDIT, "--window", "64q"], /--window: a size like 64k, 200000 or 1m, got "64q"/],
    [["check", AUDIT, "--max-used", "0.85"], /--max-used: a size like 64k, .*, got "0\.85"/],
    [
      ["inspect", AUDIT, "--window", "8k", "--reserve", "8k"],
      /--reserve: must be less than the window/,
    ],
    [
      ["inspect", AUDIT, "--window"],
      /--window takes SIZE: the model's context window in tokens: 64k, /,
    ],
    [["inspect", AUDIT, "--window", "--json"], /--window takes SIZE: /],
    [["inspect", AUDIT, "--window", "-5"], /--window: a size like 64k, 200000 or 1m, got "-5"/],
    [["inspect", AUDIT, "--call", "-1"], /--call: a whole number from 1 to 235, got "-1"/],
    [["inspect", AUDIT, "--top", "-1"], /--top: a whole number from 0 to 1000000, got "-1"/],
    [["next", AUDIT, "--provider", "foo"], /provider: expected .*"anthropic".*, got "foo"/],
    [
      ["check", AUDIT, "--preset", "balanced", "--provider", "foo"],
      /provider: expected .*"anthropic".*, got "foo"/,
    ],
    [["detail", "system", PLAN, "--sent", "--provider", "foo"], /--provider: .* with --preset/],
    [["inspect", AUDIT, "--preset", "balanced+lines+x"], /keep: expected .*, got "lines\+x"/],
    [["inspect", AUDIT, "--calls"], /--calls is not an option of \w+, only of replay and turns/],
    [["inspect", AUDIT, "--call", "100000"], /--call: a whole number from 1 to 235/],
    [["replay", AUDIT, "--color", "mauve"], /--color: auto, always or never/],
    [["replay", AUDIT, "--width", "3"], /--width: a whole number from 40 to 400/],
    [["replay", AUDIT, "--preset", "greedy"], /preset/],
  ];
  for (const [args, expected] of cases) {
    const { code, out, err } = plimsoll(args);
    assert.equal(code, 2, args.join(" "));
    assert.equal(out, "");
    assert.match(err, expected);
    assert.match(err, /^plimsoll: .*\n$/, "one line, and no stack");
  }
});

test("an unreadable file exits with 3 and a message that names it", () => {
  const empty = file("empty.jsonl", "");
  const cases = [
    [join(folder, "absent.jsonl"), /absent\.jsonl: no such file/],
    [folder, /is a folder/],
    [file("noise.bin", Buffer.from([0, 255, 254, 1, 2, 200, 10, 0])), /noise\.bin: /],
    [file("prose.txt", "Dear harbour master,\nwe will be late.\n"), /prose\.txt: /],
    [empty, /empty\.jsonl: /],
    [
      file("silent.json", JSON.stringify([{ role: "user", content: "Anybody there?" }])),
      /silent\.json: .*no model call/,
    ],
  ];
  for (const [path, expected] of cases) {
    for (const command of ["inspect", "replay"]) {
      const { code, out, err } = plimsoll([command, path]);
      assert.equal(code, 3, `${command} ${path}: ${err}`);
      assert.equal(out, "");
      assert.match(err, expected);
      assert.match(err, /^plimsoll: .*\n$/, "one line, and no stack");
    }
  }
});

test("piped output has no escapes unless colour is requested", () => {
  const colored = (args, env) => spawned(args, { env }).out.includes("\u001b[");
  for (const args of [INSPECT, REPLAY]) {
    assert.equal(colored(args, {}), false, "piped");
    assert.equal(colored(args, { NO_COLOR: "1" }), false);
    assert.equal(colored(args, { FORCE_COLOR: "1" }), true);
    assert.equal(colored(args, { FORCE_COLOR: "0" }), false);
    assert.equal(colored([...args, "--color", "always"], { NO_COLOR: "1" }), true);
    assert.equal(colored([...args, "--color", "never"], { FORCE_COLOR: "1" }), false);
  }
});

test("colour changes no text of a replay", () => {
  const bare = plimsoll(REPLAY).out;
  const painted = plimsoll([...REPLAY, "--color", "always"]).out;
  assert.equal(stripVTControlCharacters(painted), bare);
});

test("output in a terminal has colours unless NO_COLOR is set, and keeps to its width", (t) => {
  const quoted = [...start, ...INSPECT].map((word) => `'${word}'`).join(" ");
  const inTerminal = (env) =>
    spawnSync("script", ["-qec", `stty cols 70; ${quoted}`, "/dev/null"], {
      env: { ...ENV, ...env },
      encoding: "utf8",
      input: "",
    });
  const seen = inTerminal({});
  if (seen.error !== undefined || seen.status !== 0)
    return t.skip("skipped: no `script` to make a terminal with");
  assert.ok(seen.stdout.includes("\u001b["));
  const bare = inTerminal({ NO_COLOR: "1" }).stdout;
  assert.ok(!bare.includes("\u001b["));
  const widest = Math.max(...bare.split(/\r?\n/).map((line) => [...line].length));
  assert.ok(widest <= 70 && widest > 60, `widest line: ${widest}`);
});

test("inspect and replay print no line wider than --width", () => {
  const commands = [
    ["inspect", PLAN],
    ["inspect", EXPORTS],
    ["replay", AUDIT, "--calls"],
    ["replay", PLAN, "--preset", "economy", "--preset", "retention"],
  ];
  for (const command of commands) {
    for (const width of [40, 60, 120]) {
      const { out, err } = plimsoll([...command, "--window", "16k", "--width", String(width)]);
      assert.equal(err, "");
      for (const line of out.split("\n")) assert.ok([...line].length <= width, `${width}: ${line}`);
    }
  }
});

test("a piped report is at most 80 columns wide", () => {
  const widest = Math.max(
    ...spawned(INSPECT, { env: { COLUMNS: "200" } })
      .out.split("\n")
      .map((line) => [...line].length),
  );
  assert.equal(widest, 80);
});

test("--ascii prints only ASCII", () => {
  for (const args of [INSPECT, REPLAY])
    assert.match(plimsoll([...args, "--ascii"]).out, /^[\n -~]*$/);
});

test("used, reserve and free add up to the window, and inspect and replay agree", () => {
  for (const session of SESSIONS) {
    const at = ["--window", "32k", "--reserve", "2000"];
    const simulated = ["inspect", session, ...at, "--preset", "balanced"];
    const seen = JSON.parse(plimsoll([...simulated, "--json"]).out);
    const played = JSON.parse(plimsoll(["replay", session, ...at, "--json"]).out);
    const { used, reserve, free, contextTokens } = seen.window;
    assert.equal(used + reserve + free, contextTokens);
    const [run] = played.runs;
    assert.equal(used, run.calls.at(-1).used);
    assert.equal(seen.calls, run.calls.length);
    assert.deepEqual(
      seen.pressure.map((one) => one.used),
      run.calls.map((one) => one.used),
    );
    assert.equal(run.totals.peak, Math.max(...run.calls.map((one) => one.used)));
    const text = plimsoll(simulated).out;
    assert.ok(text.includes(`used ${used.toLocaleString("en-US")} (`));
    assert.ok(text.includes(`free ${free.toLocaleString("en-US")}`));
    const { violations, overWindow, bill } = run.totals;
    const described = plimsoll(["replay", session, ...at]).out;
    assert.ok(
      described.includes(
        `${run.calls.length} requests, ${violations} violations, ${overWindow} over the window`,
      ),
    );
    assert.ok(described.includes(Math.round(bill).toLocaleString("en-US")));
  }
});

test("--calls lists every call; without it a replay lists a selection", () => {
  const rows = (out) =>
    out.split("\n").filter((line) => /^ *\d[\d,]* {2,}\d.*(yes|OVER|violations?)$/.test(line))
      .length;
  assert.equal(rows(plimsoll([...REPLAY, "--calls"]).out), 49);
  const { out } = plimsoll(REPLAY);
  assert.ok(rows(out) < 25);
  assert.match(out, new RegExp(`${49 - rows(out)} calls not listed`));
});

test("replay names what its figures assume: no summarizer, the unseen tokens and their source", () => {
  const assumedOf = (...args) =>
    JSON.parse(plimsoll(["replay", ...args, "--json"]).out).runs[0].assumed;
  const messageOf = (role, text, usage) => ({ role, content: [{ type: "text", text }], ...usage });
  const messages = [1, 2, 3, 4].flatMap((at) => [
    messageOf("user", "Count the ships of the harbour. ".repeat(40)),
    messageOf("assistant", "Seven. ".repeat(30 * at), {
      usage: { input: 5_000 + 400 * at, output: 9 },
    }),
  ]);
  const lines = messages.map((message, at) => ({
    type: "message",
    id: `m${at}`,
    parentId: at > 0 ? `m${at - 1}` : null,
    message,
  }));
  const rows = [{ type: "session", version: 3, id: "s", cwd: "/" }, ...lines];
  const counted = file("counted.jsonl", rows.map((row) => JSON.stringify(row)).join("\n"));
  const { unseenTokens, unseenSource } = assumedOf(counted, "--window", "64k");
  assert.equal(unseenSource, "usage");
  assert.ok(unseenTokens > 3_000, `${unseenTokens}`);
  const option = assumedOf(counted, "--window", "64k", "--unseen", "9k");
  assert.deepEqual([option.unseenTokens, option.unseenSource], [9_000, "option"]);
  assert.deepEqual(assumedOf(PLAN, "--window", "16k"), {
    ...{ summarizer: false, summaryTokens: null, summarySource: "none" },
    ...{ unseenTokens: 0, unseenSource: "none", factor: null },
  });
  const { out } = plimsoll(["replay", counted, "--window", "64k", "--unseen", "9k"]);
  assert.match(out, /^ASSUMED +no summarizer · unseen 9,000 by --unseen/m);
});

test("--summary-tokens replays folds with summaries of that size, and the bill contains what they cost", () => {
  const args = ["replay", AUDIT, "--preset", "retention", "--window", "20k"];
  const runOf = (...more) => JSON.parse(plimsoll([...args, ...more, "--json"]).out).runs[0];
  const plain = runOf();
  assert.deepEqual([plain.totals.summaries, plain.totals.summaryBill], [0, 0]);
  const { assumed, totals, calls } = runOf("--summary-tokens", "600");
  assert.deepEqual(
    [assumed.summarizer, assumed.summaryTokens, assumed.summarySource],
    [true, 600, "option"],
  );
  assert.ok(totals.summaries > 0 && totals.summaries <= totals.folds, JSON.stringify(totals));
  const bills = calls.map((call) => call.bill).reduce((a, b) => a + b);
  assert.ok(Math.abs(totals.bill - bills) < 1e-3);
  assert.ok(totals.summaryBill > totals.summaries * 600 * 5, "output at its price, and the input");
  const atPrice = (prices) => {
    const hermes = ["replay", AUDIT, "--preset", "hermes", "--window", "20k", "--prices", prices];
    return JSON.parse(plimsoll([...hermes, "--summary-tokens", "600", "--json"]).out).runs[0];
  };
  const [dear, cheap] = [atPrice("0.1,1.25,9"), atPrice("0.1,1.25,5")];
  assert.equal(dear.totals.summaries, cheap.totals.summaries);
  assert.ok(dear.totals.summaries > 0);
  const apart = dear.totals.summaryBill - cheap.totals.summaryBill;
  assert.ok(Math.abs(apart - dear.totals.summaries * 600 * 4) < 1e-3, `${apart}`);
  const { out } = plimsoll([...args, "--summary-tokens", "600"]);
  assert.match(out, /^ASSUMED +summaries of 600 by --summary-tokens · /m);
  assert.match(out, new RegExp(`^POLICY .* · summaries ${totals.summaries} for [\\d,]+`, "m"));
  const { out: compared } = plimsoll([...args, "--preset", "economy", "--summary-tokens", "600"]);
  assert.match(compared, /summaries of 600 by --summary-tokens/);
  for (const [value, message] of [
    ["1e3", /--summary-tokens: a size like 64k/],
    ["many", /--summary-tokens: a size like 64k/],
  ]) {
    const { code, err } = plimsoll([...args, "--summary-tokens", value]);
    assert.equal(code, 2);
    assert.match(err, message);
  }
});

test("summaries of a replay are by default as long as those in the file", () => {
  const text = readFileSync(AUDIT, "utf8").trimEnd();
  const { id } = JSON.parse(text.slice(text.lastIndexOf("\n")));
  const fold = { type: "compaction", timestamp: "2026-03-02T10:00:00Z", firstKeptEntryId: id };
  const summary = "so it went on ".repeat(200);
  const line = JSON.stringify({ ...fold, id: "fold1", parentId: id, summary, tokensBefore: 9 });
  const summarized = file("summarized.jsonl", `${text}\n${line}\n`);
  const args = ["replay", summarized, "--preset", "retention", "--window", "20k"];
  const runOf = (...more) => JSON.parse(plimsoll([...args, ...more, "--json"]).out).runs[0];
  const { assumed, totals } = runOf();
  const { summarizer, summaryTokens, summarySource } = assumed;
  assert.deepEqual([summarizer, summarySource], [true, "file"]);
  assert.ok(summaryTokens > 500 && summaryTokens < 1_200, `${summaryTokens}`);
  assert.ok(totals.summaries > 0);
  assert.deepEqual(totals, runOf("--summary-tokens", `${summaryTokens}`).totals);
  const without = runOf("--summary-tokens", "0");
  assert.deepEqual(
    [without.assumed.summarizer, without.assumed.summaryTokens, without.totals.summaries],
    [false, null, 0],
  );
  const { out } = plimsoll(args);
  const count = summaryTokens.toLocaleString("en");
  assert.match(out, new RegExp(`^ASSUMED +summaries of ${count} as in the file · `, "m"));
  const { out: compared } = plimsoll([...args, AUDIT]);
  assert.match(compared, /summaries as in each file, if any/);
});

test("messages that are not of the format are listed, and the rest of the session is shown", () => {
  const lines = readFileSync(AUDIT, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const results = lines.flatMap(({ message }) => (message?.role === "toolResult" ? [message] : []));
  for (const message of results.slice(0, 5)) message.isError = -5.5;
  const odd = file("odd.jsonl", lines.map((line) => JSON.stringify(line)).join("\n"));
  for (const command of [["inspect"], ["replay", "--window", "16k"], ["check"], ["next"]]) {
    const { code, out, err } = plimsoll([command[0], odd, ...command.slice(1)]);
    assert.ok(code <= 1, err);
    const listed = out.split("\n").filter((line) => line.startsWith("broken: "));
    assert.equal(listed.length, 4, out);
    assert.match(listed[0], /^broken: message \d+, at \/isError: expected a boolean$/);
    assert.equal(listed[3], "broken: 2 more messages");
  }
  const several = plimsoll(["replay", odd, AUDIT, "--window", "16k"]).out;
  assert.match(several, /odd\.jsonl: 5 broken messages/);
});

test("inspect names figures that the file lacks", () => {
  const { out } = plimsoll(["inspect", AUDIT]);
  assert.match(out, /not in this file: the system prompt, the tool definitions/);
  const { absent } = JSON.parse(plimsoll(["inspect", AUDIT, "--json"]).out);
  assert.deepEqual(absent, ["the system prompt", "the tool definitions"]);
  assert.doesNotMatch(plimsoll(INSPECT).out, /not in this file/);
});

test("inspect names the state of each entry", () => {
  const { out } = plimsoll(INSPECT);
  assert.match(out, /\b(kept|stubbed|capped|gone)\b/);
});

test("replay compares several presets", () => {
  const { out } = plimsoll([...REPLAY, "--preset", "economy", "--preset", "retention"]);
  assert.match(out, /^economy /m);
  assert.match(out, /^retention /m);
  assert.match(out, /^unmanaged /m);
});

test("inspect reads a session from standard input", () => {
  const bytes = readFileSync(PLAN);
  const piped = spawned(["inspect", "-", "--window", "16k"], { input: bytes });
  assert.equal(piped.code, 0, piped.err);
  assert.equal(
    piped.out.split("\n").slice(2).join("\n"),
    plimsoll(INSPECT).out.split("\n").slice(2).join("\n"),
  );
});

test("--call shows an earlier call", () => {
  const at = (call) => JSON.parse(plimsoll([...INSPECT, "--call", String(call), "--json"]).out);
  const early = at(5);
  assert.equal(early.call, 5);
  assert.equal(early.window.used, early.pressure[4].used);
  assert.ok(early.window.used < at(12).window.used);
  const sum = early.buckets.reduce((total, { sentTokens }) => total + sentTokens, 0);
  assert.equal(sum, early.window.used, "the buckets are of that call too");
});

test("escape sequences in a pi session never reach the terminal", () => {
  const evil = "rm\u001b[2J\u001b]0;owned\u0007\u009b31m\u202e\u200d\r\nX";
  const entry = (id, parentId, message) =>
    JSON.stringify({
      type: "message",
      id,
      parentId,
      timestamp: "2026-03-02T08:00:00.000Z",
      message: { ...message, timestamp: 1772438400000 },
    });
  const lines = [
    JSON.stringify({
      type: "session",
      version: 3,
      id: evil,
      timestamp: "2026-03-02T08:00:00.000Z",
      cwd: evil,
    }),
    entry("a", null, { role: "user", content: [{ type: "text", text: evil }] }),
    entry("b", "a", {
      role: "assistant",
      content: [{ type: "toolCall", id: evil, name: evil, arguments: { [evil]: evil } }],
      stopReason: "toolUse",
    }),
    entry("c", "b", {
      role: "toolResult",
      toolCallId: evil,
      toolName: evil,
      content: [{ type: "text", text: evil.repeat(50) }],
      isError: false,
    }),
    entry("d", "c", {
      role: "assistant",
      content: [{ type: "text", text: evil }],
      stopReason: "stop",
    }),
    `{"type":"message", ${evil}`,
  ];
  const path = file("hostile \u001b[31m.jsonl", lines.join("\n"));
  for (const args of [
    ["inspect", path],
    ["replay", path],
    ["inspect", path, "--json"],
    ["replay", path, "--json"],
    ["inspect", `${path}\u001b[2J`],
    ["\u001b[2J"],
    ["inspect", path, "--preset", "\u001b[2J"],
  ]) {
    const { out, err } = plimsoll(args);
    assert.doesNotMatch(out + err, /(?!\n)[\p{Cc}\p{Cf}]/u, JSON.stringify(args));
  }
  const seen = JSON.parse(plimsoll(["inspect", path, "--json"]).out);
  assert.ok(
    seen.largest.some((one) => one.tool === evil),
    "JSON keeps the name as it is",
  );
  assert.match(plimsoll(["inspect", path]).out, /\\u\{1b\}/);
});
