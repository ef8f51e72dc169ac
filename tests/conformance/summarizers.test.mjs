// @ts-check
/** The ready summarizers against a server that speaks the real wire formats: streaming off and on, and every way to fail. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { packagePath } from "./package.mjs";

const entry = packagePath();
const skip = entry ? false : "skipped: the package is not a folder";
const from = (/** @type {string} */ name) =>
  import(pathToFileURL(join(dirname(entry ?? ""), name)).href);
const { anthropic, openaiCompatible } = entry
  ? await from("summarizers.js")
  : { anthropic: null, openaiCompatible: null };
const { drive } = entry ? await from("inline/compact.js") : { drive: null };

/** @type {(request: { url: string, headers: any, body: any }, response: import("node:http").ServerResponse) => void} */
let handle = () => {};
/** @type {any[]} */
let seen = [];
let baseUrl = "";
const server = createServer((request, response) => {
  let text = "";
  request.on("data", (piece) => (text += piece));
  request.on("end", () => {
    const got = { url: request.url ?? "", headers: request.headers, body: JSON.parse(text) };
    seen.push(got);
    handle(got, response);
  });
});
before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  baseUrl = `http://127.0.0.1:${/** @type {any} */ (server.address()).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

const TEXT = "## Goal\nßüß 修复 fine\n";
const job = {
  kind: "whole",
  system: "SYSTEM",
  prompt: "PROMPT",
  previousSummary: null,
  maxOutputTokens: 321,
  inputTokens: 9,
  attempt: 1,
  requiredHeadings: [],
};
const control = () => {
  const calls = { alive: 0 };
  return {
    calls,
    signal: new AbortController().signal,
    alive: () => {
      calls.alive += 1;
    },
  };
};
const json = (
  /** @type {import("node:http").ServerResponse} */ response,
  /** @type {unknown} */ body,
  status = 200,
) => {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
};
/** In pieces that part lines and characters. */
const sse = (
  /** @type {import("node:http").ServerResponse} */ response,
  /** @type {string} */ text,
) => {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  const bytes = Buffer.from(text);
  let at = 0;
  const next = () => {
    if (at >= bytes.length) return response.end();
    response.write(bytes.subarray(at, at + 37));
    at += 37;
    setImmediate(next);
  };
  next();
};

/** Both wires: how each is asked and how each answers. */
const WIRES = [
  {
    name: "openaiCompatible",
    make: (/** @type {object} */ more = {}) =>
      openaiCompatible({ baseUrl: `${baseUrl}/v1/`, model: "m", apiKey: "KEY", ...more }),
    asked: (/** @type {any} */ got) => [
      got.url,
      got.headers.authorization,
      got.body.model,
      got.body.max_tokens,
      got.body.messages,
    ],
    expected: [
      "/v1/chat/completions",
      "Bearer KEY",
      "m",
      321,
      [
        { role: "system", content: "SYSTEM" },
        { role: "user", content: "PROMPT" },
      ],
    ],
    whole: (finish = "stop", text = TEXT) => ({
      id: "c",
      object: "chat.completion",
      choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: finish }],
      usage: { prompt_tokens: 9, completion_tokens: 3 },
    }),
    stream: (finish = "stop", text = TEXT) => {
      const piece = (
        /** @type {object} */ delta,
        finish_reason = /** @type {string | null} */ (null),
      ) =>
        `data: ${JSON.stringify({ object: "chat.completion.chunk", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
      return `: ping\n\n${piece({ role: "assistant", content: "" })}${[...text].map((content) => piece({ content })).join("")}${piece({}, finish)}data: [DONE]\n\n`;
    },
    error: {
      error: { message: "slow down", type: "rate_limit_error", code: "rate_limit_exceeded" },
    },
    cut: "length",
  },
  {
    name: "anthropic",
    make: (/** @type {object} */ more = {}) =>
      anthropic({ baseUrl, model: "m", apiKey: "KEY", ...more }),
    asked: (/** @type {any} */ got) => [
      got.url,
      got.headers["x-api-key"],
      got.headers["anthropic-version"],
      got.body.max_tokens,
      got.body.system,
      got.body.messages,
    ],
    expected: [
      "/v1/messages",
      "KEY",
      "2023-06-01",
      321,
      "SYSTEM",
      [{ role: "user", content: "PROMPT" }],
    ],
    whole: (stop_reason = "end_turn", text = TEXT) => ({
      id: "msg",
      type: "message",
      role: "assistant",
      content: [{ type: "text", text }],
      stop_reason,
      usage: { input_tokens: 9, output_tokens: 3 },
    }),
    stream: (stop_reason = "end_turn", text = TEXT) => {
      const event = (/** @type {any} */ data) =>
        `event: ${data.type}\r\ndata: ${JSON.stringify(data)}\r\n\r\n`;
      return [
        {
          type: "message_start",
          message: { id: "msg", content: [], stop_reason: null, usage: { input_tokens: 9 } },
        },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "ping" },
        ...[...text].map((piece) => ({
          type: "content_block_delta",
          index: 0,
          delta: { type: "text_delta", text: piece },
        })),
        { type: "content_block_stop", index: 0 },
        {
          type: "message_delta",
          delta: { stop_reason, stop_sequence: null },
          usage: { output_tokens: 3 },
        },
        { type: "message_stop" },
      ]
        .map(event)
        .join("");
    },
    error: { type: "error", error: { type: "rate_limit_error", message: "slow down" } },
    cut: "max_tokens",
  },
];

for (const wire of WIRES) {
  test(`${wire.name}: whole and streaming, the same summary`, { skip }, async () => {
    for (const stream of [false, true]) {
      seen = [];
      handle = (got, response) =>
        got.body.stream ? sse(response, wire.stream()) : json(response, wire.whole());
      const given = control();
      const result = await wire.make({
        stream,
        headers: { "x-own": "1" },
        body: { temperature: 0.3 },
      })(job, given);
      assert.deepEqual(
        [result.text, result.finishReason],
        [TEXT, wire.name === "anthropic" ? "end_turn" : "stop"],
      );
      assert.deepEqual(wire.asked(seen[0]), wire.expected);
      assert.deepEqual(
        [seen[0].body.stream, seen[0].body.temperature, seen[0].headers["x-own"]],
        [stream, 0.3, "1"],
      );
      assert.equal(given.calls.alive > 3, stream);
    }
  });

  test(`${wire.name}: errors bear their status`, { skip }, async () => {
    for (const status of [401, 429, 500]) {
      handle = (_, response) => json(response, wire.error, status);
      await assert.rejects(wire.make()(job, control()), {
        name: "SummarizerError",
        status,
        message: `${status} rate_limit_error: slow down`,
      });
    }
    handle = (_, response) => response.writeHead(502).end("<html>bad gateway</html>");
    await assert.rejects(wire.make()(job, control()), {
      status: 502,
      message: "502 <html>bad gateway</html>",
    });
    handle = (_, response) => response.writeHead(400).end();
    await assert.rejects(wire.make()(job, control()), { message: "400 (no body)" });
  });

  test(`${wire.name}: an answer that breaks off, or breaks`, { skip }, async () => {
    const half = wire.stream().slice(0, 600);
    const ends = Math.max(half.lastIndexOf("\n\n") + 2, half.lastIndexOf("\r\n\r\n") + 4);
    handle = (_, response) => sse(response, half.slice(0, ends));
    await assert.rejects(wire.make()(job, control()), {
      name: "SummarizerError",
      message: "the answer broke off",
    });
    handle = (_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(half, () => response.destroy());
    };
    await assert.rejects(wire.make()(job, control()));
    handle = (_, response) =>
      sse(
        response,
        `data: ${JSON.stringify({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } })}\n\n`,
      );
    await assert.rejects(wire.make()(job, control()), { message: "Overloaded" });
  });

  test(`${wire.name}: through a compaction`, { skip }, async () => {
    const messages = Array.from({ length: 8 }, (_, index) =>
      JSON.stringify({
        index,
        turn: index,
        role: "user",
        parts: [{ kind: "text", text: `words ${"of it ".repeat(90)}` }],
      }),
    );
    const options = { room: 2_000, contextTokens: 32_000, silenceMs: 300, totalMs: 4_000 };
    const run = () => drive({ options, messages, summarizers: [wire.make()] });
    const results = (/** @type {any} */ done) =>
      done.attempts.map((/** @type {any} */ tried) => tried.result);
    const headings = [
      "Goal",
      "Constraints",
      "Done",
      "In Progress",
      "Decisions",
      "Errors",
      "Files and Identifiers",
      "Open Questions",
      "Next Steps",
    ];
    const body = headings.map((name) => `## ${name}\nfine\n`).join("");
    const finish = wire.name === "anthropic" ? "end_turn" : "stop";
    handle = (_, response) => sse(response, wire.stream(finish, body));
    const done = await run();
    assert.deepEqual([done.summary, done.degraded], [body.trim(), false]);
    handle = (_, response) => sse(response, wire.stream(wire.cut, body));
    assert.deepEqual(results(await run()), ["cut", "cut"]);
    // Once too many requests, then well.
    let asked = 0;
    handle = (_, response) =>
      asked++ ? sse(response, wire.stream(finish, body)) : json(response, wire.error, 429);
    assert.deepEqual(results(await run()), ["threw", "ok"]);
    handle = (_, response) => json(response, { error: { message: "invalid x-api-key" } }, 401);
    const auth = await run();
    assert.deepEqual([results(auth), auth.failure, auth.degraded], [["threw"], "auth", true]);
    // Slow is not silent: pieces for twice the deadline.
    handle = (_, response) => {
      const pieces = wire.stream(finish, body).split(/(?<=\n\n|\r\n\r\n)/);
      const step = Math.ceil(pieces.length / 6);
      response.writeHead(200, { "content-type": "text/event-stream" });
      const next = () => {
        response.write(pieces.splice(0, step).join(""));
        if (pieces.length) setTimeout(next, 100);
        else response.end();
      };
      next();
    };
    assert.deepEqual(results(await run()), ["ok"]);
    // Nothing at all.
    handle = () => {};
    const silent = await run();
    assert.deepEqual([results(silent), silent.failure], [["timeout", "timeout"], "temporary"]);
  });
}

test("nobody there is a network failure, told after one call", { skip }, async () => {
  const summarizers = [openaiCompatible({ baseUrl: "http://127.0.0.1:9", model: "m" })];
  const messages = [
    JSON.stringify({
      index: 0,
      role: "user",
      parts: [{ kind: "text", text: "words ".repeat(200) }],
    }),
  ];
  const done = await drive({ options: { room: 2_000 }, messages, summarizers });
  assert.deepEqual([done.failure, done.attempts.length], ["network", 1]);
});
