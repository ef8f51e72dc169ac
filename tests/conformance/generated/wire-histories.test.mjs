// @ts-check
/**
 * Responses' items and Gemini's contents through the package: whatever the history, each request is what the provider
 * takes, the host's messages stay as they are, what is opaque goes byte for byte, the same call twice gives the same
 * request, and within an epoch it only grows.
 *
 * PLIMSOLL_HISTORIES: how many; 800 by default.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";
import { random } from "./histories.mjs";
import { gemini, refusedByGemini, refusedByResponses, responses } from "./wire-histories.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const histories =
  Number(process.env.PLIMSOLL_HISTORIES ?? sized({ short: 200, ci: 800, long: 800 })) / 2;

for (const [format, make, refused] of /** @type {const} */ ([
  ["openai-responses", responses, refusedByResponses],
  ["gemini", gemini, refusedByGemini],
])) {
  test(`every request of generated ${format} wire histories is valid`, { skip }, () => {
    let [requests, epochs] = [0, 0];
    for (let seed = 1; seed <= histories; seed += 1) {
      const played = checkHistory(format, make, refused, seed);
      requests += played.requests;
      epochs += played.epochs;
    }
    console.log(`${format}: ${requests} requests, ${epochs} epochs`);
    assert.ok(requests > histories && epochs > histories / 4);
  });

  test(`repair of ${format} wire histories is complete and leaves valid ones unchanged`, {
    skip,
  }, () => {
    let broken = 0;
    for (let seed = 1; seed <= histories; seed += 1) {
      const messages = make(random(seed));
      if (messages.length === 0) continue;
      const where = `${format}, seed ${seed}`;
      const found = api.validate(messages, format, { format });
      const repaired = api.repair(messages, format, { format });
      broken += refused(messages) === null ? 0 : 1;
      assert.equal(refused(repaired.messages), null, where);
      assert.deepEqual(api.validate(repaired.messages, format, { format }), [], where);
      assert.equal(found.length === 0, repaired.repairs.length === 0, where);
      if (found.length === 0) assert.deepEqual(repaired.messages, messages, where);
      const again = api.repair(repaired.messages, format, { format });
      assert.deepEqual(again, { messages: repaired.messages, repairs: [] }, where);
    }
    assert.ok(
      broken > histories / 4 && broken < histories,
      `${broken} histories are refused as they are`,
    );
  });
}

/** @param {string} format @param {(next: () => number) => any[]} make @param {(sent: any[]) => string | null} refused @param {number} seed */
function checkHistory(format, make, refused, seed) {
  const next = random(seed);
  const messages = make(next);
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
    requests += 1;
    assert.equal(refused(request.messages), null, where);
    assert.deepEqual(api.validate(request.messages, format, { format }), [], where);
    for (const [at, source] of request.source.entries()) {
      if (source !== null) checkSameOpaque(messages[source], request.messages[at], where);
    }
    const compactions = (/** @type {any[]} */ all) =>
      all.filter((message) => message.type === "compaction").length;
    assert.equal(compactions(request.messages), compactions(messages.slice(0, count)), where);
    const sent = request.messages.map((/** @type {any} */ message) => JSON.stringify(message));
    const again = manager.request(messages.slice(0, count));
    assert.deepEqual(again.messages, request.messages, where);
    if (request.epoch === last.epoch)
      assert.deepEqual(sent.slice(0, last.sent.length), last.sent, where);
    last = { epoch: request.epoch, sent };
  }
  assert.equal(
    JSON.stringify(messages),
    before,
    `${format}, seed ${seed}: the history is as it was`,
  );
  manager[Symbol.dispose]();
  return { requests, epochs: Math.max(last.epoch, 0) };
}

/** Ids of items, encrypted content and signatures of what is sent are the host's. @param {any} host @param {any} sent @param {string} where */
function checkSameOpaque(host, sent, where) {
  for (const name of ["id", "type", "encrypted_content"])
    assert.equal(sent[name], host[name], where);
  const signatures = (/** @type {any} */ message) =>
    (message.parts ?? []).map((/** @type {any} */ part) => part.thoughtSignature).filter(Boolean);
  for (const signature of signatures(sent)) assert.ok(signatures(host).includes(signature), where);
}
