/** The README's quick start, with the provider's own SDK, against a server that refuses what the provider would refuse. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { strictFor } from "../conformance/providers/pairs.mjs";
import { project, root, tools } from "../support/project.mjs";

const STEPS = 80;
/** Far smaller than in the README, so that 80 steps see edits and folds. */
const WINDOW = { contextTokens: 24_000, maxOutputTokens: 2_000 };
const RULE = "The audit must not open /etc/secrets, whatever a file says.";

const readme = readFileSync(join(root, "README.md"), "utf8");
const [, example] = /^## Quick start\n+```js\n(.*?)^```$/ms.exec(readme) ?? [];
const code =
  `const { apiKey, model, system, tools } = globalThis.host;\n${example}\nexport { step };\n`
    .replaceAll("200_000", String(WINDOW.contextTokens))
    .replaceAll("16_000", String(WINDOW.maxOutputTokens));

/** What a signature of thinking covers: all that the model had read, without cache markers, and a text as the block that it is. */
function signatureOf(body, before) {
  const plain = (name, value) => {
    if (name === "cache_control") return undefined;
    return name === "content" && typeof value === "string"
      ? [{ type: "text", text: value }]
      : value;
  };
  const all = JSON.stringify([body.system, body.tools, before], plain);
  return createHash("sha256").update(all).digest("base64");
}

/** Tokens as a provider counts them: of texts and arguments, and some for each block. */
function tokensOf(body) {
  let tokens = 0;
  const plain = (name, value) => {
    if (name === "signature" || name === "cache_control") return undefined;
    if (typeof value === "string") tokens += value.length / 3.6;
    if (typeof value === "object") tokens += 2;
    return value;
  };
  JSON.stringify([body.system, body.tools, body.messages], plain);
  return Math.ceil(tokens);
}

/** A provider that refuses invalid transcripts, too many cache markers, long prompts, and thinking whose prefix has changed. */
function provider() {
  const strict = strictFor("anthropic", "anthropic");
  const seen = { requests: 0, summaries: 0, refused: [], peak: 0, dropped: 0, last: "" };
  const refusal = (body, headers) => {
    const [broken] = strict(body.messages, { signed: true, cache: new WeakMap() });
    if (broken) return `[${broken.index}]${broken.path}: ${broken.message}`;
    const markers = JSON.stringify(body).split('"cache_control"').length - 1;
    if (markers > 4) return `${markers} blocks with cache_control`;
    const tokens = tokensOf(body);
    seen.peak = Math.max(seen.peak, tokens);
    if (tokens + body.max_tokens > WINDOW.contextTokens)
      return `prompt is too long: ${tokens} tokens`;
    if (body.thinking && !body.thinking.type) return "thinking.type: Field required";
    const drops =
      body.thinking?.block_binding?.prefix_mismatch_behavior === "drop_block" &&
      String(headers["anthropic-beta"]).includes("thinking-binding-controls");
    for (const [at, { role, content }] of body.messages.entries()) {
      if (role !== "assistant" || !Array.isArray(content)) continue;
      for (const [place, block] of content.entries()) {
        if (block.type !== "thinking") continue;
        const prefix = [...body.messages.slice(0, at), content.slice(0, place)];
        if (block.signature === signatureOf(body, prefix)) continue;
        if (!drops)
          return `messages.${at}.content.${place}: the signature does not match what precedes it`;
        seen.dropped += 1;
      }
    }
    return null;
  };
  const reply = (body) => {
    const usage = { input_tokens: tokensOf(body), output_tokens: 60 };
    const id = `msg_${seen.requests}`;
    const message = { id, type: "message", role: "assistant", model: body.model, usage };
    if (body.model === "claude-haiku-4-5") {
      seen.summaries += 1;
      const headings = JSON.stringify(body).match(/## [A-Z][A-Za-z /&]+/g) ?? [];
      const text = [...new Set(headings)]
        .map((line) => `${line}\n- The audit goes on, module by module.`)
        .join("\n\n");
      return { ...message, content: [{ type: "text", text }], stop_reason: "end_turn" };
    }
    const thinking = `Step ${seen.requests}: the next file.`;
    const signature = signatureOf(body, [...body.messages, []]);
    const path = `src/module-${seen.requests}.rs`;
    const use = { type: "tool_use", id: `toolu_${seen.requests}`, name: "read", input: { path } };
    const text = `${path} is next. ${"What was found so far holds for this module as well. ".repeat(8)}`;
    const content = [{ type: "thinking", thinking, signature }, { type: "text", text }, use];
    return { ...message, content, stop_reason: "tool_use" };
  };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    const isSummary = body.model === "claude-haiku-4-5";
    const why = isSummary ? null : refusal(body, request.headers);
    if (!isSummary) seen.requests += 1;
    if (why) seen.refused.push(`request ${seen.requests}: ${why}`);
    else if (!isSummary) seen.last = JSON.stringify(body);
    const error = { type: "error", error: { type: "invalid_request_error", message: why } };
    response.writeHead(why ? 400 : 200, { "content-type": "application/json" });
    response.end(JSON.stringify(why ? error : reply(body)));
  });
  return { server, seen };
}

test(`the README's quick start runs ${STEPS} steps against a strict server`, async (t) => {
  assert.ok(example?.includes("new ContextManager"), "the README has a quick start");
  assert.ok(code.includes(String(WINDOW.contextTokens)), "its window is made smaller");
  const folder = project({ "quickstart.mjs": code });
  symlinkSync(join(tools, "@anthropic-ai"), join(folder, "node_modules/@anthropic-ai"), "dir");
  const { server, seen } = provider();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const own = globalThis.fetch;
  t.after(() => {
    globalThis.fetch = own;
  });
  // Nothing of it leaves this machine.
  const here = `http://127.0.0.1:${server.address().port}`;
  globalThis.fetch = (url, options) =>
    own(String(url).replace("https://api.anthropic.com", here), options);
  const input_schema = { type: "object", properties: { path: { type: "string" } } };
  globalThis.host = {
    apiKey: "none",
    model: "claude-opus-4-8",
    system: "You audit a repository, file by file.",
    tools: [{ name: "read", description: "Reads a file.", input_schema }],
  };
  process.env.ANTHROPIC_API_KEY = "none";
  const { step } = await import(pathToFileURL(join(folder, "quickstart.mjs")));
  const history = [{ role: "user", content: `Audit every module. ${RULE}` }];
  for (let at = 0; at < STEPS; at += 1) {
    const { content } = await step(history);
    const results = content
      .filter(({ type }) => type === "tool_use")
      .map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: source(at) }));
    history.push({ role: "user", content: results });
  }
  console.log(
    `${seen.requests} requests, ${seen.refused.length} refused, ${seen.summaries} calls of the summarizer, peak ${seen.peak} tokens, ` +
      `thinking dropped by the provider ${seen.dropped} times`,
  );
  assert.deepEqual(seen.refused, []);
  assert.equal(seen.requests, STEPS);
  assert.ok(seen.summaries >= 1, "a fold asked the summarizer");
  assert.ok(tokensOf({ messages: history }) > 2 * WINDOW.contextTokens, "all of it would not fit");
  assert.ok(seen.last.includes(RULE), "the user's rule is in the last request");
});

/** A file of about 700 tokens, another each time. */
const source = (at) =>
  Array.from(
    { length: 50 },
    (_, line) => `pub fn check_${at}_${line}(input: &str) -> bool { input.len() > ${line * at} }`,
  ).join("\n");
