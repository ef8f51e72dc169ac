// @ts-check
/**
 * `open: true`: the history is a prefix, and the host appends the rest itself. Nothing of ours is put at its end, in
 * every format, and the request only grows when the rest is there.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { render } from "../generated/histories.mjs";
import { api, manager, skip, words } from "../support/small-history.mjs";

/** @typedef {import("../providers/convert/turns.mjs").Turn} Turn @typedef {import("../providers/convert/turns.mjs").Part} Part */

const text = (/** @type {string} */ value) => /** @type {Part} */ ({ kind: "text", text: value });
const user = (/** @type {string} */ value) =>
  /** @type {Turn} */ ({ role: "user", parts: [text(value)] });
const answer = (/** @type {string} */ value) =>
  /** @type {Turn} */ ({ role: "assistant", parts: [text(value)] });
const calls = (/** @type {string} */ id) =>
  /** @type {Turn} */ ({
    role: "assistant",
    parts: [{ kind: "call", id, name: "read", input: { path: id }, sig: "c2ln" }],
  });
const gives = (/** @type {string} */ id) =>
  /** @type {Turn} */ ({
    role: "tool",
    parts: [{ kind: "result", id, name: "read", text: words(20, id), error: false }],
  });

const turns = [user("go"), calls("call00001"), gives("call00001"), answer("so"), user("on")];
const formats = [
  "anthropic",
  "openai-chat",
  "openai-responses",
  "openai-agents",
  "gemini",
  "ai-sdk",
  "langchain",
  "pi",
];
const providers = /** @type {Record<string, string[]>} */ ({
  anthropic: ["anthropic", "bedrock"],
  "openai-chat": ["openai-chat", "mistral"],
  "openai-responses": ["openai-responses"],
  "openai-agents": ["openai-responses"],
  gemini: ["gemini"],
});

for (const format of formats) {
  for (const provider of providers[format] ?? ["anthropic", "bedrock", "mistral", "openai-chat"]) {
    const written = (/** @type {number} */ upto) =>
      render(
        { turns: turns.slice(0, upto), clean: true, signed: true, way: 0, window: 0 },
        format,
        provider,
      );
    const context = () =>
      manager({ window: { contextTokens: 100_000 }, format, provider, clock: () => 1 });

    test(`a request with open: true sends a prefix unchanged, and it grows (${format} x ${provider})`, {
      skip,
    }, () => {
      const own = context();
      for (let upto = 1; upto < turns.length; upto += 1) {
        const prefix = written(upto);
        const prepared = own.request(prefix, { open: true });
        const where = `${upto} turns`;
        assert.deepEqual(
          prepared.source,
          prefix.map((_, at) => at),
          where,
        );
        assert.deepEqual([prepared.repairs, prepared.firstChanged], [[], null], where);
      }
      const full = own.request(written(turns.length));
      assert.deepEqual([full.repairs, full.firstChanged, full.epoch], [[], null, 0]);
    });

    test(`a request without open repairs only the end of an open prefix (${format} x ${provider})`, {
      skip,
    }, () => {
      for (const upto of [2, 4]) {
        const own = context();
        const prefix = written(upto);
        const open = own.request(prefix, { open: true });
        const closed = own.request(prefix);
        assert.ok(closed.repairs.length > 0, "the end is repaired now");
        assert.equal(closed.firstChanged, null, "what was sent stays");
        assert.equal(closed.epoch, open.epoch);
        assert.ok(closed.messages.length > prefix.length || format === "ai-sdk");
        const again = own.request(prefix, { open: true });
        assert.deepEqual(again.messages, open.messages);
        assert.equal(again.firstChanged, prefix.length, "only what was added is gone");
      }
    });
  }
}

test("a restored session continues with open: true without a new epoch", { skip }, () => {
  const options = { window: { contextTokens: 100_000 }, format: "anthropic" };
  const history = [
    { role: "user", content: "go" },
    { role: "assistant", content: "so" },
  ];
  const own = manager(options);
  const before = own.request(history, { open: true });
  const woken = api.ContextManager.restore(own.snapshot(), options);
  const more = [...history, { role: "user", content: "on" }, { role: "assistant", content: "yes" }];
  const after = woken.request(more, { open: true });
  assert.deepEqual([after.messages, after.epoch], [more, before.epoch]);
});

test("unseen tokens count for the fit of an open prefix", { skip }, () => {
  const own = manager({ window: { contextTokens: 1000 }, estimator: "chars/4" });
  const history = [{ role: "user", content: "go" }];
  assert.equal(own.request(history, { open: true, unseenTokens: 900 }).fits, true);
  assert.equal(own.request(history, { open: true, unseenTokens: 1001 }).fits, false);
});

test("open must be a boolean", { skip }, () => {
  for (const open of [1, "yes", {}]) {
    assert.throws(
      () => manager().request([{ role: "user", content: "go" }], { open }),
      (/** @type {any} */ error) => error.code === "INVALID_ARGUMENT",
    );
  }
});
