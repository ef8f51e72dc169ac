// @ts-check
/** Session files read in pieces are the sessions that `readSession` reads; messages are made when they are asked for, and change no figure. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { sessionFiles } from "../support/session-files.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);

/** @param {Uint8Array} bytes @param {number} size */
function inPieces(bytes, size) {
  const reader = new api.SessionReader();
  let last = { lines: 0, bytes: 0 };
  for (let from = 0; from < bytes.length; from += size) {
    const seen = reader.push(bytes.subarray(from, from + size));
    assert.ok(seen.lines >= last.lines);
    last = seen;
  }
  assert.equal(last.bytes, bytes.length);
  return reader.end();
}

const line = (/** @type {string} */ role, /** @type {unknown} */ content) =>
  JSON.stringify({ role, content });
const talk = `${line("user", "é ".repeat(30))}\n${line("assistant", "ok")}\n`;

if (api) {
  const files = sessionFiles();
  if (files.length === 0) console.log("skipped: ../shared is absent");
  for (const { name, bytes } of files) {
    test(`${name} read in pieces of any size is the same session`, (t) => {
      const all = new Uint8Array(bytes());
      let session;
      try {
        session = api.readSession(all);
      } catch (/** @type {any} */ error) {
        assert.throws(() => inPieces(all, 65_537), { message: error.message });
        t.diagnostic(`is refused in pieces, too: ${error.message.slice(0, 80)}`);
        return;
      }
      const { messageCount } = session;
      const last = session.message(messageCount - 1);
      // Before anything has read `messages`: the core has them, and no one else.
      const recorded = api.recordedView(session).calls;
      const played = api.replay(session, { window: { contextTokens: 64_000 } });
      const copy = { ...session };
      assert.equal(session.messages.length, messageCount);
      assert.deepEqual(session.messages.at(-1), last);
      assert.deepEqual(api.recordedView(copy).calls, recorded);
      const again = api.replay(copy, { window: { contextTokens: 64_000 } });
      assert.deepEqual(again.calls, played.calls);
      assert.deepEqual(again.sent().messages, played.sent().messages);
      for (const size of [65_537, Math.ceil(all.length / 3)])
        assert.deepEqual(inPieces(all, size), session);
    });
  }

  test("a piece may end anywhere, also within a character", () => {
    const bytes = new TextEncoder().encode(talk);
    for (let size = 1; size <= bytes.length; size += 1)
      assert.deepEqual(inPieces(bytes, size), api.readSession(talk));
  });

  test("a reader accepts strings and counts lines as they end", () => {
    const reader = new api.SessionReader();
    assert.deepEqual(reader.push(talk.slice(0, 10)), { lines: 0, bytes: 10 });
    const { lines, bytes } = reader.push(talk.slice(10));
    assert.deepEqual({ lines, bytes }, { lines: 2, bytes: new TextEncoder().encode(talk).length });
    assert.deepEqual(reader.end(), api.readSession(talk));
  });

  test("the leaf option chooses a branch", () => {
    const pi = ["a", "b"].map((id) =>
      JSON.stringify({
        type: "message",
        id,
        parentId: null,
        message: { role: "user", content: id },
      }),
    );
    const reader = new api.SessionReader({ leaf: "a" });
    reader.push(pi.join("\n"));
    assert.equal(reader.end().message(0).content, "a");
  });

  test("a finished or disposed reader refuses more input", () => {
    const ended = new api.SessionReader();
    ended.push(talk);
    ended.end();
    const left = new api.SessionReader();
    left[Symbol.dispose]();
    for (const reader of [ended, left]) {
      const info = (/** @type {string} */ during) => ({ info: { code: "DISPOSED", during } });
      assert.throws(() => reader.push(talk), info("push"));
      assert.throws(() => reader.end(), info("end"));
    }
    assert.throws(() => new api.SessionReader().end(), /an empty file/);
    assert.throws(
      () => new api.SessionReader().push(/** @type {any} */ (7)),
      /a string or a Uint8Array/,
    );
  });

  test("`messages` becomes a plain property when it is first read or set", () => {
    const read = api.readSession(talk);
    assert.deepEqual(Object.keys(read).slice(0, 3), ["format", "messageFormat", "messages"]);
    assert.equal(read.message(2), undefined);
    assert.equal(read.messages, read.messages);
    assert.equal(read.message(0), read.messages[0]);
    const set = api.readSession(talk);
    set.messages = set.messages.slice(0, 1);
    assert.equal(set.messageCount, 1);
    assert.deepEqual(structuredClone(api.readSession(talk)), JSON.parse(JSON.stringify(read)));
  });

  test("messages with other JSON spelling count the same as a host's", () => {
    const spelled = `{"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f",
      "input": {"b": 1.0, "2": "\\u00e9", "a": [1, 2 , 3e2], "a": "\\/"}}]}`.replaceAll("\n", "");
    const session = api.readSession(
      `${line("user", "go")}\n${spelled}\n${line("user", "on")}\n${line("assistant", "ok")}`,
    );
    const lazy = api.recordedView(session);
    const plain = api.recordedView(JSON.parse(JSON.stringify(session)));
    assert.deepEqual(lazy.messages(), plain.messages());
    assert.deepEqual(lazy.calls, plain.calls);
  });
}
