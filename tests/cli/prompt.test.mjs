// `plimsoll prompt` of the packed command, on a workspace of real files.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";

const BIN =
  process.env.PLIMSOLL_BIN ?? fileURLToPath(new URL("../../npm/dist/cli.js", import.meta.url));
const start = /\.m?js$/.test(BIN) ? [process.execPath, BIN] : [BIN];
const folder = mkdtempSync(join(tmpdir(), "plimsoll-prompt-"));
after(() => rmSync(folder, { recursive: true, force: true }));

const EVIL = "\u001b[31mred\u001b[0m \u0007 \u202e";
for (const [path, text] of Object.entries({
  "work/AGENTS.md": `Use tabs.\tAlways.\n${EVIL}\n${"A line of the project's instructions.\n".repeat(60)}`,
  "work/SOUL.md": "Be kind.",
  "work/MEMORY.md": "The parser is parseLine in src/parse.ts.",
  "work/.aceclaw/rules/ts.md": "---\npaths: ['**/*.ts']\n---\nNo any.",
  "work/TOOLS.md/a-folder": "",
  "empty/README.md": "nothing that is looked for",
})) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function prompt(args, home = folder) {
  const [command, ...first] = start;
  const env = { PATH: process.env.PATH, TERM: "xterm-256color", HOME: home };
  const argv = [...first, "prompt", ...args];
  const { status, stdout, stderr } = spawnSync(command, argv, {
    env,
    encoding: "utf8",
    cwd: folder,
  });
  return { code: status, out: stdout, err: stderr };
}

const WORK = ["--workspace", "work", "--query", "fix `parseLine` in src/parse.ts"];
const rows = (out) => out.split("\n").map((line) => line.trim().split(/ {2,}/));

test("prompt lists each section with its priorities and the reason for it", () => {
  const { code, out, err } = prompt([...WORK, "--window", "8k"]);
  assert.deepEqual([code, err], [0, ""]);
  const row = (key) => rows(out).find(([first]) => first === key);
  assert.deepEqual(row("memory:soul").slice(1, 3), ["100", "100"]);
  assert.equal(row("memory:soul").at(-1), "whole");
  assert.match(out, /the soul tier · protected · SOUL\.md/);
  assert.deepEqual(row("memory:markdown").slice(1, 3), ["67", "55"]);
  assert.deepEqual(row("rules:ts").slice(1, 3), ["95", "88"]);
  assert.equal(row("memory:workspace").at(-1), "cut");
  assert.match(out, /cut to the most that a section may have · AGENTS\.md/);
  assert.match(out, /\*\*\/\*\.ts matches src\/parse\.ts · \+4 active file src\/parse\.ts/);
  assert.match(out, /\+16 names parseLine · \+10 active file/);
  assert.match(out, /Budget 8,000 chars \(of a window of 8,000 tokens\) · a section at most 2,000/);
  assert.match(out, /files src\/parse\.ts · symbols parseLine · asks for code change requested/);
  assert.match(out, /skipped: TOOLS\.md: no regular file/);
});

test("prompt names the total that a truncated section would need", () => {
  const { out } = prompt([...WORK, "--window", "1k"]);
  assert.match(out, /left out by the total: whole from [\d]+ chars on/);
  assert.ok(
    rows(out).some(
      ([key, , , , , , state]) => key.startsWith("memory:") && /left out|cut/.test(String(state)),
    ),
  );
});

test("prompt keeps to the width, and colour changes no text", () => {
  for (const width of [40, 60, 80, 120]) {
    const { out } = prompt([...WORK, "--width", String(width)]);
    for (const line of out.split("\n")) assert.ok([...line].length <= width, `${width}: ${line}`);
    assert.equal(
      stripVTControlCharacters(
        prompt([...WORK, "--width", String(width), "--color", "always"]).out,
      ),
      out,
    );
  }
  assert.match(prompt([...WORK, "--ascii"]).out, /^[\n -~]*$/);
});

test("--text prints the prompt line by line, without control characters", () => {
  const { out } = prompt([...WORK, "--text"]);
  assert.ok(
    out.startsWith(
      "# Soul (Core Identity)\n\nBe kind.\n\n# Project Instructions\n\nUse tabs.\tAlways.\n",
    ),
  );
  assert.ok(out.includes("\\u{1b}[31mred\\u{1b}[0m \\u{7} \\u{202e}\n"));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be printed
  assert.doesNotMatch(out + prompt(WORK).out, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
});

test("a reserve that leaves nothing of the window is refused", () => {
  const { code, out, err } = prompt([...WORK, "--window", "64k", "--reserve", "64k"]);
  assert.deepEqual([code, out], [2, ""]);
  assert.match(err, /--reserve: must be less than the window of 64000 tokens, got 64000/);
});

test("--json contains the plan and the exact prompt", () => {
  const { out } = prompt([...WORK, "--json", "--window", "32k", "--reserve", "4k"]);
  const report = JSON.parse(out);
  assert.equal(report.schema, "plimsoll.prompt/1");
  assert.deepEqual(report.window, { contextTokens: 32_000, maxOutputTokens: 4_000 });
  assert.deepEqual(report.budget, { maxPerTierChars: 7_000, maxTotalChars: 28_000 });
  assert.ok(report.prompt.includes(EVIL));
  assert.equal(report.prompt.length, report.totalChars);
  assert.deepEqual(
    report.skipped.map(({ path }) => path.endsWith("TOOLS.md")),
    [true],
  );
  const keys = report.sections.map(({ key }) => key);
  assert.deepEqual(keys, [
    "memory:soul",
    "memory:workspace",
    "memory:markdown",
    "task-focus",
    "rules:ts",
  ]);
});

test("prompt lists the file names it looks for if a workspace has none", () => {
  const { code, out } = prompt(["--workspace", "empty"]);
  assert.equal(code, 0);
  assert.match(out, /nothing was found of what is looked for:\nAGENTS\.md/);
  assert.match(out, /REQUEST {2}none; --query TEXT/);
});

test("prompt exits with 2 for wrong options and 3 for a missing folder", () => {
  for (const [args, code, message] of [
    [["work"], 2, /takes no file/],
    [["--reserve", "4k"], 2, /--reserve: of which --window/],
    [["--window", "0"], 2, /--window: must be at least 1 token/],
    [
      ["--leaf", "x"],
      2,
      /--leaf is not an option of \w+, only of inspect, detail, .* check and rpc/,
    ],
    [["--workspace", "nowhere"], 3, /nowhere: no such folder/],
    [["--workspace", "work/SOUL.md"], 3, /is no folder/],
  ]) {
    const ran = prompt(args);
    assert.deepEqual([ran.code, ran.out], [code, ""], ran.err);
    assert.match(ran.err, message);
  }
});
