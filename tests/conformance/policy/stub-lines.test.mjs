// @ts-check
/** The line that stands for an old result of a tool: its command, its URL, how it ended. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;

const rows = Array.from({ length: 40 }, (_, at) => `row ${at}`).join("\n");
const long = `cargo test --workspace --all-features -- --test-threads 4 && git status`;

/** Tool, arguments, first line of the result, and the line that stands for it. */
const TOOLS = [
  ["bash", { command: "cargo test -p core" }, "", "[bash] ran cargo test -p core -> ok, 41 lines"],
  [
    "shell",
    { command: ["bash", "-lc", "npm run build"] },
    "Exit code: 2",
    "[shell] ran npm run build -> exit 2, 41 lines",
  ],
  ["exec", { cmd: long }, "", `[exec] ran ${long.slice(0, 60)} -> ok, 41 lines`],
  [
    "run_command",
    { command: "cat   src/a.ts\n| head" },
    "// a test for exit code 1",
    "[run_command] ran cat src/a.ts | head -> ok, 41 lines",
  ],
  ["read", { path: "src/exits.ts" }, "// exit code 1", "[read] read src/exits.ts -> ok, 41 lines"],
  [
    "web_fetch",
    { url: "http://x.y" },
    "exit code: 1",
    "[web_fetch] gave http://x.y -> ok, 41 lines",
  ],
  [
    "fetch_page",
    { url: "https://docs.example.org/api/v2/pages?id=7#top" },
    "",
    "[fetch_page] gave https://docs.example.org/api/v2/pages?id=7#top -> ok, 41 lines",
  ],
  ["write_file", { path: "lib/b.rs" }, "", "[write_file] wrote lib/b.rs -> ok, 41 lines"],
  ["edit", { file_path: "lib/c.rs" }, "exitCode: 3", "[edit] edited lib/c.rs -> ok, 41 lines"],
  ["grep", { pattern: "parse_line" }, "", "[grep] searched parse_line -> ok, 41 lines"],
];

/** A session in which each of the tools was called once, and much came after. */
function session() {
  /** @type {any[]} */
  const history = [{ role: "user", content: "go" }];
  const work = (
    /** @type {any} */ name,
    /** @type {any} */ input,
    /** @type {string} */ output,
  ) => {
    const id = `call_${history.length}`;
    history.push(
      { role: "assistant", content: [{ type: "tool_use", id, name, input }] },
      { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: output }] },
    );
  };
  for (const [at, [name, input, first]] of TOOLS.entries())
    work(
      name,
      input,
      `${first || "plain"}\n${rows.replace("row 0", `row ${at}${"x".repeat(999)}`)}`,
    );
  for (let at = 0; at < 40; at += 1)
    work("list", { at }, `${rows.replaceAll("row", `entry ${at} of`)}\n`.repeat(9));
  history.push({ role: "assistant", content: "done" }, { role: "user", content: "and now?" });
  return history;
}

const OPTIONS = {
  preset: "hermes",
  window: { contextTokens: 40_000 },
  format: "anthropic",
  strategy: "truncate",
  minimumGainTokens: 0,
  protectFirst: 0,
  clock: () => 1_700_000_000_000,
};

test("an old result's line has its command or whole URL, and an exit code only for a shell (F067)", {
  skip,
}, () => {
  const history = session();
  const context = new api.ContextManager(OPTIONS);
  const { messages } = context.request(history);
  const lines = messages
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter((/** @type {any} */ part) => part.type === "tool_result")
    .map((/** @type {any} */ part) => part.content)
    .slice(0, TOOLS.length);
  assert.deepEqual(
    lines,
    TOOLS.map(([, , , line]) => line),
  );

  const parked = new api.ContextManager(OPTIONS);
  parked.request(history);
  const woken = api.ContextManager.restore(parked.snapshot(), OPTIONS);
  assert.deepEqual(woken.request(history).messages, messages, "the same bytes after a restart");
});
