// @ts-check
/** Histories as the AI SDK holds them, and the SDK in its versions as their judge. */
import { load } from "./sdks.mjs";

const USAGE = {
  inputTokens: { total: 1 },
  outputTokens: { total: 1 },
  totalTokens: 2,
};

/** Every version that is installed: its name, its module, and a generateText that stops after the prompt. */
export async function versions() {
  // Warnings of deprecated parts are no verdict.
  /** @type {any} */ (globalThis).AI_SDK_LOG_WARNINGS = false;
  const found = [];
  for (const [name, mock] of [
    ["ai", "MockLanguageModelV4"],
    ["ai-v6", "MockLanguageModelV3"],
    ["ai-v5", "MockLanguageModelV2"],
  ]) {
    const modules = await load(name, `${name}/test`);
    if (!modules) continue;
    const [sdk, testing] = modules;
    found.push({ name, sdk, prompt: prompter(sdk, testing[mock]) });
  }
  return found;
}

/** @param {any} sdk @param {any} Model */
function prompter(sdk, Model) {
  const execute = async () => "ran";
  const inputSchema = sdk.jsonSchema({ type: "object" });
  const names = ["read", "list", "ask", "search"];
  const tools = Object.fromEntries(
    names.map((name) => [
      name,
      sdk.tool
        ? sdk.tool({ inputSchema, execute, needsApproval: true })
        : { inputSchema, execute, needsApproval: true },
    ]),
  );
  /** What the model is shown. @param {any[]} messages @returns {Promise<any[]>} */
  return async (messages) => {
    let seen = null;
    const model = new Model({
      doGenerate: async (/** @type {any} */ options) => {
        seen = options.prompt;
        return {
          content: [{ type: "text", text: "ok" }],
          finishReason: { unified: "stop" },
          usage: USAGE,
          warnings: [],
        };
      },
    });
    await sdk.generateText({ model, messages, tools, allowSystemInMessages: true });
    if (seen === null) throw new Error("the model was not asked");
    return seen;
  };
}

/** The provider goes on with a turn in which a call of its own has no result yet. @param {any} message */
function isPaused({ content }) {
  const hasResult = (/** @type {any} */ call) =>
    content.some(
      (/** @type {any} */ part) =>
        part.type === "tool-result" && part.toolCallId === call.toolCallId,
    );
  return content.some(
    (/** @type {any} */ part) =>
      part.type === "tool-call" && part.providerExecuted && !hasResult(part),
  );
}

/** What no provider takes of a prompt. @param {any[]} prompt */
export function refused(prompt) {
  /** @type {string[]} */
  const found = [];
  /** @type {Set<string>} */
  const open = new Set();
  /** @type {Set<string>} */
  const used = new Set();
  for (const [at, { role, content }] of prompt.entries()) {
    if (role === "system") continue;
    if (content.length === 0) found.push(`${at}: empty ${role}`);
    // Neighbouring messages of the assistant are one turn to the provider.
    if ((role === "user" || role === "system") && open.size > 0)
      found.push(`${at}: ${role} while calls are open`);
    for (const part of content) {
      if (part.type === "text" && part.text.trim() === "") found.push(`${at}: blank text`);
      if (part.type === "tool-call") {
        if (used.has(part.toolCallId)) found.push(`${at}: id ${part.toolCallId} again`);
        used.add(part.toolCallId);
        if (!part.providerExecuted) open.add(part.toolCallId);
        if (typeof part.input !== "object" || part.input === null) found.push(`${at}: arguments`);
      }
      if (part.type === "tool-result" && role === "tool" && !open.delete(part.toolCallId))
        found.push(`${at}: result of nothing, ${part.toolCallId}`);
      if (part.type === "tool-result" && role === "assistant" && !used.has(part.toolCallId))
        found.push(`${at}: result of nothing, ${part.toolCallId}`);
    }
    const isAnswer = content.some((/** @type {any} */ part) => part.type !== "reasoning");
    if (role === "assistant" && !isAnswer && prompt[at + 1]?.role !== "assistant")
      found.push(`${at}: reasoning alone`);
  }
  if (open.size > 0) found.push(`open: ${[...open]}`);
  const last = prompt.at(-1);
  if (last?.role === "assistant" && !isPaused(last)) found.push("the assistant is last");
  const first = prompt.find(({ role }) => role !== "system");
  if (first?.role !== "user") found.push(`${first?.role} is first`);
  return found;
}

/** A session of turns with tools, approvals, images and reasoning. @param {ReturnType<typeof import("./sdks.mjs").dice>} by @param {number} turns */
export function modelMessages({ below, words, chance }, turns) {
  // Version 5 knows no approvals.
  const approves = chance(0.5);
  let calls = 0;
  /** @type {any[]} */
  const messages = [];
  const output = () => {
    const text = words(chance(0.3) ? 400 : 20);
    return [
      { type: "text", value: text },
      { type: "json", value: { text } },
      { type: "error-text", value: text },
      {
        type: "content",
        value: [
          { type: "text", text },
          { type: "text", text: words(3) },
        ],
      },
    ][below(4)];
  };
  for (let turn = 0; turn < turns; turn += 1) {
    const text = { type: "text", text: words(30) };
    const image = { type: "image", image: new Uint8Array([1, 2, 3, turn]), mediaType: "image/png" };
    messages.push(
      chance(0.5)
        ? { role: "user", content: text.text }
        : { role: "user", content: chance(0.3) ? [text, image] : [text] },
    );
    for (let step = below(4); step > 0; step -= 1) {
      const content = [];
      const results = [];
      const approvals = [];
      if (chance(0.3)) {
        const providerOptions = { anthropic: { signature: words(10) } };
        content.push({
          type: "reasoning",
          text: words(40),
          ...(chance(0.5) ? { providerOptions } : {}),
        });
      }
      if (chance(0.5)) content.push({ type: "text", text: words(10) });
      for (let call = below(3) + 1; call > 0; call -= 1) {
        const toolCallId = `c${calls++}`;
        const toolName = ["read", "list", "ask"][below(3)];
        if (chance(0.1)) {
          const of = { toolCallId: `s${calls}`, toolName: "search" };
          content.push({
            type: "tool-call",
            ...of,
            input: { q: words(3) },
            providerExecuted: true,
          });
          content.push({
            type: "tool-result",
            ...of,
            output: { type: "json", value: [words(30)] },
          });
        }
        content.push({
          type: "tool-call",
          toolCallId,
          toolName,
          input: { path: words(chance(0.2) ? 200 : 2) },
        });
        if (approves && chance(0.3)) {
          content.push({ type: "tool-approval-request", approvalId: `a${calls}`, toolCallId });
          const approved = chance(0.7);
          approvals.push({ type: "tool-approval-response", approvalId: `a${calls}`, approved });
          results.push({
            type: "tool-result",
            toolCallId,
            toolName,
            output: approved ? output() : { type: "execution-denied", reason: "no" },
          });
        } else results.push({ type: "tool-result", toolCallId, toolName, output: output() });
      }
      messages.push({ role: "assistant", content });
      if (approvals.length > 0) messages.push({ role: "tool", content: approvals });
      if (chance(0.5)) messages.push({ role: "tool", content: results });
      else messages.push(...results.map((result) => ({ role: "tool", content: [result] })));
    }
    if (turn + 1 < turns)
      messages.push({
        role: "assistant",
        content: chance(0.5) ? words(40) : [{ type: "text", text: words(40) }],
      });
  }
  return messages;
}

/** The same as a chat shows it. @param {ReturnType<typeof import("./sdks.mjs").dice>} by @param {number} turns */
export function shownMessages({ below, words, chance }, turns) {
  let ids = 0;
  /** @type {any[]} */
  const messages = [];
  for (let turn = 0; turn < turns; turn += 1) {
    const text = { type: "text", text: words(30) };
    const file = { type: "file", mediaType: "image/png", url: "data:image/png;base64,AAAA" };
    messages.push({ id: `u${turn}`, role: "user", parts: chance(0.2) ? [text, file] : [text] });
    if (turn + 1 === turns) break;
    const parts = [];
    for (let step = below(4); step > 0; step -= 1) {
      parts.push({ type: "step-start" });
      if (chance(0.3)) parts.push({ type: "reasoning", text: words(40), state: "done" });
      if (chance(0.5)) parts.push({ type: "text", text: words(10), state: "done" });
      for (let call = below(3) + 1; call > 0; call -= 1) {
        const toolCallId = `c${ids++}`;
        const named = chance(0.2)
          ? { type: "dynamic-tool", toolName: "read" }
          : { type: `tool-${["read", "list", "ask"][below(3)]}` };
        const input = { path: words(chance(0.2) ? 200 : 2) };
        const output = chance(0.5) ? words(chance(0.3) ? 400 : 20) : { text: words(20), rows: [1] };
        const approval = { id: `a${ids}`, approved: true };
        const ended = chance(0.2)
          ? { state: "output-error", errorText: words(10) }
          : { state: "output-available", output, ...(chance(0.2) ? { approval } : {}) };
        parts.push({ ...named, toolCallId, input, ...ended });
      }
    }
    parts.push({ type: "step-start" }, { type: "text", text: words(40), state: "done" });
    if (chance(0.2))
      parts.push({ type: "source-url", sourceId: `s${turn}`, url: "https://a.example" });
    messages.push({ id: `m${turn}`, role: "assistant", parts });
  }
  return messages;
}
