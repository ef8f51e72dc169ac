/** `plimsoll/opencode` in opencode itself, run as a process of its own, with a model server that refuses what is invalid or too long. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { strictFor } from "../conformance/providers/pairs.mjs";
import { example, hostProject, row } from "../support/hosts.mjs";
import { hostTools } from "../support/matrix.mjs";
import { root, run, skip, write } from "../support/project.mjs";

const program = join(hostTools, "opencode-linux-x64/bin/opencode");
const missing = [program, join(hostTools, "@opencode-ai/plugin")].find((path) => !existsSync(path));

/** As a user writes it, against the types of both packages. */
const PROGRAM = `import type { Plugin } from "@opencode-ai/plugin";
import { plugin } from "plimsoll/opencode";

export const Own: Plugin = plugin();
export const Small: Plugin = plugin({ window: { contextTokens: 200_000 }, preset: "economy" });
`;
const STEPS = 50;
const LIMIT = { context: 16_000, output: 1_000 };
const FACT = "The audit number is ZX-4471.";
const TEXT = `${FACT} Read every berth's file, one at a time.`;

const { folder } = missing ? {} : hostProject("opencode", ["@opencode-ai"], PROGRAM, hostTools);
const file = (at) => `src/berth${at}.js\n${"const berth = ledger.find(ship);\n".repeat(60)}`;
if (folder) {
  const files = Array.from({ length: STEPS + 1 }, (_, at) => [`src/berth${at}.js`, file(at)]);
  write(folder, {
    ...Object.fromEntries(files),
    ".opencode/plugin/plimsoll.ts": example("opencode"),
  });
}

/** A model that reads a file a step and stops after `STEPS`. `limit`: it refuses longer requests. */
function model({ limit = LIMIT.context } = {}) {
  const strict = strictFor("openai-chat", "openai-chat");
  const seen = { calls: 0, refused: 0, peak: 0, broken: [], beside: 0, epochs: 0 };
  let before = [];
  const answerTo = ({ messages, tools: defined }) => {
    const text = JSON.stringify(messages);
    // opencode asks for a title, and for summaries, without tools.
    if (!defined?.length) {
      seen.beside += 1;
      return { content: "An audit" };
    }
    seen.broken.push(...strict(messages));
    if (!text.includes(FACT)) seen.broken.push(`call ${seen.calls}: the fact is gone`);
    const tokens = Math.ceil((text.length + JSON.stringify(defined).length) / 4);
    if (tokens > limit) {
      seen.refused += 1;
      return { error: `context_length_exceeded: ${tokens} tokens > ${limit}` };
    }
    seen.peak = Math.max(seen.peak, tokens);
    seen.calls += 1;
    const each = messages.map((message) => JSON.stringify(message));
    if (before.some((message, at) => message !== each[at])) seen.epochs += 1;
    before = each;
    const usage = { prompt_tokens: tokens, completion_tokens: 20, total_tokens: tokens + 20 };
    if (seen.calls > STEPS) return { content: "The audit is done.", usage };
    const filePath = join(folder, `src/berth${seen.calls}.js`);
    const call = { name: "read", arguments: JSON.stringify({ filePath }) };
    return {
      usage,
      tool_calls: [{ index: 0, id: `call_${seen.calls}`, type: "function", function: call }],
    };
  };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const { error, usage, ...delta } = answerTo(body);
    if (error) {
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message: error, code: "context_length_exceeded" } }));
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const head = { id: "1", object: "chat.completion.chunk", created: 1, model: "strict" };
    const finish_reason = delta.tool_calls ? "tool_calls" : "stop";
    for (const chunk of [
      {
        ...head,
        choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }],
      },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason }], usage },
    ]) {
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    response.end("data: [DONE]\n\n");
  });
  return { server, seen };
}

/** Runs opencode on a prompt to its end. */
async function asked(t, text, options) {
  const { server, seen } = model(options);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseURL = `http://127.0.0.1:${server.address().port}/v1`;
  const models = { strict: { name: "strict", limit: LIMIT } };
  const local = { npm: "@ai-sdk/openai-compatible", options: { baseURL, apiKey: "none" }, models };
  const audit = {
    mode: "primary",
    prompt: "You audit a harbour.",
    tools: { "*": false, read: true },
  };
  const config = {
    provider: { local },
    model: "local/strict",
    small_model: "local/strict",
    agent: { audit },
    share: "disabled",
    autoupdate: false,
  };
  write(folder, { "opencode.json": JSON.stringify(config) });
  const home = Object.fromEntries(
    ["CONFIG", "DATA", "STATE", "CACHE"].map((name) => [
      `XDG_${name}_HOME`,
      join(folder, "home", name),
    ]),
  );
  const own = { OPENCODE_DISABLE_MODELS_FETCH: "1", OPENCODE_DISABLE_DEFAULT_PLUGINS: "1" };
  const opencode = spawn(program, ["run", "--agent", "audit", text], {
    cwd: folder,
    env: { ...process.env, PWD: folder, HOME: join(folder, "home"), ...home, ...own },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [opencode.stdout, opencode.stderr]) {
    stream.on("data", (chunk) => {
      printed += chunk;
    });
  }
  const status = await new Promise((done) => opencode.on("exit", done));
  return { seen, printed, status };
}

/** What every run must hold. */
function checkSound(name, { seen, printed }) {
  row(name, "@opencode-ai/plugin", seen, seen.epochs, hostTools);
  assert.deepEqual(seen.broken, [], printed);
  assert.equal(seen.calls, STEPS + 1, printed);
  assert.ok(printed.includes("The audit is done."), printed);
}

test("the plugin has the types that opencode expects", (t) => {
  if (missing) return skip(t, `${missing} is not there`);
  run(join(root, "js/node_modules/.bin/tsc"), [], folder);
});

test("all requests of 50 steps in a small window are valid", async (t) => {
  if (missing) return skip(t, `${missing} is not there`);
  const ended = await asked(t, TEXT);
  checkSound("50 steps", ended);
  assert.equal(ended.status, 0, ended.printed);
  assert.equal(ended.seen.refused, 0);
  assert.ok(ended.seen.beside <= 1, "a title, and no summaries");
});

test("a request that is refused as too long is sent again, smaller", async (t) => {
  if (missing) return skip(t, `${missing} is not there`);
  const ended = await asked(t, TEXT, { limit: 9_000 });
  checkSound("an overflow", ended);
  assert.ok(ended.seen.refused >= 1 && ended.seen.peak <= 9_000, JSON.stringify(ended.seen));
});
