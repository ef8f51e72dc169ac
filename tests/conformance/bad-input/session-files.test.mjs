// @ts-check
/** Session files as they are found: broken, cut, huge, or something else altogether. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, attempt, checkTypedError, skip } from "../support/sound-history.mjs";

const line = (/** @type {string} */ text, /** @type {string} */ role = "user") =>
  JSON.stringify({
    type: role,
    uuid: text.slice(0, 8),
    parentUuid: null,
    timestamp: "2026-01-01T00:00:00Z",
    message: { role, content: role === "user" ? text : [{ type: "text", text }] },
  });
const utf8 = new TextEncoder();
const noReader =
  api && typeof api.readSession !== "function" ? "readSession is not in the package" : false;

test("a broken line in the middle of a session file is counted and skipped", {
  skip: skip || noReader,
}, () => {
  const session = api.readSession(
    `${line("first")}\n{"type":"user","mess\n${line("second", "assistant")}\n`,
  );
  assert.equal(session.receipt.broken.length, 1);
  assert.equal(session.receipt.broken[0].line, 2);
  assert.ok(session.receipt.broken[0].reason.length > 0);
  assert.equal(session.receipt.read, 2);
});

test("a session file with invalid UTF-8 is read", { skip: skip || noReader }, () => {
  const bytes = utf8.encode(`${line("first")}\n${line("bad ?? here")}\n${line("third")}\n`);
  for (let at = 0; at < bytes.length - 1; at += 1) {
    if (bytes[at] === 0x3f && bytes[at + 1] === 0x3f) bytes.set([0xff, 0xc0], at);
  }
  const session = api.readSession(bytes);
  const read = JSON.stringify(session.messages);
  assert.ok(read.includes("first") && read.includes("third"), "the other lines are read");
  const isReported = session.receipt.broken.some((/** @type {any} */ one) => one.line === 2);
  assert.ok(
    isReported || JSON.stringify(session.messages).includes("\ufffd"),
    "the receipt or a replacement character says so",
  );
});

test("a session file of an unknown format is refused", { skip: skip || noReader }, () => {
  for (const bytes of [
    '{"hello":"world"}\n{"hello":"again"}\n',
    "just text\nand more\n",
    "[1,2,3]",
    "42",
    new Uint8Array([0, 1, 2, 3, 255]),
  ]) {
    assert.throws(
      () => api.readSession(bytes),
      (error) => checkTypedError(error, ["UNKNOWN_FORMAT"]),
    );
  }
});

test("a binary file is refused with a message that says so", { skip: skip || noReader }, () => {
  for (const [start, isReported] of /** @type {[number[], string][]} */ ([
    [[0x50, 0x4b, 3, 4, 0x14], "inspect log convert"],
    [[0x1f, 0x8b, 8, 0], "gzip"],
    [[0x28, 0xb5, 0x2f, 0xfd, 0], "zstd"],
  ])) {
    assert.throws(
      () => api.readSession(new Uint8Array(start)),
      (error) =>
        checkTypedError(error, ["UNKNOWN_FORMAT"]) &&
        /** @type {any} */ (error).info.saw.includes(isReported),
    );
  }
});

test("a file of each format with a broken record is read", { skip: skip || noReader }, () => {
  const event = (/** @type {object} */ value) => JSON.stringify(value);
  const wire = (/** @type {object} */ part) =>
    event({ type: "context.append_loop_event", event: part });
  for (const [format, good] of /** @type {[string, string[]][]} */ ([
    [
      "copilot-cli",
      [
        event({ type: "user.message", data: { content: "hi" } }),
        event({ type: "assistant.message", data: { content: "yes", toolRequests: [] } }),
      ],
    ],
    [
      "kimi-wire",
      [
        wire({ type: "step.begin", uuid: "1" }),
        wire({ type: "content.part", part: { type: "text", text: "yes" } }),
      ],
    ],
    [
      "openhands",
      [
        event({ source: "user", action: "message", args: { content: "hi" } }),
        event({ source: "agent", action: "message", args: { content: "yes" } }),
      ],
    ],
    [
      "gemini-contents",
      [
        event({ role: "user", parts: [{ text: "hi" }] }),
        event({ role: "model", parts: [{ text: "yes" }] }),
      ],
    ],
    ["langchain", [event({ type: "human", content: "hi" }), event({ type: "ai", content: "yes" })]],
  ])) {
    const session = api.readSession([good[0], '{"type":"cut', good[1]].join("\n"));
    assert.equal(session.format, format);
    assert.equal(session.receipt.broken[0]?.line, 2, format);
    assert.ok(JSON.stringify(session.messages.at(-1)).includes("yes"), format);
    assert.equal(session.receipt.lines, 3, format);
  }
});

test("an empty session file is refused", { skip: skip || noReader }, async () => {
  for (const bytes of ["", "\n\n", new Uint8Array()]) {
    const { error, value } = await attempt(() => api.readSession(bytes));
    if (error) checkTypedError(error, ["UNKNOWN_FORMAT", "INVALID_ARGUMENT"]);
    else assert.deepEqual(value.messages, []);
  }
  for (const bytes of /** @type {any[]} */ ([undefined, null, 7, {}])) {
    assert.throws(
      () => api.readSession(bytes),
      (error) => checkTypedError(error, ["INVALID_ARGUMENT"]),
    );
  }
});

test("a session file with a line of 50 MB is read", { skip: skip || noReader }, async () => {
  const text = `${line("first")}\n${line("x".repeat(50_000_000))}\n${line("last", "assistant")}\n`;
  const { error, value } = await attempt(() => api.readSession(utf8.encode(text)));
  if (error) checkTypedError(error, ["TOO_LARGE"]);
  else {
    const isReported = value.receipt.broken.some((/** @type {any} */ one) => one.line === 2);
    assert.equal(value.receipt.read, isReported ? 2 : 3);
    assert.ok(JSON.stringify(value.messages.at(-1)).includes("last"), "the next line is read");
  }
  assert.equal(api.readSession(`${line("first")}\n`).messages.length, 1);
});

test("a session file with a line nested 100,000 levels deep is read", {
  skip: skip || noReader,
}, () => {
  const deep = `{"type":"user","message":{"role":"user","content":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`;
  const session = api.readSession(`${line("first")}\n${deep}\n${line("last", "assistant")}\n`);
  assert.equal(session.receipt.broken[0]?.line, 2);
  assert.equal(session.messages.length, 2);
});
