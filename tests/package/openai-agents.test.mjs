/** `plimsoll/openai-agents` in the OpenAI Agents SDK itself, with a model that refuses what is invalid or too long. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { Agent, MemorySession, run, setTracingDisabled, tool, Usage } from "@openai/agents";
import { z } from "zod";
import { strictFor } from "../conformance/providers/pairs.mjs";
import { hostProject, row, snippet } from "../support/hosts.mjs";
import { root, run as runProgram } from "../support/project.mjs";

/** As a user writes it, against the types of both packages. */
const PROGRAM = `import { Agent, type CallModelInputFilter, Runner, run } from "@openai/agents";
import { callModelInputFilter } from "plimsoll/openai-agents";

const filter: CallModelInputFilter = callModelInputFilter({ window: { contextTokens: 200_000 } });
const agent = new Agent({ name: "auditor" });
export const once = run(agent, "x", { callModelInputFilter: callModelInputFilter({ window: { contextTokens: 1 } }) });
export const runner = new Runner({ callModelInputFilter: filter });
`;
const { folder, entry } = hostProject("openai-agents", ["@openai", "zod"], PROGRAM);
const { callModelInputFilter } = await import(pathToFileURL(entry).href);
setTracingDisabled(true);

const STEPS = 50;
const WINDOW = { contextTokens: 16_000, maxOutputTokens: 1_000 };
const FACT = "The audit number is ZX-4471.";
const TEXT = `${FACT} Read every berth's file, one at a time.`;
const tokensOf = (request) =>
  Math.ceil(JSON.stringify([request.systemInstructions, request.tools, request.input]).length / 4);

/** A model that reads a file a step, with reasoning before it, and stops after `steps`. */
class Model {
  seen = { calls: 0, refused: 0, peak: 0, broken: [] };
  #strict = strictFor("openai-agents", "openai-responses");

  constructor(steps = STEPS) {
    this.steps = steps;
  }

  async getResponse(request) {
    const { seen } = this;
    const { input } = request;
    const items = typeof input === "string" ? [{ role: "user", content: input }] : input;
    seen.broken.push(...this.#strict(items));
    if (!JSON.stringify(items).includes(FACT)) seen.broken.push("the fact is gone");
    const tokens = tokensOf(request);
    if (tokens > WINDOW.contextTokens) {
      seen.refused += 1;
      throw new Error(`context_length_exceeded: ${tokens} tokens`);
    }
    seen.peak = Math.max(seen.peak, tokens);
    seen.calls += 1;
    const usage = new Usage({ inputTokens: tokens, outputTokens: 20, totalTokens: tokens + 20 });
    return { usage, responseId: `resp_${seen.calls}`, output: this.#output(seen.calls) };
  }

  async *getStreamedResponse(request) {
    const { usage, responseId: id, output } = await this.getResponse(request);
    const { inputTokens, outputTokens, totalTokens } = usage;
    const response = { id, usage: { inputTokens, outputTokens, totalTokens }, output };
    yield { type: "response_done", response };
  }

  #output(at) {
    if (at % (this.steps + 1) === 0) {
      const content = [{ type: "output_text", text: "The audit is done." }];
      return [
        { type: "message", id: `msg_${at}`, role: "assistant", status: "completed", content },
      ];
    }
    const thought = {
      type: "reasoning",
      id: `rs_${at}`,
      content: [{ type: "input_text", text: "Next." }],
    };
    const args = JSON.stringify({ path: `src/berth${at}.js` });
    const call = { type: "function_call", id: `fc_${at}`, callId: `call_${at}`, name: "read" };
    return [thought, { ...call, arguments: args, status: "completed" }];
  }
}

const read = tool({
  name: "read",
  description: "Reads a file.",
  parameters: z.object({ path: z.string() }),
  execute: ({ path }) => `${path}\n${"const berth = ledger.find(ship);\n".repeat(60)}`,
});
const agentOf = (model) =>
  new Agent({ name: "auditor", instructions: "You audit a harbour.", model, tools: [read] });
const MOST = { maxTurns: 2 * STEPS };

/** What every way must hold. */
function checkSound(name, { seen }, text, epochs) {
  row(name, "@openai/agents", seen, epochs);
  assert.deepEqual(seen.broken, []);
  assert.equal(seen.calls, STEPS + 1);
  assert.equal(text, "The audit is done.");
  assert.equal(seen.refused, 0);
  assert.ok(seen.peak <= WINDOW.contextTokens - WINDOW.maxOutputTokens, `${seen.peak}`);
}

test("the filter has the types that the SDK expects", () => {
  runProgram(join(root, "js/node_modules/.bin/tsc"), [], folder);
});

for (const stream of [false, true]) {
  test(`all requests of 50 steps in a small window are valid (${stream ? "streamed" : "generated"})`, async () => {
    const model = new Model();
    let epochs = 0;
    const on = ({ type }) => {
      epochs += type === "epoch" ? 1 : 0;
    };
    const filter = callModelInputFilter({ window: WINDOW, on });
    const result = await run(agentOf(model), TEXT, {
      ...MOST,
      stream,
      callModelInputFilter: filter,
    });
    if (stream) await result.completed;
    checkSound(stream ? "streamed" : "generated", model, result.finalOutput, epochs);
    assert.ok(epochs > 0, "the window was full");
    const results = result.history.filter(({ type }) => type === "function_call_result");
    assert.equal(results.length, STEPS);
    assert.ok(
      results.every(({ output }) => output.text.length > 1_900),
      "the run's items are whole",
    );
  });
}

test("the same run without Plimsoll is refused", async () => {
  const model = new Model();
  await assert.rejects(run(agentOf(model), TEXT, MOST), /context_length_exceeded/);
  assert.ok(model.seen.calls < STEPS);
});

test("consecutive runs share a session of the SDK", async () => {
  const model = new Model(20);
  const session = new MemorySession();
  const filter = callModelInputFilter({ window: WINDOW });
  for (let at = 0; at < 3; at += 1) {
    const options = { ...MOST, session, callModelInputFilter: filter };
    const { finalOutput } = await run(agentOf(model), at ? "Once more." : TEXT, options);
    assert.equal(finalOutput, "The audit is done.");
  }
  row("3 runs of a session", "@openai/agents", model.seen);
  const stored = (await session.getItems()).filter(({ role }) => role === "user");
  assert.deepEqual(
    stored.map(({ content }) => content),
    [TEXT, "Once more.", "Once more."],
  );
  assert.deepEqual(model.seen.broken, []);
  assert.equal(model.seen.refused, 0);
});

test("the example of docs/hosts/openai-agents.md runs", async () => {
  const model = new Model();
  const { result } = await snippet(folder, "openai-agents", { model, tools: [read], text: TEXT });
  checkSound("docs/hosts/openai-agents.md", model, result.finalOutput);
});
