// @ts-check
/** Members of objects that are passed to functions: one that does not exist is refused with the nearest that does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, skip } from "../support/agent-session.mjs";

const key = new Uint8Array(32).fill(7);
const context = () => new api.ContextManager({ window: { contextTokens: 10_000 } });
const section = { key: "a", content: "x", priority: 5 };
const store = () => new api.CandidateStore({ sign: { key } });

/** @type {Array<[string, () => unknown, string, string]>} */
const ROWS = [
  ["note", () => context().note({ source: "x", request: 1 }), "note.request", "requests"],
  [
    "promptBudget",
    () => api.promptBudget({ contextToken: 5 }),
    "window.contextToken",
    "contextTokens",
  ],
  [
    "checkBudget",
    () => api.checkBudget({ messages: [] }, { contextToken: 5 }),
    "window.contextToken",
    "contextTokens",
  ],
  [
    "assemblePrompt, a section",
    () => api.assemblePrompt([section, { ...section, prioriti: 5 }]),
    "sections[1].prioriti",
    "priority",
  ],
  [
    "assemblePrompt, the budget",
    () => api.assemblePrompt([section], { budget: { maxTotalChar: 5 } }),
    "budget.maxTotalChar",
    "maxTotalChars",
  ],
  ["CandidateStore", () => new api.CandidateStore({ sign: { key }, gate: {} }), "gate", "gates"],
  [
    "CandidateStore, gates",
    () => new api.CandidateStore({ sign: { key }, gates: { minScores: 1 } }),
    "gates.minScores",
    "minScore",
  ],
  [
    "CandidateStore.upsert",
    () => store().upsert({ category: "x", scoer: 1 }),
    "observation.scoer",
    "score",
  ],
  ["renderList", () => api.renderList(context().inspect(), { widht: 5 }), "options.widht", "width"],
];

for (const [name, work, argument, meant] of ROWS) {
  test(`${name}: "${argument}" is refused with the name that was probably meant`, { skip }, () => {
    const near = argument.slice(0, argument.lastIndexOf(".") + 1) + meant;
    assert.throws(work, (/** @type {any} */ error) => {
      assert.equal(error.code, "INVALID_ARGUMENT");
      assert.equal(error.info.argument, argument);
      assert.equal(error.message, `Unknown option "${argument}". Did you mean "${near}"?`);
      return true;
    });
  });
}

test("a member that resembles no name is refused with the list of names", { skip }, () => {
  assert.throws(() => api.promptBudget({ colour: 1 }), {
    message: 'Unknown option "window.colour". The options are contextTokens, maxOutputTokens.',
  });
});
