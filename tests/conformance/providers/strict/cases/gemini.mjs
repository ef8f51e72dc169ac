// @ts-check
/** Gemini: a case for each rule, with the words of the provider where they are known. */
import { emoji, lone, shapes } from "./shared.mjs";

/** @typedef {import("./shared.mjs").Case} Case */

export const user = (/** @type {any[]} */ ...parts) => ({ role: "user", parts });
export const model = (/** @type {any[]} */ ...parts) => ({ role: "model", parts });
export const text = (/** @type {string} */ value) => ({ text: value });
export const call = (name = "read", more = {}) => ({ functionCall: { name, args: {} }, ...more });
export const response = (name = "read", more = {}) => ({
  functionResponse: { name, response: { output: "1" }, ...more },
});
const ask = user(text("go"));
const loop = [ask, model(call()), user(response())];
const signed = { thoughtSignature: "c2ln" };

/** @type {Case[]} */
export const gemini = [
  {
    rule: "I1",
    name: "a call turn has its response turn",
    good: loop,
    bad: [ask, model(call()), ask],
    index: 1,
  },
  // Please ensure that function response turn comes immediately after a function call turn.
  {
    rule: "I2",
    name: "no response without its call",
    good: loop,
    bad: [ask, user(response())],
    index: 1,
  },
  {
    rule: "I2",
    name: "nor behind another turn",
    good: loop,
    bad: [...loop, model(text("ok")), user(response())],
    index: 4,
  },
  {
    rule: "I5",
    name: "ids that are given are each given once",
    good: [
      ask,
      model({ functionCall: { id: "a", name: "read", args: {} } }),
      user(response("read", { id: "a" })),
      model({ functionCall: { id: "b", name: "read", args: {} } }),
      user(response("read", { id: "b" })),
    ],
    bad: [
      ask,
      model({ functionCall: { id: "a", name: "read", args: {} } }),
      user(response("read", { id: "a" })),
      model({ functionCall: { id: "a", name: "read", args: {} } }),
      user(response("read", { id: "a" })),
    ],
    index: 3,
  },
  {
    rule: "I5",
    name: "ids that are given are the same on both sides",
    good: [
      ask,
      model({ functionCall: { id: "a", name: "read", args: {} } }),
      user(response("read", { id: "a" })),
    ],
    bad: [
      ask,
      model({ functionCall: { id: "a", name: "read", args: {} } }),
      user(response("read", { id: "b" })),
    ],
    index: 1,
  },
  { rule: "I6", name: "parts are not empty", good: [ask], bad: [user()], path: "/parts" },
  { rule: "I6", name: "texts are not blank", good: [ask], bad: [user(text(" "))] },
  { rule: "I7", name: "the user speaks first", good: loop, bad: loop.slice(1), index: 0 },
  {
    rule: "I8",
    name: "the model does not speak last",
    good: loop,
    bad: [...loop, model(text("ok"))],
    index: 3,
  },
  { rule: "I8", name: "not an empty request", good: [ask], bad: [] },
  // Please ensure that function call turn comes immediately after a user turn or after a function response turn.
  {
    rule: "I18",
    name: "a call turn follows the user or a response",
    good: [ask, model(text("a"), call()), user(response())],
    bad: [ask, model(text("a")), model(call()), user(response())],
    index: 2,
  },
  // Please ensure that the number of function response parts is equal to the number of function call parts …
  {
    rule: "I19",
    name: "as many responses as calls",
    good: [ask, model(call(), call()), user(response(), response())],
    bad: [ask, model(call(), call()), user(response())],
    index: 1,
  },
  {
    rule: "I19",
    name: "of the same functions",
    good: [ask, model(call("a"), call("b")), user(response("b"), response("a"))],
    bad: [ask, model(call("a"), call("b")), user(response("a"), response("a"))],
    index: 1,
  },
  {
    rule: "I19",
    name: "in one turn",
    good: [ask, model(call(), call()), user(response(), response())],
    bad: [ask, model(call(), call()), user(response()), user(response())],
  },
  // Function call is missing a thought_signature in functionCall parts.
  {
    rule: "I20",
    name: "the first call of a step is signed",
    rules: { signed: true },
    good: [ask, model(call("read", signed), call()), user(response(), response())],
    bad: [ask, model(call(), call("read", signed)), user(response(), response())],
    index: 1,
  },
  {
    rule: "I20",
    name: "of the current turn",
    rules: { signed: true },
    good: [...loop, model(text("ok")), ask, model(call("read", signed)), user(response())],
    bad: [ask, model(call("read", signed)), user(response()), model(call()), user(response())],
    index: 3,
  },
  { rule: "I26", name: "whole characters", good: [user(text(emoji))], bad: [user(text(lone))] },
  {
    rule: "I30",
    name: "args are an object",
    good: loop,
    bad: [ask, model({ functionCall: { name: "read", args: "{cut" } }), user(response())],
    index: 1,
  },
  {
    rule: "I31",
    name: "instructions stand beside",
    good: [ask],
    bad: [{ role: "system", parts: [text("be")] }, ask],
    index: 0,
  },
  ...shapes(loop, [
    ["an unknown role", [{ role: "assistant", parts: [text("a")] }]],
    ["no parts", [{ role: "user", content: "a" }]],
    ["a part that says nothing", [user({})]],
    ["a part that says two things", [user({ text: "a", inlineData: { data: "", mimeType: "" } })]],
    ["a call of the user's", [user(call())]],
    [
      "a response that is a text",
      [ask, model(call()), user({ functionResponse: { name: "read", response: "1" } })],
    ],
  ]),
];

/** A session in which everything occurs. */
export const valid = [
  ask,
  model({ text: "hm", thought: true }, text("let me see"), call("read", signed), call("grep")),
  user(response("read"), response("grep")),
  model(call("read", signed)),
  user(response("read"), text("and hurry")),
  model(text("done")),
  user(text("thanks, and now?"), { inlineData: { mimeType: "image/png", data: "aaaa" } }),
];
