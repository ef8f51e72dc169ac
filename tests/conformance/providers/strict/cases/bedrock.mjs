// @ts-check
/** Bedrock Converse: a case for each rule, with the words of the provider where they are known. */
import { emoji, lone, shapes } from "./shared.mjs";

/** @typedef {import("./shared.mjs").Case} Case */

export const user = (/** @type {any[]} */ ...content) => ({ role: "user", content });
export const assistant = (/** @type {any[]} */ ...content) => ({ role: "assistant", content });
export const text = (/** @type {string} */ value) => ({ text: value });
export const use = (/** @type {any} */ id, more = {}) => ({
  toolUse: { toolUseId: id, name: "read", input: {}, ...more },
});
export const result = (/** @type {any} */ id, more = {}) => ({
  toolResult: { toolUseId: id, content: [{ text: "1" }], ...more },
});
const ask = user(text("go"));
const loop = [ask, assistant(use("a")), user(result("a"))];

/** @type {Case[]} */
export const bedrock = [
  // Expected toolResult blocks at messages.2.content for the following Ids: b
  {
    rule: "I1",
    name: "every use has its result in one message",
    good: [ask, assistant(use("a"), use("b")), user(result("b"), result("a"))],
    bad: [ask, assistant(use("a"), use("b")), user(result("a"))],
    index: 1,
  },
  // The number of toolResult blocks at messages.2.content exceeds the number of toolUse blocks of previous turn.
  { rule: "I2", name: "no result without its use", good: loop, bad: [user(result("a"))], index: 0 },
  {
    rule: "I2",
    name: "no more results than uses",
    good: loop,
    bad: [ask, assistant(use("a")), user(result("a"), result("b"))],
    index: 2,
  },
  {
    rule: "I5",
    name: "ids have these characters",
    good: [ask, assistant(use("functions.read:0")), user(result("functions.read:0"))],
    bad: [ask, assistant(use("a b")), user(result("a b"))],
    index: 1,
  },
  {
    rule: "I5",
    name: "and at most 64",
    good: loop,
    bad: [ask, assistant(use("x".repeat(65))), user(result("x".repeat(65)))],
    index: 1,
  },
  {
    rule: "I5",
    name: "an id is on the wire once",
    good: loop,
    bad: [...loop, assistant(use("a")), user(result("a"))],
    index: 3,
  },
  // The text field in the ContentBlock object at messages.0.content.0 is blank.
  { rule: "I6", name: "texts are not blank", good: [ask], bad: [user(text("\n"))], index: 0 },
  // The content field in the Message object at messages.0 is empty.
  { rule: "I6", name: "content is not empty", good: [ask], bad: [user()], index: 0 },
  // The content field at messages.2.content.0.toolResult cannot be empty when status value is error.
  {
    rule: "I6",
    name: "an error says something",
    good: [ask, assistant(use("a")), user(result("a", { content: [] }))],
    bad: [ask, assistant(use("a")), user(result("a", { content: [], status: "error" }))],
    index: 2,
  },
  // A conversation must start with a user message.
  {
    rule: "I7",
    name: "the user speaks first",
    good: loop,
    bad: [assistant(text("hi")), ask],
    index: 0,
  },
  {
    rule: "I8",
    name: "the assistant does not speak last",
    good: loop,
    bad: [ask, assistant(text("hi"))],
    index: 1,
  },
  { rule: "I8", name: "not an empty request", good: [ask], bad: [] },
  {
    rule: "I9",
    name: "roles alternate",
    good: [user(text("a"), text("b"))],
    bad: [ask, ask],
    index: 1,
  },
  {
    rule: "I9",
    name: "the assistant's too",
    good: loop,
    bad: [ask, assistant(text("a")), assistant(text("b")), ask],
    index: 2,
  },
  { rule: "I26", name: "whole characters", good: [user(text(emoji))], bad: [user(text(lone))] },
  {
    rule: "I29",
    name: "tools of the history are declared",
    rules: { tools: [] },
    good: [ask],
    bad: loop,
    index: 1,
  },
  {
    rule: "I30",
    name: "input is an object",
    good: loop,
    bad: [ask, assistant(use("a", { input: "{cut" })), user(result("a"))],
    index: 1,
  },
  {
    rule: "I31",
    name: "instructions stand beside",
    good: [ask],
    bad: [{ role: "system", content: [text("be")] }, ask],
    index: 0,
  },
  ...shapes(loop, [
    ["an unknown role", [{ role: "tool", content: [text("a")] }]],
    ["a text for blocks", [{ role: "user", content: "a" }]],
    ["a block that says nothing", [user({})]],
    ["a result of the assistant's", [ask, assistant(result("a"))]],
    ["an unknown status", [ask, assistant(use("a")), user(result("a", { status: "failed" }))]],
  ]),
];

/** A session in which everything occurs. */
export const valid = [
  ask,
  assistant(
    { reasoningContent: { reasoningText: { text: "hm", signature: "c2ln" } } },
    text("let me see"),
    use("a"),
    use("b"),
  ),
  user(result("a"), result("b", { content: [{ text: "two" }], status: "error" })),
  assistant(use("c")),
  user(result("c"), text("and hurry")),
  assistant(text("done")),
  user(text("thanks, and now?"), { image: { format: "png", source: { bytes: "aaaa" } } }),
];
