// @ts-check
/** A misspelt option is refused by name, with the nearest one that exists, wherever options are taken. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { api, format, good, skip, window } from "../support/sound-history.mjs";

const make = (/** @type {any} */ options) =>
  new api.ContextManager({ window, format, ...options })[Symbol.dispose]();
/** A manager for one call. @param {(manager: any) => any} work */
const on = (work) => async () => {
  const manager = new api.ContextManager({ window, format });
  try {
    await work(manager);
  } finally {
    manager[Symbol.dispose]();
  }
};
const some = async () => "a summary";
const store = { load: async () => null, commit: async () => 1, delete: async () => {} };

/** What is called, the option as it is named in the error, and what is meant; undefined: nothing is near. @type {Array<[() => any, string, string | undefined]>} */
const TYPOS = [
  [() => make({ presett: "economy" }), "presett", "preset"],
  [() => make({ sumarize: some }), "sumarize", "summarize"],
  [() => make({ sumary: {} }), "sumary", "summary"],
  [() => make({ providr: "anthropic" }), "providr", "provider"],
  [() => make({ protectTool: [] }), "protectTool", "protectTools"],
  [() => make({ clok: Date.now }), "clok", "clock"],
  [() => make({ window: { contextToken: 1 } }), "window.contextToken", "window.contextTokens"],
  [() => make({ summary: { maxToken: 1 } }), "summary.maxToken", "summary.maxTokens"],
  [() => make({ economy: { cacheReads: 1 } }), "economy.cacheReads", "economy.cacheRead"],
  [() => make({ preset: "aceclaw", stubchars: 9 }), "stubchars", "stubChars"],
  [() => make({ temperature: 1 }), "temperature", undefined],
  [on((it) => it.request(good(), { sytem: "x" })), "sytem", "system"],
  [on((it) => it.prepare(good(), { tool: [] })), "tool", "tools"],
  [on((it) => it.plan(good(), { forse: true })), "forse", "force"],
  [on((it) => it.compact(good(), { focuss: "x" })), "focuss", "focus"],
  [on((it) => it.recover(good(), new Error("x"), { signall: 1 })), "signall", "signal"],
  [on((it) => it.setModel({ windw: window })), "windw", "window"],
  [() => api.ContextManager.open(store, "k", { window, format, presett: 1 }), "presett", "preset"],
  [() => api.tierHistory(good(), { fullTurn: 1 }), "fullTurn", "fullTurns"],
  [() => api.limitTurns(good(), 2, { formatt: format }), "formatt", "format"],
  [() => api.validate(good(), "anthropic", { thinkng: true }), "thinkng", "thinking"],
  [() => api.repair(good(), "anthropic", { formt: format }), "formt", "format"],
  [
    () => api.estimateRequest({ messages: good() }, { estimater: "o200k" }),
    "estimater",
    "estimator",
  ],
  [() => api.requestFocus("fix a.ts", { recents: [] }), "recents", "recent"],
  [() => api.assemblePrompt([], { budgett: {} }), "budgett", "budget"],
  [() => api.truncateText("a", 1, { heads: 1 }), "heads", "head"],
  [() => new api.ContextBudget({ contextTokns: 1 }), "contextTokns", "contextTokens"],
];

for (const [run, argument, meant] of TYPOS) {
  test(`unknown option ${argument} is refused${meant ? ` with the suggestion ${meant}` : ""}: ${String(run).slice(0, 60)}`, {
    skip,
  }, async () => {
    await assert.rejects(
      async () => run(),
      (/** @type {any} */ error) => {
        assert.equal(error.code, "INVALID_ARGUMENT", String(error));
        assert.equal(error.info.argument, argument);
        const start = `Unknown option "${argument}". `;
        const help = meant ? `Did you mean "${meant}"?` : "The options are window, ";
        assert.ok(error.message.startsWith(start + help), error.message);
        return true;
      },
    );
  });
}

test("a function in place of a value is refused with what the option accepts", { skip }, () => {
  assert.throws(
    () => make({ preset: () => "economy" }),
    /preset: expected one of balanced.* got "a function"/,
  );
  assert.throws(() => make({ trigger: () => 1 }), /trigger: expected a number, got "a function"/);
});
