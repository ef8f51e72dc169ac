// @ts-check
/**
 * Twice the messages, calls or results, twice the work: a first request and a validation of histories of every format, for every provider it
 * is sent to. Histories that are in order, and those that a repair has most to do with: nothing has its counterpart, everything nearly has.
 */
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { render } from "../generated/histories.mjs";
import { pairs } from "../providers/pairs.mjs";
import { checkDoublings } from "../support/doubling.mjs";
import { loadPackage } from "../support/package.mjs";

/** @typedef {import("../providers/convert/turns.mjs").Turn} Turn */
/** @typedef {import("../providers/convert/turns.mjs").Part} Part */

const { api, why } = await loadPackage();
if (!api) console.log(why);

/** @param {string} text @returns {Turn} */
const user = (text) => ({ role: "user", parts: [{ kind: "text", text }], plain: true });
/** @param {Part[]} parts @returns {Turn} */
const model = (...parts) => ({ role: "assistant", parts });
/** @param {Part[]} parts @returns {Turn} */
const tool = (...parts) => ({ role: "tool", parts });
/** @param {string} id @returns {Part} */
const call = (id) => ({ kind: "call", id, name: "read", input: { path: `src/${id}.rs` } });
/** @param {string} id @returns {Part} */
const result = (id) => ({ kind: "result", id, name: "read", text: `text of ${id}`, error: false });
/** @param {string} text @returns {Part} */
const text = (text) => ({ kind: "text", text });
/** @param {number} at @returns {Part} */
const thought = (at) => ({
  kind: "reasoning",
  text: `thought ${at}`,
  sig: `c2ln${at}`,
  id: `rs_${at}`,
});
/** Nine letters and digits: legal everywhere. @param {number} at */
const idOf = (at) => `c${String(at).padStart(8, "0")}`;
/** @template T @param {number} count @param {(at: number) => T} make */
const many = (count, make) => Array.from({ length: count }, (_, at) => make(at));

/** @type {Record<string, (count: number) => Turn[]>} */
const HISTORIES = {
  "a talk": (count) => many(count, (at) => (at % 2 ? model(text(`m${at}`)) : user(`m${at}`))),
  "calls and results in turn": (count) => [
    user("go"),
    ...many(count, (at) => [model(call(idOf(at))), tool(result(idOf(at)))]).flat(),
  ],
  "calls with reasoning": (count) => [
    user("go"),
    ...many(count, (at) => [model(thought(at), call(idOf(at))), tool(result(idOf(at)))]).flat(),
  ],
  "calls in one message, with results": (count) => [
    user("go"),
    model(...many(count, (at) => call(idOf(at)))),
    tool(...many(count, (at) => result(idOf(at)))),
  ],
  "calls in one message, results in the opposite order": (count) => [
    user("go"),
    model(...many(count, (at) => call(idOf(at)))),
    tool(...many(count, (at) => result(idOf(count - 1 - at)))),
  ],
  "calls in one message, without results": (count) => [
    user("go"),
    model(...many(count, (at) => call(idOf(at)))),
  ],
  "calls in one message, each result after a word of the user": (count) => [
    user("go"),
    model(...many(count, (at) => call(idOf(at)))),
    ...many(count, (at) => [user(`wait ${at}`), tool(result(idOf(at)))]).flat(),
  ],
  "calls without results, each in a turn of its own": (count) => [
    user("go"),
    ...many(count, (at) => [model(call(idOf(at))), user(`no ${at}`)]).flat(),
  ],
  "results without calls in one message": (count) => [
    user("go"),
    tool(...many(count, (at) => result(idOf(at)))),
  ],
  "results without calls, each in a message of its own": (count) => [
    user("go"),
    ...many(count, (at) => [tool(result(idOf(at))), model(text(`m${at}`))]).flat(),
  ],
  "results whose ids nearly match": (count) => [
    user("go"),
    model(...many(count, (at) => call(idOf(at)))),
    tool(...many(count, (at) => result(`${idOf(at)}x`))),
  ],
  "one id for all calls": (count) => [
    user("go"),
    ...many(count, () => [model(call("same")), tool(result("same"))]).flat(),
  ],
  "one id for all calls of a message": (count) => [
    user("go"),
    model(...many(count, () => call("same"))),
    tool(...many(count, () => result("same"))),
  ],
  "results that come twice": (count) => [
    user("go"),
    ...many(count, (at) => [
      model(call(idOf(at))),
      tool(result(idOf(at)), result(idOf(at))),
    ]).flat(),
  ],
  "ids that no provider takes": (count) => [
    user("go"),
    ...many(count, (at) => [model(call(`call ${at}|é`)), tool(result(`call ${at}|é`))]).flat(),
  ],
  "messages of the user in a row": (count) => many(count, (at) => user(`message ${at}`)),
  "messages of the model in a row": (count) => [
    user("go"),
    ...many(count, (at) => model(text(`message ${at}`))),
  ],
  "texts in one message": (count) => [
    { role: "user", parts: many(count, (at) => text(`part ${at}`)) },
  ],
  "empty messages": (count) => [
    user("go"),
    ...many(count, (at) => (at % 2 ? model(text("")) : user(""))),
  ],
  "halves of characters": (count) =>
    many(count, (at) =>
      (at % 2 ? model : user)(/** @type {any} */ (at % 2 ? text("\ud83d") : "\ud83d")),
    ),
};

/** Histories whose repair still costs more than its share: one id stands for hundreds of calls, which no model writes. */
const OVER_THE_BOUND = ["one id for all calls", "one id for all calls of a message"];
/** Calls of LangChain's messages that are also in their content, which Anthropic's adapter puts there. */
const INLINE = [
  "calls in one message, with results",
  "calls in one message, results in the opposite order",
  "calls in one message, without results",
  "calls in one message, each result after a word of the user",
  "results whose ids nearly match",
];
/** @param {string} name @param {string} format @param {string} provider */
const isOverTheBound = (name, format, provider) =>
  OVER_THE_BOUND.includes(name) ||
  (format === "langchain" && provider === "anthropic" && INLINE.includes(name));

/** Formats whose messages differ most, each for one provider; every pair in a longer run. */
const FEW = ["anthropic", "openai-responses"];
const chosen = sized({
  short: pairs.filter(
    ({ format }, at) =>
      FEW.includes(format) && pairs.findIndex((pair) => pair.format === format) === at,
  ),
  ci: pairs,
  long: pairs,
});

for (const { format, provider } of chosen) {
  test(`a history twice as long takes at most twice the steps: ${format} for ${provider}`, {
    skip: !api && why,
  }, async () => {
    /** @param {(count: number) => Turn[]} turnsOf @param {number} count @returns {any[]} */
    const messages = (turnsOf, count) => {
      const history = { turns: turnsOf(count), clean: false, signed: true, way: 0, window: 0 };
      return render(history, format, provider);
    };
    const options = { format, provider, window: { contextTokens: 2_000_000 } };
    const rows = Object.entries(HISTORIES).flatMap(([history, turnsOf]) => {
      const name = `${history}, ${format} for ${provider}`;
      if (isOverTheBound(history, format, provider)) {
        console.log(`skipped: ${name}: its repair is over the bound, as is known`);
        return [];
      }
      const ready = (/** @type {number} */ count) => {
        const made = messages(turnsOf, count);
        return () => new api.ContextManager(options).request(made);
      };
      const valid = (/** @type {number} */ count) => {
        const made = messages(turnsOf, count);
        return () => api.validate(made, provider, { format });
      };
      return [
        { name: `request, ${name}`, size: 200, ready },
        { name: `validation, ${name}`, size: 200, ready: valid },
      ];
    });
    await checkDoublings(rows);
  });
}
