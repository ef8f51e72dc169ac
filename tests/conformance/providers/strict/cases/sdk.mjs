// @ts-check
/** The AI SDK's and LangChain's messages by themselves: a case for each rule. */
import { emoji, lone, shapes } from "./shared.mjs";

/** @typedef {import("./shared.mjs").Case} Case */

const ask = { role: "user", content: "go" };
const toolCall = (/** @type {any} */ id, more = {}) => ({
  type: "tool-call",
  toolCallId: id,
  toolName: "read",
  input: {},
  ...more,
});
const toolResult = (/** @type {any} */ id, more = {}) => ({
  type: "tool-result",
  toolCallId: id,
  toolName: "read",
  output: { type: "text", value: "1" },
  ...more,
});
const request = { type: "tool-approval-request", approvalId: "p", toolCallId: "a" };
const response = { type: "tool-approval-response", approvalId: "p", approved: true };
const acts = (/** @type {any[]} */ ...content) => ({ role: "assistant", content });
const gave = (/** @type {any[]} */ ...content) => ({ role: "tool", content });
const approved = [ask, acts(toolCall("a"), request), gave(response, toolResult("a"))];
const ui = (/** @type {string} */ role, /** @type {any[]} */ ...parts) => ({
  id: "m",
  role,
  parts,
});
const uiCall = (more = {}) => ({
  type: "tool-read",
  toolCallId: "a",
  state: "output-available",
  input: {},
  output: "1",
  ...more,
});
const textPart = { type: "text", text: "go" };

/** @type {Case[]} */
export const aiSdk = [
  // AI_ToolCallNotFoundForApprovalError: Tool call "a" not found for approval request "p".
  {
    rule: "I4",
    name: "an approval request stands beside its call",
    good: approved,
    bad: [ask, acts(request), gave(response)],
    index: 1,
  },
  {
    rule: "I4",
    name: "an approval response has its request",
    good: approved,
    bad: [ask, acts(toolCall("a")), gave(response, toolResult("a"))],
    index: 2,
  },
  // AI_MissingToolResultsError: Tool result is missing for tool call a.
  {
    rule: "I1",
    name: "the SDK itself pairs results by their ids",
    good: approved,
    bad: [ask, acts(toolCall("a")), gave(toolResult("b"))],
    index: 1,
  },
  {
    rule: "I1",
    name: "results stand before the user speaks",
    good: [ask, acts(toolCall("a"), request), gave(response)],
    bad: [ask, acts(toolCall("a")), ask, gave(toolResult("a"))],
    index: 1,
  },
  {
    rule: "I5",
    name: "ids are not empty",
    good: approved,
    bad: [ask, acts(toolCall("")), gave(toolResult(""))],
    index: 1,
  },
  { rule: "I6", name: "content is not empty", good: approved, bad: [ask, acts()], index: 1 },
  {
    rule: "I6",
    name: "a UIMessage has parts",
    good: [ui("user", textPart)],
    bad: [ui("assistant", { type: "step-start" })],
  },
  {
    rule: "I26",
    name: "whole characters",
    good: [{ ...ask, content: emoji }],
    bad: [{ ...ask, content: lone }],
  },
  ...shapes(approved, [
    ["an unknown role", [{ role: "function", content: "a" }]],
    ["a part of another role", [{ role: "user", content: [toolCall("a")] }]],
    [
      "an output without its type",
      [ask, acts(toolCall("a")), gave(toolResult("a", { output: "1" }))],
    ],
    ["a system message of parts", [{ role: "system", content: [textPart] }]],
    ["an unknown state", [ui("assistant", uiCall({ state: "done" }))]],
    ["an output that is not there", [ui("assistant", uiCall({ output: undefined }))]],
    [
      "an error without a word",
      [ui("assistant", uiCall({ state: "output-error", output: undefined }))],
    ],
  ]),
];

const human = { type: "human", content: "go" };
const ai = (more = {}) => ({
  type: "ai",
  content: "",
  tool_calls: [{ id: "a", name: "read", args: {}, type: "tool_call" }],
  ...more,
});
const tool = (more = {}) => ({ type: "tool", content: "1", tool_call_id: "a", ...more });
const used = (/** @type {string} */ id) => [{ type: "tool_use", id, name: "read", input: {} }];
const dialogue = [human, ai({ content: used("a") }), tool()];

/** @type {Case[]} */
export const langchain = [
  {
    rule: "I5",
    name: "a call stands in both places with one id",
    good: dialogue,
    bad: [human, ai({ content: used("b") }), tool()],
    index: 1,
  },
  {
    rule: "I5",
    name: "a result has its call's id",
    good: dialogue,
    bad: [human, ai(), tool({ tool_call_id: undefined })],
    index: 2,
  },
  {
    rule: "I20",
    name: "a signature is of a call that is there",
    good: [
      human,
      ai({ additional_kwargs: { __gemini_function_call_thought_signatures__: { a: "s" } } }),
      tool(),
    ],
    bad: [
      human,
      ai({ additional_kwargs: { __gemini_function_call_thought_signatures__: { b: "s" } } }),
      tool(),
    ],
    index: 1,
  },
  {
    rule: "I26",
    name: "whole characters",
    good: [{ ...human, content: emoji }],
    bad: [{ ...human, content: lone }],
  },
  {
    rule: "I30",
    name: "args are an object",
    good: dialogue,
    bad: [human, ai({ tool_calls: [{ id: "a", name: "read", args: "{}" }] }), tool()],
    index: 1,
  },
  ...shapes(dialogue, [
    ["an unknown type", [{ type: "robot", content: "a" }]],
    ["content that is a number", [{ ...human, content: 1 }]],
    ["a block without its type", [{ ...human, content: [{ text: "a" }] }]],
    ["a call without its name", [human, ai({ tool_calls: [{ id: "a", args: {} }] }), tool()]],
  ]),
];
