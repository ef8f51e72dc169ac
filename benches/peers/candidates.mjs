/** Ten thousand candidates: taken in one by one where none is like another, where all are like one of a hundred, judged, signed, read again. */
import { webcrypto } from "node:crypto";
import { CandidateStore } from "../../npm/dist/entry/candidates.node.js";

const MANY = 10_000;
const NOW = 86_400_000_000;
const key = new Uint8Array(32).fill(7);

/** Twenty of two thousand words, as a strategy that an agent has learned. @param {number} at the same for the same */
function content(at) {
  let state = at + 1;
  const word = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return `word${Math.floor((state / 2 ** 32) * 2_000)}`;
  };
  return Array.from({ length: 20 }, word).join(" ");
}

const observation = (at) => ({
  kind: "WORKFLOW",
  category: "tests",
  content: content(at),
  toolTag: "bash",
  tags: [`m${at}`],
  score: 0.9,
  source: "user",
  trusted: true,
  at: NOW + at,
  success: true,
});

/** Prints how long something took. */
async function timed(name, work) {
  const begun = performance.now();
  const result = await work();
  console.log(
    `${name.padEnd(46)} ${(performance.now() - begun).toFixed(0).padStart(7)} ms  ${result}`,
  );
}

export async function bench() {
  console.log(`\nCandidateStore, ${MANY} candidates in one category and tool\n`);
  const sign = { key };
  const store = new CandidateStore({ sign });
  const fill = (own, different) => {
    for (let at = 0; at < MANY; at += 1) own.upsert(observation(at % different));
    return `${own.list().length} candidates`;
  };
  await timed("upsert, none like another", () => fill(store, MANY));
  await timed("upsert, each like one of a hundred", () => fill(new CandidateStore({ sign }), 100));
  await timed("evaluateAll", () => `${store.evaluateAll(NOW).length} moved`);
  let file = "";
  await timed("save, raw key", async () => {
    file = await store.save();
    return `${(file.length / 1e6).toFixed(1)} MB`;
  });
  await timed("load, raw key", async () => `${(await store.load(file)).loaded} loaded`);
  const name = { name: "HMAC", hash: "SHA-256" };
  const crypto = await webcrypto.subtle.importKey("raw", key, name, false, ["sign"]);
  const hmac = (bytes) => webcrypto.subtle.sign("HMAC", crypto, bytes);
  const other = new CandidateStore({ sign: { hmac } });
  await timed("load, WebCrypto", async () => `${(await other.load(file)).loaded} loaded`);
}
