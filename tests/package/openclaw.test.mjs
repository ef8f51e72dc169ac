/** The context engine of OpenClaw, held to what its host does in each hook. */
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Host, hostProject, installed, WINDOW } from "../support/openclaw-host.mjs";
import { emptyFolder } from "../support/project.mjs";

const folder = hostProject();
const FACT = "the access phrase of the harbour office is ZX-4471-QUARTZ";
const settings = { pins: { patterns: ["\\bPIN:"] } };
const start = (options = {}) =>
  new Host(folder, { settings, agentDir: emptyFolder(), ...options }).start();
const json = (value) => JSON.stringify(value);

/** Plays turns, the third with the fact. */
async function play(host, id, from, to, options) {
  for (let turn = from; turn <= to; turn += 1) {
    const text = turn === 3 ? `PIN: ${FACT}.` : `Step ${turn}: look at berth ${turn * 37}.`;
    await host.turn(id, text, options);
    if (turn === 3) host.fact = FACT;
  }
}

test("the manifest names the engine, its file and a closed settings schema", () => {
  const root = join(folder, "node_modules/plimsoll");
  const { openclaw, peerDependenciesMeta } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const manifest = JSON.parse(readFileSync(join(root, "openclaw.plugin.json"), "utf8"));
  for (const file of openclaw.extensions) assert.ok(existsSync(join(root, file)), file);
  assert.equal(peerDependenciesMeta.openclaw.optional, true);
  assert.equal(manifest.kind, "context-engine");
  assert.equal(manifest.configSchema.additionalProperties, false);
  assert.deepEqual(
    Object.keys(manifest.uiHints).sort(),
    Object.keys(manifest.configSchema.properties).sort(),
  );
});

test("the engine declares what the host requires before a turn", async () => {
  const host = await start();
  const { info, commitTurn } = await host.engine();
  assert.equal(host.registered.id, "plimsoll");
  assert.equal(info.transcriptSemantics.currentTurnFence, "before-current-turn-entry-v1");
  assert.equal(info.transcriptSemantics.turnAdvancementIdempotency, "atomic-idempotent-v1");
  assert.equal(info.ownsCompaction, true);
  assert.equal(typeof commitTurn, "function");
});

for (const api of ["openai-completions", "anthropic-messages"]) {
  test(`60 turns at 32k over ${api} with a restart stay valid and short, with few epochs and the fact in each`, async () => {
    const host = await start({ api });
    await play(host, "long", 1, 30);
    await host.start();
    await play(host, "long", 31, 60);
    const { calls, broken, peak, epochs, summaries, overflows } = host.seen;
    console.log(
      `${api}: ${calls} calls, ${broken.length} broken, ${overflows} overflows, peak ${peak}, ${epochs} epochs, ${summaries} summaries`,
    );
    assert.deepEqual(broken, []);
    assert.equal(overflows, 0);
    assert.equal(calls, 180);
    assert.ok(epochs <= 20, `${epochs}`);
    assert.ok(summaries > 0);
    assert.deepEqual(host.logged, []);
  });
}

test("after a restart the next request begins with the bytes of the last one", async () => {
  const host = await start();
  await play(host, "bytes", 1, 12);
  const last = host.lastSent;
  await host.start();
  const engine = await host.engine();
  await engine.bootstrap(host.base("bytes"));
  const { messages } = await engine.assemble(host.first("bytes", "Go on."));
  assert.ok(messages.length > last.length);
  assert.ok(json(messages.slice(0, last.length).map(bare)) === json(last.map(bare)));
});
/** A message without what the host adds to its own copy of it. */
const bare = ({ role, content }) => ({ role, content });

test("the first call of another engine's long session fits, with pins and without that engine's summary", async () => {
  const other = await start();
  await play(other, "old", 1, 40, { isCommitted: false, chars: 5_000 });
  for (const message of other.rows("old")) {
    if (message.role === "user") message.content = message.content.padEnd(1_500, " tide");
  }
  const compacted = await start();
  const engine = await compacted.engine();
  const answer = await engine.compact({
    ...{ ...compacted.base("old"), tokenBudget: WINDOW, currentTokenCount: 50_000 },
    runtimeContext: { trigger: "budget", llm: compacted.llm },
  });
  assert.equal(answer.compacted, true);
  assert.ok(answer.result.tokensAfter < WINDOW, json(answer));

  const host = await start();
  const summary = { role: "compactionSummary", summary: "All was well.", timestamp: 5 };
  const assembled = await host.engine();
  await assembled.bootstrap(host.base("old"));
  const call = host.first("old", "Go on.", [summary, ...host.history("old").slice(-20)]);
  const { messages, estimatedTokens } = await assembled.assemble(call);
  assert.ok(json(messages).includes(FACT));
  assert.ok(!json(messages).includes("All was well."));
  assert.ok(estimatedTokens < 24_000, `${estimatedTokens}`);
  assert.deepEqual(host.logged, []);
});

test("sizes follow the provider's counts, which include the tools", async () => {
  const host = await start();
  await play(host, "sizes", 1, 4);
  const engine = await host.engine();
  const { messages, estimatedTokens } = await engine.assemble(host.first("sizes", "Go on."));
  const { input } = host.call(messages, []);
  assert.ok(Math.abs(estimatedTokens - input) < 0.1 * input, `${estimatedTokens}, ${input}`);
});

test("turns so large that two do not fit are folded between them, with a summary", async () => {
  const host = await start();
  await play(host, "large", 1, 14, { chars: 9_000 });
  const heads = host.sentEver.map(([{ content }]) => json(content));
  assert.ok(heads.length >= 5, `${heads.length}`);
  for (const head of heads) assert.match(head, /A summary of them follows/);
});

test("requests to a provider without counts fit too", async () => {
  const host = await start({ hasUsage: false });
  await play(host, "uncounted", 1, 30);
  assert.deepEqual(host.seen.broken, []);
  assert.equal(host.seen.overflows, 0);
});

test("compact as a process's first call answers the host with the size that would be sent", async () => {
  const host = await start();
  await play(host, "gate", 1, 14);
  await host.start();
  const engine = await host.engine();
  const compact = (trigger, more) =>
    engine.compact({
      ...{ ...host.base("gate"), force: true, tokenBudget: WINDOW, ...more },
      runtimeContext: { trigger, llm: host.llm },
    });
  const gate = await compact("budget", { currentTokenCount: 60_000 });
  assert.equal(gate.compacted, true);
  assert.equal(gate.result.tokensBefore, 60_000);
  assert.ok(gate.result.tokensAfter < WINDOW, json(gate));
  // Less than what we would send: the gate still opens, since the request fits.
  const again = await compact("budget", { currentTokenCount: 10 });
  assert.equal(again.compacted, true, json(again));
  assert.deepEqual(host.logged, []);
});

test("compact on the user's request says what was done, or that nothing was", async () => {
  const host = await start();
  await play(host, "manual", 1, 8);
  const engine = await host.engine();
  const compact = (id) =>
    engine.compact({
      ...{ ...host.base(id), tokenBudget: WINDOW, customInstructions: "the tides" },
      runtimeContext: { trigger: "manual", llm: host.llm },
    });
  const done = await compact("manual");
  assert.equal(done.compacted, true);
  assert.ok(done.result.tokensAfter < done.result.tokensBefore, json(done));
  assert.match(done.result.summary, /harbour/);
  const nothing = await compact("empty");
  assert.equal(nothing.ok, true);
  assert.equal(nothing.compacted, false);
  assert.ok(nothing.reason);
});

test("a request that the provider refused is followed by a smaller one", async () => {
  const host = await start();
  await play(host, "refused", 1, 8);
  const engine = await host.engine();
  const before = (await engine.assemble(host.first("refused", "Go on."))).estimatedTokens;
  const answer = await engine.compact({
    ...{ ...host.base("refused"), currentTokenCount: before, tokenBudget: WINDOW },
    runtimeContext: { trigger: "overflow", llm: host.llm },
  });
  assert.equal(answer.compacted, true);
  assert.ok(answer.result.tokensAfter < 0.9 * before, json(answer));
  const after = (await engine.assemble(host.first("refused", "Go on."))).estimatedTokens;
  assert.equal(after, answer.result.tokensAfter);
});

test("a refusal far below the window is soon forgotten and causes few epochs", async () => {
  const host = await start();
  await play(host, "forgotten", 1, 9, { chars: 2_000 });
  const engine = await host.engine();
  const { estimatedTokens } = await engine.assemble(host.first("forgotten", "Go on."));
  assert.ok(estimatedTokens < 0.6 * WINDOW, `${estimatedTokens}`);
  const overflow = { currentTokenCount: estimatedTokens, tokenBudget: WINDOW };
  await engine.compact({
    ...{ ...host.base("forgotten"), ...overflow },
    runtimeContext: { trigger: "overflow", llm: host.llm },
  });
  const before = host.seen.epochs;
  await play(host, "forgotten", 10, 24, { chars: 2_000 });
  console.log(`${host.seen.epochs - before} epochs in the 15 turns that follow a refusal`);
  assert.ok(host.seen.epochs - before <= 4, `${host.seen.epochs - before}`);
  assert.deepEqual(host.seen.broken, []);
  assert.equal(host.seen.overflows, 0);
});

test("a turn delivered twice is recorded once, also in another process", async () => {
  const host = await start();
  await play(host, "twice", 1, 3);
  const { commit, result } = await host.turn("twice", "Once only.");
  assert.deepEqual(result, { status: "committed" });
  const engine = await host.engine();
  assert.deepEqual(await engine.commitTurn(commit), { status: "duplicate" });
  await host.start();
  const other = await host.engine();
  await other.commitTurn(commit);
  await other.bootstrap(host.base("twice"));
  const { messages } = await other.assemble(host.first("twice", "Go on."));
  assert.equal(messages.filter(({ content }) => content === "Once only.").length, 1);
  assert.equal(messages.length, host.rows("twice").length);
});

test("a turn that the host removed is not sent", async () => {
  const host = await start();
  await play(host, "back", 1, 2);
  const length = host.rows("back").length;
  await host.turn("back", "Forget this.");
  host.rows("back").length = length;
  const engine = await host.engine();
  const { messages } = await engine.assemble(host.first("back", "Go on."));
  assert.equal(messages.length, length);
  assert.ok(!json(messages).includes("Forget this."));
});

test("a turn that the host gave to its own engine is in the next request", async () => {
  const host = await start();
  await play(host, "legacy", 1, 2);
  await host.turn("legacy", "Without us.", { isCommitted: false });
  const engine = await host.engine();
  const { messages } = await engine.assemble(host.first("legacy", "Go on."));
  assert.ok(json(messages).includes("Without us."));
});

test("turns of another engine that the host no longer shows are in the next request", async () => {
  const host = await start({ settings: { preset: "capacity" } });
  await play(host, "elsewhere", 1, 2);
  for (let turn = 1; turn <= 30; turn += 1) {
    const content = `Elsewhere ${turn}.`;
    host.rows("elsewhere").push({ role: "user", content, timestamp: 2e12 + turn });
  }
  const engine = await host.engine();
  const shown = host.history("elsewhere").slice(-10);
  const { messages } = await engine.assemble(host.first("elsewhere", "Go on.", shown));
  const sent = json(messages);
  for (let turn = 1; turn <= 30; turn += 1)
    assert.ok(sent.includes(`Elsewhere ${turn}.`), `${turn}`);
});

test("a private session starts from its parent and leaves nothing behind", async () => {
  const host = await start();
  await play(host, "parent", 1, 20);
  const files = readdirSync(join(host.agentDir, "plimsoll")).length;
  const id = "internal-session-effects-1-2";
  const history = host.history("parent");
  const engine = await host.engine();
  await engine.bootstrap(host.base(id));
  const fork = await engine.assemble(host.first(id, "Write your notes.", history));
  const parent = await engine.assemble(host.first("parent", "Write your notes.", history));
  const isSame = json(fork.messages.map(bare)) === json(parent.messages.map(bare));
  assert.ok(isSame, "the fold of the parent, and what came after it");
  // It may have its parent's key.
  const { sessionKey } = host.base("parent");
  await engine.assemble({ ...host.first(id, "Write more.", history), sessionKey });
  const { text } = await host.registered.command.handler({ sessionKey });
  assert.match(text, /Session +parent\n/);
  assert.ok(parent.messages.length < host.rows("parent").length);
  assert.equal(readdirSync(join(host.agentDir, "plimsoll")).length, files);
});

test("a failure is logged once, and the host gets its messages unchanged", async () => {
  const host = await start();
  const engine = await host.engine();
  const messages = [{ role: "user", content: { get: 1 }, timestamp: 1 }, 7];
  for (let time = 0; time < 2; time += 1) {
    const call = host.first("bad", "Go on.", messages);
    assert.equal((await engine.assemble(call)).messages, messages);
  }
  assert.equal(host.logged.length, 1, json(host.logged));
  assert.match(host.logged[0], /^plimsoll: assemble: /);
  assert.equal((await engine.compact({ sessionId: "bad" })).ok, false);
});

test("an unreadable transcript or a failing summarizer stops no turn", async () => {
  const page = globalThis.openclawPage;
  globalThis.openclawPage = async () => {
    throw new Error("database is locked");
  };
  try {
    const summarize = () => {
      throw new Error("503");
    };
    const host = await start({ summarize });
    await play(host, "outage", 1, 20);
    assert.deepEqual(host.seen.broken, []);
    assert.equal(host.seen.overflows, 0);
    assert.ok(host.seen.summaries > 0 && host.seen.summaries <= 10, `${host.seen.summaries}`);
    assert.ok(host.logged.some((line) => line.includes("database is locked")));
  } finally {
    globalThis.openclawPage = page;
  }
});

test("a record that does not verify is ignored", async () => {
  const host = await start();
  await play(host, "corrupt", 1, 2);
  const [file] = readdirSync(join(host.agentDir, "plimsoll")).filter((name) =>
    name.startsWith("corrupt"),
  );
  const path = join(host.agentDir, "plimsoll", file);
  writeFileSync(path, "no record");
  await host.start();
  await play(host, "corrupt", 3, 4);
  assert.deepEqual(host.seen.broken, []);
  assert.equal(readFileSync(path, "utf8"), "no record");
  assert.equal(host.logged.length, 1, json(host.logged));
});

test("the agent's tools report the fill level, recall cut texts and pin messages", async () => {
  const host = await start();
  const { toolOptions } = host.registered;
  const manifest = JSON.parse(
    readFileSync(join(folder, "node_modules/plimsoll/openclaw.plugin.json"), "utf8"),
  );
  assert.deepEqual(toolOptions.names, manifest.contracts.tools);
  const run = async (name, args) => {
    const tools = host.registered.tool(host.base("tools"));
    const { content } = await tools.find((one) => one.name === name).execute("1", args);
    return content[0].text;
  };
  assert.match(await run("context_status", {}), /not kept by Plimsoll/);
  host.tools = new Set(["exec", "context_recall"]);
  await play(host, "tools", 1, 2);
  assert.match(await run("context_pin", { text: "Never sail at ebb tide." }), /kept/);
  assert.match(await run("context_pin", {}), /Nothing was pinned/);
  assert.match(await run("context_pin", { text: "x".repeat(8_001) }), /8000 .* 8001/);
  await play(host, "tools", 4, 14);
  assert.match(await run("context_status", {}), /%/);
  assert.ok(json(host.lastSent).includes("Never sail at ebb tide."));
  await run("context_pin", { text: "Count the ropes." });
  await host.start();
  await play(host, "tools", 15, 18);
  assert.ok(json(host.lastSent).includes("Count the ropes."), "also if the process ends then");
  // The first turn's result is in no request any more.
  assert.ok(!json(host.lastSent).includes("Step 1: look at berth 37. 0"));
  const found = await Promise.all(
    [1, 2, 3, 4].map((at) => run("context_recall", { ref: `r${at}` })),
  );
  assert.ok(
    found.some((text) => text.startsWith("Step 1: look at berth 37. 0\nberth")),
    json(found).slice(0, 300),
  );
});

test("/plimsoll shows whether the engine is active, what fills the window and what failed", async () => {
  const host = await start();
  const { command } = host.registered;
  const ask = async () => (await command.handler(host.base("asked"))).text;
  assert.match(await ask(), /no request for this session/);
  await play(host, "asked", 1, 2);
  const text = await ask();
  assert.match(text, /^Plimsoll is active\. Last request: \d{4}-/);
  assert.match(text, /32,000/);
  // What the host does with a turn that it gives to its own engine.
  await (await host.engine()).dispose();
  await (await host.engine()).assemble(host.first("other", "x", [7]));
  await (await host.engine()).dispose();
  const after = await ask();
  assert.match(after, /made the engine once without using it/);
  assert.match(after, /Last error, .*: assemble: /);
});

test("the compaction provider uses the host's headings, and a digest without a model", async () => {
  const host = await start();
  await play(host, "provided", 1, 6);
  const messages = host.rows("provided");
  const { provider } = host.registered;
  assert.equal(provider.id, "plimsoll");
  assert.match(await provider.summarize({ messages }), /src\/berth1\.js/);
  host.runtime = { llm: host.llm };
  await host.start();
  const summary = await host.registered.provider.summarize({
    messages,
    previousSummary: "Before.",
  });
  assert.match(summary, /^Before\.\n\n/);
  assert.match(summary, /## Pending user asks\n- The harbour/);
});

test("the compaction provider's summary covers every message that the host removes", async () => {
  const talk = (count, chars) =>
    Array.from({ length: count }, (_, at) => {
      const text = `FACT-${at}. `.padEnd(chars, "tide ");
      if (at % 2 === 0) return { role: "user", content: text, timestamp: 1_000 + at };
      return { role: "assistant", content: [{ type: "text", text }], timestamp: 1_000 + at };
    });
  const prompts = [];
  const summarize = async ({ messages: [{ content }] }) => {
    prompts.push(content);
    return { text: "## Decisions\n- The tides were read.", stopReason: "stop" };
  };
  const host = await start({ summarize });
  host.runtime = { llm: host.llm };
  await host.start();
  for (const [count, chars] of [
    [1, 40],
    [2, 3_000],
    [5, 40],
    [6, 400],
    [10, 3_000],
    [30, 60],
    [60, 900],
  ]) {
    prompts.length = 0;
    const messages = talk(count, chars);
    const summary = await host.registered.provider.summarize({
      messages,
      previousSummary: "Before.",
    });
    const covered = [summary, ...prompts].join("\n");
    const missing = messages.filter((_, at) => !covered.includes(`FACT-${at}.`));
    assert.deepEqual(missing, [], `${count} messages of ${chars} characters`);
    assert.doesNotMatch(summary, /^user: Continue/m);
  }
});

test("summarized messages are shortened in the host's transcript only with the user's setting", async () => {
  const gateway = await start();
  await play(gateway, "whole", 1, 14, { chars: 9_000 });
  assert.deepEqual(gateway.rewritten, []);

  const host = await start({ settings: { ...settings, mirror: "results" } });
  host.tools = new Set(["exec", "context_recall"]);
  await play(host, "mirrored", 1, 14, { chars: 9_000 });
  const rows = host.rows("mirrored");
  const size = (list) => json(list.map(bare)).length;
  console.log(
    `${host.rewritten.length} results shortened, ${size(gateway.rows("gateway"))} characters became ${size(rows)}`,
  );
  assert.ok(size(rows) < size(gateway.rows("whole")) / 2);
  assert.equal(new Set(host.rewritten).size, host.rewritten.length, "each once");
  for (const [at, row] of rows.entries()) {
    const isShort = row.role === "toolResult" && json(row.content).length < 9_000;
    assert.equal(isShort, host.rewritten.includes(at), `row ${at}`);
    if (!isShort) continue;
    assert.match(row.content[0].text, /^\[Plimsoll removed this result .*: \d{4} characters\]$/);
    assert.deepEqual(row.details, gateway.rows("whole")[at].details, "what the user is shown");
    assert.ok(!json(host.lastSent).includes(row.toolCallId), "a result that is sent");
  }
  // The engine goes on as before, also as another process.
  const next = async () => {
    const engine = await host.engine();
    await engine.bootstrap(host.base("mirrored"));
    return (await engine.assemble(host.first("mirrored", "Go on."))).messages.map(bare);
  };
  const before = await next();
  await host.start();
  assert.deepEqual(await next(), before);
  const recalled = async (at) => {
    const tools = host.registered.tool(host.base("mirrored"));
    const recall = tools.find(({ name }) => name === "context_recall");
    return (await recall.execute("1", { ref: `r${at}` })).content[0].text;
  };
  const found = await Promise.all([1, 2, 3, 4].map(recalled));
  const isUncut = (text) => text.startsWith("Step 1: look at berth 37. 0\nberth");
  assert.ok(found.some(isUncut), json(found).slice(0, 300));
  await play(host, "mirrored", 15, 20, { chars: 9_000 });
  assert.deepEqual(host.seen.broken, []);
  assert.equal(host.seen.overflows, 0);
  assert.deepEqual(host.logged, []);
});

test("results over the cap are cut only with the user's setting", async () => {
  assert.equal((await start()).registered.middleware, undefined);
  const host = await start({ settings: { resultCap: 1_000 } });
  const { middleware } = host.registered;
  const image = { type: "image", data: "x".repeat(2_000) };
  const result = (text) => ({ result: { content: [{ type: "text", text }, image], details: 1 } });
  assert.equal(await middleware(result("short")), undefined);
  const { content, details } = (await middleware(result(`start${"x".repeat(5_000)}end`))).result;
  assert.ok(content[0].text.length <= 1_000, `${content[0].text.length}`);
  assert.match(content[0].text, /^start.*end$/s);
  assert.equal(content[1], image);
  assert.equal(details, 1);
});

test("only the newest sessions stay in memory; others are saved and continue later", async () => {
  const { Sessions } = await installed(folder, "hosts/openclaw/sessions.js");
  const { memoryStore } = await installed(folder, "store/memory.js");
  const store = memoryStore();
  const options = () => ({ window: { contextTokens: WINDOW }, format: "pi" });
  const reported = [];
  const report = (what) => reported.push(what);
  const sessions = new Sessions({ options, patterns: [], texts: [] }, store, 2, report);
  const first = await sessions.use("a", (session) => session);
  await sessions.use("b", () => undefined);
  // One that is in use stays, though it is the oldest.
  await sessions.use("a", async () => {
    await sessions.use("c", () => undefined);
    await sessions.use("d", () => undefined);
  });
  const isLive = (id) => sessions.find(id) !== undefined;
  assert.deepEqual(["a", "b", "c", "d"].map(isLive), [true, false, false, true]);
  await sessions.use("e", () => undefined);
  await sessions.use("f", () => undefined);
  assert.ok(!isLive("a"));
  assert.throws(() => first.context.status(), /disposed/i);
  assert.ok(await store.load("a"));
  const again = await sessions.use("a", (session) => session);
  assert.notEqual(again, first);
  assert.deepEqual(reported, []);
});

test("a turn that waits for a tool goes on with the same bytes after the turns of many other sessions", async () => {
  const host = await start();
  await play(host, "waits", 1, 12, { chars: 6_000 });
  const engine = await host.engine();
  await engine.assemble(host.first("waits", "Go on."));
  const pending = [{ role: "user", content: "Go on.", timestamp: 1 }];
  const later = (messages) => engine.assemble(host.later("waits", "Go on.", messages, pending));
  const before = (await later([])).messages;
  for (let other = 0; other < 40; other += 1) await host.turn(`other ${other}`, "Look.");
  const { messages } = await later(before);
  assert.ok(json(messages) === json(before));
  assert.deepEqual(host.logged, []);
});

test("after /new no request holds what was said or pinned before, also in another process", async () => {
  const host = await start();
  const holds = (messages) => /OLD|access phrase/.test(json(messages));
  const tools = () => host.registered.tool(host.base("anew"));
  const pin = (text) =>
    tools()
      .find(({ name }) => name === "context_pin")
      .execute("1", { text });
  await host.turn("anew", `PIN: ${FACT}.`);
  await host.turn("anew", "OLD message", { chars: 9_000 });
  await pin("OLD rule");
  await (await host.engine()).compact({ ...host.base("anew"), tokenBudget: WINDOW });
  host.reset("anew");
  const engine = await host.engine();
  await engine.bootstrap(host.base("anew"));
  assert.deepEqual((await engine.assemble(host.first("anew", "Hello."))).messages, []);
  for (let turn = 1; turn <= 11; turn += 1) {
    const { messages } = await host.turn("anew", `New ${turn}.`, { chars: 6_000 });
    assert.ok(!holds(messages), `turn ${turn}`);
    if (turn === 2) await pin("a new rule");
  }
  const last = host.lastSent;
  await host.start();
  const { messages } = await host.turn("anew", "Go on.");
  assert.ok(!holds(messages));
  assert.ok(json(messages).includes("a new rule"));
  assert.ok(json(messages.slice(0, last.length).map(bare)) === json(last.map(bare)));
  assert.deepEqual([...host.seen.broken, ...host.logged], []);
});
