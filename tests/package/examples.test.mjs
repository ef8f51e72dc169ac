/**
 * Every JavaScript example of the README and of docs/ runs, with stand-ins for what a host brings. What needs another runtime or a
 * host's own packages is run by the test that is named.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { redis } from "../stores/stores.mjs";
import { examples, imports, NAMES } from "../support/examples.mjs";
import { findProgram } from "../support/matrix.mjs";
import { project, root, run, skip, tools, write } from "../support/project.mjs";

/** Who runs an example that is not run here. */
const ELSEWHERE = {
  "README.md 1": "package/quickstart.test.mjs",
  "docs/coming-from.md 1": "package/coming-from.test.mjs",
  "docs/coming-from.md 2": "package/coming-from.test.mjs",
  "docs/coming-from.md 3": "package/coming-from.test.mjs",
  "docs/coming-from.md 4": "package/coming-from.test.mjs",
  "docs/coming-from.md 5": "package/coming-from.test.mjs",
  "docs/coming-from.md 6": "package/coming-from.test.mjs",
  "docs/hosts/ai-sdk.md 1": "package/ai-sdk.test.mjs",
  "docs/hosts/ai-sdk.md 2": "package/ai-sdk.test.mjs",
  "docs/hosts/langchain.md 1": "package/langchain.test.mjs",
  "docs/hosts/langchain.md 2": "package/langchain.test.mjs",
  "docs/hosts/mastra.md 1": "hosts/mastra.test.mjs",
  "docs/hosts/openai-agents.md 1": "package/openai-agents.test.mjs",
  "docs/hosts/opencode.md 1": "hosts/opencode.test.mjs",
  "docs/hosts/pi.md 1": "hosts/pi.test.mjs",
  "docs/inspector.md 1": "inspector/live.test.mjs",
  "docs/runtimes.md 1": "hosts/jest.test.mjs",
  "docs/runtimes.md 2": "bundlers/bundlers.test.mjs",
};

/** Names that the examples use and a host has, made anew for each. */
const HOST = `import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { assemblePrompt, ContextManager } from "plimsoll";
import { CandidateStore } from "plimsoll/candidates";
import { memoryStore } from "plimsoll/store/memory";

const key = new Uint8Array(randomBytes(32));
mkdirSync("workspace/memory", { recursive: true });
writeFileSync("workspace/AGENTS.md", "Answer briefly.");
const line = (id, role, content) => JSON.stringify({ type: "message", id, message: { role, content } });
writeFileSync("session.jsonl", [
  JSON.stringify({ type: "session", version: 3, id: "s", cwd: "/" }),
  line("a", "user", "go"), line("b", "assistant", "done"), line("c", "user", "and?"),
].join("\\n"));
const options = { window: { contextTokens: 100_000 }, format: "anthropic" };
const context = new ContextManager(options);
const history = [{ role: "user", content: "Fix the parser." }];
context.request(history);
const parts = {
  usage: { input_tokens: 20, output_tokens: 5 },
  content: [{ type: "tool_use", id: "a", name: "context_status", input: {} }, { type: "tool_use", id: "b", name: "read", input: {} }],
};
Object.assign(globalThis, {
  key, options, context, history,
  messages: history,
  store: memoryStore(),
  system: "You are a careful engineer.",
  tools: [{ name: "read", description: "Reads a file.", input_schema: { type: "object" } }],
  sessionId: "s",
  folder: "workspace",
  saved: { file: await new CandidateStore({ sign: { key } }).save(), revision: 0 },
  runTurn: async (prompt) => prompt.length > 0,
  model: "claude-sonnet-4-5",
  channels: { telegram: { dmHistoryLimit: 2 } },
  log: () => {},
  runTool: async () => "done",
  callModel: async ({ messages }) => (messages.length > 0 ? parts : {}),
  anthropic: { messages: { create: async (body) => (body.messages.length > 0 ? parts : {}) } },
  url: process.env.URL_OF_HOST,
  apiKey: "none",
  myStore: () => memoryStore(),
  sessions: new Map([["s", context]]),
  text: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "context.inspect", params: { sessionId: "s" } }),
  plan: assemblePrompt([{ key: "base", content: "Be kind.", priority: 95, protected: true, stable: true }]),
  usage: { prompt_tokens: 20, completion_tokens: 5 },
  compactBetweenSteps: () => {},
});
`;

/** What an example must have come to. */
const OUTCOMES = {
  "README.md 2": "assert.equal(prepared.messages.length, 1); assert.ok(await store.load('s'));",
  "docs/candidates.md 1": "assert.deepEqual(rejected, []); assert.ok(saved.file.length > 0);",
  "docs/coming-from.md 7":
    "assert.deepEqual(options, { preset: 'context-budget', window: { contextTokens: 131_072 }, trigger: 0.8, protectFirst: 5 }); assert.equal(context.inspect().contextWindowTokens, 131_072);",
  "docs/hosts.md 1": "assert.deepEqual(messages.length, 1);",
  "docs/inspect.md 1":
    "assert.equal(used + reserve + free, contextWindowTokens); assert.equal(contextWindowTokens, 100_000); assert.equal(answer.result.schema, 'context.inspect/1');",
  "docs/inspect.md 2":
    'assert.equal(last.source, readSession(await readFile("session.jsonl")).calls.at(-1).usage ? "provider" : "estimate");',
  "docs/inspect.md 3": "assert.equal(run.calls.length, session.calls.length);",
  "docs/inspect.md 4": "assert.ok(session.messageCount > 0);",
  "docs/inspect.md 5": "assert.match(budget.statusLine(), /131,072/);",
  "docs/policies.md 1": "assert.equal(options.preset, 'goclaw');",
  "docs/policies.md 3": "assert.equal(isEnough, true);",
  "docs/prompt.md 1": "assert.match(plan.prompt, /Answer briefly/);",
  "docs/prompt.md 2": "assert.deepEqual(system[0].cache_control, { type: 'ephemeral' });",
  "docs/requests.md 1":
    "assert.equal(body.max_tokens, 16_000); assert.equal(body.messages.length, 1);",
  "docs/requests.md 2": "assert.equal(max_tokens, 64_000);",
  "docs/stores.md 1":
    "assert.equal(context.status().source, 'usage+estimate'); assert.ok(await store.load('s'));",
  "docs/stores.md 2":
    "assert.deepEqual(restored.request(history).messages, history); assert.ok(bytes.length > 0);",
  "docs/stores.md 3":
    "assert.match(results[0].content, /usable tokens/); assert.equal(results[1].content, 'done'); assert.equal((await context.prepare(history, { system, tools: all })).repairs.length, 0);",
  "docs/stores.md 4": "assert.equal(prepared.messages.length, 3);",
  "docs/stores.md 5":
    "assert.deepEqual([messages.length, revision, rebased], [1, 1, false]); assert.ok(await store.load('s')); process.exit();",
};

const folder = project({ "host.mjs": HOST, "names.mjs": NAMES });
for (const name of ["redis", "@redis"]) {
  symlinkSync(join(tools, name), join(folder, "node_modules", name), "dir");
}
const exported = JSON.parse(run(process.execPath, ["names.mjs"], folder));

for (const { page, number, code } of examples) {
  const name = `${page} ${number}`;
  const elsewhere = ELSEWHERE[name];
  if (elsewhere) {
    console.log(`skipped: ${name} is run by ${elsewhere}`);
    continue;
  }
  test(`example ${number} of ${page} runs`, async (t) => {
    const needsRedis = code.includes('from "redis"');
    if (needsRedis && !findProgram(["redis-server"])) {
      return skip(t, "there is no redis-server in PATH");
    }
    const url = needsRedis ? (await redis(t)).url : "http://127.0.0.1:1/v1";
    const file = `${name.replaceAll(/\W/g, "-")}.mjs`;
    const text = `import "./host.mjs"; import assert from "node:assert/strict"; ${imports(code, exported)}
${code}
${OUTCOMES[name] ?? ""}`;
    write(folder, { [file]: text });
    const { status, stderr } = spawnSync(process.execPath, [join(folder, file)], {
      cwd: folder,
      encoding: "utf8",
      env: { ...process.env, URL_OF_HOST: url },
      // What waits for a server that is not there waits for ever.
      timeout: 60_000,
    });
    return assert.equal(status, 0, stderr);
  });
}

test("a test that runs an example elsewhere reads it from the page", () => {
  for (const [name, file] of Object.entries(ELSEWHERE)) {
    const source = readFileSync(join(root, "tests", file), "utf8");
    assert.match(source, /\b(snippet|example|exampleOf)\(|README\.md/, `${name}: ${file}`);
  }
});

test("every example named here exists", () => {
  const names = new Set(examples.map(({ page, number }) => `${page} ${number}`));
  const unknown = Object.keys({ ...ELSEWHERE, ...OUTCOMES }).filter((name) => !names.has(name));
  assert.deepEqual(unknown, []);
});
