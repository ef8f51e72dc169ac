// @ts-check
/** OpenAI Chat Completions: a case for each rule. */
import { ask, assistant, user } from "./anthropic.mjs";
import { emoji, lone, shapes, text } from "./shared.mjs";

/** @typedef {import("./shared.mjs").Case} Case */

export const system = { role: "system", content: "be" };
export const called = (/** @type {any} */ id, args = '{"path":"a"}') => ({
  id,
  type: "function",
  function: { name: "read", arguments: args },
});
export const calling = (/** @type {any[]} */ ...calls) => ({
  role: "assistant",
  content: null,
  tool_calls: calls,
});
export const result = (/** @type {any} */ id, content = /** @type {any} */ ("1")) => ({
  role: "tool",
  tool_call_id: id,
  content,
});

/** @type {Case[]} */
export const openAiChat = [
  // An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.
  {
    rule: "I1",
    name: "every call is answered",
    good: [ask, calling(called("a"), called("b")), result("b"), result("a")],
    bad: [ask, calling(called("a"), called("b")), result("a")],
    index: 1,
    path: "/tool_calls/1/id",
  },
  {
    rule: "I1",
    name: "answered before anything else",
    good: [ask, calling(called("a")), result("a"), ask],
    bad: [ask, calling(called("a")), ask],
    index: 1,
  },
  {
    rule: "I1",
    name: "answered once",
    good: [ask, calling(called("a")), result("a")],
    bad: [ask, calling(called("a")), result("a"), result("a")],
    index: 3,
  },
  // Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.
  {
    rule: "I2",
    name: "no result without its call",
    good: [ask, calling(called("a")), result("a")],
    bad: [ask, result("a")],
    index: 1,
  },
  {
    rule: "I2",
    name: "nor after another turn",
    good: [ask, calling(called("a")), result("a")],
    bad: [ask, calling(called("a")), result("a"), ask, result("a")],
    index: 4,
  },
  {
    rule: "I3",
    name: "nothing between call and result",
    good: [ask, calling(called("a")), result("a"), user("summary")],
    bad: [ask, calling(called("a")), user("summary"), result("a")],
    index: 1,
  },
  {
    rule: "I5",
    name: "ids are not empty",
    good: [ask, calling(called("a")), result("a")],
    bad: [ask, calling(called("")), result("")],
  },
  {
    rule: "I5",
    name: "ids are trimmed",
    good: [ask, calling(called("a")), result("a")],
    bad: [ask, calling(called(" a")), result(" a")],
  },
  // Invalid 'messages[1].tool_calls[0].id': string too long.
  {
    rule: "I5",
    name: "length of ids",
    good: [ask, calling(called("x".repeat(64))), result("x".repeat(64))],
    bad: [ask, calling(called("x".repeat(65))), result("x".repeat(65))],
  },
  {
    rule: "I5",
    name: "a result names its call",
    good: [ask, calling(called("a")), result("a")],
    bad: [ask, calling(called("a")), { role: "tool", content: "1" }],
    index: 2,
  },
  {
    rule: "I5",
    name: "ids are unique on the wire",
    good: [ask, calling(called("a")), result("a"), calling(called("b")), result("b")],
    bad: [ask, calling(called("a")), result("a"), calling(called("a")), result("a")],
    index: 3,
  },
  { rule: "I6", name: "no empty user text", good: [ask], bad: [user("")] },
  { rule: "I6", name: "no blank part", good: [user([text("x")])], bad: [user([text(" ")])] },
  { rule: "I6", name: "no empty list", good: [user([text("x")])], bad: [user([])] },
  // Assistant message must have either content or tool_calls, but not none.
  {
    rule: "I6",
    name: "an assistant says something",
    good: [ask, { ...calling(called("a")), content: "" }, result("a")],
    bad: [ask, { role: "assistant", content: null }, ask],
    index: 1,
  },
  {
    rule: "I6",
    name: "no empty result where it is refused",
    good: [ask, calling(called("a")), result("a", "")],
    bad: [ask, calling(called("a")), result("a", "")],
    goodRules: {},
    rules: { emptyResults: false },
  },
  {
    rule: "I7",
    name: "first after the system is the user",
    good: [system, ask],
    bad: [system, assistant("hi"), ask],
    index: 1,
  },
  { rule: "I7", name: "system alone is no request", good: [system, ask], bad: [system] },
  // Expected last role to be one of: [tool, user] but got assistant
  {
    rule: "I8",
    name: "last is the user or a result",
    good: [ask, calling(called("a")), result("a")],
    bad: [ask, assistant("hi")],
    index: 1,
  },
  { rule: "I8", name: "not an empty request", good: [ask], bad: [] },
  // Unexpected role 'user' after role 'tool'
  {
    rule: "I9",
    name: "user after tool",
    good: [ask, calling(called("a")), result("a"), ask],
    bad: [ask, calling(called("a")), result("a"), ask],
    goodRules: {},
    rules: { alternate: true },
    index: 3,
  },
  {
    rule: "I9",
    name: "user after user",
    good: [ask, assistant("x"), ask],
    bad: [ask, ask],
    rules: { alternate: true },
    index: 1,
  },
  { rule: "I26", name: "well-formed text", good: [user(emoji)], bad: [user(lone)] },
  {
    rule: "I26",
    name: "well-formed results",
    good: [ask, calling(called("a")), result("a", emoji)],
    bad: [ask, calling(called("a")), result("a", [text(lone)])],
    index: 2,
    path: "/content/0/text",
  },
  {
    rule: "I6",
    name: "a custom call is a call",
    good: [
      ask,
      calling({ id: "a", type: "custom", custom: { name: "f", input: "" } }),
      result("a"),
    ],
    bad: [ask, { role: "assistant" }, ask],
  },
  {
    rule: "I30",
    name: "arguments are whole JSON",
    good: [ask, calling(called("a", "{}")), result("a")],
    bad: [ask, calling(called("a", '{"path":"a')), result("a")],
    path: "/tool_calls/0/function/arguments",
  },
  {
    rule: "I30",
    name: "arguments are an object",
    good: [ask, calling(called("a", "{}")), result("a")],
    bad: [ask, calling(called("a", '"x"')), result("a")],
  },
  {
    rule: "I30",
    name: "arguments are text",
    good: [ask, calling(called("a", "{}")), result("a")],
    bad: [ask, calling(called("a", /** @type {any} */ ({}))), result("a")],
  },
  ...shapes(
    [system, ask],
    [
      ["a null message", [ask, null]],
      ["a role unknown", [{ role: "human", content: "x" }]],
      ["tool_calls of a user", [{ ...ask, tool_calls: [called("a")] }]],
      ["no calls in tool_calls", [ask, { role: "assistant", content: "x", tool_calls: [] }, ask]],
      ["tool_calls no list", [ask, { role: "assistant", content: "x", tool_calls: {} }, ask]],
      ["a null call", [ask, calling(null), ask]],
      ["a call without its function", [ask, calling({ id: "a", type: "function" }), result("a")]],
      [
        "a call without a type",
        [ask, calling({ id: "a", function: { name: "f", arguments: "{}" } }), result("a")],
      ],
      [
        "a custom call without input",
        [ask, calling({ id: "a", type: "custom", custom: { name: "f" } }), result("a")],
      ],
      [
        "a call without a name",
        [ask, calling({ id: "a", type: "function", function: { arguments: "{}" } }), result("a")],
      ],
      [
        "a result without content",
        [ask, calling(called("a")), { role: "tool", tool_call_id: "a", content: null }],
      ],
      ["a user without content", [{ role: "user", content: null }]],
      ["an Anthropic block", [user([{ type: "tool_result", tool_use_id: "a", content: "x" }])]],
      ["text without text", [user([{ type: "text" }])]],
      [
        "an image as a result",
        [ask, calling(called("a")), result("a", [{ type: "image_url", image_url: { url: "x" } }])],
      ],
      ["undefined in a list", [user([text("x"), undefined])]],
    ],
  ),
  {
    rule: "shape",
    name: "a plain message has no other fields",
    good: [{ ...ask, at: 1 }],
    bad: [{ ...ask, at: 1 }],
    goodRules: {},
    rules: { plain: true },
  },
];

/** A transcript that is accepted, to be broken. @type {any[]} */
export const valid = [
  system,
  user("first ask"),
  { ...calling(called("a"), called("b")), content: "I look" },
  result("a"),
  result("b", [text("two")]),
  calling(called("c")),
  result("c", ""),
  assistant("done"),
  user([text("next"), { type: "image_url", image_url: { url: "data:image/png;base64,AA" } }]),
];
