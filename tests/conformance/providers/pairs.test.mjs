// @ts-check
/** Every pair of format and provider: a good history is taken, and each way to break it is refused with its rule. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { history, render } from "../generated/histories.mjs";
import { pairs, strictFor } from "./pairs.mjs";
import { lone } from "./strict/cases/shared.mjs";

/** @typedef {import("./convert/turns.mjs").Turn} Turn @typedef {import("./convert/turns.mjs").Part} Part */

const text = (/** @type {string} */ value) => /** @type {Part} */ ({ kind: "text", text: value });
const user = (/** @type {string} */ value) =>
  /** @type {Turn} */ ({ role: "user", parts: [text(value)], plain: true });
const message = (/** @type {string} */ value) =>
  /** @type {Turn} */ ({ role: "assistant", parts: [text(value)], plain: true });
const system = /** @type {Turn} */ ({ role: "system", parts: [text("be brief")] });
const call = (/** @type {string} */ id, more = {}) =>
  /** @type {Part} */ ({
    kind: "call",
    id,
    name: "read",
    input: { path: "a" },
    sig: "c2ln",
    ...more,
  });
const result = (/** @type {string} */ id, more = {}) =>
  /** @type {Part} */ ({ kind: "result", id, name: "read", text: "1", error: false, ...more });
const thought = /** @type {Part} */ ({ kind: "reasoning", text: "hm", sig: "c2ln", id: "rs_1" });
const calls = (/** @type {Part[]} */ ...parts) =>
  /** @type {Turn} */ ({ role: "assistant", parts: [thought, ...parts] });
const gives = (/** @type {Part[]} */ ...parts) => /** @type {Turn} */ ({ role: "tool", parts });

const [a, b, c] = ["call00001", "call00002", "call00003"];
const good = [
  user("go"),
  calls(call(a), call(b)),
  gives(result(a), result(b)),
  calls(call(c)),
  gives(result(c)),
  message("done"),
  user("and?"),
];

const sdks = ["ai-sdk", "langchain", "pi"];
const hasIds = ({ format = "", provider = "" }) => format !== "gemini" && provider !== "gemini";
const takesSystem = ({ format = "" }) => ["ai-sdk", "langchain"].includes(format);
const isMistral = ({ provider = "" }) => provider === "mistral";

/**
 * @typedef {{ name: string, rules: string[], turns: Turn[], where?: (pair: { format: string, provider: string }) => boolean }} Break
 * @type {Break[]}
 */
const breaks = [
  { name: "a result is missing", rules: ["I1", "I19"], turns: good.with(2, gives(result(a))) },
  { name: "all results are missing", rules: ["I1"], turns: good.toSpliced(2, 1) },
  { name: "results without their calls", rules: ["I2", "I19"], turns: good.toSpliced(3, 1) },
  {
    name: "a result of nothing",
    rules: ["I2", "I19"],
    turns: good.with(4, gives(result(c), result("call00009"))),
  },
  {
    name: "words between call and result",
    rules: ["I1", "I3"],
    turns: good.toSpliced(2, 0, user("summary"), message("ack")),
  },
  { name: "a blank text", rules: ["I6"], turns: good.with(0, user(" \n")) },
  { name: "half a character", rules: ["I26"], turns: good.with(0, user(lone)) },
  {
    name: "half a character in a result",
    rules: ["I26"],
    turns: good.with(4, gives(result(c, { text: lone }))),
  },
  { name: "the assistant speaks first", rules: ["I7"], turns: good.slice(5) },
  { name: "the assistant speaks last", rules: ["I8"], turns: good.slice(0, 6) },
  {
    name: "an id that is empty",
    rules: ["I5"],
    turns: good.with(3, calls(call(""))).with(4, gives(result(""))),
    where: hasIds,
  },
  {
    name: "an id twice",
    rules: ["I5"],
    turns: good.with(3, calls(call(a))).with(4, gives(result(a))),
    where: hasIds,
  },
  {
    name: "an id with a space",
    rules: ["I5"],
    turns: good.with(3, calls(call("a b"))).with(4, gives(result("a b"))),
    where: ({ format, provider }) =>
      (provider === "anthropic" || provider === "bedrock") && format !== "gemini",
  },
  {
    name: "an id of ten letters",
    rules: ["I5"],
    turns: good.with(3, calls(call("abcdefghij"))).with(4, gives(result("abcdefghij"))),
    where: isMistral,
  },
  {
    name: "arguments that are cut",
    rules: ["I30"],
    turns: good.with(3, calls(call(c, { raw: "{cut" }))),
    where: ({ format }) => format !== "langchain",
  },
  {
    name: "an empty result",
    rules: ["I6"],
    turns: good.with(4, gives(result(c, { text: "" }))),
    where: ({ provider }) => provider === "kimi",
  },
  {
    name: "an error without a word",
    rules: ["I6"],
    turns: good.with(4, gives(result(c, { text: "", error: true }))),
    where: ({ format, provider }) => provider === "bedrock" && sdks.includes(format),
  },
  {
    name: "the user speaks twice",
    rules: ["I9"],
    turns: [user("and"), ...good],
    where: ({ format, provider }) =>
      isMistral({ provider }) || (format === "anthropic" && provider === "bedrock"),
  },
  {
    name: "the user speaks after a result",
    rules: ["I9"],
    turns: good.toSpliced(5, 1),
    where: ({ format, provider }) => isMistral({ provider }) && format !== "pi",
  },
  {
    name: "instructions in the middle",
    rules: ["I31"],
    turns: good.toSpliced(5, 0, system),
    where: ({ format, provider }) =>
      (takesSystem({ format }) && ["anthropic", "gemini", "mistral"].includes(provider)) ||
      (format === "ai-sdk" && provider === "bedrock") ||
      (format === "openai-chat" && isMistral({ provider })),
  },
  {
    name: "reasoning without what it led to",
    rules: ["I14"],
    turns: good.with(5, { role: "assistant", parts: [thought] }),
    where: ({ provider }) => provider === "openai-responses",
  },
  {
    name: "a call after words of the model's",
    rules: ["I18"],
    turns: good.toSpliced(3, 0, message("wait")),
    where: ({ provider }) => provider === "gemini",
  },
  {
    name: "a call that is not signed",
    rules: ["I20"],
    turns: [...good.slice(0, 3), calls(call(c, { sig: null })), good[4]].filter(
      (turn) => turn !== undefined,
    ),
    where: ({ provider }) => provider === "gemini",
  },
];

for (const { format, provider, why } of pairs) {
  const written = (/** @type {Turn[]} */ turns) =>
    render({ turns, clean: true, signed: true, way: 0, window: 0 }, format, provider);
  const strict = strictFor(format, provider);

  test(`the strict reader accepts a conversation in ${format} for ${provider}: ${why}`, () => {
    assert.deepEqual(strict(written(good), { signed: true }), [], "the good one is taken");
    for (const { name, rules, turns, where } of breaks) {
      if (where && !where({ format, provider })) continue;
      const found = strict(written(turns), { signed: true });
      assert.ok(
        found.some((one) => rules.includes(one.rule)),
        `${name}: ${rules} is found: ${JSON.stringify(found)}`,
      );
    }
  });
}

test("a clean history is accepted in every pair and way of writing", () => {
  const ways = new Set();
  for (let seed = 1; seed <= 300; seed += 1) {
    const own = history(seed);
    if (!own.clean) continue;
    ways.add(own.way);
    for (const { format, provider } of pairs) {
      const found = strictFor(format, provider)(render(own, format, provider), {
        signed: own.signed,
      });
      assert.deepEqual(found, [], `seed ${seed}, ${format} x ${provider}`);
    }
  }
  assert.equal(ways.size, 4);
});
