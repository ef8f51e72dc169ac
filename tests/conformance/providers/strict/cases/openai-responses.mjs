// @ts-check
/** OpenAI Responses: a case for each rule, with the words of the provider where they are known. */
import { emoji, lone, shapes } from "./shared.mjs";

/** @typedef {import("./shared.mjs").Case} Case */

export const messageItem = (/** @type {string} */ text, role = "user") => ({
  type: "message",
  role,
  content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
});
export const call = (/** @type {any} */ id, more = {}) => ({
  type: "function_call",
  call_id: id,
  name: "read",
  arguments: '{"path":"a"}',
  ...more,
});
export const output = (/** @type {any} */ id, more = {}) => ({
  type: "function_call_output",
  call_id: id,
  output: "1",
  ...more,
});
export const reasoning = (more = {}) => ({
  type: "reasoning",
  id: "rs_1",
  summary: [],
  encrypted_content: "c2ln",
  ...more,
});
const ask = messageItem("go");
const loop = [ask, call("a"), output("a")];

/** @type {Case[]} */
export const openAiResponses = [
  // No tool output found for function call b.
  {
    rule: "I1",
    name: "every call has its output",
    good: [ask, call("a"), call("b"), output("b"), output("a")],
    bad: [ask, call("a"), call("b"), output("a")],
    index: 2,
  },
  // Duplicate function_call_output for call_id a.
  { rule: "I1", name: "once", good: loop, bad: [...loop, output("a")], index: 3 },
  // No tool call found for function call output with call_id a.
  { rule: "I2", name: "no output without its call", good: loop, bad: [ask, output("a")], index: 1 },
  {
    rule: "I2",
    name: "nor of a call that was made later",
    good: loop,
    bad: [ask, output("a"), call("a")],
    index: 1,
  },
  {
    rule: "I3",
    name: "nobody speaks between call and output",
    good: [...loop, ask],
    bad: [ask, call("a"), messageItem("summary"), output("a")],
    index: 1,
  },
  {
    rule: "I2",
    name: "custom calls pair too",
    good: [
      ask,
      { type: "custom_tool_call", call_id: "c", name: "sh", input: "ls" },
      { type: "custom_tool_call_output", call_id: "c", output: "" },
    ],
    bad: [ask, { type: "custom_tool_call_output", call_id: "c", output: "" }],
  },
  {
    rule: "I4",
    name: "an approval answers a request",
    good: [
      ask,
      { type: "mcp_approval_request", id: "m", name: "x", arguments: "{}", server_label: "s" },
      { type: "mcp_approval_response", approval_request_id: "m", approve: true },
    ],
    bad: [ask, { type: "mcp_approval_response", approval_request_id: "m", approve: true }],
    index: 1,
  },
  { rule: "I5", name: "ids are not empty", good: loop, bad: [ask, call(""), output("")], index: 1 },
  {
    rule: "I5",
    name: "ids have at most 64 characters",
    good: loop,
    bad: [ask, call("x".repeat(65)), output("x".repeat(65))],
    index: 1,
  },
  {
    rule: "I5",
    name: "an id is on the wire once",
    good: [...loop, call("b"), output("b")],
    bad: [...loop, call("a"), output("a")],
    index: 3,
  },
  {
    rule: "I6",
    name: "texts are not blank",
    good: [ask],
    bad: [messageItem(" ")],
    path: "/content/0/text",
  },
  { rule: "I6", name: "a message has content", good: [ask], bad: [{ ...ask, content: [] }] },
  {
    rule: "I7",
    name: "the user speaks first",
    good: loop,
    bad: [messageItem("hi", "assistant"), ask],
    index: 0,
  },
  {
    rule: "I8",
    name: "the model does not speak last",
    good: loop,
    bad: [ask, messageItem("hi", "assistant")],
    index: 1,
  },
  { rule: "I8", name: "not an empty request", good: [ask], bad: [] },
  // Item 'rs_1' of type 'reasoning' was provided without its required following item.
  {
    rule: "I14",
    name: "reasoning stands before what it led to",
    good: [ask, reasoning(), call("a"), output("a")],
    bad: [ask, call("a"), reasoning(), output("a")],
    index: 2,
  },
  {
    rule: "I14",
    name: "reasoning is not the last item",
    good: [ask, reasoning(), messageItem("hi", "assistant"), ask],
    bad: [ask, reasoning()],
    index: 1,
  },
  { rule: "I26", name: "whole characters", good: [messageItem(emoji)], bad: [messageItem(lone)] },
  {
    rule: "I30",
    name: "arguments are the JSON of an object",
    good: loop,
    bad: [ask, call("a", { arguments: "{cut" }), output("a")],
    index: 1,
    path: "/arguments",
  },
  ...shapes(loop, [
    ["an unknown item", [ask, { type: "thought" }]],
    ["an unknown role", [{ ...ask, role: "tool" }]],
    ["an unknown part", [{ ...ask, content: [{ type: "text", text: "a" }] }]],
    ["no summary", [ask, reasoning({ summary: undefined }), call("a"), output("a")]],
    ["no output", [ask, call("a"), output("a", { output: undefined })]],
    ["no name", [ask, call("a", { name: "" }), output("a")]],
  ]),
];

/** A session in which everything occurs. */
export const valid = [
  messageItem("be", "developer"),
  ask,
  reasoning(),
  messageItem("let me see", "assistant"),
  call("a"),
  call("b"),
  output("a"),
  output("b", { output: [{ type: "input_text", text: "two" }] }),
  reasoning({ id: "rs_2" }),
  call("c"),
  output("c"),
  messageItem("done", "assistant"),
  messageItem("thanks, and now?"),
];
