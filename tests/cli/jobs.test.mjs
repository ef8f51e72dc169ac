// `plimsoll replay` in worker threads: the same output as in one thread, whatever becomes of the files.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  AUDIT,
  checkRefusal,
  ENV,
  file,
  folder,
  here,
  PLAN,
  plimsoll,
  spawned,
  start,
} from "./command.mjs";

/** A session of some calls, each with a result that a later call names. */
function session(name, calls, words) {
  const messages = [{ role: "user", content: `Weigh the cargo of ${name}.` }];
  for (let at = 0; at < calls; at += 1) {
    const input = {
      path: `${name}/hold_${at}.txt`,
      after: `${name}/hold_${Math.floor(at / 2)}.txt`,
    };
    messages.push(
      { role: "assistant", content: [{ type: "tool_use", id: `c${at}`, name: "weigh", input }] },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: `c${at}`,
            content: `${name}/hold_${at}.txt ${"tons of grain, ".repeat(words + (at % 7) * 20)}`,
          },
        ],
      },
    );
  }
  messages.push({ role: "assistant", content: "It floats." });
  return file(`${name}.json`, JSON.stringify({ messages }));
}

const FILES = [
  session("anna", 12, 40),
  session("berta", 90, 25),
  session("clara", 5, 300),
  session("dora", 30, 60),
  session("emma", 61, 10),
];
/** By the provider's counts in it, its window is larger than that of the others. */
const WIDE = file(
  "wide.jsonl",
  [
    { type: "session", version: 3, id: "s", cwd: "/" },
    { role: "user", content: [{ type: "text", text: "Count the ships." }] },
    {
      role: "assistant",
      content: [{ type: "text", text: "Seven." }],
      usage: { input: 300_000, output: 9 },
    },
  ]
    .map((row, at) => {
      const entry = { type: "message", id: `m${at}`, parentId: at > 1 ? `m${at - 1}` : null };
      return JSON.stringify(at === 0 ? row : { ...entry, message: row });
    })
    .join("\n"),
);
const COMPARED = ["--preset", "economy,balanced,hermes", "--window", "8k,16k"];
const PROSE = file("prose.txt", "Dear harbour master,\nwe will be late.\n");
const SILENT = file("silent.json", JSON.stringify([{ role: "user", content: "Anybody there?" }]));
/** One of its messages is not of the format. */
const ODD = file(
  "odd.jsonl",
  readFileSync(WIDE, "utf8").replace('"text":"Count the ships."', '"text":7'),
);
const ABSENT = join(folder, "absent.jsonl");

const jobs = (amount, args) => plimsoll(["replay", ...args, "--jobs", `${amount}`]);

/** What one thread prints; as many as there are have to print the same. */
function same(args) {
  const [one, ...others] = [1, 2, 4].map((amount) => jobs(amount, args));
  for (const other of others) assert.deepEqual(other, one, args.join(" "));
  return one;
}

test("a replay of several files prints the same in one thread and in several, as text and as JSON", () => {
  for (const form of [[], ["--json"], ["--json", "--calls"], ["--width", "120"]]) {
    const { code, out, err } = same([...FILES, ...COMPARED, ...form]);
    assert.deepEqual([code, err], [0, ""]);
    assert.ok(out.length > 1000, out);
  }
  const { runs, files } = JSON.parse(jobs(4, [...FILES, ...COMPARED, "--json"]).out);
  assert.deepEqual(
    runs.map((run) => `${run.file} ${run.window.contextTokens} ${run.preset}`),
    FILES.flatMap((name) =>
      [8000, 16_000].flatMap((window) =>
        ["economy", "balanced", "hermes"].map((preset) => `${name} ${window} ${preset}`),
      ),
    ),
  );
  assert.deepEqual(
    files.map((one) => one.file),
    FILES,
  );
});

test("a Node without process.getBuiltinModule replays as others do, in one thread and in several", () => {
  const script = "process.getBuiltinModule = undefined";
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
  for (const amount of ["1", "2"]) {
    const args = ["replay", ...FILES, ...COMPARED, "--jobs", amount];
    const { code, out, err } = spawned(args, { env });
    assert.deepEqual([code, err], [0, ""]);
    assert.equal(out, plimsoll(args).out);
  }
});

test("a replay of one file under several policies prints the same in one thread and in several", () => {
  for (const form of [[], ["--json"]]) {
    assert.equal(same([AUDIT, ...COMPARED, ...form]).code, 0);
    assert.equal(same([FILES[1], FILES[0], ...COMPARED, ...form]).code, 0);
    assert.equal(same([AUDIT, "--window", "32k", ...form]).code, 0, "one run");
  }
});

test("a file that cannot be replayed ends a replay in several threads as it does in one", () => {
  const [a, b, c, d] = FILES;
  const cases = [
    [[a, b, ABSENT, c], 3, /absent\.jsonl: no such file/],
    [[a, b, PROSE, c, d], 3, /prose\.txt: /],
    [[PROSE, a, ABSENT], 3, /absent\.jsonl: no such file/],
    [[a, SILENT, b, PROSE], 3, /prose\.txt: /],
    [[a, b, SILENT, c], 3, /silent\.json: .*no model call/],
    [[a, folder, b], 3, /is a folder/],
    [[a, b, "--estimator", "none"], 2, /estimator: expected /],
    [[a, b, "--preset", "economy,greedy"], 2, /preset: expected one of balanced, /],
    [[a, "--preset", "economy,greedy,balanced"], 2, /preset: expected one of balanced, /],
    [[a, b, "--window", "8k,16q"], 2, /--window: a size like 64k/],
    [
      [a, b, WIDE, c],
      2,
      /--window is missing: .*anna\.json and .*wide\.jsonl have different windows/,
    ],
  ];
  for (const [args, code, message] of cases) {
    const ran = same(args);
    assert.deepEqual([ran.code, ran.out], [code, ""], ran.err);
    assert.match(ran.err, message);
    assert.match(ran.err, /^plimsoll: .*\n$/, "one line, and no stack");
  }
});

test("a message that is not of the format is listed by as many threads as there are", () => {
  const [a, b] = FILES;
  const { code, out, err } = same([a, ODD, b, "--window", "16k"]);
  assert.equal(code, 0, err);
  assert.match(out, /odd\.jsonl: 1 broken message\n/);
});

test("runs are played in as many threads as --jobs allows, and small files in one by themselves", () => {
  const counter = file(
    "counter.mjs",
    'import { writeSync } from "node:fs"; writeSync(2, "thread\\n");',
  );
  const threads = (...args) => {
    const env = { NODE_OPTIONS: `--import ${pathToFileURL(counter)}` };
    const { code, err } = spawned(["replay", ...args], { env });
    assert.equal(code, 0, err);
    return err.split("\n").filter((line) => line === "thread").length - 1;
  };
  assert.equal(threads(...FILES, ...COMPARED, "--jobs", "1"), 0);
  assert.equal(threads(...FILES, ...COMPARED, "--jobs", "3"), 3);
  assert.equal(threads(FILES[0], ...COMPARED, "--jobs", "3"), 3);
  assert.equal(threads(FILES[0], "--window", "8k", "--jobs", "3"), 0, "one run");
  assert.equal(threads(FILES[0], "--window", "8k,16k"), 0, "a small file");
});

test("a process has the same output in several threads, also of standard input", () => {
  const args = ["replay", FILES[1], ...COMPARED, "--json"];
  assert.deepEqual(spawned([...args, "--jobs", "3"]), spawned([...args, "--jobs", "1"]));
  const input = readFileSync(FILES[1]);
  const piped = (amount) =>
    spawned(["replay", "-", FILES[0], ...COMPARED, "--jobs", amount], { input });
  assert.equal(piped("4").code, 0, piped("4").err);
  assert.deepEqual(piped("4"), piped("1"));
});

test("a pipe is read once, however many threads there are", {
  skip: existsSync("/dev/stdin") ? false : "skipped: needs /dev/stdin",
}, () => {
  const words = (amount) =>
    [...start, "replay", "/dev/stdin", ...COMPARED, "--json", "--jobs", amount].join("' '");
  const piped = (amount) => {
    const line = `cat '${AUDIT}' | '${words(amount)}'`;
    return spawnSync("sh", ["-c", line], { encoding: "utf8", env: ENV, maxBuffer: 1e8 });
  };
  const one = piped("1");
  assert.equal(one.status, 0, one.stderr);
  assert.equal(JSON.parse(one.stdout).files[0].messages, 538);
  assert.equal(piped("4").stdout, one.stdout);
});

test("a replay does without worker threads where Node may not start any", () => {
  const args = ["replay", ...FILES, ...COMPARED, "--json"];
  const flag = process.allowedNodeEnvironmentFlags.has("--permission")
    ? "--permission"
    : "--experimental-permission";
  const NODE_OPTIONS = `${flag} --allow-fs-read=* --no-warnings`;
  const alone = spawned([...args, "--jobs", "4"], { env: { NODE_OPTIONS } });
  assert.deepEqual(alone, spawned([...args, "--jobs", "4"]));
});

test("--jobs refuses what is no number of threads", () => {
  for (const amount of ["0", "9", "two", "1.5", ""])
    checkRefusal(["replay", PLAN, "--jobs", amount], assert, /--jobs: a whole number from 1 to 8/);
  checkRefusal(["inspect", PLAN, "--jobs", "2"], assert, /--jobs is not an option of inspect/);
});

test("the package contains the file of the worker threads", () => {
  const bin = realpathSync(process.env.PLIMSOLL_BIN ?? here("npm/dist/cli.js"));
  assert.ok(existsSync(join(dirname(bin), "cli/replay-worker.js")));
});
