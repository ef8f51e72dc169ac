// @ts-check
/** Candidates natively and in Wasm: the same bytes for the same calls, errors and signed files too. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { loadPackage, unbundledPath } from "../support/package.mjs";
import { native } from "./native.mjs";

const { api, why } = await loadPackage(unbundledPath());
const entry = unbundledPath();
const dump = api && entry ? native() : undefined;
const skip = dump ? false : why || "skipped: there is no cargo, and PLIMSOLL_NATIVE names no dump";
if (skip) console.log(skip);

const DAY = 86_400_000;
const WORDS = [
  "run",
  "the",
  "tests",
  "first",
  "运行测试",
  "ファイル",
  "é",
  "Ünit",
  "snake_case",
  "🦀",
  "\n",
  '"',
];
const STATES = ["SHADOW", "PROMOTED", "IN_USE", "DEMOTED", "ARCHIVED", "REJECTED"];
const KINDS = ["WORKFLOW", "WORKFLOW", "PREFERENCE", "ANTI_PATTERN", "NONE"];

/** Calls of every kind over a year, some of them refused. @param {(name: string, json: string) => string} answer */
function play(answer) {
  let random = 42;
  const below = (/** @type {number} */ most) => {
    random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((random / 2 ** 32) * most);
  };
  const text = () =>
    Array.from({ length: 1 + below(6) }, () => WORDS[below(WORDS.length)]).join(" ");
  let at = 1_000 * DAY;
  /** @type {string[]} */
  const ids = ["none"];
  const id = () => ids[below(ids.length)];
  for (let round = 0; round < 900; round += 1) {
    at += below(DAY);
    const observed = {
      kind: KINDS[below(KINDS.length)],
      category: "c",
      content: text(),
      toolTag: ["bash", "Git", ""][below(3)],
      tags: below(2) ? [text()] : [],
      score: below(1_100) / 1_000,
      source: text(),
      trusted: below(4) > 0,
      at,
      success: below(3) > 0,
    };
    const printed = answer("upsert", JSON.stringify(observed));
    if (printed.startsWith("{")) ids.push(JSON.parse(printed).id);
    const outcome = { success: below(3) > 0, severe: below(9) === 0, conflict: below(5) === 0, at };
    answer("conclude", JSON.stringify([id(), outcome]));
    const change = { reason: text(), at, force: below(2) === 0 };
    if (round % 3 === 0) answer("transition", JSON.stringify([id(), STATES[below(6)], change]));
    if (round % 5 === 0) answer("evaluate", String(at));
    if (round % 9 === 0) {
      const focus = { querySummary: text(), activeFilePaths: ["src/tests.rs"] };
      answer("section", JSON.stringify([focus, { at, maxTokens: below(600) - 20 }]));
      const sections = [{ key: "candidates", included: true, truncated: below(2) === 0 }];
      answer("inject", JSON.stringify([[id(), id()], sections, at]));
    }
    if (round % 300 === 299) {
      answer("list", "null");
      answer("save", "");
    }
  }
}

test("native code and Wasm give the same bytes for candidates", { skip }, async () => {
  const load = (/** @type {string} */ path) =>
    import(new URL(path, pathToFileURL(String(entry))).href);
  const [glue, { candidates }] = [
    await load("glue/candidates_bg.js"),
    await load("candidates/store.js"),
  ];
  new api.CandidateStore({ sign: { key: new Uint8Array(32) } }); // hands the Wasm over
  const store = new glue.Candidates(candidates.send('{"scope":"native"}'));
  const key = new glue.Key(candidates.sendBytes(new Uint8Array(32).fill(7)));
  const save = () => {
    const saving = store.save();
    for (let bytes = saving.bytes(); bytes; bytes = saving.bytes()) {
      saving.take(candidates.sendBytes(key.sign(candidates.sendBytes(bytes))));
    }
    return JSON.stringify(saving.file());
  };
  let refused = 0;
  let input = "";
  /** @type {string[]} */
  const own = [];
  play((name, json) => {
    let printed = "";
    try {
      printed = candidates.call(name, () =>
        name === "save" ? save() : store[name](candidates.send(json)),
      );
    } catch (error) {
      refused += 1;
      printed = /** @type {Error} */ (error).message;
    }
    input += `${name} ${json}\n`;
    own.push(printed);
    return printed;
  });
  const { status, stdout, stderr } = spawnSync(String(dump), ["candidates"], {
    input,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  assert.equal(status, 0, stderr);
  const theirs = stdout.trimEnd().split("\n");
  assert.equal(theirs.length, own.length);
  own.forEach((printed, at) => {
    assert.equal(printed, theirs[at], input.split("\n")[at]);
  });
  assert.ok(refused > 100 && refused < own.length / 2, `${refused} refused`);
  console.log(
    `native = Wasm, byte for byte: ${own.length} calls of a store of candidates, ${refused} of them refused`,
  );
});
