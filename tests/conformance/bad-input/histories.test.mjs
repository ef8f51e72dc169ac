// @ts-check
/**
 * Whatever comes in: a typed error that names the place, a receipt entry, or a value that is documented. And after each
 * the same manager, and the module, go on working.
 *
 *     PLIMSOLL=path/to/dist/index.node.js node --test tests/conformance/bad-input/histories.test.mjs
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { strictAnthropic } from "../providers/strict.mjs";
import {
  api,
  ask,
  attempt,
  boom,
  checkStillWorks,
  checkTypedError,
  describe,
  format,
  gave,
  good,
  shared,
  skip,
  use,
  window,
} from "../support/sound-history.mjs";

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
  compactOnce: (messages) => api.compact(messages, { window, format }),
};
/** Ways that are methods of a manager; the others are functions of the package. */
const methods = ["request", "prepare", "plan", "compact"];
const isThere = (/** @type {string} */ way) =>
  typeof (methods.includes(way)
    ? api?.ContextManager?.prototype[way]
    : api?.[way === "compactOnce" ? "compact" : way]) === "function";
const here = Object.keys(ways).filter(isThere);
const absent = Object.keys(ways).filter((way) => !here.includes(way));
const nowhere = here.length === 0 ? "skipped: nothing in the package takes a history" : false;
if (api && absent.length > 0) console.log(`not in the package: ${absent.join(", ")}`);

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

const revoked = () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};
/** Says one thing once and another ever after. */
const fickle = () => {
  let reads = 0;
  return Object.defineProperty({}, "path", {
    enumerable: true,
    get: () => {
      reads += 1;
      return `read ${reads}`;
    },
  });
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
  [
    "a message that holds itself",
    () => {
      const own = /** @type {any} */ (use({}));
      own.content.push(own);
      return second(own);
    },
    "refused",
    1,
  ],
  ["a big integer", () => second(use({ n: 12345678901234567890n })), "either", 1],
  [
    "bytes in a block",
    () => [
      ask,
      use({}),
      gave([
        { type: "text", text: "x" },
        {
          type: "image",
          source: { type: "base64", media_type: "image/png", data: new Uint8Array([1, 2, 3]) },
        },
      ]),
    ],
    "works",
  ],
  [
    "an ArrayBuffer in the arguments",
    () => second(use({ bytes: new ArrayBuffer(8), view: new DataView(new ArrayBuffer(4)) })),
    "works",
  ],
  [
    "a getter that throws",
    () => second(use(Object.defineProperty({}, "path", { enumerable: true, get: boom }))),
    "refused",
    1,
  ],
  [
    "a getter that throws for the role",
    () => second(Object.defineProperty({ content: "x" }, "role", { enumerable: true, get: boom })),
    "refused",
    1,
  ],
  ["a getter that changes its mind", () => second(use(fickle())), "works"],
  [
    "a getter that calls us back",
    () =>
      second(
        use(
          Object.defineProperty({}, "path", {
            enumerable: true,
            get: () => {
              try {
                return String(ways[here[0] ?? ""]?.(good()));
              } catch {
                return "no";
              }
            },
          }),
        ),
      ),
    "either",
    1,
  ],
  ["toJSON that throws", () => second(use({ toJSON: boom })), "refused", 1],
  ["toJSON of a message that throws", () => second({ ...use({}), toJSON: boom }), "refused", 1],
  [
    "toJSON of a message that gives nothing",
    () => second({ ...use({}), toJSON: () => undefined }),
    "refused",
    1,
  ],
  ["a date", () => second(use({ at: new Date(0) })), "works"],
  ["an invalid date", () => second(use({ at: new Date(Number.NaN) })), "works"],
  ["a transparent proxy", () => second(new Proxy(use({}), {})), "works"],
  [
    "a proxy that throws",
    () => second(use(new Proxy({}, { ownKeys: boom, get: boom }))),
    "refused",
    1,
  ],
  ["a revoked proxy", () => second(revoked()), "refused", 1],
  [
    "NaN, Infinity, -0 and undefined inside",
    () => second(use({ a: Number.NaN, b: Infinity, c: -0, d: undefined })),
    "works",
  ],
  ["a function and a symbol inside", () => second(use({ f: () => 1, s: Symbol("s") })), "works"],
  ["a map and a set inside", () => second(use({ m: new Map([[1, 2]]), s: new Set([1]) })), "works"],
  [
    "a hole among the messages",
    () => Object.assign(new Array(3), { 0: ask, 2: ask }),
    "refused",
    1,
  ],
  [
    "a hole in a content list",
    () => [ask, use({}), { role: "user", content: Object.assign(new Array(2), gave("1").content) }],
    "either",
    2,
  ],
  ["an undefined message", () => [ask, undefined, ask], "refused", 1],
  ["a null message", () => [ask, null, ask], "refused", 1],
  ["a number as message", () => [ask, 7, ask], "refused", 1],
  ["a text as message", () => [ask, "hello", ask], "refused", 1],
  ["a list as message", () => [ask, [ask], ask], "refused", 1],
  ["a message without a role", () => [ask, { content: "x" }, ask], "refused", 1],
  ["a role that is no text", () => [ask, { role: 1, content: "x" }, ask], "refused", 1],
  ["content that is a number", () => [ask, { role: "assistant", content: 7 }, ask], "either", 1],
  ["a null block", () => [ask, { role: "assistant", content: [null] }, ask], "either", 1],
  [
    "keys of the prototype",
    () =>
      second(
        use(
          JSON.parse(
            '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"toString":1}',
          ),
        ),
      ),
    "works",
  ],
  [
    "ids named like the prototype's",
    () => [
      ask,
      use({}, "__proto__"),
      gave("1", "__proto__"),
      use({}, "constructor"),
      gave("1", "constructor"),
    ],
    "works",
  ],
  [
    "a message without a prototype",
    () => second(Object.assign(Object.create(null), use({}))),
    "works",
  ],
  [
    "a frozen history",
    () => Object.freeze(good().map((message) => Object.freeze(message))),
    "works",
  ],
  ["no messages at all", () => [], "either"],
];

for (const [name, make, outcome, index] of histories) {
  test(`a bad history is read or refused with its index: ${name}`, {
    skip: skip || nowhere,
  }, async (t) => {
    for (const way of here) {
      await t.test(way, async () => {
        const messages = make();
        const result = await attempt(() => ways[way]?.(messages));
        assert.ok(
          outcome !== "works" || result.error === null,
          `it works: ${describe(result.error)}`,
        );
        assert.ok(outcome !== "refused" || result.error !== null, "it is refused");
        if (result.error !== null) {
          const codes =
            index === undefined
              ? ["MALFORMED_MESSAGE", "INVALID_ARGUMENT"]
              : ["MALFORMED_MESSAGE", "TOO_LARGE"];
          checkTypedError(result.error, codes, { index });
        } else if (way === "request" && outcome === "works") {
          assert.deepEqual(
            strictAnthropic(result.value.messages).filter((one) => one.rule === "I26"),
            [],
          );
        }
        checkStillWorks();
      });
    }
    assert.equal(/** @type {any} */ ({}).polluted, undefined);
  });
}

/** @type {Array<[string, any]>} */
const noLists = [
  ["undefined", undefined],
  ["null", null],
  ["an object", {}],
  ["a text", "[]"],
  ["a number", 3],
  ["a set", new Set()],
];
for (const [name, messages] of noLists) {
  test(`messages that are not an array are refused: ${name}`, {
    skip: skip || nowhere,
  }, async () => {
    for (const way of here) {
      const { error } = await attempt(() => ways[way]?.(messages));
      assert.ok(error !== null, `${way} refuses it`);
      checkTypedError(error, ["INVALID_ARGUMENT"], { argument: /messages/ });
    }
    checkStillWorks();
  });
}

test("a malformed message is named by its place in the history that was passed", { skip }, () => {
  const user = (/** @type {any} */ content) => ({ role: "user", content });
  const reply = (/** @type {any} */ content) => ({ role: "assistant", content });
  const known = Array.from({ length: 12 }, (_, at) =>
    at % 2 === 0 ? user(`question ${at}`) : reply(`answer ${at}`),
  );
  const bad = reply(17);
  for (const [name, history, index] of /** @type {Array<[string, any[], number]>} */ ([
    ["another history", [user("other"), bad], 1],
    ["a later part", [...known.slice(6), user("more"), bad], 7],
    ["a copy of a later part", [...structuredClone(known.slice(6)), bad], 6],
    ["an end that is another", [...known.slice(0, 11), bad], 11],
  ])) {
    const context = new api.ContextManager({
      window: { contextTokens: 10_000 },
      format: "anthropic",
    });
    context.request(known);
    assert.throws(
      () => context.request(history),
      (/** @type {any} */ error) => {
        checkTypedError(error, ["MALFORMED_MESSAGE"], { index });
        assert.match(error.message, new RegExp(`^message ${index}\\b`), name);
        return true;
      },
      name,
    );
  }
});
