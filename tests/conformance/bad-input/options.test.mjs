// @ts-check
/** Options, callbacks and handles that make no sense: refused by name, or harmless. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  api,
  ask,
  boom,
  checkStillWorks,
  checkTypedError,
  format,
  gave,
  good,
  noManager,
  shared,
  skip,
  use,
  window,
} from "../support/sound-history.mjs";

/** @type {Array<[string, any, RegExp]>} */
const options = [
  ["contextTokens NaN", { window: { contextTokens: Number.NaN } }, /contextTokens|window/],
  ["contextTokens Infinity", { window: { contextTokens: Infinity } }, /contextTokens|window/],
  ["contextTokens negative", { window: { contextTokens: -1 } }, /contextTokens|window/],
  ["contextTokens a text", { window: { contextTokens: "32000" } }, /contextTokens|window/],
  [
    "maxOutputTokens NaN",
    { window: { contextTokens: 1_000, maxOutputTokens: Number.NaN } },
    /maxOutputTokens|window/,
  ],
  [
    "maxOutputTokens negative",
    { window: { contextTokens: 1_000, maxOutputTokens: -5 } },
    /maxOutputTokens|window/,
  ],
  ["no contextTokens", { window: {} }, /contextTokens/],
  ["contextTokens undefined", { window: { contextTokens: undefined } }, /contextTokens/],
  ["no window", {}, /window/],
  ["a null window", { window: null }, /window/],
  ["trigger NaN", { window, trigger: Number.NaN }, /trigger/],
  ["trigger above one", { window, trigger: 2 }, /trigger/],
  ["target negative", { window, target: -0.5 }, /target/],
  ["retention Infinity", { window, retention: Infinity }, /retention/],
  ["retention out of range", { window, retention: 99 }, /retention/],
  ["protectTurns negative", { window, protectTurns: -1 }, /protectTurns/],
  ["protectTokens NaN", { window, protectTokens: Number.NaN }, /protectTokens/],
  ["ingestCap NaN", { window, ingestCap: Number.NaN }, /ingestCap/],
  ["keep another thing", { window, keep: "all" }, /keep/],
  ["theirs with ours: keep", { window, preset: "hermes", keep: "lines" }, /keep/],
  ["an unknown preset", { window, preset: "best" }, /preset/],
  ["an option of another preset", { window, preset: "balanced", stubChars: 100 }, /stubChars/],
  ["protectFirst a text", { window, protectFirst: "2" }, /protectFirst/],
  ["protectTools a text", { window, protectTools: "read" }, /protectTools/],
  ["protectTools of numbers", { window, protectTools: [1] }, /protectTools/],
  ["stubChars NaN", { window, preset: "aceclaw", stubChars: Number.NaN }, /stubChars/],
  ["an unknown turn", { window, preset: "aceclaw", turn: "agent" }, /turn/],
  ["an unknown strategy", { window, preset: "hermes", strategy: "forget" }, /strategy/],
  ["ours with theirs: strategy", { window, strategy: "discard" }, /strategy/],
  ["ours with theirs: turn", { window, retention: 1, turn: "user" }, /turn/],
  ["theirs with ours: retention", { window, preset: "aceclaw", retention: 1 }, /retention/],
  ["theirs with ours: ingestCap", { window, preset: "aiclaw", ingestCap: 0.1 }, /ingestCap/],
  ["theirs with ours: economy", { window, preset: "openclaw", economy: {} }, /economy/],
  [
    "a target over the trigger",
    { window, preset: "context-budget", trigger: 0.5, target: 0.6 },
    /target/,
  ],
  [
    "instructions that are too long",
    { window, summary: { instructions: "x".repeat(4_001) } },
    /^summary\.instructions$/,
  ],
  ["an unknown format", { window, format: "xml" }, /format/],
  ["a model that is no name", { window, model: { modelId: "x" } }, /^model$/],
  ["an unknown provider", { window, provider: "acme" }, /provider/],
  ["an unknown estimator", { window, estimator: "chars/3" }, /estimator/],
  [
    "economy with NaN",
    { window, economy: { cacheRead: Number.NaN, cacheWrite: 1, output: 5, cacheTtlMs: 1 } },
    /economy|cacheRead/,
  ],
];
for (const [name, wrong, argument] of options) {
  test(`a wrong option is refused by name: ${name}`, { skip: noManager() }, () => {
    assert.throws(
      () => new api.ContextManager({ format, ...wrong }),
      (error) => checkTypedError(error, ["INVALID_ARGUMENT"], { argument }),
    );
    checkStillWorks();
  });
}

/** What is called, and the place that the error names. @type {Array<[string, (it: any) => unknown, RegExp]>} */
const wrongValues = [
  ["plan, force a text", (it) => it.plan(good(), { force: "yes" }), /^parts\.force$/],
  ["plan, force null", (it) => it.plan(good(), { force: null }), /^parts\.force$/],
  ["compact, force a number", (it) => it.compact(good(), { force: 1 }), /^options\.force$/],
  ["compact, no plan", (it) => it.compact(good(), { plan: null }), /^plan$/],
  ["inspect, an unknown option", (it) => it.inspect({ detailkey: "system" }), /^detailkey$/],
  ["inspect, a key that is no text", (it) => it.inspect({ detailKey: 5 }), /^options\.detailKey$/],
  ["request, system a number", (it) => it.request(good(), { system: 5 }), /^system$/],
  ["prepare, system a flag", (it) => it.prepare(good(), { system: false }), /^system$/],
  ["request, system a function", (it) => it.request(good(), { system: () => "x" }), /^system$/],
  ["request, system a symbol", (it) => it.request(good(), { system: Symbol("x") }), /^system$/],
  ["request, system a big integer", (it) => it.request(good(), { system: 5n }), /^system$/],
  ["request, system without words", (it) => it.request(good(), { system: { a: 1 } }), /^system$/],
  ["request, system a list of numbers", (it) => it.request(good(), { system: [5] }), /^system$/],
  ["plan, tools a text", (it) => it.plan(good(), { tools: "read" }), /^tools$/],
  ["plan, tools a function", (it) => it.plan(good(), { tools: () => [] }), /^tools$/],
  [
    "request, a tool that is a number",
    (it) => it.request(good(), { tools: [{}, 5] }),
    /^tools\[1\]$/,
  ],
  ["request, a tool that is none", (it) => it.request(good(), { tools: [null] }), /^tools\[0\]$/],
  ["request, parts a promise", (it) => it.request(good(), Promise.resolve({})), /^parts$/],
  ["setModel, a promise", (it) => it.setModel(Promise.resolve({})), /^model$/],
  ["observe, a promise", (it) => it.observe(Promise.resolve({ input_tokens: 5 })), /^usage$/],
  ["pin, nothing", (it) => it.pin({}), /^what$/],
];
for (const [name, run, argument] of wrongValues) {
  test(`a wrong value of a method is refused by name: ${name}`, { skip: noManager() }, async () => {
    const manager = new api.ContextManager({ window, format });
    await assert.rejects(
      async () => run(manager),
      (error) => checkTypedError(error, ["INVALID_ARGUMENT"], { argument }),
    );
    assert.equal(manager.request(good()).messages.length, 3);
  });
}

/** @type {Array<[string, () => unknown, RegExp]>} */
const wrongArguments = [
  ["estimateRequest, a part", () => api.estimateRequest({ messages: [], sytem: "x" }), /^sytem$/],
  ["checkBudget, a part", () => api.checkBudget({ messages: [], tool: [] }, window), /^tool$/],
  ["validate, thinking", () => api.validate(good(), "openai", { thinking: "yes" }), /^thinking$/],
  ["repair, thinking", () => api.repair(good(), "openai", { thinking: 1 }), /^thinking$/],
  ["estimateRequest, a promise", () => api.estimateRequest(Promise.resolve({})), /^request$/],
];
for (const [name, run, argument] of wrongArguments) {
  test(`a wrong argument of a function is refused by name: ${name}`, () => {
    assert.throws(run, (error) => checkTypedError(error, ["INVALID_ARGUMENT"], { argument }));
  });
}

test("a system prompt is text, blocks, an instruction, a message or a plan", {
  skip: noManager(),
}, () => {
  const text = "You answer in one sentence.";
  const manager = new api.ContextManager({ window, format });
  const forms = [
    text,
    [{ type: "text", text }, { cachePoint: { type: "default" } }],
    [text],
    { parts: [{ text }] },
    { role: "system", content: text },
    { role: "system", content: [{ type: "text", text }] },
  ];
  const tokens = forms.map((system) => manager.request(good(), { system }).tokens);
  assert.equal(tokens[0], tokens[2]);
  assert.equal(tokens[0], tokens[3]);
  assert.equal(tokens[0], tokens[4]);
  assert.equal(tokens[0], tokens[5]);
  assert.doesNotThrow(() => manager.request(good(), { system: [] }));
});

test("a session with contextTokens 0 changes nothing", { skip: noManager() }, () => {
  const long = [ask, use({}), gave("x".repeat(400_000)), { role: "assistant", content: "ok" }, ask];
  const view = new api.ContextManager({ window: { contextTokens: 0 }, format }).request(long);
  assert.ok(
    view.messages.every(
      (/** @type {any} */ message, /** @type {number} */ at) => message === long[at],
    ),
  );
  assert.deepEqual([view.messages.length, view.edits.length, view.fits], [5, 0, true]);
});

test("a session with a huge window changes nothing", { skip: noManager() }, () => {
  for (const contextTokens of [2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, 1e300]) {
    const messages = good();
    let view;
    try {
      view = new api.ContextManager({ window: { contextTokens }, format }).request(messages);
    } catch (error) {
      checkTypedError(error, ["INVALID_ARGUMENT"], { argument: /contextTokens|window/ });
      continue;
    }
    assert.deepEqual([view.messages.length, view.edits.length, view.fits], [3, 0, true]);
  }
});

test("a reserve larger than the window is accepted or refused by name", {
  skip: noManager(),
}, () => {
  try {
    const view = new api.ContextManager({
      window: { contextTokens: 1_000, maxOutputTokens: 2_000 },
      format,
    }).request(good());
    assert.equal(typeof view.fits, "boolean");
  } catch (error) {
    checkTypedError(error, ["INVALID_ARGUMENT"], { argument: /maxOutputTokens|window/ });
  }
  checkStillWorks();
});

test("options are not read from a polluted prototype", { skip: noManager() }, () => {
  const prototype = /** @type {any} */ (Object.prototype);
  try {
    Object.assign(prototype, { preset: "hermes", trigger: 0, format: "xml" });
    const view = new api.ContextManager({ window, format, preset: "balanced" }).request(good());
    assert.equal(view.messages.length, 3);
  } finally {
    for (const key of ["preset", "trigger", "format"]) delete prototype[key];
  }
  checkStillWorks();
});

for (const [name, estimator] of /** @type {Array<[string, any]>} */ ([
  ["throws", boom],
  ["says NaN", () => Number.NaN],
  ["says a negative number", () => -1],
  ["says Infinity", () => Infinity],
  ["says a text", () => "7"],
])) {
  test(`an estimator that ${name} gives a number of tokens or a typed error`, { skip }, () => {
    try {
      const tokens = api.estimateTokens("some text", estimator);
      assert.ok(Number.isSafeInteger(tokens) && tokens >= 0, `${tokens}`);
    } catch (error) {
      if (/** @type {any} */ (error)?.message !== "boom")
        checkTypedError(error, ["INVALID_ARGUMENT"], { argument: /estimator/ });
    }
    checkStillWorks();
  });
}

for (const [name, clock] of /** @type {Array<[string, any]>} */ ([
  ["throws", boom],
  ["says NaN", () => Number.NaN],
  [
    "runs backwards",
    (() => {
      let now = 1e12;
      return () => {
        now -= 1e9;
        return now;
      };
    })(),
  ],
])) {
  test(`a clock that ${name} gives a request or a typed error`, { skip: noManager() }, () => {
    try {
      const own = new api.ContextManager({ window, format, clock });
      assert.equal(own.request(good()).messages.length, 3);
      assert.equal(
        own.request([...good(), { role: "assistant", content: "ok" }, ask]).messages.length,
        5,
      );
    } catch (error) {
      if (/** @type {any} */ (error)?.message !== "boom")
        checkTypedError(error, ["INVALID_ARGUMENT"], { argument: /clock/ });
    }
    checkStillWorks();
  });
}

test("a history whose format cannot be recognized is refused", { skip: noManager() }, () => {
  const own = new api.ContextManager({ window, format: "auto" });
  assert.throws(
    () => own.request([{ speaker: "a", speech: "b" }]),
    (error) => checkTypedError(error, ["UNKNOWN_FORMAT", "MALFORMED_MESSAGE"], { index: 0 }),
  );
  assert.equal(own.request(good()).messages.length, 3);
});

test("estimateTokens refuses a value that is not a string", { skip }, () => {
  for (const value of /** @type {any[]} */ ([undefined, null, 7, {}, 7n, Symbol("s")])) {
    assert.throws(
      () => api.estimateTokens(value),
      (error) => checkTypedError(error, ["INVALID_ARGUMENT"], { argument: /text/ }),
    );
  }
  for (const value of ["", "\0", "\ud83d", "\ude00\ud83d", "x".repeat(5_000_000)]) {
    assert.ok(Number.isSafeInteger(api.estimateTokens(value)));
  }
  checkStillWorks();
});

/** @param {string} method */
function without(method) {
  const there = typeof api?.ContextManager?.prototype[method] === "function";
  return there ? false : `ContextManager.${method} is not in the package`;
}

test("bytes that are not a snapshot are refused", {
  skip: noManager() || without("snapshot"),
}, () => {
  const snapshot = shared().snapshot();
  const bad = [
    new Uint8Array(),
    new Uint8Array([1, 2, 3]),
    snapshot.slice(0, snapshot.length - 1),
    snapshot.map((/** @type {number} */ byte, /** @type {number} */ at) =>
      at === snapshot.length >> 1 ? byte ^ 0xff : byte,
    ),
  ];
  for (const bytes of bad) {
    assert.throws(
      () => api.ContextManager.restore(bytes, { window, format }),
      (error) => checkTypedError(error, ["CORRUPT_STATE"]),
    );
  }
  assert.throws(
    () => api.ContextManager.restore("text", { window, format }),
    (error) => checkTypedError(error, ["CORRUPT_STATE", "INVALID_ARGUMENT"]),
  );
  checkStillWorks();
});

test("recall() returns null and unpin() false for unknown references", {
  skip: noManager() || without("recall"),
}, () => {
  const own = shared();
  own.request(good());
  assert.equal(own.recall("no such reference"), null);
  assert.equal(own.unpin("no such pin"), false);
});

test("positions outside the history are refused", { skip: noManager() }, () => {
  const own = shared();
  own.request(good());
  for (const index of [-1, 99, Number.NaN, 1.5]) {
    assert.throws(
      () => own.explain(index),
      (error) => checkTypedError(error, ["INVALID_ARGUMENT"], { argument: /index/ }),
    );
    if (without("pin")) continue;
    assert.throws(
      () => own.pin({ index }),
      (error) => checkTypedError(error, ["INVALID_ARGUMENT"], { argument: /index/ }),
    );
  }
  for (const usage of [
    null,
    undefined,
    {},
    { prompt_tokens: "many" },
    { input_tokens: Number.NaN },
    { input_tokens: -5 },
  ])
    if (!without("observe")) own.observe(usage);
  checkStillWorks();
});

const presets = "aceclaw, aiclaw, openclaw, goclaw, context-budget, hermes";
/** @type {Array<[string, () => unknown, string]>} */
const messages = [
  ["null for bytes", () => restore(null), "bytes: expected a Uint8Array, got null"],
  ["an array for bytes", () => restore([1]), "bytes: expected a Uint8Array, got an array"],
  ["an object for bytes", () => restore({}), "bytes: expected a Uint8Array, got an object"],
  ["a text for bytes", () => restore("a".repeat(99)), "bytes: expected a Uint8Array, got a string"],
  [
    "save without a store",
    () => make({}).save(),
    "save: expected a session from `ContextManager.open`, got one without a store",
  ],
  [
    "a Map of options",
    () => new api.ContextManager(new Map([["window", {}]])),
    "options: expected an object with a `window`, got a Map",
  ],
  [
    "a Set for window",
    () => make({ window: new Set() }),
    "window: expected { contextTokens }, got a Set",
  ],
  [
    "a Map for summary",
    () => make({ summary: new Map([["redact", true]]) }),
    "summary: expected an object of options, got a Map",
  ],
  [
    "an array for summary",
    () => make({ summary: [] }),
    "summary: expected an object of options, got an array",
  ],
  [
    "a Map of parts",
    () => make({}).request([], new Map([["system", "s"]])),
    "parts: expected an object of options, got a Map",
  ],
  [
    "a Map of tools",
    () => make({}).request([], { tools: new Map([["read", {}]]) }),
    "tools: expected an array or a record of definitions, got a Map",
  ],
  [
    "a Map of options of a function",
    () => api.validate([], "anthropic", new Map([["thinking", true]])),
    "options: expected an object of options, got a Map",
  ],
  ["margin", () => make({ margin: 4 }), "margin: expected a number from 1 to 3, got 4"],
  ["estimator", () => make({ estimator: 5 }), "estimator: expected a name or a function, got 5"],
  ["id", () => make({ id: 5 }), "id: expected a string, got 5"],
  [
    "strategy",
    () => make({ preset: "capacity", strategy: "discard" }),
    `strategy: expected one of the presets ${presets} beside it, got "discard"`,
  ],
  [
    "unseenTokens",
    () => make({}).request([ask], { unseenTokens: Number.NaN }),
    "unseenTokens: expected a finite number, got NaN",
  ],
  [
    "unseenTokens of checkBudget",
    () => api.checkBudget({ messages: [ask], unseenTokens: Number.NaN }, window, { format }),
    "unseenTokens: expected a finite number, got NaN",
  ],
  [
    "capOutput",
    () => api.capOutput(Number.NaN, 1, 1),
    "requested: expected a finite number, got NaN",
  ],
];
const make = (/** @type {any} */ more) => new api.ContextManager({ window, format, ...more });
const restore = (/** @type {any} */ bytes) => api.ContextManager.restore(bytes, { window, format });
for (const [name, run, message] of messages) {
  test(`an error says what was passed and what is allowed: ${name}`, {
    skip: noManager(),
  }, async () => {
    await assert.rejects(async () => run(), { code: "INVALID_ARGUMENT", message });
  });
}

test("a recall without a reference says that it is missing", { skip: noManager() }, async () => {
  for (const args of [{}, { ref: 5 }, null, "nonsense"]) {
    const text = await make({}).callAgentTool("context_recall", args);
    assert.equal(text, 'The argument "ref" is missing: a reference such as "r12".');
  }
  const text = await make({}).callAgentTool("context_recall", '{"ref":"r99"}');
  assert.equal(text, 'There is nothing under "r99".');
});
