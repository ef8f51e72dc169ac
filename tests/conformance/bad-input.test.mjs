// @ts-check
/**
 * Whatever comes in: a typed error that names the place, a receipt entry, or a value that is documented. And after each
 * the same manager, and the module, go on working.
 *
 *     PLIMSOLL=path/to/dist/index.js node --test tests/conformance/bad-input.test.mjs
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "./package.mjs";
import { strictAnthropic } from "./strict.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;
const window = { contextTokens: 32_000, maxOutputTokens: 2_000 };
const format = "anthropic";

const ask = { role: "user", content: "go" };
const use = (/** @type {any} */ input, id = "a") => ({ role: "assistant", content: [{ type: "tool_use", id, name: "read", input }] });
const gave = (/** @type {any} */ content, id = "a") => ({ role: "user", content: [{ type: "tool_result", tool_use_id: id, content }] });
const good = () => [{ ...ask }, use({ path: "a" }), gave("1")];
/** @param {any} message @returns {any[]} */
const second = (message) => [{ ...ask }, message, gave("1")];

/** The ways in for a history; a name that the package does not have is left out, and said. @type {Record<string, (messages: any) => any>} */
const ways = {
  request: (messages) => shared().request(messages),
  prepare: (messages) => shared().prepare(messages),
  plan: (messages) => shared().plan(messages),
  compact: (messages) => shared().compact(messages),
  validate: (messages) => api.validate(messages, "anthropic", { format }),
  repair: (messages) => api.repair(messages, "anthropic", { format }),
  limitTurns: (messages) => api.limitTurns(messages, 1, { format }),
  estimateRequest: (messages) => api.estimateRequest({ messages }, { format }),
  checkBudget: (messages) => api.checkBudget({ messages }, window, { format }),
  pruneForRequest: (messages) => api.pruneForRequest(messages, { window, format }),
  planCompaction: (messages) => api.planCompaction(messages, { window, format }),
  compactOnce: (messages) => api.compact(messages, { window, format }),
};
/** @type {Record<string, string>} */
const functionOf = { request: "ContextManager", prepare: "ContextManager", plan: "ContextManager", compact: "ContextManager", compactOnce: "compact" };
const here = Object.keys(ways).filter((way) => typeof api?.[functionOf[way] ?? way] === "function");
const absent = Object.keys(ways).filter((way) => !here.includes(way));
if (api && absent.length > 0) console.log(`not in the package: ${absent.join(", ")}`);

/** One manager for the whole file: it must outlive all that is done to it. @type {any} */
let manager = null;
function shared() {
  manager ??= new api.ContextManager({ window, format, clock: () => 1_700_000_000_000 });
  return manager;
}

/** @param {number} depth */
function nested(depth) {
  /** @type {any} */
  let value = {};
  for (let level = 0; level < depth; level += 1) value = { a: value };
  return value;
}

function cyclic() {
  /** @type {any} */
  const own = { a: {} };
  own.a.b = own;
  return own;
}

const boom = () => {
  throw new Error("boom");
};
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
/** Says one thing once and another ever after. */
const fickle = () => {
  let reads = 0;
  return Object.defineProperty({}, "path", { enumerable: true, get: () => `read ${(reads += 1)}` });
};

/** @typedef {"refused" | "works" | "either"} Outcome */
/** name, the messages, what may happen, the index to be named. @type {Array<[string, () => any, Outcome, number?]>} */
const histories = [
  ["a lone high surrogate", () => second(use({ t: "cut \ud83d" })), "works"],
  ["a lone low surrogate in a key", () => second(use({ "\ude00": 1 })), "works"],
  ["NUL and other control characters", () => second(use({ t: "\0\u0001\u001f\u007f" })), "works"],
  ["bidi, BOM and zero width", () => second(use({ t: "\u202e\ufeff\u200b\u2066" })), "works"],
  ["nesting of 100", () => second(use(nested(100))), "either", 1],
  ["nesting of 128", () => second(use(nested(128))), "either", 1],
  ["nesting of 5,000", () => second(use(nested(5_000))), "either", 1],
  ["nesting of 100,000", () => second(use(nested(100_000))), "refused", 1],
  ["a cycle", () => second(use(cyclic())), "refused", 1],
  ["a message that holds itself", () => { const own = /** @type {any} */ (use({})); own.content.push(own); return second(own); }, "refused", 1],
  ["a big integer", () => second(use({ n: 12345678901234567890n })), "either", 1],
  ["bytes in a block", () => [ask, use({}), gave([{ type: "text", text: "x" }, { type: "image", source: { type: "base64", media_type: "image/png", data: new Uint8Array([1, 2, 3]) } }])], "works"],
  ["an ArrayBuffer in the arguments", () => second(use({ bytes: new ArrayBuffer(8), view: new DataView(new ArrayBuffer(4)) })), "works"],
  ["a getter that throws", () => second(use(Object.defineProperty({}, "path", { enumerable: true, get: boom }))), "refused", 1],
  ["a getter that throws for the role", () => second(Object.defineProperty({ content: "x" }, "role", { enumerable: true, get: boom })), "refused", 1],
  ["a getter that changes its mind", () => second(use(fickle())), "works"],
  ["a getter that calls us back", () => second(use(Object.defineProperty({}, "path", { enumerable: true, get: () => { try { return String(ways[here[0] ?? ""]?.(good())); } catch { return "no"; } } }))), "either", 1],
  ["toJSON that throws", () => second(use({ toJSON: boom })), "refused", 1],
  ["toJSON of a message that throws", () => second({ ...use({}), toJSON: boom }), "refused", 1],
  ["toJSON of a message that gives nothing", () => second({ ...use({}), toJSON: () => undefined }), "refused", 1],
  ["a date", () => second(use({ at: new Date(0) })), "works"],
  ["an invalid date", () => second(use({ at: new Date(Number.NaN) })), "works"],
  ["a transparent proxy", () => second(new Proxy(use({}), {})), "works"],
  ["a proxy that throws", () => second(use(new Proxy({}, { ownKeys: boom, get: boom }))), "refused", 1],
  ["a revoked proxy", () => second(revoked()), "refused", 1],
  ["NaN, Infinity, -0 and undefined inside", () => second(use({ a: Number.NaN, b: Infinity, c: -0, d: undefined })), "works"],
  ["a function and a symbol inside", () => second(use({ f: () => 1, s: Symbol("s") })), "works"],
  ["a map and a set inside", () => second(use({ m: new Map([[1, 2]]), s: new Set([1]) })), "works"],
  ["a hole among the messages", () => Object.assign(new Array(3), { 0: ask, 2: ask }), "refused", 1],
  ["a hole in a content list", () => [ask, use({}), { role: "user", content: Object.assign(new Array(2), gave("1").content) }], "either", 2],
  ["an undefined message", () => [ask, undefined, ask], "refused", 1],
  ["a null message", () => [ask, null, ask], "refused", 1],
  ["a number as message", () => [ask, 7, ask], "refused", 1],
  ["a text as message", () => [ask, "hello", ask], "refused", 1],
  ["a list as message", () => [ask, [ask], ask], "refused", 1],
  ["a message without a role", () => [ask, { content: "x" }, ask], "refused", 1],
  ["a role that is no text", () => [ask, { role: 1, content: "x" }, ask], "refused", 1],
  ["content that is a number", () => [ask, { role: "assistant", content: 7 }, ask], "either", 1],
  ["a null block", () => [ask, { role: "assistant", content: [null] }, ask], "either", 1],
  ["keys of the prototype", () => second(use(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}'))), "works"],
  ["ids named like the prototype's", () => [ask, use({}, "__proto__"), gave("1", "__proto__"), use({}, "constructor"), gave("1", "constructor")], "works"],
  ["a message without a prototype", () => second(Object.assign(Object.create(null), use({}))), "works"],
  ["a frozen history", () => Object.freeze(good().map((message) => Object.freeze(message))), "works"],
  ["no messages at all", () => [], "either"],
];

for (const [name, make, outcome, index] of histories) {
  test(`history: ${name}`, { skip }, async (t) => {
    for (const way of here) {
      await t.test(way, async () => {
        const messages = make();
        const result = await attempt(() => ways[way]?.(messages));
        assert.ok(outcome !== "works" || result.error === null, `it works: ${describe(result.error)}`);
        assert.ok(outcome !== "refused" || result.error !== null, "it is refused");
        if (result.error !== null) {
          const codes = index === undefined ? ["MALFORMED_MESSAGE", "INVALID_ARGUMENT"] : ["MALFORMED_MESSAGE", "TOO_LARGE"];
          typed(result.error, codes, { index });
        }
        else if (way === "request" && outcome === "works") {
          assert.deepEqual(strictAnthropic(result.value.messages).filter((one) => one.rule === "I26"), []);
        }
        stillWorks();
      });
    }
    assert.equal(/** @type {any} */ ({}).polluted, undefined);
  });
}

/** @type {Array<[string, any]>} */
const noLists = [["undefined", undefined], ["null", null], ["an object", {}], ["a text", "[]"], ["a number", 3], ["a set", new Set()]];
for (const [name, messages] of noLists) {
  test(`messages: ${name}`, { skip }, async () => {
    for (const way of here) {
      const { error } = await attempt(() => ways[way]?.(messages));
      assert.ok(error !== null, `${way} refuses it`);
      typed(error, ["INVALID_ARGUMENT"], { argument: /messages/ });
    }
    stillWorks();
  });
}

// ------------------------------------------------------------------------------------------------- options

/** @type {Array<[string, any, RegExp]>} */
const options = [
  ["contextTokens NaN", { window: { contextTokens: Number.NaN } }, /contextTokens|window/],
  ["contextTokens Infinity", { window: { contextTokens: Infinity } }, /contextTokens|window/],
  ["contextTokens negative", { window: { contextTokens: -1 } }, /contextTokens|window/],
  ["contextTokens a text", { window: { contextTokens: "32000" } }, /contextTokens|window/],
  ["maxOutputTokens NaN", { window: { contextTokens: 1_000, maxOutputTokens: Number.NaN } }, /maxOutputTokens|window/],
  ["maxOutputTokens negative", { window: { contextTokens: 1_000, maxOutputTokens: -5 } }, /maxOutputTokens|window/],
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
  ["an unknown preset", { window, preset: "best" }, /preset/],
  ["an option of another preset", { window, preset: "balanced", stubChars: 100 }, /stubChars/],
  ["an unknown format", { window, format: "xml" }, /format/],
  ["an unknown provider", { window, provider: "acme" }, /provider/],
  ["an unknown estimator", { window, estimator: "chars/3" }, /estimator/],
  ["economy with NaN", { window, economy: { cacheRead: Number.NaN, cacheWrite: 1, output: 5, cacheTtlMs: 1 } }, /economy|cacheRead/],
];
for (const [name, given, argument] of options) {
  test(`option: ${name}`, { skip: skip || noManager() }, () => {
    assert.throws(() => new api.ContextManager({ format, ...given }), (error) => typed(error, ["INVALID_ARGUMENT"], { argument }));
    stillWorks();
  });
}

test("option: contextTokens 0 takes no decision", { skip: skip || noManager() }, () => {
  const long = [ask, use({}), gave("x".repeat(400_000)), { role: "assistant", content: "ok" }, ask];
  const view = new api.ContextManager({ window: { contextTokens: 0 }, format }).request(long);
  assert.ok(view.messages.every((/** @type {any} */ message, /** @type {number} */ at) => message === long[at]));
  assert.deepEqual([view.messages.length, view.edits.length, view.fits], [5, 0, true]);
});

test("option: a huge window changes nothing", { skip: skip || noManager() }, () => {
  for (const contextTokens of [2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER, 1e300]) {
    const messages = good();
    let view;
    try {
      view = new api.ContextManager({ window: { contextTokens }, format }).request(messages);
    } catch (error) {
      typed(error, ["INVALID_ARGUMENT"], { argument: /contextTokens|window/ });
      continue;
    }
    assert.deepEqual([view.messages.length, view.edits.length, view.fits], [3, 0, true]);
  }
});

test("option: a reserve larger than the window", { skip: skip || noManager() }, () => {
  try {
    const view = new api.ContextManager({ window: { contextTokens: 1_000, maxOutputTokens: 2_000 }, format }).request(good());
    assert.equal(typeof view.fits, "boolean");
  } catch (error) {
    typed(error, ["INVALID_ARGUMENT"], { argument: /maxOutputTokens|window/ });
  }
  stillWorks();
});

test("option: a polluted prototype is not an option", { skip: skip || noManager() }, () => {
  const prototype = /** @type {any} */ (Object.prototype);
  try {
    Object.assign(prototype, { preset: "hermes", trigger: 0, format: "xml" });
    const view = new api.ContextManager({ window, format, preset: "balanced" }).request(good());
    assert.equal(view.messages.length, 3);
  } finally {
    for (const key of ["preset", "trigger", "format"]) delete prototype[key];
  }
  stillWorks();
});

for (const [name, estimator] of /** @type {Array<[string, any]>} */ ([
  ["throws", boom], ["says NaN", () => Number.NaN], ["says a negative number", () => -1], ["says Infinity", () => Infinity], ["says a text", () => "7"],
])) {
  test(`an estimator that ${name}`, { skip }, () => {
    try {
      const tokens = api.estimateTokens("some text", estimator);
      assert.ok(Number.isSafeInteger(tokens) && tokens >= 0, `${tokens}`);
    } catch (error) {
      if (/** @type {any} */ (error)?.message !== "boom") typed(error, ["INVALID_ARGUMENT"], { argument: /estimator/ });
    }
    stillWorks();
  });
}

for (const [name, clock] of /** @type {Array<[string, any]>} */ ([
  ["throws", boom], ["says NaN", () => Number.NaN], ["runs backwards", (() => { let now = 1e12; return () => (now -= 1e9); })()],
])) {
  test(`a clock that ${name}`, { skip: skip || noManager() }, () => {
    try {
      const own = new api.ContextManager({ window, format, clock });
      assert.equal(own.request(good()).messages.length, 3);
      assert.equal(own.request([...good(), { role: "assistant", content: "ok" }, ask]).messages.length, 5);
    } catch (error) {
      if (/** @type {any} */ (error)?.message !== "boom") typed(error, ["INVALID_ARGUMENT"], { argument: /clock/ });
    }
    stillWorks();
  });
}

test("a format that nothing tells", { skip: skip || noManager() }, () => {
  const own = new api.ContextManager({ window, format: "auto" });
  assert.throws(() => own.request([{ speaker: "a", says: "b" }]), (error) => typed(error, ["UNKNOWN_FORMAT", "MALFORMED_MESSAGE"], { index: 0 }));
  assert.equal(own.request(good()).messages.length, 3);
});

test("estimateTokens of what is no text", { skip }, () => {
  for (const value of /** @type {any[]} */ ([undefined, null, 7, {}, 7n, Symbol("s")])) {
    assert.throws(() => api.estimateTokens(value), (error) => typed(error, ["INVALID_ARGUMENT"], { argument: /text/ }));
  }
  for (const value of ["", "\0", "\ud83d", "\ude00\ud83d", "x".repeat(5_000_000)]) {
    assert.ok(Number.isSafeInteger(api.estimateTokens(value)));
  }
  stillWorks();
});

test("snapshots that are none", { skip: skip || noManager() }, () => {
  const snapshot = shared().snapshot();
  const bad = [new Uint8Array(), new Uint8Array([1, 2, 3]), snapshot.slice(0, snapshot.length - 1), snapshot.map((/** @type {number} */ byte, /** @type {number} */ at) => (at === snapshot.length >> 1 ? byte ^ 0xff : byte))];
  for (const bytes of bad) {
    assert.throws(() => api.ContextManager.restore(bytes, { window, format }), (error) => typed(error, ["CORRUPT_STATE"]));
  }
  assert.throws(() => api.ContextManager.restore("text", { window, format }), (error) => typed(error, ["CORRUPT_STATE", "INVALID_ARGUMENT"]));
  stillWorks();
});

test("pins, references and positions that are nowhere", { skip: skip || noManager() }, () => {
  const own = shared();
  own.request(good());
  assert.equal(own.recall("no such reference"), null);
  assert.equal(own.unpin("no such pin"), false);
  for (const index of [-1, 99, Number.NaN, 1.5]) {
    assert.throws(() => own.explain(index), (error) => typed(error, ["INVALID_ARGUMENT"], { argument: /index/ }));
    assert.throws(() => own.pin({ index }), (error) => typed(error, ["INVALID_ARGUMENT"], { argument: /index/ }));
  }
  for (const usage of [null, undefined, {}, { prompt_tokens: "many" }, { input_tokens: Number.NaN }, { input_tokens: -5 }]) own.observe(usage);
  stillWorks();
});

// ------------------------------------------------------------------------------------------- session files

const line = (/** @type {string} */ text, /** @type {string} */ role = "user") =>
  JSON.stringify({ type: role, uuid: text.slice(0, 8), parentUuid: null, timestamp: "2026-01-01T00:00:00Z", message: { role, content: role === "user" ? text : [{ type: "text", text }] } });
const utf8 = new TextEncoder();
const noReader = api && typeof api.readSession !== "function" ? "readSession is not in the package" : false;

test("session: a broken line in the middle", { skip: skip || noReader }, () => {
  const session = api.readSession(`${line("first")}\n{"type":"user","mess\n${line("second", "assistant")}\n`);
  assert.equal(session.receipt.broken.length, 1);
  assert.equal(session.receipt.broken[0].line, 2);
  assert.ok(session.receipt.broken[0].reason.length > 0);
  assert.equal(session.receipt.read, 2);
});

test("session: bytes that are no UTF-8", { skip: skip || noReader }, () => {
  const bytes = utf8.encode(`${line("first")}\n${line("bad ?? here")}\n${line("third")}\n`);
  for (let at = 0; at < bytes.length - 1; at += 1) {
    if (bytes[at] === 0x3f && bytes[at + 1] === 0x3f) bytes.set([0xff, 0xc0], at);
  }
  const session = api.readSession(bytes);
  assert.ok(session.messages.length >= 2, "the other lines are read");
  const told = session.receipt.broken.some((/** @type {any} */ one) => one.line === 2);
  assert.ok(told || JSON.stringify(session.messages).includes("\ufffd"), "the receipt or a replacement character says so");
});

test("session: an unknown format", { skip: skip || noReader }, () => {
  for (const bytes of ['{"hello":"world"}\n{"hello":"again"}\n', "just text\nand more\n", "[1,2,3]", "42", new Uint8Array([0, 1, 2, 3, 255])]) {
    assert.throws(() => api.readSession(bytes), (error) => typed(error, ["UNKNOWN_FORMAT"]));
  }
});

test("session: nothing at all", { skip: skip || noReader }, async () => {
  for (const bytes of ["", "\n\n", new Uint8Array()]) {
    const { error, value } = await attempt(() => api.readSession(bytes));
    if (error) typed(error, ["UNKNOWN_FORMAT"]);
    else assert.deepEqual(value.messages, []);
  }
  for (const bytes of /** @type {any[]} */ ([undefined, null, 7, {}])) {
    assert.throws(() => api.readSession(bytes), (error) => typed(error, ["INVALID_ARGUMENT"]));
  }
});

test("session: a line of 50 MB", { skip: skip || noReader }, async () => {
  const text = `${line("first")}\n${line("x".repeat(50_000_000))}\n${line("last", "assistant")}\n`;
  const { error, value } = await attempt(() => api.readSession(utf8.encode(text)));
  if (error) typed(error, ["TOO_LARGE"]);
  else {
    const told = value.receipt.broken.some((/** @type {any} */ one) => one.line === 2);
    assert.equal(value.messages.length, told ? 2 : 3);
  }
  assert.equal(api.readSession(`${line("first")}\n`).messages.length, 1);
});

test("session: a line nested 100,000 deep", { skip: skip || noReader }, () => {
  const deep = `{"type":"user","message":{"role":"user","content":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`;
  const session = api.readSession(`${line("first")}\n${deep}\n${line("last", "assistant")}\n`);
  assert.equal(session.receipt.broken[0]?.line, 2);
  assert.equal(session.messages.length, 2);
});

// ------------------------------------------------------------------------------------------------- helpers

function noManager() {
  return api && typeof api.ContextManager !== "function" ? "ContextManager is not in the package" : false;
}

/** @param {() => any} run @returns {Promise<{ value: any, error: any }>} */
async function attempt(run) {
  try {
    return { value: await run(), error: null };
  } catch (error) {
    return { value: null, error: error ?? new Error("nothing was thrown") };
  }
}

/** @param {any} error */
const describe = (error) => (error === null ? "" : `${error.name} ${error.code ?? ""} ${error.message} ${JSON.stringify(error.info ?? null)}`);

/**
 * The error is ours, its code is one of `codes`, and it says where.
 * @param {any} error
 * @param {readonly string[]} codes
 * @param {{ index?: number | undefined, argument?: RegExp }} [place]
 * @returns {true}
 */
function typed(error, codes, { index, argument } = {}) {
  assert.ok(error instanceof api.PlimsollError, `a PlimsollError: ${describe(error)}`);
  const { info, code, message } = /** @type {any} */ (error);
  assert.ok(codes.includes(code), `${code} is one of ${codes}: ${describe(error)}`);
  assert.equal(info.code, code);
  assert.ok(typeof message === "string" && message.length > 0, "it has a message");
  const isText = (/** @type {unknown} */ value) => typeof value === "string" && value.length > 0;
  switch (code) {
    case "MALFORMED_MESSAGE":
      assert.ok(Number.isInteger(info.index), `the index is named: ${describe(error)}`);
      if (index !== undefined) assert.equal(info.index, index);
      assert.equal(typeof info.path, "string");
      assert.ok(isText(info.expected), "what is allowed is named");
      break;
    case "INVALID_ARGUMENT":
      if (argument) assert.match(info.argument, argument);
      assert.ok(isText(info.argument) && isText(info.expected) && isText(info.got), describe(error));
      break;
    case "TOO_LARGE":
      assert.ok(isText(info.what) && info.size > info.cap, describe(error));
      break;
    case "UNKNOWN_FORMAT":
      assert.equal(typeof info.saw, "string");
      break;
    default:
      assert.ok(isText(info.reason), describe(error));
  }
  return true;
}

/** The module and the manager that was ill-treated answer a sound question. */
function stillWorks() {
  assert.ok(api.estimateTokens("still here") > 0);
  if (noManager()) return;
  const messages = good();
  const view = shared().request(messages);
  assert.deepEqual([view.messages.length, view.fits], [3, true]);
  assert.ok(view.messages.every((/** @type {any} */ message, /** @type {number} */ at) => message === messages[at]));
}
