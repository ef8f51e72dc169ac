// @ts-check
/** Token counts of images and documents. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, manager, skip } from "../support/agent-session.mjs";

const base64 = (/** @type {string} */ start, /** @type {number} */ bytes) =>
  Buffer.concat([Buffer.from(start, "latin1"), Buffer.alloc(bytes - start.length)]).toString(
    "base64",
  );
const png = (/** @type {number} */ bytes) => base64("\x89PNG\r\n\x1a\n", bytes);
const pdf = (/** @type {number} */ bytes) => base64("%PDF-1.7\n", bytes);

/** A message in each format that shows this. @type {Record<string, (data: string, mime: string) => any>} */
const SHOWN = {
  anthropic: (data, mime) => ({
    role: "user",
    content: [
      {
        type: mime === "application/pdf" ? "document" : "image",
        source: { type: "base64", media_type: mime, data },
      },
    ],
  }),
  "openai-chat": (data, mime) => ({
    role: "user",
    content: [
      mime === "application/pdf"
        ? { type: "file", file: { filename: "a.pdf", file_data: `data:${mime};base64,${data}` } }
        : { type: "image_url", image_url: { url: `data:${mime};base64,${data}` } },
    ],
  }),
  "openai-responses": (data, mime) => ({
    type: "message",
    role: "user",
    content: [{ type: "input_file", file_data: `data:${mime};base64,${data}`, filename: "a" }],
  }),
  gemini: (data, mime) => ({ role: "user", parts: [{ inlineData: { mimeType: mime, data } }] }),
  "ai-sdk": (data, mime) => ({ role: "user", content: [{ type: "file", data, mediaType: mime }] }),
};

for (const [format, shown] of Object.entries(SHOWN)) {
  const tokens = (/** @type {any} */ message, /** @type {object} */ more = {}) =>
    api.estimateRequest({ messages: [message] }, { format, ...more }).tokens;

  test(`${format}: an image costs the same whatever its size, and imageTokens says how much`, {
    skip,
  }, () => {
    const [small, large] = [1_000, 1_000_000].map((size) => shown(png(size), "image/png"));
    assert.deepEqual([tokens(small), tokens(large)], [1_504, 1_504]);
    for (const imageTokens of [0, 1_200, 1_600])
      assert.equal(tokens(large, { imageTokens }), imageTokens + 4);
  });

  test(`${format}: a PDF costs an image for each page, by its size`, { skip }, () => {
    const document = (/** @type {number} */ bytes) => shown(pdf(bytes), "application/pdf");
    assert.deepEqual(
      [10_000, 100_000, 20_000_000].map((bytes) => tokens(document(bytes))),
      [1_504, 6_004, 150_004],
    );
    assert.equal(tokens(document(100_000), { imageTokens: 1_000 }), 4_004);
  });
}

test("a session counts images as imageTokens says, and wrong values are refused by name", {
  skip,
}, () => {
  const history = [SHOWN.anthropic?.(png(1_000), "image/png")];
  for (const imageTokens of [undefined, 200]) {
    const { context } = manager(undefined, { imageTokens });
    assert.equal(context.request(history).tokens, (imageTokens ?? 1_500) + 4);
  }
  for (const imageTokens of [-1, "many", 1e12, Number.NaN])
    assert.throws(() => manager(undefined, { imageTokens }), /imageTokens/);
});
