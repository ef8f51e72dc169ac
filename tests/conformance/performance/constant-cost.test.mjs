// @ts-check
/**
 * Turns are flat: what a request costs is counted, not timed. Around message 10,000 a turn measures, looks at and passes
 * no more than twice what it does around message 100.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { largeParts, longSession, requests } from "../../support/long.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);

/** Messages from, to. */
const STRETCHES = [
  [60, 160],
  [9_500, 10_500],
];
/** The late stretch by the early one. The live view differs in size: edits come in rarer, larger batches. Unbounded growth is a factor of 100. */
const MOST = 2;

/** @typedef {Record<string, number>} Counts */

test("a turn at message 10,000 takes at most twice the steps of one at message 100", {
  skip: !api && why,
}, () => {
  const [early = {}, late = {}] = stretches();
  for (const [name, then] of Object.entries(early)) {
    const ratio = (late[name] ?? 0) / then;
    console.log(
      `${name} a turn: ${then.toFixed(1)} around message 100, ${late[name]?.toFixed(1)} around message 10,000: ${ratio.toFixed(2)}`,
    );
  }
  for (const name of ["passed", "bytesMeasured", "blocksVisited", "itemsWritten"]) {
    const ratio = (late[name] ?? Number.NaN) / (early[name] ?? Number.NaN);
    assert.ok(ratio <= MOST, `${name}: ${ratio.toFixed(2)} times as much`);
  }
  for (const { passed = Number.NaN, fresh = 0 } of [early, late]) {
    const most = 2 * fresh;
    assert.ok(passed <= most, "what is new is passed to the core, and once more when it leaves");
  }
});

test("system and tools are serialized only when they change, also in place", {
  skip: !api && why,
}, () => {
  const { system, tools } = largeParts();
  const manager = new api.ContextManager({ window: { contextTokens: 200_000 } });
  const messages = longSession(40);
  const sent = requests(messages).slice(0, 4);
  const write = JSON.stringify;
  let stringified = 0;
  JSON.stringify = (/** @type {[any]} */ ...args) => {
    const text = write(...args);
    stringified += text?.length ?? 0;
    return text;
  };
  /** @param {number | undefined} end @param {any} parts */
  const tokens = (end, parts) => {
    stringified = 0;
    return manager.request(messages.slice(0, end), parts).tokens;
  };
  try {
    tokens(sent[0], { system, tools });
    assert.ok(stringified > 77_000, "the first request reads them");
    // New lists and objects with the same texts, as a host makes them that puts its tools together at each turn.
    const same = tools.map((tool) => ({ ...tool }));
    tokens(sent[1], { system, tools: same });
    assert.ok(stringified < 20_000, `${stringified} characters are written`);
    const before = tokens(sent[1], { system, tools: same });
    const [first] = same;
    assert.ok(first);
    first.description += " and a few words more".repeat(50);
    const after = tokens(sent[1], { system, tools: same });
    assert.ok(after > before + 150, `${before} tokens, then ${after}`);
  } finally {
    JSON.stringify = write;
    manager[Symbol.dispose]();
  }
});

/** What was counted, by the turn, for each stretch. @returns {Counts[]} */
function stretches() {
  const messages = longSession(10_501);
  let now = 1_700_000_000_000;
  const manager = new api.ContextManager({
    window: { contextTokens: 200_000, maxOutputTokens: 8_192 },
    clock: () => now,
  });
  /** @type {Counts[]} */
  const sums = STRETCHES.map(() => ({}));
  const turns = STRETCHES.map(() => 0);
  const encode = TextEncoder.prototype.encodeInto;
  let passed = 0;
  TextEncoder.prototype.encodeInto = function (text, bytes) {
    passed += text.length;
    return encode.call(this, text, bytes);
  };
  try {
    let [before, known] = [manager.counters(), 0];
    for (const sent of requests(messages)) {
      passed = 0;
      const { tokens, fits } = manager.request(messages.slice(0, sent));
      assert.ok(fits, `the request at message ${sent} fits`);
      const counters = manager.counters();
      const fresh = JSON.stringify(messages.slice(known, sent)).length;
      const turn = { tokens, passed, fresh };
      STRETCHES.forEach(([from = 0, to = 0], at) => {
        const sum = sums[at];
        if (!sum || sent < from || sent >= to) return;
        turns[at] = (turns[at] ?? 0) + 1;
        for (const [name, count] of Object.entries(turn)) sum[name] = (sum[name] ?? 0) + count;
        for (const name of Object.keys(counters)) {
          sum[name] = (sum[name] ?? 0) + counters[name] - before[name];
        }
      });
      [before, known] = [counters, sent];
      now += 20_000;
    }
  } finally {
    TextEncoder.prototype.encodeInto = encode;
    manager[Symbol.dispose]();
  }
  return sums.map((sum, at) =>
    Object.fromEntries(
      Object.entries(sum).map(([name, count]) => [name, count / (turns[at] ?? 1)]),
    ),
  );
}
