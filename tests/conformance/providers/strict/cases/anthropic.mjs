// @ts-check
/** Anthropic Messages: a case for each rule, with the words of the provider where they are known. */
import { cyclic, emoji, lone, mark, shapes, text } from "./shared.mjs";

/** @typedef {import("./shared.mjs").Case} Case */

export const user = (/** @type {any} */ content) => ({ role: "user", content });
export const assistant = (/** @type {any} */ content) => ({ role: "assistant", content });
export const use = (/** @type {any} */ id, more = {}) => ({
  type: "tool_use",
  id,
  name: "read",
  input: { path: "a" },
  ...more,
});
export const answer = (/** @type {any} */ id, more = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content: "1",
  ...more,
});
export const think = (more = {}) => ({
  type: "thinking",
  thinking: "so",
  signature: "c2ln",
  ...more,
});
export const ask = user("go");
export const loop = (/** @type {any[]} */ calls, /** @type {any[]} */ results) => [
  ask,
  assistant(calls),
  user(results),
];

const run = { type: "server_tool_use", id: "s", name: "bash_code_execution", input: {} };

/** @type {Case[]} */
export const anthropic = [
  // messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b.
  {
    rule: "I1",
    name: "every call is answered",
    good: loop([use("a"), use("b")], [answer("b"), answer("a")]),
    bad: loop([use("a"), use("b")], [answer("a")]),
    index: 1,
  },
  {
    rule: "I1",
    name: "a call is answered once",
    good: loop([use("a")], [answer("a")]),
    bad: loop([use("a")], [answer("a"), answer("a")]),
    index: 2,
    path: "/content/1",
  },
  {
    rule: "I1",
    name: "a call in the last message is open",
    good: [ask],
    bad: [ask, assistant([use("a")])],
  },
  {
    rule: "I1",
    name: "the provider's own call waits as long as the client's tools are called for it",
    good: [...loop([run, use("a")], [answer("a")]), assistant([use("b")]), user([answer("b")])],
    bad: [...loop([run, use("a")], [answer("a")]), assistant([text("x")])],
    index: 1,
    path: "/content/0",
  },
  // messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a.
  {
    rule: "I2",
    name: "no result without its call",
    good: loop([use("a")], [answer("a")]),
    bad: [user([answer("a")])],
    index: 0,
  },
  {
    rule: "I2",
    name: "the call is in the previous turn",
    good: loop([use("a")], [answer("a")]),
    bad: [...loop([use("a")], [answer("a")]), assistant("ok"), user([answer("a")])],
    index: 4,
  },
  {
    rule: "I3",
    name: "results stand directly after the call",
    good: [...loop([use("a")], [answer("a")]), user("and?")],
    bad: [ask, assistant([use("a")]), user("summary"), assistant("ok"), user([answer("a")])],
    index: 1,
  },
  {
    rule: "I3",
    name: "results stand before text",
    good: loop([use("a")], [answer("a"), text("now")]),
    bad: loop([use("a")], [text("now"), answer("a")]),
    index: 2,
  },
  {
    rule: "I3",
    name: "also over a merged run",
    good: [ask, assistant([use("a"), use("b")]), user([answer("a")]), user([answer("b")])],
    bad: [ask, assistant([use("a")]), user("wait"), user([answer("a")])],
  },
  // String should match pattern '^[a-zA-Z0-9_-]+$'
  {
    rule: "I5",
    name: "charset of ids",
    good: loop([use("toolu_01-A")], [answer("toolu_01-A")]),
    bad: loop([use("functions.Bash:0")], [answer("functions.Bash:0")]),
    index: 1,
    path: "/content/0/id",
  },
  {
    rule: "I5",
    name: "ids are not empty",
    good: loop([use("a")], [answer("a")]),
    bad: loop([use("")], [answer("")]),
  },
  {
    rule: "I5",
    name: "ids are trimmed",
    good: loop([use("a")], [answer("a")]),
    bad: loop([use("a ")], [answer("a ")]),
  },
  {
    rule: "I5",
    name: "length of ids",
    good: loop([use("x".repeat(64))], [answer("x".repeat(64))]),
    bad: loop([use("x".repeat(65))], [answer("x".repeat(65))]),
  },
  {
    rule: "I5",
    name: "a result names its call",
    good: loop([use("a")], [answer("a")]),
    bad: loop([use("a")], [{ type: "tool_result", content: "1" }]),
    path: "/content/0/tool_use_id",
  },
  // messages: `tool_use` ids must be unique
  {
    rule: "I5",
    name: "ids are unique on the wire",
    good: [...loop([use("a")], [answer("a")]), assistant([use("b")]), user([answer("b")])],
    bad: [...loop([use("a")], [answer("a")]), assistant([use("a")]), user([answer("a")])],
    index: 3,
  },
  // messages: text content blocks must contain non-whitespace text
  {
    rule: "I6",
    name: "no blank text",
    good: [user([text("go")])],
    bad: [user([text(" \n")])],
    path: "/content/0/text",
  },
  { rule: "I6", name: "no empty string", good: [ask], bad: [user("")] },
  {
    rule: "I6",
    name: "no empty list",
    good: [ask],
    bad: [ask, assistant([]), user("and?")],
    index: 1,
  },
  {
    rule: "I6",
    name: "no blank text in a result",
    good: loop([use("a")], [answer("a", { content: [text("1")] })]),
    bad: loop([use("a")], [answer("a", { content: [text("")] })]),
    path: "/content/0/content/0/text",
  },
  {
    rule: "I6",
    name: "no empty result where it is refused",
    good: loop([use("a")], [answer("a", { content: "" })]),
    bad: loop([use("a")], [answer("a", { content: "" })]),
    goodRules: {},
    rules: { emptyResults: false },
  },
  // messages: first message must use the "user" role
  {
    rule: "I7",
    name: "first is the user",
    good: [ask, assistant("hi"), ask],
    bad: [assistant("hi"), ask],
    index: 0,
  },
  // This model does not support assistant message prefill.
  {
    rule: "I8",
    name: "last is the user",
    good: [ask, assistant("hi"), ask],
    bad: [ask, assistant("hi")],
    index: 1,
  },
  { rule: "I8", name: "not an empty request", good: [ask], bad: [] },
  // messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row
  {
    rule: "I9",
    name: "runs where they are not merged",
    good: [ask, user("and?")],
    bad: [ask, user("and?")],
    goodRules: {},
    rules: { alternate: true },
    index: 1,
  },
  // a final `assistant` message must start with a thinking block
  {
    rule: "I11",
    name: "thinking starts an open loop",
    good: loop([think(), use("a")], [answer("a")]),
    bad: loop([use("a")], [answer("a")]),
    rules: { thinking: true },
    index: 1,
  },
  {
    rule: "I11",
    name: "the loop may have begun with it",
    good: [...loop([think(), use("a")], [answer("a")]), assistant([use("b")]), user([answer("b")])],
    bad: [...loop([use("a")], [answer("a")]), assistant([use("b")]), user([answer("b")])],
    rules: { thinking: true },
  },
  {
    rule: "I11",
    name: "not needed once the loop is closed",
    good: [...loop([use("a")], [answer("a")]), assistant("ok"), ask],
    bad: [
      ...loop([think(), use("a")], [answer("a")]),
      assistant("ok"),
      ask,
      assistant([use("b")]),
      user([answer("b")]),
    ],
    rules: { thinking: true },
    index: 5,
  },
  {
    rule: "I11",
    name: "no thinking in a prefill when it is off",
    good: [ask, assistant([think(), text("x")]), ask],
    bad: [ask, assistant([think(), text("x")])],
    rules: { thinking: false },
  },
  // A maximum of 4 blocks with cache_control may be provided. Found 5.
  {
    rule: "I13",
    name: "four cache markers",
    good: [user([1, 2, 3, 4].map((n) => text(`${n}`, mark)))],
    bad: [user([1, 2, 3, 4, 5].map((n) => text(`${n}`, mark)))],
  },
  {
    rule: "I13",
    name: "counted with system and tools",
    good: [user([text("1", mark)])],
    bad: [user([text("1", mark), text("2", mark), text("3", mark)])],
    rules: { system: [text("s", mark)], tools: [{ name: "t", ...mark }] },
  },
  {
    rule: "I13",
    name: "counted inside results",
    good: loop([use("a")], [answer("a", { content: [text("1", mark)] })]),
    bad: loop(
      [use("a")],
      [answer("a", { content: [1, 2, 3, 4, 5].map((n) => text(`${n}`, mark)) })],
    ),
  },
  {
    rule: "I13",
    name: "none on thinking",
    good: [ask, assistant([think(), text("x", mark)]), ask],
    bad: [ask, assistant([think(mark), text("x")]), ask],
  },
  {
    rule: "I13",
    name: "none on empty text",
    good: [user([text("x", mark)])],
    bad: [user([text("", mark)])],
  },
  // no low surrogate in string: line 1 column N
  {
    rule: "I26",
    name: "well-formed text",
    good: [user(emoji)],
    bad: [user(lone)],
    path: "/content",
  },
  {
    rule: "I26",
    name: "well-formed arguments",
    good: loop([use("a", { input: { t: emoji } })], [answer("a")]),
    bad: loop([use("a", { input: { t: [lone] } })], [answer("a")]),
    path: "/content/0/input/t/0",
  },
  {
    rule: "I26",
    name: "well-formed keys",
    good: loop([use("a", { input: { [emoji]: 1 } })], [answer("a")]),
    bad: loop([use("a", { input: { [lone]: 1 } })], [answer("a")]),
  },
  {
    rule: "I27",
    name: "a hundred images",
    good: [user(Array.from({ length: 100 }, () => ({ type: "image", source: {} })))],
    bad: [user(Array.from({ length: 101 }, () => ({ type: "image", source: {} })))],
  },
  {
    rule: "I29",
    name: "tools used are declared",
    good: loop([use("a")], [answer("a")]),
    bad: loop([use("a")], [answer("a")]),
    goodRules: { tools: [{ name: "read" }] },
    rules: { tools: [] },
  },
  // tool_use.input: Input should be a valid dictionary
  {
    rule: "I30",
    name: "input is an object",
    good: loop([use("a", { input: {} })], [answer("a")]),
    bad: loop([use("a", { input: '{"path":"a' })], [answer("a")]),
    path: "/content/0/input",
  },
  {
    rule: "I30",
    name: "input is not a list",
    good: loop([use("a", { input: {} })], [answer("a")]),
    bad: loop([use("a", { input: [] })], [answer("a")]),
  },
  {
    rule: "I31",
    name: "system is no message",
    good: [ask],
    bad: [{ role: "system", content: "be" }, ask],
    index: 0,
  },
  ...shapes(
    [ask],
    [
      ["a null message", [ask, null, ask]],
      ["an undefined message", [ask, undefined]],
      ["a hole", Object.assign(new Array(2), { 0: ask })],
      ["a role unknown", [{ role: "tool", content: "x" }]],
      ["no content", [{ role: "user" }]],
      ["an object as content", [user({ text: "x" })]],
      ["text without text", [user([{ type: "text" }])]],
      ["a null block", [user([null])]],
      ["an undefined block", [user([text("x"), undefined])]],
      ["an unknown block", [user([{ type: "stub", text: "x" }])]],
      ["a call in a user message", [user([use("a")]), assistant("x"), ask]],
      ["a result in an assistant message", [ask, assistant([answer("a")]), ask]],
      [
        "thinking without its signature",
        [ask, assistant([{ type: "thinking", thinking: "so" }, text("x")]), ask],
      ],
      [
        "redacted thinking without data",
        [ask, assistant([{ type: "redacted_thinking" }, text("x")]), ask],
      ],
      ["a call without a name", loop([{ type: "tool_use", id: "a", input: {} }], [answer("a")])],
      ["a number as result", loop([use("a")], [answer("a", { content: 1 })])],
      ["an unknown block in a result", loop([use("a")], [answer("a", { content: [use("b")] })])],
      ["is_error no boolean", loop([use("a")], [answer("a", { is_error: "no" })])],
      [
        "an image in a result without its source",
        loop([use("a")], [answer("a", { content: [{ type: "image" }] })]),
      ],
      ["undefined in arguments", loop([use("a", { input: { list: [undefined] } })], [answer("a")])],
      ["NaN", loop([use("a", { input: { n: Number.NaN } })], [answer("a")])],
      ["a big integer", loop([use("a", { input: { n: 1n } })], [answer("a")])],
      ["a cycle", loop([use("a", { input: cyclic() })], [answer("a")])],
    ],
  ),
  {
    rule: "shape",
    name: "a plain message has no other fields",
    good: [{ ...ask, id: "m1" }],
    bad: [{ ...ask, id: "m1" }],
    goodRules: {},
    rules: { plain: true },
    path: "/id",
  },
];

/** A transcript that is accepted, to be broken. @type {any[]} */
export const valid = [
  user("first ask"),
  assistant([think(), text("I look"), use("a"), use("b")]),
  user([answer("a"), answer("b", { content: [text("two")], is_error: true })]),
  assistant([text("done"), use("c")]),
  user([answer("c", { content: "" }), text("thanks, next")]),
  assistant([think({ thinking: "" }), use("d")]),
  user([answer("d")]),
];
