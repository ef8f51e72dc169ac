// @ts-check
/** Helpers for the tests of examples/node-gateway: a model server, the gateway as a process, and a client of its HTTP interface. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { strictFor } from "../conformance/providers/pairs.mjs";
import { specOf } from "../stores/stores.mjs";
import { project, root, tools, write } from "./project.mjs";

const strict = strictFor("openai-chat", "openai-chat");

/**
 * Runs in the gateway's process and reports its memory after a collection, its processor time, and the time of a turn's context work.
 * Only the synchronous part of each call is timed, which is where the work is done: after an `await`, other sessions have run, too.
 */
const USAGE = `import { ContextManager } from "plimsoll";

const turns = [];
const own = new WeakMap();
const { prototype } = ContextManager;
function timed(context, work) {
  const begun = performance.now();
  try {
    return work();
  } finally {
    own.set(context, (own.get(context) ?? 0) + performance.now() - begun);
  }
}
for (const name of ["prepare", "recover", "observe", "compact", "save"]) {
  const method = prototype[name];
  prototype[name] = function (...args) {
    if (name === "save") {
      // The real one comes after an await; it has the size of this one.
      timed(this, () => this.snapshot());
      turns.push(own.get(this));
      own.delete(this);
    }
    return timed(this, () => method.apply(this, args));
  };
}
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  const sorted = turns.toSorted((a, b) => a - b);
  const [p50, p99] = [0.5, 0.99].map((share) => sorted[Math.floor(sorted.length * share)]);
  gc();
  process.send({ ...process.memoryUsage(), cpuMs: (user + system) / 1000, p50, p99 });
});
process.channel.unref();
`;

/** A project with the example as a user would copy it, the packed package installed, and a folder for the agent to read. */
export function exampleFolder() {
  const folder = project({ "usage.mjs": USAGE });
  for (const file of ["server", "gateway", "session", "turn", "chat", "sse", "store", "tools"].map(
    (name) => `${name}.mjs`,
  )) {
    cpSync(join(root, "examples/node-gateway", file), join(folder, file));
  }
  for (const name of ["redis", "@redis"]) {
    if (existsSync(join(tools, name)))
      symlinkSync(join(tools, name), join(folder, "node_modules", name), "dir");
  }
  mkdirSync(join(folder, "docs"));
  write(folder, { "docs/short.md": "The crane lifts 40 tons.\n", "docs/long.md": long(60) });
  return folder;
}

/** A file of about 40 characters a line. @param {number} lines */
const long = (lines) =>
  Array.from(
    { length: lines },
    (_, at) => `Berth ${at} is ${at * 7} m long and ${at} m deep.\n`,
  ).join("");

/** A fresh store, as the gateway's option `--store`. @param {import("node:test").TestContext} t @param {"file" | "sqlite" | "redis"} kind */
export async function storeOf(t, kind) {
  const { place } = await specOf(t, kind);
  return kind === "redis" ? place : `${kind}:${place}`;
}

/** Tokens of a body, as this server counts them. @param {any} body */
const tokensOf = (body) => Math.ceil(JSON.stringify([body.messages, body.tools ?? []]).length / 4);

/** Every call of a request has its result right after it, and every result its call. @param {any[]} messages */
function unpaired(messages) {
  /** @type {Set<string>} */
  let open = new Set();
  for (const { role, tool_calls: calls, tool_call_id: id } of messages) {
    if (role === "tool" ? !open.delete(id) : open.size > 0) return "a call without its result";
    if (calls) open = new Set(calls.map((/** @type {any} */ call) => call.id));
  }
  return open.size > 0 ? "a call without its result" : null;
}

/**
 * An OpenAI-compatible server on 127.0.0.1 with a model that obeys: "read PATH" makes it call `read` first; everything it answers with
 * "done: " and the text, and with a long one to "at length". The model named "small" writes summaries. Requests that a provider would refuse are refused.
 *
 * @param {import("node:test").TestContext} t
 * @param {{ limit?: number, strictEach?: number, pauseMs?: number }} [options]
 *   limit: tokens that a request may have; strictEach: every so many requests the whole checker looks, pairs are checked in all of them
 */
export async function modelServer(
  t,
  { limit = Number.POSITIVE_INFINITY, strictEach = 1, pauseMs = 0 } = {},
) {
  const seen = {
    requests: 0,
    summaries: 0,
    overflows: 0,
    /** @type {string[]} */
    refused: [],
    /** Bodies of the last requests. @type {any[]} */
    bodies: [],
  };
  let pause = pauseMs;
  const server = createServer(async (request, response) => {
    const body = JSON.parse(Buffer.concat(await request.toArray()).toString());
    if (pause > 0) await pauseOf(response, pause);
    const isSummary = body.model === "small";
    seen.requests += isSummary ? 0 : 1;
    seen.summaries += isSummary ? 1 : 0;
    if (!isSummary) {
      seen.bodies.push(body);
      if (seen.bodies.length > 200) seen.bodies.shift();
      const broken =
        unpaired(body.messages) ??
        (seen.requests % strictEach === 0 ? strict(body.messages)[0]?.message : null);
      if (broken) {
        seen.refused.push(broken);
        return refuse(response, { message: broken, type: "invalid_request_error" });
      }
    }
    const tokens = tokensOf(body);
    if (tokens > limit && !isSummary) {
      seen.overflows += 1;
      const message = `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens.`;
      return refuse(response, { message, code: "context_length_exceeded" });
    }
    return stream(response, isSummary ? summaryOf(body) : answerTo(body), tokens);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: `http://127.0.0.1:${port}/v1`,
    seen,
    /** @param {number} ms */
    pauseFor: (ms) => {
      pause = ms;
    },
  };
}

/** Waits, but not for a client that has gone. @param {any} response @param {number} ms */
async function pauseOf(response, ms) {
  await new Promise((done) => {
    const timer = setTimeout(done, ms);
    response.on("close", () => {
      clearTimeout(timer);
      done(undefined);
    });
  });
}

/** @param {any} response @param {object} error */
function refuse(response, error) {
  response.writeHead(400, { "content-type": "application/json" });
  response.end(JSON.stringify({ error }));
}

/** @param {any} body */
function answerTo({ messages }) {
  const text = messages.findLast((/** @type {any} */ { role }) => role === "user").content;
  const [, path] = /\bread (\S+)/.exec(text) ?? [];
  if (path && messages.at(-1).role !== "tool") {
    // The same session has the same ids wherever it runs.
    const id = `call_${text.replaceAll(/\W/g, "_")}`.slice(0, 40);
    const json = JSON.stringify({ path });
    const call = (/** @type {object} */ more) => ({ tool_calls: [{ index: 0, ...more }] });
    return [
      call({ id, type: "function", function: { name: "read", arguments: "" } }),
      call({ function: { arguments: json.slice(0, 5) } }),
      call({ function: { arguments: json.slice(5) } }),
    ];
  }
  const more = text.includes("at length") ? "12:07 the crane waits for the tide. ".repeat(300) : "";
  return [{ content: "done: " }, { content: `${text}${more}` }];
}

/** A summary with every heading that was asked for. @param {any} body */
function summaryOf(body) {
  const headings = [...new Set(JSON.stringify(body).match(/## [A-Z][A-Za-z /&]+/g) ?? [])];
  const line = "- The user looks at the crane; the work on the harbour goes on.";
  const parts = headings.length > 0 ? headings.map((heading) => `${heading}\n${line}`) : [line];
  return [{ content: parts.join("\n\n") }];
}

/** @param {any} response @param {any[]} deltas @param {number} tokens */
function stream(response, deltas, tokens) {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = (/** @type {object} */ chunk) =>
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  for (const delta of deltas) send({ choices: [{ index: 0, delta }] });
  const finish_reason = deltas[0].tool_calls ? "tool_calls" : "stop";
  send({ choices: [{ index: 0, delta: {}, finish_reason }] });
  send({
    choices: [],
    usage: { prompt_tokens: tokens, completion_tokens: 20, total_tokens: tokens + 20 },
  });
  response.end("data: [DONE]\n\n");
}

/** @typedef {NodeJS.MemoryUsage & { cpuMs: number, p50: number, p99: number }} Usage p50, p99: milliseconds of a turn's context work */

/**
 * Starts the gateway.
 *
 * @param {import("node:test").TestContext} t
 * @param {string} folder of `exampleFolder`
 * @param {{ store: string, model: string, args?: string[], program?: string }} options model: address of the model server
 */
export async function gateway(t, folder, { store, model, args = [], program = process.execPath }) {
  /** @type {NodeJS.ProcessEnv} */
  const env = { ...process.env, MODEL_URL: model, MODEL_NAME: "large", SUMMARY_MODEL: "small" };
  delete env.NODE_TEST_CONTEXT;
  const options = ["--port", "0", "--store", store, "--folder", "docs", ...args];
  const child = spawn(
    program,
    ["--expose-gc", "--no-warnings", "--import", "./usage.mjs", "server.mjs", ...options],
    {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    },
  );
  const ended = once(child, "exit");
  t.after(() => child.kill("SIGKILL"));
  let complaint = "";
  child.stderr?.on("data", (chunk) => {
    complaint = `${complaint}${chunk}`.slice(-4_000);
  });
  const lines = createInterface({ input: /** @type {any} */ (child.stdout) });
  const [line] = await Promise.race([
    once(lines, "line"),
    ended.then(([code]) => {
      throw new Error(`the gateway ended with ${code}: ${complaint}`);
    }),
  ]);
  return {
    url: line.replace("listening on ", ""),
    /** The end of its standard error. */
    complaint: () => complaint,
    /** @returns {Promise<Usage>} */
    usage: async () => {
      child.send("usage");
      const [usage] = await once(child, "message");
      return usage;
    },
    /** @param {NodeJS.Signals} signal */
    end: async (signal) => {
      child.kill(signal);
      const [code, by] = await ended;
      return code ?? by;
    },
  };
}

/**
 * Sends a turn and reads its events to the end.
 *
 * @param {string} url of a gateway @param {string} id @param {string} text @param {number} [after] turns that the client knows of
 * @returns {Promise<{ status: number, events: Array<{ event: string, data: any }>, done: any, error: any }>} `error` also if the
 *   connection broke: then its code is `BROKEN`
 */
export async function turn(url, id, text, after) {
  /** @type {Array<{ event: string, data: any }>} */
  const events = [];
  let status = 0;
  try {
    const response = await fetch(`${url}/sessions/${id}/turns`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ text, after }),
    });
    status = response.status;
    const body = await response.text();
    if (status !== 200) return { status, events, done: undefined, error: JSON.parse(body) };
    for (const [, event = "", json = ""] of body.matchAll(/^event: (\w+)\ndata: (.*)$/gm)) {
      events.push({ event, data: JSON.parse(json) });
    }
  } catch {
    return { status, events, done: undefined, error: { code: "BROKEN" } };
  }
  const of = (/** @type {string} */ name) => events.find(({ event }) => event === name)?.data;
  const done = of("done");
  return { status, events, done, error: done ? undefined : (of("error") ?? { code: "BROKEN" }) };
}

/** A session as the gateway has it. @param {string} url @param {string} id @returns {Promise<{ turns: number, messages: any[] }>} */
export async function session(url, id) {
  return (await fetch(`${url}/sessions/${id}`)).json();
}

/** The texts of the user. @param {{ messages: any[] }} session */
export const asked = ({ messages }) =>
  messages.filter(({ role }) => role === "user").map(({ content }) => content);

/** @param {string} url @param {string} sessionId @param {object} [more] */
export async function inspect(url, sessionId, more = {}) {
  const request = {
    jsonrpc: "2.0",
    id: 1,
    method: "context.inspect",
    params: { sessionId, ...more },
  };
  const response = await fetch(`${url}/rpc`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(request),
  });
  return response.json();
}
