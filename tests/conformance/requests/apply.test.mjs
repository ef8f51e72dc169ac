// @ts-check
/** A request merged into the host's own body and headers: messages, cache markers and hints in, nothing of the host's out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { history as generated, hostOptions, render } from "../generated/histories.mjs";
import { landed } from "../generated/supported-pairs.mjs";
import { pairs, strictFor } from "../providers/pairs.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;

const window = { contextTokens: 200_000, maxOutputTokens: 8_000 };
const ephemeral = { type: "ephemeral" };
const beta = "thinking-binding-controls-2026-08-01";
const hint = { block_binding: { prefix_mismatch_behavior: "drop_block" } };

/** @param {any} value @returns {any} */
function frozen(value) {
  if (typeof value === "object" && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}
/** How many markers are in a value. @param {any} value @returns {number} */
const markers = (value) =>
  typeof value !== "object" || value === null
    ? 0
    : Object.entries(value).reduce((sum, [key, own]) => {
        const is = ["cache_control", "cacheControl", "cachePoint"].includes(key);
        return sum + (is ? 1 : markers(own));
      }, 0);
/** Where a format has its messages. @param {string} format */
const memberOf = (format) =>
  ({ gemini: "contents", "openai-responses": "input", "openai-agents": "input" })[format] ??
  "messages";
/** Formats that have cache markers of their own for a provider that takes them. @param {string} format @param {string} provider */
const marks = (format, provider) =>
  ["anthropic", "bedrock"].includes(provider) &&
  format !== "pi" &&
  !(format === "langchain" && provider === "bedrock");

/** Clean histories, so that what is refused is not the history's fault. */
const seeds = Array.from(
  { length: sized({ short: 8, ci: 60, long: 60 }) },
  (_, at) => at + 1,
).filter((seed) => generated(seed).clean);

for (const { format, provider } of api ? landed(api) : []) {
  test(`a body that apply() returns is valid: ${format} for ${provider}`, () => {
    const strict = strictFor(format, provider);
    let marked = 0;
    for (const seed of seeds) {
      const turns = generated(seed);
      const history = render(turns, format, provider);
      if (history.length === 0) continue;
      const context = new api.ContextManager({
        window,
        format,
        provider,
        clock: () => 0,
        ...hostOptions(turns, format),
      });
      for (let end = 1; end <= history.length; end += 1) {
        const shown = history.slice(0, end);
        const prepared = context.request(shown);
        const stop = new AbortController();
        const body = Object.freeze({ model: "m", stop, metadata: frozen({ user: "u" }) });
        const own = JSON.stringify(shown);
        const sent = prepared.apply(body);
        const { [memberOf(format)]: messages, ...rest } = sent;
        assert.deepEqual(rest, body, "nothing else is added");
        assert.equal(sent.stop, stop);
        assert.deepEqual(api.applyRequest(prepared, body), sent);
        assert.equal(JSON.stringify(shown), own, "the host's messages are as they were");
        const before = strict(prepared.messages).length;
        assert.equal(strict(messages).length, before, JSON.stringify(strict(messages)[0]));
        assert.ok(markers(messages) <= 4);
        marked += markers(messages);
        if (end < history.length || prepared.source.includes(null)) continue;
        const again = context.request(messages);
        assert.equal(again.epoch, prepared.epoch, "as history, markers are no other content");
      }
    }
    assert.equal(marked > 0, marks(format, provider));
  });
}

test("the cases cover every pair of format and provider", { skip }, () => {
  assert.equal(landed(api).length, pairs.length);
});

/** Messages of Anthropic with thinking before each call. @param {number} turns */
function thinking(turns) {
  /** @type {any[]} */
  const history = [{ role: "user", content: "go" }];
  for (let at = 0; at < turns; at += 1) {
    const thought = { type: "thinking", thinking: `thought ${at}`, signature: `s${at}` };
    const use = { type: "tool_use", id: `c${at}`, name: "read", input: {} };
    const content = Array.from({ length: 200 }, (_, word) => `x${at}y${word}`).join(" ");
    history.push({ role: "assistant", content: [thought, use] });
    history.push({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: `c${at}`, content }],
    });
  }
  return history;
}
/** The first request with a hint. @param {any} options */
function hinted(options) {
  const context = new api.ContextManager({
    window: { contextTokens: 10_000 },
    format: "anthropic",
    clock: () => 0,
    ...options,
  });
  for (let turns = 1; turns < 60; turns += 1) {
    const prepared = context.request(thinking(turns));
    if (Object.keys(prepared.hints).length > 0) return prepared;
  }
  throw new Error("no request had a hint");
}

test("apply() keeps the host's thinking options and adds missing ones", { skip }, () => {
  const prepared = hinted({});
  const own = frozen({ thinking: { type: "enabled", budget_tokens: 2048 }, max_tokens: 9 });
  assert.deepEqual(prepared.apply(own).thinking, { ...own.thinking, ...hint });
  assert.deepEqual(own.thinking, { type: "enabled", budget_tokens: 2048 });
  const kept = { type: "adaptive", block_binding: { prefix_mismatch_behavior: "error" } };
  assert.deepEqual(prepared.apply({ thinking: kept }).thinking, kept);
  const off = { type: "disabled" };
  assert.deepEqual(prepared.apply({ thinking: off }).thinking, off);
  assert.deepEqual(prepared.apply({}).thinking, { type: "adaptive", ...hint });
  assert.deepEqual(prepared.apply({ betas: ["a"] }).betas, ["a", beta]);
  assert.deepEqual(prepared.apply({ betas: [beta] }).betas, [beta]);
});

test("apply() keeps the host's headers, whatever the case of their names", { skip }, () => {
  const prepared = hinted({});
  assert.deepEqual(prepared.applyHeaders(), { "anthropic-beta": beta });
  const own = frozen({ "Anthropic-Beta": "a, b", other: "c" });
  const sent = { "Anthropic-Beta": `a, b,${beta}`, other: "c" };
  assert.deepEqual(prepared.applyHeaders(own), sent);
  assert.deepEqual(prepared.applyHeaders(sent), sent);
  assert.deepEqual(prepared.applyHeaders(new Headers({ other: "c" })), {
    other: "c",
    "anthropic-beta": beta,
  });
  const none = new api.ContextManager({ window, format: "anthropic" }).request(thinking(1));
  assert.deepEqual(none.applyHeaders(own), own);
  assert.throws(() => none.applyHeaders(null), { code: "INVALID_ARGUMENT" });
});

test("hints for Bedrock and the AI SDK use their own members", { skip }, () => {
  const invoked = hinted({ provider: "bedrock" });
  const own = { thinking: { type: "adaptive" }, anthropic_beta: ["a"] };
  const { thinking: thinkingOption, anthropic_beta: betas } = invoked.apply(own);
  assert.deepEqual([thinkingOption, betas], [{ type: "adaptive", ...hint }, ["a", beta]]);
  assert.deepEqual(invoked.applyHeaders(), {});

  /** @param {any[]} messages */
  const sdk = (messages) =>
    messages.map(({ role, content }) => {
      if (typeof content === "string") return { role, content };
      const parts = content.map((/** @type {any} */ it) => {
        if (it.type === "thinking")
          return {
            type: "reasoning",
            text: it.thinking,
            providerOptions: { anthropic: { signature: it.signature } },
          };
        if (it.type === "tool_use")
          return { type: "tool-call", toolCallId: it.id, toolName: it.name, input: it.input };
        const output = { type: "text", value: it.content };
        return { type: "tool-result", toolCallId: it.tool_use_id, toolName: "read", output };
      });
      return { role: role === "user" ? "tool" : role, content: parts };
    });
  const context = new api.ContextManager({
    window: { contextTokens: 10_000 },
    format: "ai-sdk",
    clock: () => 0,
  });
  let prepared;
  for (let turns = 1; turns < 60; turns += 1) {
    prepared = context.request(sdk(thinking(turns)));
    if (prepared.hints.body) break;
  }
  const anthropic = { thinking: { type: "adaptive" }, effort: "high" };
  const sent = prepared.apply({ providerOptions: { openai: { store: false }, anthropic } });
  const binding = { blockBinding: { prefixMismatchBehavior: "drop_block" } };
  assert.deepEqual(sent.providerOptions, {
    openai: { store: false },
    anthropic: { thinking: { type: "adaptive", ...binding }, effort: "high" },
  });
  const last = sent.messages.at(-1);
  assert.deepEqual(last.providerOptions, { anthropic: { cacheControl: ephemeral } });
});

test("apply() adds cache markers only in the room that the host's leave", { skip }, () => {
  const system = [{ type: "text", text: "s", cache_control: ephemeral }];
  const tools = [{ name: "read", input_schema: { type: "object" }, cache_control: ephemeral }];
  const plain = thinking(3);
  const context = new api.ContextManager({ window, format: "anthropic" });
  context.request(plain.slice(0, 3));
  const prepared = context.request(plain);
  assert.equal(markers(prepared.apply({}).messages), 2, "where the cache was, and the end");
  assert.equal(markers(prepared.apply({ system, tools }).messages), 2);
  const full = prepared.apply({ system: [...system, ...system], tools });
  assert.equal(markers(full.messages), 1);
  assert.equal(markers(full.messages.at(-1)), 1, "the end is the last that stays");
  assert.equal(
    markers(prepared.apply({ system: [...system, ...system, ...system], tools }).messages),
    0,
  );

  // In messages: a block that the host has marked keeps its own.
  const hour = { ...ephemeral, ttl: "1h" };
  const own = structuredClone(plain);
  own.at(-1).content[0].cache_control = hour;
  own[0] = { role: "user", content: [{ type: "text", text: "go", cache_control: hour }] };
  const marked = new api.ContextManager({ window, format: "anthropic" }).request(own);
  const { messages } = marked.apply({ system, tools });
  assert.deepEqual([messages[0], messages.at(-1)], [own[0], own.at(-1)]);
  assert.equal(markers(messages), 2);
});

test("apply() marks text as a block, and neither reasoning nor blank text", { skip }, () => {
  const say = (/** @type {any[]} */ ...messages) =>
    new api.ContextManager({ window, format: "anthropic" }).request(messages).apply({}).messages;
  assert.deepEqual(say({ role: "user", content: "go" }), [
    { role: "user", content: [{ type: "text", text: "go", cache_control: ephemeral }] },
  ]);
  const [, , last] = say(
    { role: "user", content: "go" },
    { role: "assistant", content: "so" },
    {
      role: "user",
      content: [
        { type: "text", text: "on" },
        { type: "text", text: " " },
      ],
    },
  );
  assert.equal(markers(last), 1);
  assert.ok(last.content[0].cache_control);
});

test("apply() replaces messages of the body and refuses a copy of a request", {
  skip,
}, () => {
  const history = thinking(2);
  const prepared = new api.ContextManager({ window, format: "anthropic" }).request(history);
  assert.equal(prepared.apply({ messages: [] }).messages.length, history.length);
  assert.throws(() => prepared.apply(null), { code: "INVALID_ARGUMENT" });
  assert.throws(() => api.applyRequest({ ...prepared }, {}), {
    code: "INVALID_ARGUMENT",
    message: /prepared: .*not a copy/,
  });
  assert.deepEqual(structuredClone(prepared).messages, history, "it can be sent to a worker");
});
