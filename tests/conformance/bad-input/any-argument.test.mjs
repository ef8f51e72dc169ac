// @ts-check
/**
 * Values of every kind in the first two places of every public function and method: the call is answered, or refused with a
 * `PlimsollError`. An error of the engine would name a line of ours, and not the argument.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { loadPackage, packagePath } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const ADAPTERS = ["ai-sdk", "langchain", "openai-agents", "opencode", "pi"];
const entries = dirname(packagePath() ?? "");
const without = skip || (packagePath() ? false : "skipped: the package is not a folder");

const VALUES = [
  ...[undefined, null, true, 42, -1, Number.NaN, 10n, "x", Symbol("x")],
  ...[{}, [], [{}], { messages: 1 }, () => {}, new Date(0), new Uint8Array(3)],
  Object.assign(Object.create(null), { a: 10n }),
];
const WINDOW = { contextTokens: 20_000 };
/** Makes errors; it is no call of a host. */
const NOT_CALLED = ["PlimsollError"];

/** What calls threw that is no `PlimsollError`, by the call. @type {Set<string>} */
const untyped = new Set();
let calls = 0;

/** @param {string} name @param {() => any} call */
async function tried(name, call) {
  calls += 1;
  try {
    await call();
  } catch (/** @type {any} */ error) {
    if (!(error instanceof api.PlimsollError)) untyped.add(`${name}: ${error}`);
  }
}

/** @param {Record<string, unknown>} exported */
async function triedExports(exported) {
  for (const [name, it] of Object.entries(exported)) {
    if (typeof it !== "function" || NOT_CALLED.includes(name)) continue;
    const call = /** @type {any} */ (it);
    await triedWithAll(name, (...two) => (isClass(call) ? new call(...two) : call(...two)));
  }
}

/** @param {string} name @param {(first: unknown, second: unknown) => any} call */
async function triedWithAll(name, call) {
  for (const first of VALUES)
    for (const second of VALUES) await tried(name, () => call(first, second));
}

/** Public methods, also inherited ones. @param {any} of @param {readonly string[]} names */
const methods = (of, names) => names.filter((name) => typeof of[name] === "function");
const namesOf = (/** @type {any} */ made) => Object.getOwnPropertyNames(made.prototype).slice(1);
const isClass = (/** @type {Function} */ it) =>
  /^class\b/.test(Function.prototype.toString.call(it));

/** @param {number} [least] calls that were made */
function checkTyped(least = 1_000) {
  const [found, made] = [[...untyped], calls];
  untyped.clear();
  calls = 0;
  assert.deepEqual(found, []);
  assert.ok(made > least, `${made} calls`);
}

test("functions and constructors refuse what they cannot use by a PlimsollError", {
  skip,
}, async () => {
  await triedExports(api);
  const file = new URL("../../../examples/sessions/harbour-plan.anthropic.json", import.meta.url);
  const session = api.readSession(readFileSync(fileURLToPath(file)));
  for (const name of ["replay", "recordedView", "resumeMessages", "redactSession"])
    for (const second of VALUES) await tried(name, () => api[name](session, second));
  checkTyped();
});

test("adapters refuse what they cannot use by a PlimsollError", { skip: without }, async () => {
  for (const name of ADAPTERS)
    await triedExports(await import(pathToFileURL(`${entries}/entry/${name}.node.js`).href));
  checkTyped();
});

test("methods refuse what they cannot use by a PlimsollError", { skip }, async () => {
  const made = {
    ContextManager: () => {
      const context = new api.ContextManager({ window: WINDOW });
      context.request([{ role: "user", content: "hello" }]);
      return context;
    },
    CandidateStore: () => new api.CandidateStore({ sign: { key: new Uint8Array(32) } }),
    SessionReader: () => new api.SessionReader(),
  };
  for (const [name, make] of Object.entries(made)) {
    for (const method of methods(make(), namesOf(api[name])))
      await triedWithAll(`${name}.${method}`, (...two) => make()[method](...two));
  }
  checkTyped();
});

test("members of options and parts refuse what they cannot use by a PlimsollError", {
  skip,
}, async () => {
  const context = (/** @type {object} */ options = {}) =>
    new api.ContextManager({ window: WINDOW, ...options });
  const history = [{ role: "user", content: "hello" }];
  const options = [
    ...["window", "format", "provider", "preset", "estimator", "summarize", "clock", "key", "id"],
    ...["on", "keep", "thinking", "appendOnly", "isSummary", "unknown"],
  ];
  for (const value of VALUES) {
    for (const name of options) {
      await tried(`options.${name}`, () => context({ [name]: value }).request(history));
      await tried(`options.${name}`, () => context({ [name]: value }).prepare(history));
    }
    for (const name of ["system", "tools", "unseenTokens", "open", "signal", "unknown"])
      for (const method of ["request", "prepare", "plan", "compact", "recover"])
        await tried(`${method}, ${name}`, () => context()[method](history, { [name]: value }));
  }
  checkTyped(400);
  // As in `fetch`.
  assert.equal(context().request(history, { signal: null }).messages.length, 1);
});

test("methods of a replay and a recorded view refuse what they cannot use by a PlimsollError", {
  skip,
}, async () => {
  const file = new URL("../../../examples/sessions/harbour-plan.anthropic.json", import.meta.url);
  const session = api.readSession(readFileSync(fileURLToPath(file)));
  // The names of their types: the classes have more, which are not public.
  const shared = ["report", "messages", "table", "text", "find", "changes", "layers"];
  const own = {
    replay: [...shared, "explain", "sent", "events", "next", "advance"],
    recordedView: shared,
  };
  for (const [name, names] of Object.entries(own)) {
    const opened = api[name](session, { window: WINDOW });
    const found = methods(opened, names);
    assert.deepEqual(found, names, name);
    for (const method of found)
      await triedWithAll(`${name}.${method}`, (...two) => opened[method](...two));
  }
  checkTyped();
});
