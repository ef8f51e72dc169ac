// @ts-check
/** The Agents SDK: what its protocol refuses, and what the API refuses of what it sends. */

/** @typedef {import("./shared.mjs").Case} Case */

const ask = { type: "message", role: "user", content: [{ type: "input_text", text: "go" }] };
const call = (/** @type {string} */ callId) => ({
  type: "function_call",
  callId,
  name: "read",
  arguments: "{}",
  status: "completed",
});
const gave = (/** @type {string} */ callId, /** @type {any} */ more = {}) => ({
  type: "function_call_result",
  callId,
  name: "read",
  status: "completed",
  output: { type: "text", text: "1" },
  ...more,
});
const good = [ask, call("a"), gave("a")];
const answer = (/** @type {any} */ more) => ({
  role: "assistant",
  content: [{ type: "output_text", text: "so" }],
  ...more,
});

/** @type {Case[]} */
export const openAiAgents = [
  { rule: "I1", name: "every call has its result", good, bad: [ask, call("a")] },
  { rule: "I2", name: "no result without its call", good, bad: [ask, gave("a")] },
  {
    rule: "shape",
    name: "the API's names are not the SDK's",
    good,
    bad: [ask, call("a"), { type: "function_call_output", call_id: "a", output: "1" }],
  },
  {
    rule: "shape",
    name: "a result has a status of its list",
    good,
    bad: [ask, call("a"), gave("a", { status: "failed" })],
  },
  {
    rule: "shape",
    name: "a message of the assistant's has a status",
    good: [ask, answer({ status: "completed" }), ask],
    bad: [ask, answer({}), ask],
  },
  {
    rule: "I14",
    name: "reasoning stands before what it led to",
    good: [ask, { type: "reasoning", id: "rs_1", content: [] }, call("a"), gave("a")],
    bad: [ask, { type: "reasoning", id: "rs_1", content: [] }, ask],
  },
];
