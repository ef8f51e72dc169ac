// @ts-check
/** The strict providers are themselves tested: each rule has a request that passes and one that does not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { isWellFormed } from "./strict/common.mjs";
import { carriedThinking, strictAnthropic, strictOpenAiChat, strictPi, unchangedThinking } from "./strict.mjs";

/** @typedef {import("./strict/common.mjs").Violation} Violation @typedef {import("./strict/common.mjs").Rules} Rules */
/** @typedef {{ rule: string, name: string, good: any[], bad: any[], rules?: Rules, goodRules?: Rules, index?: number, path?: string }} Case */

const lone = "cut \ud83d";
const emoji = "whole \ud83d\ude00";
const text = (/** @type {string} */ value, more = {}) => ({ type: "text", text: value, ...more });
const mark = { cache_control: { type: "ephemeral" } };

// ------------------------------------------------------------------------------------------------ Anthropic

const user = (/** @type {any} */ content) => ({ role: "user", content });
const assistant = (/** @type {any} */ content) => ({ role: "assistant", content });
const use = (/** @type {any} */ id, more = {}) => ({ type: "tool_use", id, name: "read", input: { path: "a" }, ...more });
const answer = (/** @type {any} */ id, more = {}) => ({ type: "tool_result", tool_use_id: id, content: "1", ...more });
const think = (more = {}) => ({ type: "thinking", thinking: "so", signature: "c2ln", ...more });
const ask = user("go");
const loop = (/** @type {any[]} */ calls, /** @type {any[]} */ results) => [ask, assistant(calls), user(results)];

/** @type {Case[]} */
const anthropic = [
  // messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b.
  { rule: "I1", name: "every call is answered", good: loop([use("a"), use("b")], [answer("b"), answer("a")]), bad: loop([use("a"), use("b")], [answer("a")]), index: 1 },
  { rule: "I1", name: "a call is answered once", good: loop([use("a")], [answer("a")]), bad: loop([use("a")], [answer("a"), answer("a")]), index: 2, path: "/content/1" },
  { rule: "I1", name: "a call in the last message is open", good: [ask], bad: [ask, assistant([use("a")])] },
  // messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a.
  { rule: "I2", name: "no result without its call", good: loop([use("a")], [answer("a")]), bad: [user([answer("a")])], index: 0 },
  { rule: "I2", name: "the call is in the previous turn", good: loop([use("a")], [answer("a")]), bad: [...loop([use("a")], [answer("a")]), assistant("ok"), user([answer("a")])], index: 4 },
  { rule: "I3", name: "results stand directly after the call", good: [...loop([use("a")], [answer("a")]), user("and?")], bad: [ask, assistant([use("a")]), user("summary"), assistant("ok"), user([answer("a")])], index: 1 },
  { rule: "I3", name: "results stand before text", good: loop([use("a")], [answer("a"), text("now")]), bad: loop([use("a")], [text("now"), answer("a")]), index: 2 },
  { rule: "I3", name: "also over a merged run", good: [ask, assistant([use("a"), use("b")]), user([answer("a")]), user([answer("b")])], bad: [ask, assistant([use("a")]), user("wait"), user([answer("a")])] },
  // String should match pattern '^[a-zA-Z0-9_-]+$'
  { rule: "I5", name: "charset of ids", good: loop([use("toolu_01-A")], [answer("toolu_01-A")]), bad: loop([use("functions.Bash:0")], [answer("functions.Bash:0")]), index: 1, path: "/content/0/id" },
  { rule: "I5", name: "ids are not empty", good: loop([use("a")], [answer("a")]), bad: loop([use("")], [answer("")]) },
  { rule: "I5", name: "ids are trimmed", good: loop([use("a")], [answer("a")]), bad: loop([use("a ")], [answer("a ")]) },
  { rule: "I5", name: "length of ids", good: loop([use("x".repeat(64))], [answer("x".repeat(64))]), bad: loop([use("x".repeat(65))], [answer("x".repeat(65))]) },
  { rule: "I5", name: "a result names its call", good: loop([use("a")], [answer("a")]), bad: loop([use("a")], [{ type: "tool_result", content: "1" }]), path: "/content/0/tool_use_id" },
  // messages: `tool_use` ids must be unique
  { rule: "I5", name: "ids are unique on the wire", good: [...loop([use("a")], [answer("a")]), assistant([use("b")]), user([answer("b")])], bad: [...loop([use("a")], [answer("a")]), assistant([use("a")]), user([answer("a")])], index: 3 },
  // messages: text content blocks must contain non-whitespace text
  { rule: "I6", name: "no blank text", good: [user([text("go")])], bad: [user([text(" \n")])], path: "/content/0/text" },
  { rule: "I6", name: "no empty string", good: [ask], bad: [user("")] },
  { rule: "I6", name: "no empty list", good: [ask], bad: [ask, assistant([]), user("and?")], index: 1 },
  { rule: "I6", name: "no blank text in a result", good: loop([use("a")], [answer("a", { content: [text("1")] })]), bad: loop([use("a")], [answer("a", { content: [text("")] })]), path: "/content/0/content/0/text" },
  { rule: "I6", name: "no empty result where it is refused", good: loop([use("a")], [answer("a", { content: "" })]), bad: loop([use("a")], [answer("a", { content: "" })]), goodRules: {}, rules: { emptyResults: false } },
  // messages: first message must use the "user" role
  { rule: "I7", name: "first is the user", good: [ask, assistant("hi"), ask], bad: [assistant("hi"), ask], index: 0 },
  // This model does not support assistant message prefill.
  { rule: "I8", name: "last is the user", good: [ask, assistant("hi"), ask], bad: [ask, assistant("hi")], index: 1 },
  { rule: "I8", name: "not an empty request", good: [ask], bad: [] },
  // messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row
  { rule: "I9", name: "runs where they are not merged", good: [ask, user("and?")], bad: [ask, user("and?")], goodRules: {}, rules: { alternate: true }, index: 1 },
  // a final `assistant` message must start with a thinking block
  { rule: "I11", name: "thinking starts an open loop", good: loop([think(), use("a")], [answer("a")]), bad: loop([use("a")], [answer("a")]), rules: { thinking: true }, index: 1 },
  { rule: "I11", name: "the loop may have begun with it", good: [...loop([think(), use("a")], [answer("a")]), assistant([use("b")]), user([answer("b")])], bad: [...loop([use("a")], [answer("a")]), assistant([use("b")]), user([answer("b")])], rules: { thinking: true } },
  { rule: "I11", name: "not needed once the loop is closed", good: [...loop([use("a")], [answer("a")]), assistant("ok"), ask], bad: [...loop([think(), use("a")], [answer("a")]), assistant("ok"), ask, assistant([use("b")]), user([answer("b")])], rules: { thinking: true }, index: 5 },
  { rule: "I11", name: "no thinking in a prefill when it is off", good: [ask, assistant([think(), text("x")]), ask], bad: [ask, assistant([think(), text("x")])], rules: { thinking: false } },
  // A maximum of 4 blocks with cache_control may be provided. Found 5.
  { rule: "I13", name: "four cache markers", good: [user([1, 2, 3, 4].map((n) => text(`${n}`, mark)))], bad: [user([1, 2, 3, 4, 5].map((n) => text(`${n}`, mark)))] },
  { rule: "I13", name: "counted with system and tools", good: [user([text("1", mark)])], bad: [user([text("1", mark), text("2", mark), text("3", mark)])], rules: { system: [text("s", mark)], tools: [{ name: "t", ...mark }] } },
  { rule: "I13", name: "counted inside results", good: loop([use("a")], [answer("a", { content: [text("1", mark)] })]), bad: loop([use("a")], [answer("a", { content: [1, 2, 3, 4, 5].map((n) => text(`${n}`, mark)) })]) },
  { rule: "I13", name: "none on thinking", good: [ask, assistant([think(), text("x", mark)]), ask], bad: [ask, assistant([think(mark), text("x")]), ask] },
  { rule: "I13", name: "none on empty text", good: [user([text("x", mark)])], bad: [user([text("", mark)])] },
  // no low surrogate in string: line 1 column N
  { rule: "I26", name: "well-formed text", good: [user(emoji)], bad: [user(lone)], path: "/content" },
  { rule: "I26", name: "well-formed arguments", good: loop([use("a", { input: { t: emoji } })], [answer("a")]), bad: loop([use("a", { input: { t: [lone] } })], [answer("a")]), path: "/content/0/input/t/0" },
  { rule: "I26", name: "well-formed keys", good: loop([use("a", { input: { [emoji]: 1 } })], [answer("a")]), bad: loop([use("a", { input: { [lone]: 1 } })], [answer("a")]) },
  { rule: "I27", name: "a hundred images", good: [user(Array.from({ length: 100 }, () => ({ type: "image", source: {} })))], bad: [user(Array.from({ length: 101 }, () => ({ type: "image", source: {} })))] },
  { rule: "I29", name: "tools used are declared", good: loop([use("a")], [answer("a")]), bad: loop([use("a")], [answer("a")]), goodRules: { tools: [{ name: "read" }] }, rules: { tools: [] } },
  // tool_use.input: Input should be a valid dictionary
  { rule: "I30", name: "input is an object", good: loop([use("a", { input: {} })], [answer("a")]), bad: loop([use("a", { input: '{"path":"a' })], [answer("a")]), path: "/content/0/input" },
  { rule: "I30", name: "input is not a list", good: loop([use("a", { input: {} })], [answer("a")]), bad: loop([use("a", { input: [] })], [answer("a")]) },
  { rule: "I31", name: "system is no message", good: [ask], bad: [{ role: "system", content: "be" }, ask], index: 0 },
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
      ["thinking without its signature", [ask, assistant([{ type: "thinking", thinking: "so" }, text("x")]), ask]],
      ["redacted thinking without data", [ask, assistant([{ type: "redacted_thinking" }, text("x")]), ask]],
      ["a call without a name", loop([{ type: "tool_use", id: "a", input: {} }], [answer("a")])],
      ["a number as result", loop([use("a")], [answer("a", { content: 1 })])],
      ["an unknown block in a result", loop([use("a")], [answer("a", { content: [use("b")] })])],
      ["is_error no boolean", loop([use("a")], [answer("a", { is_error: "no" })])],
      ["an image in a result without its source", loop([use("a")], [answer("a", { content: [{ type: "image" }] })])],
      ["undefined in arguments", loop([use("a", { input: { list: [undefined] } })], [answer("a")])],
      ["NaN", loop([use("a", { input: { n: Number.NaN } })], [answer("a")])],
      ["a big integer", loop([use("a", { input: { n: 1n } })], [answer("a")])],
      ["a cycle", loop([use("a", { input: cyclic() })], [answer("a")])],
    ],
  ),
  { rule: "shape", name: "a plain message has no other fields", good: [{ ...ask, id: "m1" }], bad: [{ ...ask, id: "m1" }], goodRules: {}, rules: { plain: true }, path: "/id" },
];

// ---------------------------------------------------------------------------------------------- OpenAI Chat

const system = { role: "system", content: "be" };
const called = (/** @type {any} */ id, args = '{"path":"a"}') => ({ id, type: "function", function: { name: "read", arguments: args } });
const calling = (/** @type {any[]} */ ...calls) => ({ role: "assistant", content: null, tool_calls: calls });
const result = (/** @type {any} */ id, content = /** @type {any} */ ("1")) => ({ role: "tool", tool_call_id: id, content });

/** @type {Case[]} */
const openAiChat = [
  // An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.
  { rule: "I1", name: "every call is answered", good: [ask, calling(called("a"), called("b")), result("b"), result("a")], bad: [ask, calling(called("a"), called("b")), result("a")], index: 1, path: "/tool_calls/1/id" },
  { rule: "I1", name: "answered before anything else", good: [ask, calling(called("a")), result("a"), ask], bad: [ask, calling(called("a")), ask], index: 1 },
  { rule: "I1", name: "answered once", good: [ask, calling(called("a")), result("a")], bad: [ask, calling(called("a")), result("a"), result("a")], index: 3 },
  // Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.
  { rule: "I2", name: "no result without its call", good: [ask, calling(called("a")), result("a")], bad: [ask, result("a")], index: 1 },
  { rule: "I2", name: "nor after another turn", good: [ask, calling(called("a")), result("a")], bad: [ask, calling(called("a")), result("a"), ask, result("a")], index: 4 },
  { rule: "I3", name: "nothing between call and result", good: [ask, calling(called("a")), result("a"), user("summary")], bad: [ask, calling(called("a")), user("summary"), result("a")], index: 1 },
  { rule: "I5", name: "ids are not empty", good: [ask, calling(called("a")), result("a")], bad: [ask, calling(called("")), result("")] },
  { rule: "I5", name: "ids are trimmed", good: [ask, calling(called("a")), result("a")], bad: [ask, calling(called(" a")), result(" a")] },
  // Invalid 'messages[1].tool_calls[0].id': string too long.
  { rule: "I5", name: "length of ids", good: [ask, calling(called("x".repeat(64))), result("x".repeat(64))], bad: [ask, calling(called("x".repeat(65))), result("x".repeat(65))] },
  { rule: "I5", name: "a result names its call", good: [ask, calling(called("a")), result("a")], bad: [ask, calling(called("a")), { role: "tool", content: "1" }], index: 2 },
  { rule: "I5", name: "ids are unique on the wire", good: [ask, calling(called("a")), result("a"), calling(called("b")), result("b")], bad: [ask, calling(called("a")), result("a"), calling(called("a")), result("a")], index: 3 },
  { rule: "I6", name: "no empty user text", good: [ask], bad: [user("")] },
  { rule: "I6", name: "no blank part", good: [user([text("x")])], bad: [user([text(" ")])] },
  { rule: "I6", name: "no empty list", good: [user([text("x")])], bad: [user([])] },
  // Assistant message must have either content or tool_calls, but not none.
  { rule: "I6", name: "an assistant says something", good: [ask, { ...calling(called("a")), content: "" }, result("a")], bad: [ask, { role: "assistant", content: null }, ask], index: 1 },
  { rule: "I6", name: "no empty result where it is refused", good: [ask, calling(called("a")), result("a", "")], bad: [ask, calling(called("a")), result("a", "")], goodRules: {}, rules: { emptyResults: false } },
  { rule: "I7", name: "first after the system is the user", good: [system, ask], bad: [system, assistant("hi"), ask], index: 1 },
  { rule: "I7", name: "system alone is no request", good: [system, ask], bad: [system] },
  // Expected last role to be one of: [tool, user] but got assistant
  { rule: "I8", name: "last is the user or a result", good: [ask, calling(called("a")), result("a")], bad: [ask, assistant("hi")], index: 1 },
  { rule: "I8", name: "not an empty request", good: [ask], bad: [] },
  // Unexpected role 'user' after role 'tool'
  { rule: "I9", name: "user after tool", good: [ask, calling(called("a")), result("a"), ask], bad: [ask, calling(called("a")), result("a"), ask], goodRules: {}, rules: { alternate: true }, index: 3 },
  { rule: "I9", name: "user after user", good: [ask, assistant("x"), ask], bad: [ask, ask], rules: { alternate: true }, index: 1 },
  { rule: "I26", name: "well-formed text", good: [user(emoji)], bad: [user(lone)] },
  { rule: "I26", name: "well-formed results", good: [ask, calling(called("a")), result("a", emoji)], bad: [ask, calling(called("a")), result("a", [text(lone)])], index: 2, path: "/content/0/text" },
  { rule: "I6", name: "a custom call is a call", good: [ask, calling({ id: "a", type: "custom", custom: { name: "f", input: "" } }), result("a")], bad: [ask, { role: "assistant" }, ask] },
  { rule: "I30", name: "arguments are whole JSON", good: [ask, calling(called("a", "{}")), result("a")], bad: [ask, calling(called("a", '{"path":"a')), result("a")], path: "/tool_calls/0/function/arguments" },
  { rule: "I30", name: "arguments are an object", good: [ask, calling(called("a", "{}")), result("a")], bad: [ask, calling(called("a", '"x"')), result("a")] },
  { rule: "I30", name: "arguments are text", good: [ask, calling(called("a", "{}")), result("a")], bad: [ask, calling(called("a", /** @type {any} */ ({}))), result("a")] },
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
      ["a call without a type", [ask, calling({ id: "a", function: { name: "f", arguments: "{}" } }), result("a")]],
      ["a custom call without input", [ask, calling({ id: "a", type: "custom", custom: { name: "f" } }), result("a")]],
      ["a call without a name", [ask, calling({ id: "a", type: "function", function: { arguments: "{}" } }), result("a")]],
      ["a result without content", [ask, calling(called("a")), { role: "tool", tool_call_id: "a", content: null }]],
      ["a user without content", [{ role: "user", content: null }]],
      ["an Anthropic block", [user([{ type: "tool_result", tool_use_id: "a", content: "x" }])]],
      ["text without text", [user([{ type: "text" }])]],
      ["an image as a result", [ask, calling(called("a")), result("a", [{ type: "image_url", image_url: { url: "x" } }])]],
      ["undefined in a list", [user([text("x"), undefined])]],
    ],
  ),
  { rule: "shape", name: "a plain message has no other fields", good: [{ ...ask, at: 1 }], bad: [{ ...ask, at: 1 }], goodRules: {}, rules: { plain: true } },
];

// ------------------------------------------------------------------------------------------------------- pi

const says = (/** @type {any} */ content, more = {}) => ({ role: "user", content, timestamp: 1, ...more });
const toolCall = (/** @type {any} */ id, more = {}) => ({ type: "toolCall", id, name: "read", arguments: {}, ...more });
const acts = (/** @type {any[]} */ content, more = {}) => ({ role: "assistant", content, stopReason: "toolUse", timestamp: 2, ...more });
const gave = (/** @type {any} */ id, more = {}) => ({ role: "toolResult", toolCallId: id, toolName: "read", content: [text("1")], isError: false, timestamp: 3, ...more });
const bash = (more = {}) => ({ role: "bashExecution", command: "ls", output: "a", exitCode: 0, timestamp: 4, ...more });
const aborted = acts([toolCall("z")], { stopReason: "aborted" });

/** @type {Case[]} */
const pi = [
  { rule: "I1", name: "every call is answered", good: [says("go"), acts([toolCall("a"), toolCall("b")]), gave("b"), gave("a")], bad: [says("go"), acts([toolCall("a"), toolCall("b")]), gave("b")], index: 1 },
  { rule: "I1", name: "an aborted call needs no answer", good: [says("go"), aborted, says("again")], bad: [says("go"), acts([toolCall("z")]), says("again")] },
  { rule: "I2", name: "no result without its call", good: [says("go"), acts([toolCall("a")]), gave("a")], bad: [says("go"), gave("a")], index: 1 },
  { rule: "I2", name: "no result of a call that pi leaves out", good: [says("go"), aborted, says("again")], bad: [says("go"), aborted, gave("z")], index: 2 },
  { rule: "I3", name: "nothing between call and result", good: [says("go"), acts([toolCall("a")]), gave("a"), bash()], bad: [says("go"), acts([toolCall("a")]), bash(), gave("a")], index: 1 },
  { rule: "I3", name: "a hidden command is not between", good: [says("go"), acts([toolCall("a")]), bash({ excludeFromContext: true }), gave("a")], bad: [says("go"), acts([toolCall("a")]), says("x"), gave("a")] },
  { rule: "I5", name: "ids are unique", good: [says("go"), acts([toolCall("a|b")]), gave("a|b")], bad: [says("go"), acts([toolCall("a")]), gave("a"), acts([toolCall("a")]), gave("a")], index: 3 },
  { rule: "I5", name: "ids are not empty", good: [says("go"), acts([toolCall("a")]), gave("a")], bad: [says("go"), acts([toolCall("")]), gave("")] },
  { rule: "I5", name: "a result names its call", good: [says("go"), acts([toolCall("a")]), gave("a")], bad: [says("go"), acts([toolCall("a")]), gave(undefined)], path: "/toolCallId", index: 2 },
  { rule: "I6", name: "no empty content", good: [says([text("x")])], bad: [says([])] },
  { rule: "I6", name: "no blank text", good: [says("x")], bad: [says(" ")] },
  { rule: "I6", name: "an aborted message may be empty", good: [says("go"), acts([], { stopReason: "aborted" }), says("x")], bad: [says("go"), acts([]), says("x")] },
  { rule: "I6", name: "a summary is not empty", good: [{ role: "compactionSummary", summary: "x", tokensBefore: 1, timestamp: 1 }], bad: [{ role: "compactionSummary", summary: "", tokensBefore: 1, timestamp: 1 }] },
  { rule: "I6", name: "no empty result where it is refused", good: [says("go"), acts([toolCall("a")]), gave("a", { content: [] })], bad: [says("go"), acts([toolCall("a")]), gave("a", { content: [] })], goodRules: {}, rules: { emptyResults: false } },
  { rule: "I7", name: "first is on the user's side", good: [bash(), says("x")], bad: [acts([text("hi")]), says("x")] },
  { rule: "I8", name: "last is not an assistant", good: [says("go"), acts([toolCall("a")]), gave("a")], bad: [says("go"), acts([text("hi")])] },
  { rule: "I8", name: "not an empty request", good: [says("go")], bad: [] },
  { rule: "I9", name: "runs where they are not merged", good: [says("go"), says("x")], bad: [says("go"), says("x")], goodRules: {}, rules: { alternate: true } },
  { rule: "I9", name: "an assistant between", good: [says("go"), acts([text("x")]), says("x")], bad: [says("go"), bash()], rules: { alternate: true } },
  { rule: "I26", name: "well-formed text", good: [says(emoji)], bad: [says([text(lone)])] },
  { rule: "I30", name: "arguments are an object", good: [says("go"), acts([toolCall("a")]), gave("a")], bad: [says("go"), acts([toolCall("a", { arguments: "{" })]), gave("a")] },
  ...shapes(
    [says("go")],
    [
      ["a null message", [says("go"), null]],
      ["a role unknown", [{ role: "tool", content: "x" }]],
      ["a text as assistant content", [says("go"), { role: "assistant", content: "x", timestamp: 1 }, says("x")]],
      ["an Anthropic block", [says("go"), acts([use("a")]), says("x")]],
      ["a result without its tool's name", [says("go"), acts([toolCall("a")]), gave("a", { toolName: undefined })]],
      ["a call without a name", [says("go"), acts([toolCall("a", { name: "" })]), gave("a")]],
      ["a result without isError", [says("go"), acts([toolCall("a")]), gave("a", { isError: undefined })]],
      ["a result as text", [says("go"), acts([toolCall("a")]), gave("a", { content: "x" })]],
      ["an image without data", [says([{ type: "image", mimeType: "image/png" }])]],
      ["a command without output", [bash({ output: undefined })]],
    ],
  ),
  { rule: "shape", name: "a plain message has no other fields", good: [says("x", { at: 1 })], bad: [says("x", { at: 1 })], goodRules: {}, rules: { plain: true } },
  { rule: "shape", name: "time is a number in a plain message", good: [says("x")], bad: [says("x", { timestamp: "now" })], rules: { plain: true } },
  { rule: "I26", name: "a custom call's input", good: [says(emoji)], bad: [{ role: "custom", content: lone, timestamp: 1 }] },
];

/** @param {any[]} good @param {Array<[string, any[]]>} bad @returns {Case[]} */
function shapes(good, bad) {
  return bad.map(([name, messages]) => ({ rule: "shape", name, good, bad: messages }));
}

function cyclic() {
  const own = /** @type {any} */ ({ a: {} });
  own.a.b = own;
  return own;
}

const providers = /** @type {const} */ ([
  ["anthropic", strictAnthropic, anthropic],
  ["openai-chat", strictOpenAiChat, openAiChat],
  ["pi", strictPi, pi],
]);

for (const [provider, strict, cases] of providers) {
  for (const { rule, name, good, bad, rules, goodRules = rules, index, path } of cases) {
    test(`${provider} ${rule}: ${name}`, () => {
      assert.deepEqual(strict(good, goodRules), [], "the good one is accepted");
      const found = strict(bad, rules);
      const hit = found.find((one) => one.rule === rule && (path === undefined || one.path === path));
      assert.ok(hit, `${rule} is found: ${JSON.stringify(found)}`);
      if (index !== undefined) assert.equal(hit.index, index);
    });
  }
}

// ---------------------------------------------------------------------------- breaking a valid transcript

const valid = {
  anthropic: [
    user("first ask"),
    assistant([think(), text("I look"), use("a"), use("b")]),
    user([answer("a"), answer("b", { content: [text("two")], is_error: true })]),
    assistant([text("done"), use("c")]),
    user([answer("c", { content: "" }), text("thanks, next")]),
    assistant([think({ thinking: "" }), use("d")]),
    user([answer("d")]),
  ],
  "openai-chat": [
    system,
    user("first ask"),
    { ...calling(called("a"), called("b")), content: "I look" },
    result("a"),
    result("b", [text("two")]),
    calling(called("c")),
    result("c", ""),
    assistant("done"),
    user([text("next"), { type: "image_url", image_url: { url: "data:image/png;base64,AA" } }]),
  ],
  pi: [
    says("first ask"),
    acts([{ type: "thinking", thinking: "so", thinkingSignature: "s" }, text("I look"), toolCall("a"), toolCall("b")]),
    gave("a"),
    gave("b", { isError: true }),
    aborted,
    bash(),
    acts([toolCall("c")]),
    gave("c"),
  ],
};

/** @typedef {(messages: any[]) => any[]} Break */
const isResult = (/** @type {any} */ message) =>
  message.role === "tool" || message.role === "toolResult" ||
  (Array.isArray(message.content) && message.content.some((/** @type {any} */ block) => block.type === "tool_result"));
const isCall = (/** @type {any} */ message) =>
  message.tool_calls !== undefined ||
  (Array.isArray(message.content) && message.stopReason !== "aborted" &&
    message.content.some((/** @type {any} */ block) => block.type === "tool_use" || block.type === "toolCall"));
const summary = (/** @type {string} */ provider) => (provider === "pi" ? says("summary") : user("summary"));
const reply = (/** @type {string} */ provider) => (provider === "pi" ? acts([text("ack")], { stopReason: "stop" }) : assistant("ack"));

for (const [provider, strict] of providers) {
  const messages = /** @type {any[]} */ (valid[provider]);

  test(`${provider}: the valid transcript is accepted`, () => {
    assert.deepEqual(strict(messages, { thinking: true }), []);
  });

  test(`${provider}: a message removed`, () => {
    for (const [at, message] of messages.entries()) {
      const rules = strict(messages.toSpliced(at, 1)).map((found) => found.rule);
      if (isResult(message)) assert.ok(rules.includes("I1"), `${at}: ${rules}`);
      else if (isCall(message)) assert.ok(rules.includes("I2"), `${at}: ${rules}`);
    }
  });

  test(`${provider}: history cut at each place`, () => {
    for (let at = 1; at < messages.length; at += 1) {
      const rules = strict(messages.slice(at)).map((found) => found.rule);
      if (isResult(messages[at])) assert.ok(rules.includes("I2"), `${at}: ${rules}`);
      else if (isCall(messages[at])) assert.ok(rules.includes("I7"), `${at}: ${rules}`);
      if (isCall(messages[at - 1])) assert.ok(strict(messages.slice(0, at)).some((found) => found.rule === "I1"));
    }
  });

  test(`${provider}: a summary inserted between call and result`, () => {
    for (let at = 1; at < messages.length; at += 1) {
      if (!isResult(messages[at])) continue;
      const inserted = messages.toSpliced(at, 0, summary(provider), reply(provider));
      const rules = strict(inserted).map((found) => found.rule);
      assert.ok(rules.includes("I3"), `${at}: ${rules}`);
    }
  });

  test(`${provider}: an assistant's word at the end`, () => {
    assert.deepEqual(strict([...messages, reply(provider)]).map((found) => found.rule), ["I8"]);
  });

  test(`${provider}: every string in turn emptied, cut in half, or made a number`, () => {
    let seen = 0;
    for (const pointer of strings(messages)) {
      seen += 1;
      const broken = strict(replaced(messages, pointer, lone)).map((found) => found.rule);
      assert.ok(broken.includes("I26"), `${pointer.join("/")}: ${broken}`);
      const last = pointer.at(-1);
      if (last === "text" || last === "id") {
        const emptied = strict(replaced(messages, pointer, ""), { emptyResults: false }).map((found) => found.rule);
        const free = provider === "pi" && pointer[0] === 4;
        assert.ok(free || emptied.includes(last === "id" ? "I5" : "I6"), `${pointer.join("/")}: ${emptied}`);
      }
      if (last === "type" || last === "role") {
        const typed = strict(replaced(messages, pointer, 7)).map((found) => found.rule);
        const free = provider === "pi" && pointer[0] === 4;
        const hidden = pointer.includes("source") || pointer.includes("cache_control");
        assert.ok(free || hidden || typed.includes("shape"), `${pointer.join("/")}: ${typed}`);
      }
    }
    assert.ok(seen > 20, "the transcript has strings to break");
  });
}

/** @param {any} value @param {Array<string | number>} [above] @returns {Array<Array<string | number>>} */
function strings(value, above = []) {
  if (typeof value === "string") return [above];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) =>
    strings(below, [...above, Array.isArray(value) ? Number(key) : key]),
  );
}

/** @param {any[]} messages @param {Array<string | number>} pointer @param {unknown} value */
function replaced(messages, pointer, value) {
  const copy = structuredClone(messages);
  const parent = pointer.slice(0, -1).reduce((/** @type {any} */ at, key) => at[key], copy);
  parent[/** @type {any} */ (pointer.at(-1))] = value;
  return copy;
}

// --------------------------------------------------------------------------------------------- thinking, I10

test("I10: the newest thinking is the host's, as it was", () => {
  const host = valid.anthropic;
  const source = host.map((_, at) => at);
  assert.deepEqual(unchangedThinking(host, host, source), []);
  assert.deepEqual(unchangedThinking(structuredClone(host), host, source), []);
  const cases = /** @type {Array<[string, any[]]>} */ ([
    ["a changed thought", replaced(host, [5, "content", 0, "thinking"], "x")],
    ["a changed signature", replaced(host, [5, "content", 0, "signature"], "x")],
    ["a changed neighbour", replaced(host, [5, "content", 1, "input", "path"], "x")],
  ]);
  for (const [name, sent] of cases) {
    assert.equal(unchangedThinking(sent, host, source)[0]?.rule, "I10", name);
  }
  assert.equal(unchangedThinking(host, host, source.with(5, null))[0]?.rule, "I10", "made by nobody");
});

test("I10: removing the newest promotes the one before", () => {
  const host = valid.anthropic;
  const kept = host.slice(0, 5);
  const source = kept.map((_, at) => at);
  assert.deepEqual(unchangedThinking(kept, host, source), []);
  const without = kept.with(1, assistant(kept[1]?.content.slice(0, 3)));
  assert.equal(unchangedThinking(without, host, source)[0]?.index, 1);
});

test("I10: a run of assistant messages is one", () => {
  const host = [ask, assistant([think()]), assistant([text("x")]), assistant([use("a")]), user([answer("a")])];
  const source = [0, 1, 3, 4];
  const sent = source.map((at) => host[at]);
  assert.match(unchangedThinking(sent, host, source)[0]?.message ?? "", /neighbour/);
});

test("I10: a thinking block is never made up", () => {
  const host = valid.anthropic;
  const source = host.map((_, at) => at);
  assert.deepEqual(carriedThinking(structuredClone(host), host, source), []);
  assert.equal(carriedThinking(replaced(host, [1, "content", 0, "thinking"], "x"), host, source)[0]?.index, 1);
});

test("surrogates are checked alike by old and new runtimes", () => {
  const own = String.prototype.isWellFormed;
  for (const [value, good] of /** @type {Array<[string, boolean]>} */ ([
    ["", true], ["a", true], [emoji, true], [lone, false], ["\ude00", false], ["\ud83d\ud83d\ude00", false], ["\ud83da", false],
  ])) {
    assert.equal(isWellFormed(value), good);
    try {
      Object.defineProperty(String.prototype, "isWellFormed", { value: undefined, configurable: true, writable: true });
      assert.equal(isWellFormed(value), good);
    } finally {
      Object.defineProperty(String.prototype, "isWellFormed", { value: own, configurable: true, writable: true });
    }
  }
});
