// @ts-check
/** Snapshots that were changed and signed again: an error that says so, or a request that its provider takes; never seconds of work. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { random } from "../generated/histories.mjs";
import { api, prose, skip, step, talk } from "../support/agent-session.mjs";

/** FNV-1a of 64 bits, as the last eight bytes of a snapshot have it. @param {Uint8Array} bytes */
function signed(bytes) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes.subarray(0, -8))
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  new DataView(bytes.buffer, bytes.byteOffset).setBigUint64(bytes.length - 8, hash, true);
  return bytes;
}

const options = (/** @type {string} */ preset) => ({
  ...{ window: { contextTokens: 9_000 }, format: "anthropic", estimator: "chars/4", preset },
  clock: () => 0,
});

/** A session that was cut in every way, and its history. @param {string} preset */
function session(preset) {
  const context = new api.ContextManager(options(preset));
  const history = talk(1);
  for (let at = 0; at < 24; at++) {
    history.push(...step(at + 1), { role: "user", content: `and ${at}: ${prose(40)}` });
    context.request(history);
    if (at === 12) context.pin({ index: 3 });
  }
  return { bytes: context.snapshot(), history };
}

test("a snapshot with a recomputed checksum is the same snapshot", { skip }, () => {
  const { bytes } = session("balanced");
  assert.deepEqual(signed(bytes.slice()), bytes);
});

test("a forged snapshot never makes an invalid or slow request", {
  skip,
}, () => {
  const counts = { refused: 0, taken: 0, invalid: 0, slowest: 0 };
  for (const preset of ["balanced", "openclaw", "context-budget"]) {
    const { bytes, history } = session(preset);
    const next = random(7);
    const below = (/** @type {number} */ n) => Math.floor(next() * n);
    for (let mutant = 0; mutant < 500; mutant++) {
      const forged = bytes.slice();
      for (let change = 0; change <= below(3); change++) {
        const at = 12 + below(forged.length - 20);
        const way = below(4);
        if (way === 0) forged[at] = below(256);
        else if (way === 1) forged[at] = /** @type {number} */ (forged[at]) ^ (1 << below(8));
        else if (way === 2) forged[at] = 0;
        else forged.set([0xff, 0xff, 0xff, 0x7f].slice(below(4)), at);
      }
      const started = performance.now();
      try {
        const context = api.ContextManager.restore(signed(forged), options(preset));
        for (const upto of [history.length, history.length + 1]) {
          const passed = [...history, ...talk(1)].slice(0, upto);
          const { messages, cacheBreakpoints } = context.request(passed);
          const found = api.validate(messages, "anthropic");
          if (
            found.length > 0 ||
            cacheBreakpoints.some((/** @type {number} */ at) => at >= messages.length)
          ) {
            counts.invalid += 1;
            console.log(
              `${preset}, mutant ${mutant}: ${JSON.stringify(found[0] ?? cacheBreakpoints)}`,
            );
          }
        }
        context[Symbol.dispose]();
        counts.taken += 1;
      } catch (error) {
        assert.equal(/** @type {any} */ (error).code, "CORRUPT_STATE", String(error));
        counts.refused += 1;
      }
      counts.slowest = Math.max(counts.slowest, performance.now() - started);
    }
  }
  console.log(`forged snapshots: ${JSON.stringify(counts)}`);
  assert.ok(counts.taken > 100 && counts.refused > 100);
  assert.equal(counts.invalid, 0);
  assert.ok(counts.slowest < 1_500, `${counts.slowest} ms`);
});
