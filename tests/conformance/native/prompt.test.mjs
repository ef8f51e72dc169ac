// @ts-check
/** The system prompt natively and in Wasm: the same bytes for the same arguments, errors too. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { loadPackage, unbundledPath } from "../support/package.mjs";
import { native } from "./native.mjs";

const { api, why } = await loadPackage(unbundledPath());
const entry = unbundledPath();
const dump = api && entry ? native() : undefined;
const reason = dump
  ? false
  : why || "skipped: there is no cargo, and PLIMSOLL_NATIVE names no dump";
if (reason) console.log(reason);

const WORDS = [
  "`parseLine()`",
  "src/a.ts",
  "tiếng Việt",
  "上下文",
  "fix",
  "continue",
  "👩‍👩‍👧",
  "\n",
  "e\u0301",
  "v1.2",
];

/** Numbers that look random and are the same every time. @param {number} seed */
function numbers(seed) {
  let state = seed;
  return (/** @type {number} */ below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Calls of every kind, some of them refused. @returns {Array<[string, object]>} */
function calls() {
  const random = numbers(42);
  const text = (/** @type {number} */ most) =>
    Array.from({ length: random(most) }, () => WORDS[random(WORDS.length)]).join(" ");
  const tool = (/** @type {string} */ description) => ({ function: { name: "t", description } });
  const files = (/** @type {string[]} */ tiers) =>
    tiers.map((tier) => ({ tier, name: tier, path: `/w/${tier}.md`, content: text(80) }));
  /** @type {Array<[string, object]>} */
  const all = [];
  for (let round = 0; round < 120; round += 1) {
    const sections = Array.from({ length: random(9) }, (_, at) => ({
      key: ["memory:auto", "rules:x", "git", "base"][random(4)] + at,
      content: text(300),
      priority: random(101),
      protected: random(3) === 0,
      stable: random(2) === 0,
      evidence: [text(3)],
    }));
    const focus = {
      querySummary: text(9),
      activeFilePaths: ["src/a.ts"],
      activeSymbols: ["parseLine"],
      planSignals: ["planning context"],
    };
    all.push(
      [
        "assemble",
        {
          sections,
          focus,
          budget: { maxPerTierChars: random(900), maxTotalChars: random(3_000) },
          order: random(2) ? "stable-first" : "insertion",
          protect: ["last", "never", "error"][random(3)],
          locale: ["en", "vi", "zh", "tlh"][random(4)],
        },
      ],
      ["focus", { query: text(60), recent: [text(9), text(9)], projectRoot: "/w" }],
      ["budget", { contextTokens: random(300_000), maxOutputTokens: random(20_000) }],
      [
        "truncate",
        { text: text(200), maxChars: random(400), head: random(1001), tail: random(1001) },
      ],
      ["tiers", { files: files(["soul", "policy", "journal", "markdown"]) }],
      [
        "rules",
        {
          files: [
            {
              path: "r/ts.md",
              content: `---\npaths: ["**/*.{ts,tsx}", ${text(2)}]\n---\n${text(9)}`,
            },
          ],
          active: ["src/a.ts", text(2)],
        },
      ],
      [
        "workspace",
        {
          files: files(["SOUL.md", "AGENTS.md", "TOOLS.md", "memory"]),
          rules: [],
          focus,
          subagent: random(2) === 0,
        },
      ],
      ["trim", { tools: [tool(text(90)), tool(text(90))], maxChars: random(500) }],
      [
        "remember",
        { memories: [text(9), text(20)], text: text(9), maxChars: random(300), locale: "vi" },
      ],
      [
        "compress",
        {
          text: text(90),
          maxChars: random(200),
          locale: { memoryHeader: "m", truncated: "t", compressed: "c", question: "q" },
        },
      ],
      ["tiers", { files: [{ tier: "none", content: text(2) }] }],
    );
  }
  return all;
}

test("native code and Wasm give the same bytes for prompts", { skip: reason }, async () => {
  const load = (/** @type {string} */ path) =>
    import(pathToFileURL(join(dirname(String(entry)), path)).href);
  const [glue, { prompts }] = [await load("glue/prompt_bg.js"), await load("prompt/prompt.js")];
  api.promptBudget(); // the first call hands the Wasm over
  const all = calls();
  const input = all.map(([name, args]) => `${name} ${JSON.stringify(args)}\n`).join("");
  const dumped = spawnSync(String(dump), ["prompt"], {
    input,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  assert.equal(dumped.status, 0, dumped.stderr);
  const answers = dumped.stdout.trimEnd().split("\n");
  assert.equal(answers.length, all.length);
  let refused = 0;
  all.forEach(([name, args], at) => {
    let own;
    try {
      const call = () => glue[name](prompts.send(JSON.stringify(args)));
      // The one call whose answer is not one JSON text.
      const assemble = () => {
        const plan = glue.assemble(prompts.sendAll([JSON.stringify(args)]));
        return JSON.stringify([[plan, glue.prompt()], [...glue.figures()]]);
      };
      own = prompts.call(name, name === "assemble" ? assemble : call);
    } catch (error) {
      refused += 1;
      own = /** @type {Error} */ (error).message;
    }
    assert.equal(own, answers[at], `${name} ${JSON.stringify(args)}`);
  });
  assert.ok(refused > 100 && refused < all.length / 2, `${refused} refused`);
  console.log(
    `native = Wasm, byte for byte: ${all.length} prompt calls, ${refused} of them refused`,
  );
});
