/** OpenClaw as a context engine sees it, without a gateway: what it shows, leaves out and repeats in each call. */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { strictFor } from "../conformance/providers/pairs.mjs";
import { project } from "./project.mjs";

/** A project with the package installed, and an `openclaw` that has the transcript's cursor API alone. */
export function hostProject() {
  return project({
    "node_modules/openclaw/package.json": JSON.stringify({
      name: "openclaw",
      type: "module",
      exports: { "./plugin-sdk/session-transcript-runtime": "./transcript.js" },
    }),
    "node_modules/openclaw/transcript.js":
      "export const readSessionTranscriptVisibleMessageDelta = (params) => globalThis.openclawPage(params);\n" +
      "export const readSessionTranscriptRawDelta = (params) => globalThis.openclawEvents(params);\n",
  });
}

let processes = 0;
/** Imports a file of the installed package; `isNew`: as another process would. */
export function installed(folder, file, isNew = false) {
  processes += isNew ? 1 : 0;
  const url = pathToFileURL(join(folder, "node_modules/plimsoll/dist", file)).href;
  return import(isNew ? `${url}?process=${processes}` : url);
}

const textOf = ({ content }) =>
  typeof content === "string" ? content : content.map(({ text }) => text ?? "").join("");
/** As the host estimates. */
const estimate = (value) => Math.ceil(JSON.stringify(value).length / 4);
const copy = (value) => JSON.parse(JSON.stringify(value));
const shown = ({ details: _, ...message }) => copy(message);

export const WINDOW = 32_000;
const RESERVE = 8_000;
/** Tokens of the tools: the host's budget knows of the system prompt only. */
const TOOLS = 4_000;

/** Transcripts of all sessions, by their ids, as the cursor API gives them. */
const transcripts = new Map();
globalThis.openclawPage = async ({ sessionId, cursor = "0", maxBytes = 20_000 }) => {
  const rows = transcripts.get(sessionId);
  if (!rows) return { kind: "missing" };
  const start = Number(cursor);
  let [end, bytes] = [start, 0];
  while (end < rows.length) {
    bytes += JSON.stringify(rows[end]).length;
    if (bytes > maxBytes) break;
    end += 1;
  }
  const hasMore = end < rows.length;
  const requiredBytes = hasMore && end === start ? JSON.stringify(rows[start]).length : undefined;
  const entries = rows
    .slice(start, end)
    .map((message, at) => ({ entryId: `e${start + at}`, message }));
  return { kind: "page", cursor: String(end), hasMore, entries, requiredBytes };
};

/** Numbers of rows that a session had when it was reset. */
const resets = new Map();
/** All entries, as the other cursor API gives them: three a page. */
globalThis.openclawEvents = async ({ sessionId, cursor = "0" }) => {
  const rows = transcripts.get(sessionId);
  if (!rows) return { kind: "missing" };
  const all = rows.map((message, at) => ({ type: "message", id: `e${at}`, message }));
  for (const at of (resets.get(sessionId) ?? []).toReversed()) {
    all.splice(at, 0, { type: "reset", id: `r${at}` });
  }
  const start = Number(cursor);
  const events = all.slice(start, start + 3).map((event) => ({ event }));
  const end = start + events.length;
  return { kind: "page", cursor: String(end), hasMore: end < all.length, events };
};

export class Host {
  /** @param {string} folder of `hostProject` @param {object} options */
  constructor(
    folder,
    {
      settings = {},
      api = "openai-completions",
      agentDir,
      summarize,
      hasUsage = true,
      system = 7_000,
    } = {},
  ) {
    this.folder = folder;
    this.settings = settings;
    this.agentDir = agentDir;
    this.hasUsage = hasUsage;
    this.system = system;
    this.provider = { "openai-completions": "openai-chat", "anthropic-messages": "anthropic" }[api];
    this.config = {
      models: { providers: { mock: { api, models: [{ id: "m", contextWindow: WINDOW }] } } },
    };
    this.logged = [];
    /** The first request of each epoch. */
    this.sentEver = [];
    this.clock = 0;
    this.seen = { calls: 0, broken: [], peak: 0, epochs: 0, summaries: 0, overflows: 0 };
    /** Entries that the engine has rewritten. */
    this.rewritten = [];
    this.llm = {
      complete: async (params) => {
        this.seen.summaries += 1;
        if (summarize) return summarize(params);
        const headings = [...params.systemPrompt.matchAll(/^ *(## .+)$/gm)].map(([, line]) => line);
        const text = headings
          .map((line) => `${line}\n- The harbour's files were read.`)
          .join("\n\n");
        return { text, stopReason: "stop", usage: { inputTokens: 900, outputTokens: 80 } };
      },
    };
  }

  /** The plugin registers, as in a process that has just started. */
  async start() {
    const { default: plugin } = await installed(this.folder, "hosts/openclaw/plugin.js", true);
    const logger = { info: () => {}, warn: (line) => this.logged.push(line) };
    this.registered = {};
    plugin.register({
      pluginConfig: this.settings,
      logger,
      runtime: this.runtime,
      registerContextEngine: (id, factory) => Object.assign(this.registered, { id, factory }),
      registerTool: (tool, options) =>
        Object.assign(this.registered, { tool, toolOptions: options }),
      registerCommand: (command) => Object.assign(this.registered, { command }),
      registerCompactionProvider: (provider) => Object.assign(this.registered, { provider }),
      registerAgentToolResultMiddleware: (handler) =>
        Object.assign(this.registered, { middleware: handler }),
    });
    return this;
  }

  engine() {
    return this.registered.factory({ config: this.config, agentDir: this.agentDir });
  }

  /** Rows of a session. */
  rows(sessionId) {
    if (!transcripts.has(sessionId)) transcripts.set(sessionId, []);
    return transcripts.get(sessionId);
  }

  /** The user begins anew: the session and its rows stay, and the host shows what comes from now on. */
  reset(sessionId) {
    resets.set(sessionId, [...(resets.get(sessionId) ?? []), this.rows(sessionId).length]);
  }

  base(sessionId) {
    return { sessionId, sessionKey: `agent:main:${sessionId}`, sessionTarget: { sessionId } };
  }

  /** History before a turn as the host shows it: the end that fits its limit of bytes. */
  history(sessionId) {
    const rows = this.rows(sessionId).map(shown);
    const reset = resets.get(sessionId)?.at(-1) ?? 0;
    let bytes = 0;
    let start = rows.length;
    while (start > reset && bytes < WINDOW * 4) {
      start -= 1;
      bytes += JSON.stringify(this.rows(sessionId)[start]).length;
    }
    while (rows[start]?.role === "toolResult") start += 1;
    const end = rows.slice(start);
    const made = { role: "user", content: "(session bootstrap)", timestamp: Date.now() };
    return end[0]?.role === "assistant" ? [made, ...end] : end;
  }

  first(sessionId, prompt, messages = this.history(sessionId)) {
    const tokenBudget = WINDOW - RESERVE - this.system - Math.ceil(prompt.length / 4);
    return {
      ...{ ...this.base(sessionId), messages, tokenBudget, prompt, runtimeContext: {} },
      availableTools: this.tools ?? new Set(["exec"]),
      runtimeSettings: {
        model: { provider: "mock", resolved: "m" },
        limits: { promptTokenBudget: tokenBudget, maxOutputTokens: RESERVE },
      },
    };
  }

  later(sessionId, prompt, messages, pending) {
    return {
      ...{ ...this.base(sessionId), messages: copy(messages), prompt },
      tokenBudget: WINDOW - estimate(pending),
      availableTools: this.tools ?? new Set(["exec"]),
      runtimeSettings: {
        model: { provider: "mock", resolved: "m" },
        limits: { promptTokenBudget: WINDOW, maxOutputTokens: null },
      },
    };
  }

  /** A model call: what goes out is checked and counted. */
  call(sent, pending) {
    const request = [...sent, ...pending];
    const strict = strictFor("pi", this.provider);
    const found = strict(copy(request));
    const tokens = this.system + TOOLS + estimate(request);
    this.seen.broken.push(...found.map((one) => `call ${this.seen.calls}: ${JSON.stringify(one)}`));
    if (tokens > WINDOW) this.seen.overflows += 1;
    this.seen.peak = Math.max(this.seen.peak, tokens);
    this.seen.calls += 1;
    const before = this.lastSent ?? [];
    const isGrown = before.every((one, at) => JSON.stringify(one) === JSON.stringify(request[at]));
    if (!isGrown) this.seen.epochs += 1;
    this.lastSent = copy(sent);
    if (!isGrown) this.sentEver.push(this.lastSent);
    if (this.fact && !request.some((one) => textOf(one).includes(this.fact))) {
      this.seen.broken.push(`call ${this.seen.calls}: the fact is gone`);
    }
    return { input: tokens, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: tokens + 20 };
  }

  /** A turn with tool calls, committed and maintained; another engine for each. */
  async turn(sessionId, text, { calls = 2, chars = 3_000, isCommitted = true } = {}) {
    const engine = await this.engine();
    const rows = this.rows(sessionId);
    const base = this.base(sessionId);
    const rewriteTranscriptEntries = async ({ replacements }) => {
      for (const { entryId, message } of replacements) rows[Number(entryId.slice(1))] = message;
      this.rewritten.push(...replacements.map(({ entryId }) => Number(entryId.slice(1))));
      return { changed: true, bytesFreed: 0, rewrittenEntries: replacements.length };
    };
    const runtimeContext = {
      llm: this.llm,
      modelContextWindow: WINDOW,
      rewriteTranscriptEntries,
    };
    if (rows.length > 0) {
      await engine.bootstrap({ ...base, sessionFile: base.sessionKey });
      await engine.maintain({ ...base, runtimeContext });
    }
    let { messages } = await engine.assemble(this.first(sessionId, text));
    const at = () => {
      this.clock += 1;
      return 1_700_000_000_000 + this.clock;
    };
    const pending = [{ role: "user", content: text, timestamp: at() }];
    for (let call = 0; call <= calls; call += 1) {
      ({ messages } = await engine.assemble(this.later(sessionId, text, messages, pending)));
      const usage = this.call(messages, pending);
      const id = `call_${randomUUID()}`;
      const isLast = call === calls;
      const content = isLast
        ? [{ type: "text", text: `Done: ${text}` }]
        : [
            {
              type: "toolCall",
              id,
              name: "exec",
              arguments: { command: `cat src/berth${call}.js` },
            },
          ];
      const stopReason = isLast ? "stop" : "toolUse";
      const counted = this.hasUsage ? { usage } : {};
      const answer = { role: "assistant", content, ...counted, stopReason, timestamp: at() };
      pending.push({ ...answer, api: "x", provider: "mock", model: "m" });
      if (isLast) break;
      pending.push({
        ...{
          role: "toolResult",
          toolCallId: id,
          toolName: "exec",
          isError: false,
          timestamp: at(),
        },
        content: [{ type: "text", text: `${text} ${call}\n`.padEnd(chars, `berth ${call} `) }],
        details: { status: "completed", aggregated: "x".repeat(chars) },
      });
    }
    rows.push(...pending.map(copy));
    const commit = { ...base, advancementKey: `${sessionId}:${rows.length}`, messages: pending };
    const result = isCommitted ? await engine.commitTurn(copy(commit)) : undefined;
    await engine.maintain({ ...base, runtimeContext });
    await engine.dispose();
    return { commit, result, messages };
  }
}
