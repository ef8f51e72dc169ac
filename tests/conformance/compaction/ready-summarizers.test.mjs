// @ts-check
/** The ready summarizers against a server that speaks the real wire formats: streaming off and on, and every way to fail. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { packagePath } from "../support/package.mjs";

const entry = packagePath();
const skip = entry ? false : "skipped: the package is not a folder";
const from = (/** @type {string} */ name) =>
  import(pathToFileURL(join(dirname(entry ?? ""), name)).href);
const { anthropic, openaiCompatible } = entry
  ? await from("compaction/summarizers.js")
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
  size = 37,
) => {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  const bytes = Buffer.from(text);
  let at = 0;
  const next = () => {
    if (at >= bytes.length) return response.end();
    response.write(bytes.subarray(at, at + size));
    at += size;
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
    complete: (finish = "stop", text = TEXT) => ({
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
    complete: (stop_reason = "end_turn", text = TEXT) => ({
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
  test(`${wire.name} gives the same summary whole and streamed`, { skip }, async () => {
    for (const stream of [false, true]) {
      seen = [];
      handle = (got, response) =>
        got.body.stream ? sse(response, wire.stream()) : json(response, wire.complete());
      const callOptions = control();
      const result = await wire.make({
        stream,
        headers: { "x-own": "1" },
        body: { temperature: 0.3 },
      })(job, callOptions);
      assert.deepEqual(
        [result.text, result.finishReason],
        [TEXT, wire.name === "anthropic" ? "end_turn" : "stop"],
      );
      assert.deepEqual(wire.asked(seen[0]), wire.expected);
      assert.deepEqual(
        [seen[0].body.stream, seen[0].body.temperature, seen[0].headers["x-own"]],
        [stream, 0.3, "1"],
      );
      assert.equal(callOptions.calls.alive > 3, stream);
    }
  });

  test(`${wire.name} reads streams with any base URL, line ending and split characters`, {
    skip,
  }, async () => {
    handle = (_, response) => json(response, wire.complete());
    const [path] = wire.expected;
    for (const end of wire.name === "anthropic"
      ? ["", "/", "/v1", "/v1/"]
      : ["/v1", "/v1/", "/v1//"]) {
      seen = [];
      // A server that does not stream answers as it can.
      const { text } = await wire.make({ baseUrl: `${baseUrl}${end}` })(job, control());
      assert.deepEqual([text, seen[0].url], [TEXT, path], end);
    }
    seen = [];
    await wire.make({ baseUrl: `${baseUrl}/behind/a/proxy/v1` })(job, control());
    assert.equal(seen[0].url, `/behind/a/proxy${path}`);
    const comments = ": keep-alive\n\n:\n\ndata:\n\nretry: 3000\n\n";
    for (const end of ["\n", "\r\n", "\r"])
      for (const size of [1, 2, 5, 37, 100_000]) {
        const text = `${comments}${wire.stream()}${comments}`.replaceAll(/\r\n|\n/g, end);
        handle = (_, response) => sse(response, text, size);
        const result = await wire.make()(job, control());
        assert.equal(result.text, TEXT, `${JSON.stringify(end)} ${size}`);
      }
  });

  test(`${wire.name} reads filters, refusals, empty answers and answers in parts`, {
    skip,
  }, async () => {
    const chat = wire.name !== "anthropic";
    const ask = async (/** @type {unknown} */ body) => {
      handle = (_, response) =>
        typeof body === "string" ? sse(response, body) : json(response, body);
      const { text, finishReason } = await wire.make()(job, control());
      return [text, finishReason];
    };
    for (const word of chat ? ["content_filter", "length"] : ["refusal", "max_tokens"]) {
      assert.deepEqual(await ask(wire.complete(word, "")), ["", word]);
      assert.deepEqual(await ask(wire.stream(word, "half")), ["half", word]);
    }
    const nothing = chat ? { choices: [] } : { type: "message", content: [], stop_reason: null };
    assert.deepEqual(await ask(nothing), ["", null]);
    const thought = { type: "thinking", thinking: "hm", text: "hm" };
    const parts = [thought, { type: "text", text: "so " }, { type: "text", text: "it is" }];
    if (!chat)
      return assert.equal((await ask({ ...wire.complete(), content: parts }))[0], "so it is");
    const choice = (/** @type {object} */ more) => ({ index: 0, finish_reason: "stop", ...more });
    assert.deepEqual(await ask({ choices: [choice({ message: { content: parts } })] }), [
      "so it is",
      "stop",
    ]);
    const refused = { content: null, refusal: "I'm sorry, I can't." };
    assert.deepEqual(await ask({ choices: [choice({ message: refused })] }), [
      "I'm sorry, I can't.",
      "stop",
    ]);
    // Azure begins with no choice, and usage comes after the last.
    const empty = 'data: {"choices":[],"usage":{"prompt_tokens":9}}\n\n';
    assert.deepEqual(await ask(`${empty}${wire.stream().replace("data: [DONE]", `${empty}$&`)}`), [
      TEXT,
      "stop",
    ]);
  });

  test(`${wire.name} refuses an event that is not JSON, and stops a stream on abort`, {
    skip,
  }, async () => {
    for (const data of ["{broken", "[]", "null"]) {
      handle = (_, response) => sse(response, `data: ${data}\n\n${wire.stream().slice(0, 200)}`);
      await assert.rejects(wire.make()(job, control()), data);
    }
    handle = (_, response) => response.writeHead(200).end("<html>a login page");
    await assert.rejects(wire.make()(job, control()), {
      name: "SummarizerError",
      message: "the answer is no JSON object; it begins: <html>a login page",
    });
    const closed = new Promise((resolve) => {
      handle = (_, response) => {
        response.on("close", () => resolve("closed"));
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(wire.stream().slice(0, 400));
      };
    });
    const host = new AbortController();
    const reason = new Error("the host stops");
    const callOptions = {
      signal: host.signal,
      alive: () => setTimeout(() => host.abort(reason), 5),
    };
    await assert.rejects(wire.make()(job, callOptions), (error) => error === reason);
    assert.equal(await closed, "closed", "the server is told");
  });

  test(`${wire.name} retries once at the time that Retry-After names`, {
    skip,
  }, async () => {
    const refuse = (
      /** @type {import("node:http").ServerResponse} */ response,
      /** @type {string} */ when,
      status = 429,
    ) => {
      response.setHeader("retry-after", when);
      json(response, wire.error, status);
    };
    /** @type {number[]} */
    let at = [];
    for (const [when, least] of /** @type {Array<[string, number]>} */ ([
      ["1", 950],
      ["0", 0],
      [new Date(0).toUTCString(), 0],
    ])) {
      at = [];
      handle = (_, response) => {
        at.push(performance.now());
        if (at.length === 1) refuse(response, when, 503);
        else sse(response, wire.stream());
      };
      const callOptions = control();
      assert.equal((await wire.make()(job, callOptions)).text, TEXT);
      assert.equal(at.length, 2);
      assert.ok(Number(at[1]) - Number(at[0]) >= least, `${at}`);
    }
    for (const [when, calls] of /** @type {Array<[string, number]>} */ ([
      ["0", 2],
      ["21", 1],
      ["3600", 1],
      ["soon", 1],
    ])) {
      seen = [];
      handle = (_, response) => refuse(response, when);
      await assert.rejects(wire.make()(job, control()), { status: 429 });
      assert.equal(seen.length, calls, when);
    }
    const host = new AbortController();
    const reason = new Error("the host stops");
    seen = [];
    handle = (_, response) => refuse(response, "15");
    const callOptions = {
      signal: host.signal,
      alive: () => setTimeout(() => host.abort(reason), 5),
    };
    const started = performance.now();
    await assert.rejects(wire.make()(job, callOptions), (error) => error === reason);
    assert.ok(performance.now() - started < 5_000);
    assert.equal(seen.length, 1, "nobody is asked behind an abort");
  });

  test(`${wire.name} reports errors with their status`, { skip }, async () => {
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

  test(`${wire.name} follows no redirect, which would take transcript and key along`, {
    skip,
  }, async () => {
    seen = [];
    handle = (_, response) => response.writeHead(307, { location: `${baseUrl}/other` }).end();
    await assert.rejects(wire.make()(job, control()), {
      name: "SummarizerError",
      status: 307,
      message: `the server redirects to ${baseUrl}/other, which is not followed: set baseUrl to where it is`,
    });
    assert.equal(seen.length, 1);
  });

  test(`${wire.name} reports an answer that breaks off or is malformed`, { skip }, async () => {
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

  test(`${wire.name} reads an endless stream only up to its limit`, {
    skip,
  }, async () => {
    let isClosed = false;
    handle = (_, response) => {
      response.on("close", () => {
        isClosed = true;
      });
      const events = wire.stream("stop", "x".repeat(200)).split(/(?<=\n\n|\r\n\r\n)/);
      const pieces = events.filter((event) => event.includes('"x"')).join("");
      response.writeHead(200, { "content-type": "text/event-stream" });
      const next = () => {
        if (isClosed) return;
        response.write(pieces);
        setImmediate(next);
      };
      next();
    };
    const { text } = await wire.make()({ ...job, maxOutputChars: 5_000 }, control());
    assert.ok(text.length > 5_000 && text.length < 100_000, `${text.length}`);
    for (let tries = 0; !isClosed && tries < 100; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    assert.ok(isClosed, "the connection is closed");
  });

  test(`the ready summarizer for ${wire.name} summarizes in a compaction`, { skip }, async () => {
    const messages = Array.from({ length: 8 }, (_, index) =>
      JSON.stringify({
        index,
        turn: index,
        role: "user",
        parts: [{ kind: "text", text: `words ${"of it ".repeat(90)}` }],
      }),
    );
    const options = { room: 2_000, contextTokens: 32_000, totalMs: 20_000 };
    const run = (silenceMs = 5_000) =>
      drive({ options: { ...options, silenceMs }, messages, summarizers: [wire.make()] });
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
        if (pieces.length) setTimeout(next, 200);
        else response.end();
      };
      next();
    };
    assert.deepEqual(results(await run(600)), ["ok"]);
    // Nothing at all.
    handle = () => {};
    const silent = await run(300);
    assert.deepEqual([results(silent), silent.failure], [["timeout", "timeout"], "temporary"]);
  });
}

test("a server that does not answer is reported as a network failure after one call", {
  skip,
}, async () => {
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

test("a base URL without a path is called at /v1, any other unchanged", {
  skip,
}, async () => {
  const body = { choices: [{ message: { content: TEXT }, finish_reason: "stop" }] };
  handle = (_, response) => response.end(JSON.stringify(body));
  for (const [path, url] of [
    ["", "/v1/chat/completions"],
    ["/", "/v1/chat/completions"],
    ["/v1", "/v1/chat/completions"],
    ["/api/openai", "/api/openai/chat/completions"],
  ]) {
    seen = [];
    const summarize = openaiCompatible({ baseUrl: baseUrl + path, model: "m", stream: false });
    assert.equal((await summarize(job, control())).text, TEXT);
    assert.deepEqual(
      seen.map((it) => it.url),
      [url],
    );
  }
});

test("wrong options of a ready summarizer are refused by name when it is made, without the key", {
  skip,
}, () => {
  const good = { model: "m", baseUrl: "http://localhost", apiKey: "KEY" };
  for (const [make, more, message] of /** @type {Array<[any, any, RegExp]>} */ ([
    [openaiCompatible, { baseURL: "http://localhost" }, /"baseURL". Did you mean "baseUrl"/],
    [openaiCompatible, { baseUrl: undefined }, /^options.baseUrl: expected a string/],
    [openaiCompatible, { maxTokensField: "limit" }, /max_tokens or max_completion_tokens/],
    [anthropic, { baseURL: "http://localhost" }, /"baseURL". Did you mean "baseUrl"/],
    [anthropic, { apiKey: undefined }, /^options.apiKey: expected a string, got undefined$/],
    [anthropic, { apiKey: ["KEY"] }, /^options.apiKey: expected a string, got an array$/],
    ...[openaiCompatible, anthropic].flatMap((make) => [
      [make, { model: undefined }, /^options.model: expected a string/],
      [make, { stream: "no" }, /^options.stream: expected true or false/],
    ]),
  ])) {
    assert.throws(() => make({ ...good, ...more }), { code: "INVALID_ARGUMENT", message });
    assert.throws(() => make(), { code: "INVALID_ARGUMENT" });
  }
});
