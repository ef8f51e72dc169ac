// `plimsoll rpc`: a dialogue over standard input and output.
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  AUDIT,
  checkRefusal,
  file,
  folder,
  hostile,
  json,
  PLAN,
  plimsoll,
  STEERS,
  spawned,
  started,
} from "./command.mjs";

const AT = ["--window", "64k", "--reserve", "4000"];

/** What comes back for these lines. */
function dialogue(lines, files = [AUDIT, PLAN]) {
  const input = lines
    .map((line) => (typeof line === "string" ? line : JSON.stringify(line)))
    .join("\n");
  const { code, out, err } = spawned(["rpc", ...files, ...AT], { input });
  assert.deepEqual([code, err], [0, ""]);
  assert.ok(out === "" || out.endsWith("\n"));
  return out
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const ask = (params, id = 1) => ({ jsonrpc: "2.0", id, method: "context.inspect", params });

test("rpc answers with the same report as the commands", () => {
  const [fullReport, named, detail] = dialogue([
    ask({ sessionId: AUDIT }, "a"),
    ask({ sessionId: "harbour-plan.anthropic.json" }, 2),
    ask({ sessionId: PLAN, detailKey: "system" }, 3),
  ]);
  assert.deepEqual([fullReport.jsonrpc, fullReport.id, named.id], ["2.0", "a", 2]);
  assert.deepEqual(fullReport.result, json(["inspect", "--chat", AUDIT, ...AT]));
  assert.deepEqual(named.result, json(["inspect", "--chat", PLAN, ...AT]));
  assert.deepEqual(detail.result, json(["detail", "system", PLAN, ...AT]));
  assert.equal(fullReport.result.detail, undefined);
});

test("rpc answers wrong requests with their error codes, in order", () => {
  const answers = dialogue([
    "{ not json",
    "[]",
    "7",
    { jsonrpc: "1.0", id: 4, method: "context.inspect" },
    { jsonrpc: "2.0", id: 5, method: "context.delete", params: {} },
    ask({ sessionId: "nobody's" }, 6),
    ask({}, 7),
    ask({ sessionId: PLAN, detailKey: "sistem" }, 8),
    ask({ sessionId: PLAN, more: 1 }, 9),
  ]);
  assert.deepEqual(
    answers.map(({ id, error }) => [id, error?.code]),
    [
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [4, -32600],
      [5, -32601],
      [6, -32001],
      [7, -32602],
      [8, -32602],
      [9, -32602],
    ],
  );
  assert.equal(answers[7].error.data.validKeys[0], "system");
});

test("rpc answers a batch with one list, and a notification not at all", () => {
  const note = { jsonrpc: "2.0", method: "context.inspect", params: { sessionId: PLAN } };
  const answers = dialogue([
    note,
    [note, note],
    [note, ask({ sessionId: PLAN }, 1), ask({}, 2)],
    "",
  ]);
  assert.equal(answers.length, 1);
  assert.deepEqual(
    answers[0].map(({ id, result, error }) => [id, result?.schema ?? error.code]),
    [
      [1, "context.inspect/1"],
      [2, -32602],
    ],
  );
});

test("rpc ends with its input and prints nothing without a request", () => {
  assert.deepEqual(dialogue([]), []);
  assert.deepEqual(dialogue(["", "  ", "\r"]), []);
});

test("rpc reads a request per line, also with CRLF, Unicode separators or no final newline", () => {
  const odd = `${JSON.stringify(ask({ sessionId: "\u2028\u2029\u0085" }, "\u2028"))}\r`;
  const [first, second] = dialogue([odd, ask({ sessionId: PLAN })]);
  assert.deepEqual([first.id, first.error.code, second.id], ["\u2028", -32001, 1]);
});

test("rpc tells files of the same name apart by their paths", () => {
  const paths = ["one", "two"].map((name) => {
    mkdirSync(join(folder, name), { recursive: true });
    const path = join(folder, name, "session.json");
    writeFileSync(path, readFileSync(PLAN));
    return path;
  });
  const answers = dialogue(
    [ask({ sessionId: paths[1] }, 1), ask({ sessionId: "session.json" }, 2)],
    paths,
  );
  assert.equal(answers[0].result.sessionId, paths[1]);
  assert.equal(answers[1].error.code, -32001);
});

test("escape sequences in a session stay escaped in answers of rpc", () => {
  const path = hostile();
  const input = `${JSON.stringify(ask({ sessionId: path, detailKey: "message:2" }))}\n`;
  const { out } = spawned(["rpc", path, ...AT], { input });
  assert.doesNotMatch(out, STEERS);
  assert.equal(JSON.parse(out).result.detail.key, "message:2");
});

test("rpc ends without an error when its reader closes the pipe", async () => {
  const child = started(["rpc", PLAN, ...AT]);
  const complaints = [];
  child.stderr.on("data", (chunk) => complaints.push(chunk));
  const ended = once(child, "exit");
  child.stdin.on("error", () => {});
  const line = `${JSON.stringify(ask({ sessionId: PLAN }))}\n`;
  child.stdin.write(line);
  await once(child.stdout, "data");
  child.stdout.destroy();
  // Its input stays open.
  const asks = setInterval(() => child.stdin.write(line), 20);
  const [code] = await ended;
  clearInterval(asks);
  assert.deepEqual([code, String(complaints)], [0, ""]);
});

test("JSON output escapes invisible characters and parses to the original text", () => {
  const content = "a\u00ad\u061c\ufff9\u{e0041}\u{1f6a2}\u2066b";
  const path = file(
    "hides.json",
    JSON.stringify([
      { role: "user", content },
      { role: "assistant", content },
    ]),
  );
  const { out } = plimsoll(["detail", "message:0", path, "--json"]);
  assert.doesNotMatch(out, STEERS);
  assert.equal(JSON.parse(out).detail.content, content);
});

test("rpc refuses wrong options and files before the first answer", () => {
  checkRefusal(["rpc"], assert, /FILE is missing: plimsoll rpc FILE/);
  checkRefusal(["rpc", "-"], assert, /rpc reads requests from standard input: name a file/);
  checkRefusal(
    ["rpc", PLAN, "--json"],
    assert,
    /--json is not an option of \w+, only of inspect, /,
  );
  checkRefusal(["rpc", PLAN, join(folder, "absent.json")], assert, /absent\.json: no such file/, 3);
});
