// @ts-check
/**
 * `keep: "lines"` over real sessions: every request is valid and fits, every line that is quoted stands in a result of the history,
 * no edit makes a request larger, and a restored session sends the same bytes.
 *
 * PLIMSOLL_SESSIONS  a regular expression over the names
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { someSessionFiles } from "../support/session-files.mjs";

const { api, why } = await loadPackage();
const only = new RegExp(process.env.PLIMSOLL_SESSIONS ?? "");
const totals = { sessions: 0, calls: 0, folds: 0, heads: 0, stubs: 0, lines: 0, restored: 0 };

const HEAD = "Lines of results in them that were used, as they stood there:\n";
const STUB = "; of it:\n> ";

/** Who receives a format that is no provider's own. @type {Record<string, string>} */
const PROVIDERS = {
  "openai-agents": "openai-responses",
  pi: "anthropic",
  "ai-sdk": "anthropic",
  langchain: "anthropic",
};

/** Every string of a value. @param {any} value @returns {string[]} */
const strings = (value) =>
  typeof value === "string"
    ? [value]
    : value === null || typeof value !== "object"
      ? []
      : Object.values(value).flatMap(strings);

/** A text as it is compared: a quoted line has no line ends, control characters and secrets. @param {string} text */
const bare = (text) => text.replace(/[^\p{L}\p{N}\p{P}\p{S}]/gu, "");

/** The lines that a request quotes. @param {any[]} messages */
function quoted(messages) {
  const texts = messages.flatMap(strings);
  const heads = texts.filter((text) => text.startsWith("[Earlier messages") && text.includes(HEAD));
  const stubs = texts.filter((text) => text.startsWith("[") && text.includes(STUB));
  totals.heads += heads.length;
  totals.stubs += stubs.length;
  const after = heads.map((text) => text.slice(text.lastIndexOf(HEAD) + HEAD.length));
  return [...after, ...stubs].flatMap((text) =>
    text
      .split("\n")
      .filter((line) => line.startsWith("> "))
      .map((line) => line.slice(2)),
  );
}

/** Each stands in the history, but for what redaction has taken out. @param {string[]} lines @param {any[]} history */
function checkVerbatim(lines, history) {
  if (lines.length === 0) return;
  // The text of a result that is an object is its JSON.
  const known = bare(history.flatMap(strings).join("") + JSON.stringify(history));
  for (const line of lines) {
    const pieces = line.replace(/^…|…$/g, "").split("[redacted]");
    for (const piece of pieces)
      assert.ok(known.includes(bare(piece)), `not in the history: ${line}`);
  }
  totals.lines += lines.length;
}

test("a compaction by a summarizer has its lines in its record and in the next request", {
  skip: !api && why,
}, async () => {
  const row = (/** @type {number} */ at) => `row_${at} holds the value ${at * 7}\n`;
  const text = Array.from({ length: 300 }, (_, at) => row(at)).join("");
  const plain = "nothing of use here, and no more. ".repeat(60);
  const call = (/** @type {string} */ id, /** @type {string} */ content) => [
    { role: "assistant", content: [{ type: "tool_use", id, name: "read", input: { path: id } }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] },
  ];
  const history = [
    { role: "user", content: "go" },
    ...call("src/table.txt", text),
    { role: "assistant", content: "row_17 and row_250" },
    ...Array.from({ length: 12 }, (_, at) => call(`c${at}`, plain)).flat(),
  ];
  const options = { window: { contextTokens: 30_000 }, format: "anthropic" };
  const summarize = async () => "It was about a table.";
  /** @param {object} more */
  const compacted = async (more) => {
    const context = new api.ContextManager({ ...options, summarize, ...more });
    const { record, tokensAfter, tokensBefore } = await context.compact(history, { force: true });
    assert.ok(tokensAfter < tokensBefore);
    const { messages, tokens } = context.request(history);
    assert.equal(tokens, tokensAfter);
    assert.ok(JSON.stringify(messages).includes(JSON.stringify(record.head)));
    return record.head;
  };
  const head = await compacted({ keep: "lines" });
  // After the summary, or the extract in its place.
  const expected = `\n\n[${HEAD}[read] src/table.txt\n> ${row(250)}> ${row(17)}Names`;
  assert.ok(head.includes(expected), head);
  assert.ok(!(await compacted({})).includes(HEAD));
});

if (!api) test("lines are kept over real sessions", { skip: why }, () => {});
else {
  for (const [index, { name, bytes, windows: all = [32_000, 64_000] }] of someSessionFiles(3)) {
    if (!only.test(name)) continue;
    test(`lines of ${name} stand in its history, and its requests are valid`, () => {
      const session = api.readSession(bytes());
      const format = session.messageFormat;
      const provider = PROVIDERS[format] ?? format;
      const parts = { system: session.system, tools: session.tools };
      const contextTokens = all[index % all.length];
      let now = 0;
      const options = { window: { contextTokens }, format, keep: "lines", clock: () => now };
      const live = new api.ContextManager(options);
      totals.sessions++;
      let before = 0;
      for (const [number, { sent, at }] of session.calls.entries()) {
        now = at ?? sent * 20_000;
        const history = session.messages.slice(0, sent);
        const prepared = live.request(history, parts);
        const where = `${contextTokens}, call ${number}`;
        totals.calls++;
        totals.folds += prepared.compaction?.record ? 1 : 0;
        const { compaction } = prepared;
        if (compaction) assert.ok(compaction.tokensAfter <= compaction.tokensBefore, where);
        // A session without messages has nothing to restore.
        if (sent === 0 || (prepared.epoch === before && number > 0)) continue;
        before = prepared.epoch;
        checkVerbatim(quoted(prepared.messages), history);
        const violations = api.validate(prepared.messages, provider, { format, ...parts });
        assert.deepEqual(violations, [], where);
        const woken = api.ContextManager.restore(live.snapshot(), options);
        const again = woken.request(JSON.parse(JSON.stringify(history)), parts);
        assert.deepEqual(again.messages, prepared.messages, `restored, ${where}`);
        assert.deepEqual(woken.snapshot(), live.snapshot(), `parked again, ${where}`);
        totals.restored++;
      }
    });
  }
  after(() => {
    console.log(JSON.stringify(totals));
    if (totals.sessions > 10) assert.ok(totals.lines > 100 && totals.folds > 0 && totals.stubs > 0);
  });
}
