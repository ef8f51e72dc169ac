// @ts-check
/** pi: a case for each rule. */
import { use } from "./anthropic.mjs";
import { emoji, lone, shapes, text } from "./shared.mjs";

/** @typedef {import("./shared.mjs").Case} Case */

export const userMessage = (/** @type {any} */ content, more = {}) => ({
  role: "user",
  content,
  timestamp: 1,
  ...more,
});
export const toolCall = (/** @type {any} */ id, more = {}) => ({
  type: "toolCall",
  id,
  name: "read",
  arguments: {},
  ...more,
});
export const acts = (/** @type {any[]} */ content, more = {}) => ({
  role: "assistant",
  content,
  stopReason: "toolUse",
  timestamp: 2,
  ...more,
});
export const gave = (/** @type {any} */ id, more = {}) => ({
  role: "toolResult",
  toolCallId: id,
  toolName: "read",
  content: [text("1")],
  isError: false,
  timestamp: 3,
  ...more,
});
export const bash = (more = {}) => ({
  role: "bashExecution",
  command: "ls",
  output: "a",
  exitCode: 0,
  timestamp: 4,
  ...more,
});
export const aborted = acts([toolCall("z")], { stopReason: "aborted" });

/** @type {Case[]} */
export const pi = [
  {
    rule: "I1",
    name: "every call is answered",
    good: [userMessage("go"), acts([toolCall("a"), toolCall("b")]), gave("b"), gave("a")],
    bad: [userMessage("go"), acts([toolCall("a"), toolCall("b")]), gave("b")],
    index: 1,
  },
  {
    rule: "I1",
    name: "an aborted call needs no answer",
    good: [userMessage("go"), aborted, userMessage("again")],
    bad: [userMessage("go"), acts([toolCall("z")]), userMessage("again")],
  },
  {
    rule: "I2",
    name: "no result without its call",
    good: [userMessage("go"), acts([toolCall("a")]), gave("a")],
    bad: [userMessage("go"), gave("a")],
    index: 1,
  },
  {
    rule: "I2",
    name: "no result of a call that pi leaves out",
    good: [userMessage("go"), aborted, userMessage("again")],
    bad: [userMessage("go"), aborted, gave("z")],
    index: 2,
  },
  {
    rule: "I3",
    name: "nothing between call and result",
    good: [userMessage("go"), acts([toolCall("a")]), gave("a"), bash()],
    bad: [userMessage("go"), acts([toolCall("a")]), bash(), gave("a")],
    index: 1,
  },
  {
    rule: "I3",
    name: "a hidden command is not between",
    good: [userMessage("go"), acts([toolCall("a")]), bash({ excludeFromContext: true }), gave("a")],
    bad: [userMessage("go"), acts([toolCall("a")]), userMessage("x"), gave("a")],
  },
  {
    rule: "I5",
    name: "ids are unique",
    good: [userMessage("go"), acts([toolCall("a|b")]), gave("a|b")],
    bad: [userMessage("go"), acts([toolCall("a")]), gave("a"), acts([toolCall("a")]), gave("a")],
    index: 3,
  },
  {
    rule: "I5",
    name: "ids are not empty",
    good: [userMessage("go"), acts([toolCall("a")]), gave("a")],
    bad: [userMessage("go"), acts([toolCall("")]), gave("")],
  },
  {
    rule: "I5",
    name: "a result names its call",
    good: [userMessage("go"), acts([toolCall("a")]), gave("a")],
    bad: [userMessage("go"), acts([toolCall("a")]), gave(undefined)],
    path: "/toolCallId",
    index: 2,
  },
  {
    rule: "I6",
    name: "no empty content",
    good: [userMessage([text("x")])],
    bad: [userMessage([])],
  },
  { rule: "I6", name: "no blank text", good: [userMessage("x")], bad: [userMessage(" ")] },
  {
    rule: "I6",
    name: "an aborted message may be empty",
    good: [userMessage("go"), acts([], { stopReason: "aborted" }), userMessage("x")],
    bad: [userMessage("go"), acts([]), userMessage("x")],
  },
  {
    rule: "I6",
    name: "a summary is not empty",
    good: [{ role: "compactionSummary", summary: "x", tokensBefore: 1, timestamp: 1 }],
    bad: [{ role: "compactionSummary", summary: "", tokensBefore: 1, timestamp: 1 }],
  },
  {
    rule: "I6",
    name: "no empty result where it is refused",
    good: [userMessage("go"), acts([toolCall("a")]), gave("a", { content: [] })],
    bad: [userMessage("go"), acts([toolCall("a")]), gave("a", { content: [] })],
    goodRules: {},
    rules: { emptyResults: false },
  },
  {
    rule: "I7",
    name: "first is on the user's side",
    good: [bash(), userMessage("x")],
    bad: [acts([text("hi")]), userMessage("x")],
  },
  {
    rule: "I8",
    name: "last is not an assistant",
    good: [userMessage("go"), acts([toolCall("a")]), gave("a")],
    bad: [userMessage("go"), acts([text("hi")])],
  },
  { rule: "I8", name: "not an empty request", good: [userMessage("go")], bad: [] },
  {
    rule: "I9",
    name: "runs where they are not merged",
    good: [userMessage("go"), userMessage("x")],
    bad: [userMessage("go"), userMessage("x")],
    goodRules: {},
    rules: { alternate: true },
  },
  {
    rule: "I9",
    name: "an assistant between",
    good: [userMessage("go"), acts([text("x")]), userMessage("x")],
    bad: [userMessage("go"), bash()],
    rules: { alternate: true },
  },
  {
    rule: "I26",
    name: "well-formed text",
    good: [userMessage(emoji)],
    bad: [userMessage([text(lone)])],
  },
  {
    rule: "I30",
    name: "arguments are an object",
    good: [userMessage("go"), acts([toolCall("a")]), gave("a")],
    bad: [userMessage("go"), acts([toolCall("a", { arguments: "{" })]), gave("a")],
  },
  ...shapes(
    [userMessage("go")],
    [
      ["a null message", [userMessage("go"), null]],
      ["a role unknown", [{ role: "tool", content: "x" }]],
      [
        "a text as assistant content",
        [userMessage("go"), { role: "assistant", content: "x", timestamp: 1 }, userMessage("x")],
      ],
      ["an Anthropic block", [userMessage("go"), acts([use("a")]), userMessage("x")]],
      [
        "a result without its tool's name",
        [userMessage("go"), acts([toolCall("a")]), gave("a", { toolName: undefined })],
      ],
      [
        "a call without a name",
        [userMessage("go"), acts([toolCall("a", { name: "" })]), gave("a")],
      ],
      [
        "a result without isError",
        [userMessage("go"), acts([toolCall("a")]), gave("a", { isError: undefined })],
      ],
      ["a result as text", [userMessage("go"), acts([toolCall("a")]), gave("a", { content: "x" })]],
      ["an image without data", [userMessage([{ type: "image", mimeType: "image/png" }])]],
      ["a command without output", [bash({ output: undefined })]],
    ],
  ),
  {
    rule: "shape",
    name: "a plain message has no other fields",
    good: [userMessage("x", { at: 1 })],
    bad: [userMessage("x", { at: 1 })],
    goodRules: {},
    rules: { plain: true },
  },
  {
    rule: "shape",
    name: "time is a number in a plain message",
    good: [userMessage("x")],
    bad: [userMessage("x", { timestamp: "now" })],
    rules: { plain: true },
  },
  {
    rule: "I26",
    name: "a custom call's input",
    good: [userMessage(emoji)],
    bad: [{ role: "custom", content: lone, timestamp: 1 }],
  },
];

/** A transcript that is accepted, to be broken. @type {any[]} */
export const valid = [
  userMessage("first ask"),
  acts([
    { type: "thinking", thinking: "so", thinkingSignature: "s" },
    text("I look"),
    toolCall("a"),
    toolCall("b"),
  ]),
  gave("a"),
  gave("b", { isError: true }),
  aborted,
  bash(),
  acts([toolCall("c")]),
  gave("c"),
];
