// @ts-check
/**
 * Whatever the history: each request is what a strict provider takes, the host's messages stay as they are, the same
 * call twice gives the same request, and within an epoch it only grows.
 *
 * PLIMSOLL_HISTORIES: how many; 1,500 by default.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { history, random } from "./generated.mjs";
import { loadPackage } from "./package.mjs";
import { strictAnthropic, strictOpenAiChat, strictPi } from "./strict.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const histories = Number(process.env.PLIMSOLL_HISTORIES ?? 1500);
/** @type {Array<["anthropic" | "openai-chat" | "pi", (messages: any[]) => any[]]>} */
const formats = [
  ["anthropic", (messages) => strictAnthropic(messages, {})],
  ["openai-chat", (messages) => strictOpenAiChat(messages, {})],
  ["pi", (messages) => strictPi(messages, {})],
];

for (const [format, strict] of formats) {
  test(`${format}: every request of a generated history`, { skip }, () => {
    let requests = 0;
    for (let seed = 1; seed <= histories / formats.length; seed += 1) {
      requests += play(format, strict, seed);
    }
    console.log(`${format}: ${requests} requests`);
    assert.ok(requests > histories / formats.length);
  });
}

/** @param {typeof formats[number][0]} format @param {typeof formats[number][1]} strict @param {number} seed */
function play(format, strict, seed) {
  const next = random(seed);
  const messages = history(format, next);
  const contextTokens = [600, 1500, 4000, 12_000][seed % 4] ?? 600;
  const window = { contextTokens, maxOutputTokens: Math.floor(contextTokens / 16) };
  let now = 0;
  const manager = new api.ContextManager({ window, format, clock: () => now });
  const before = JSON.stringify(messages);
  let requests = 0;
  /** @type {{ epoch: number, sent: string[] }} */
  let last = { epoch: -1, sent: [] };
  for (let count = 1; count <= messages.length; count += 1 + Math.floor(next() * 4)) {
    now += next() < 0.5 ? 1000 : 400_000;
    const where = `${format}, seed ${seed}, ${count} of ${messages.length} messages, window ${contextTokens}`;
    const request = manager.request(messages.slice(0, count));
    assert.deepEqual(strict(request.messages), [], where);
    const sent = request.messages.map((/** @type {any} */ message) => JSON.stringify(message));
    const again = manager.request(messages.slice(0, count));
    assert.deepEqual(again.messages, request.messages, where);
    assert.deepEqual([again.epoch, again.firstChanged], [request.epoch, null], where);
    if (request.epoch === last.epoch)
      assert.deepEqual(sent.slice(0, last.sent.length), last.sent, where);
    last = { epoch: request.epoch, sent };
    requests += 1;
  }
  assert.equal(
    JSON.stringify(messages),
    before,
    `${format}, seed ${seed}: the history is as it was`,
  );
  manager[Symbol.dispose]();
  return requests;
}
