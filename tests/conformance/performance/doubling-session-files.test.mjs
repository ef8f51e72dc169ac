// @ts-check
/** Twice the session file, twice the work: each kind of file that is read, its recorded view, its replay and its redacted copy. */
import { test } from "node:test";
import { checkDoublings } from "../support/doubling.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);

const words = (/** @type {number} */ at) =>
  `the file src/f${100_000 + at}.rs is read, value_${at % 7}_x`;
/** @param {number} count @param {(at: number) => any[]} records @param {any[]} head */
const lines = (count, records, head = []) =>
  [...head, ...Array.from({ length: count }, (_, at) => records(at)).flat()]
    .map((record) => JSON.stringify(record))
    .join("\n");
/** @param {number} count @param {(at: number) => any[]} records */
const list = (count, records) => Array.from({ length: count }, (_, at) => records(at)).flat();
const fn = (/** @type {string} */ id) => ({ id, function: { name: "read", arguments: "{}" } });
const anthropic = (/** @type {number} */ at) => [
  { role: "user", content: words(at) },
  { role: "assistant", content: [{ type: "tool_use", id: `c${at}`, name: "read", input: { at } }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: `c${at}`, content: words(at) }] },
  { role: "assistant", content: words(at) },
];
const chat = (/** @type {number} */ at) => [
  { role: "user", content: words(at) },
  { role: "assistant", content: null, tool_calls: [fn(`c${at}`)] },
  { role: "tool", tool_call_id: `c${at}`, content: words(at) },
];

/** Records of Qwen Code: each follows the one before. @param {number} count @param {(at: number) => any[]} records */
const qwenLines = (count, records) =>
  list(count, records)
    .map((record, at) => ({ uuid: `${at}`, parentUuid: at ? `${at - 1}` : null, ...record }))
    .map((record) => JSON.stringify({ sessionId: "s", cwd: "/", ...record }))
    .join("\n");
const qwenUser = (/** @type {number} */ at) => ({ role: "user", parts: [{ text: words(at) }] });
const qwenCode = (/** @type {number} */ at) => {
  const f = { id: `c${at}`, name: "f" };
  const call = { role: "model", parts: [{ functionCall: { ...f, args: {} } }] };
  const answer = { functionResponse: { ...f, response: { output: words(at) } } };
  return [
    { type: "user", message: qwenUser(at) },
    { type: "assistant", message: call },
    { type: "tool_result", message: { role: "user", parts: [answer] } },
  ];
};
const compressed = (/** @type {number[]} */ kept) => ({
  type: "system",
  subtype: "chat_compression",
  systemPayload: { compressedHistory: [qwenUser(-1), ...kept.map(qwenUser)] },
});

const geminiCli = (/** @type {number} */ at) => [
  { id: `u${at}`, type: "user", content: [{ text: words(at) }] },
  {
    id: `m${at}`,
    type: "gemini",
    content: words(at),
    tokens: { input: 10 * at, output: 1, cached: 0 },
    toolCalls: [{ id: `c${at}`, name: "f", args: { at }, result: words(at) }],
  },
];

/** A file of so many turns. @type {Record<string, (count: number) => string>} */
const FILES = {
  pi: (count) =>
    lines(
      count,
      (at) => [
        {
          type: "message",
          id: `u${at}`,
          parentId: at ? `a${at - 1}` : null,
          message: { role: "user", content: words(at) },
        },
        {
          type: "message",
          id: `a${at}`,
          parentId: `u${at}`,
          message: {
            role: "assistant",
            content: [{ type: "text", text: words(at) }],
            usage: { input: 10 * at },
          },
        },
      ],
      [{ type: "session", version: 3, id: "s" }],
    ),
  "pi, every entry a branch of the first": (count) =>
    lines(
      count,
      (at) => [
        {
          type: "message",
          id: `u${at}`,
          parentId: at ? "u0" : null,
          message: { role: "user", content: words(at) },
        },
      ],
      [{ type: "session", version: 3, id: "s" }],
    ),
  "pi, prompts, edits and compactions": (count) => {
    const message = (/** @type {string} */ role, /** @type {number} */ at) => ({
      type: "message",
      message: { role, content: words(at) },
    });
    // Prompts are never left out: a replay of nothing else has more to send at each call.
    const records = (/** @type {number} */ at) => [
      message(at < 30 ? "system" : "user", at),
      message("user", at),
      { type: "context_edit", targetId: `${at * 5 + 1}`, replacement: { content: "short" } },
      message("assistant", at),
      { type: "compaction", summary: "s", firstKeptEntryId: `${at * 5 + 3}`, systemMessage: {} },
    ];
    return list(count, records)
      .map((record, at) => ({ id: `${at}`, parentId: at ? `${at - 1}` : null, ...record }))
      .map((record) => JSON.stringify(record))
      .join("\n");
  },
  "claude-code, attachments and compactions": (count) => {
    const rendered = [{ content: words(0) }];
    const records = (/** @type {number} */ at) => [
      { type: "user", message: { role: "user", content: words(at) } },
      { type: "attachment", attachment: { type: "date" }, rendered, renderedRole: "system" },
      { type: "assistant", message: { id: `m${at}`, role: "assistant", content: words(at) } },
      { type: "system", subtype: "compact_boundary" },
      { type: "user", isCompactSummary: true, message: { role: "user", content: "s" } },
      { type: "attachment", attachment: { type: "file" }, rendered, renderedRole: "user" },
    ];
    return list(count, records)
      .map((record, at) => ({ uuid: `${at}`, parentUuid: at ? `${at - 1}` : null, ...record }))
      .map((record) => JSON.stringify({ sessionId: "s", ...record }))
      .join("\n");
  },
  "claude-code": (count) =>
    lines(count, (at) => {
      const [ask, call, result] = anthropic(at);
      return [
        { type: "user", uuid: `u${at}`, parentUuid: at ? `r${at - 1}` : null, message: ask },
        {
          type: "assistant",
          uuid: `a${at}`,
          parentUuid: `u${at}`,
          message: { ...call, id: `m${at}`, usage: { input_tokens: 10 * at } },
        },
        { type: "user", uuid: `r${at}`, parentUuid: `a${at}`, message: result },
      ];
    }),
  "claude-code, a chain in the opposite order": (count) =>
    lines(count, (at) => [
      {
        type: "user",
        uuid: `u${count - at}`,
        parentUuid: at === count - 1 ? null : `u${count - at - 1}`,
        message: { role: "user", content: words(at) },
      },
    ]),
  "claude-code, parents that are not there": (count) =>
    lines(count, (at) => [
      {
        type: "user",
        uuid: `u${at}`,
        parentUuid: `x${at}`,
        message: { role: "user", content: words(at) },
      },
    ]),
  codex: (count) =>
    lines(
      count,
      (at) => [
        {
          type: "response_item",
          payload: {
            type: "message",
            role: "user",
            content: [{ type: "input_text", text: words(at) }],
          },
        },
        {
          type: "response_item",
          payload: { type: "custom_tool_call", name: "n", input: "i", call_id: `c${at}` },
        },
        {
          type: "response_item",
          payload: { type: "custom_tool_call_output", call_id: `c${at}`, output: words(at) },
        },
        {
          type: "event_msg",
          payload: { type: "token_count", info: { last_token_usage: { input_tokens: 10 * at } } },
        },
      ],
      [{ timestamp: "t", type: "session_meta", payload: { id: "s" } }],
    ),
  "openai-messages": (count) => JSON.stringify(list(count, chat)),
  "anthropic-messages": (count) =>
    JSON.stringify({ system: "s", messages: list(count, anthropic) }),
  "copilot-cli": (count) =>
    lines(
      count,
      (at) => [
        { type: "user.message", data: { content: words(at) } },
        {
          type: "assistant.message",
          data: {
            content: "",
            apiCallId: `m${at}`,
            toolRequests: [{ toolCallId: `c${at}`, name: "n", arguments: {} }],
          },
        },
        {
          type: "tool.execution_complete",
          data: { toolCallId: `c${at}`, result: { content: words(at) } },
        },
      ],
      [{ type: "session.start", data: { version: 1 } }],
    ),
  "kimi-wire": (count) =>
    lines(
      count,
      (at) => [
        {
          type: "context.append_message",
          message: { role: "user", content: [{ type: "text", text: words(at) }] },
        },
        {
          type: "context.append_loop_event",
          event: { type: "step.begin", uuid: `${at}` },
          time: at,
        },
        {
          type: "context.append_loop_event",
          event: { type: "tool.call", toolCallId: `c${at}`, name: "n", args: {} },
        },
        {
          type: "context.append_loop_event",
          event: { type: "tool.result", toolCallId: `c${at}`, result: { output: words(at) } },
        },
      ],
      [{ type: "metadata", protocol_version: "1.4" }],
    ),
  openhands: (count) =>
    JSON.stringify(
      list(count, (at) => [
        {
          kind: "MessageEvent",
          source: "user",
          llm_message: { role: "user", content: [{ type: "text", text: words(at) }] },
        },
        {
          kind: "ActionEvent",
          source: "agent",
          thought: [],
          tool_name: "t",
          tool_call_id: `c${at}`,
          tool_call: { arguments: "{}" },
          llm_response_id: `r${at}`,
        },
        {
          kind: "ObservationEvent",
          source: "environment",
          tool_call_id: `c${at}`,
          observation: { content: [{ type: "text", text: words(at) }] },
        },
      ]),
    ),
  "swe-agent": (count) =>
    JSON.stringify({
      trajectory: [],
      history: list(count, (at) => [
        { role: "user", content: words(at), agent: "main" },
        {
          role: "assistant",
          content: `I look.\n\`\`\`\nls ${at}\n\`\`\``,
          action: `ls ${at}\n`,
          agent: "main",
        },
      ]),
    }),
  "inspect (AISI)": (count) =>
    JSON.stringify({
      version: 2,
      eval: { task: "t" },
      samples: [
        {
          messages: list(count, (at) => [
            { id: `u${at}`, role: "user", content: words(at) },
            {
              id: `m${at}`,
              role: "assistant",
              content: "",
              tool_calls: [{ id: `c${at}`, function: "f", arguments: {} }],
            },
            { role: "tool", tool_call_id: `c${at}`, content: words(at) },
          ]),
          events: list(count, (at) => [
            {
              event: "model",
              timestamp: at,
              output: { choices: [{ message: { id: `m${at}` } }], usage: { input_tokens: 7 } },
            },
          ]),
        },
      ],
    }),
  opencode: (count) =>
    JSON.stringify({
      info: { id: "s" },
      messages: list(count, (at) => [
        { info: { id: `u${at}`, role: "user" }, parts: [{ type: "text", text: words(at) }] },
        {
          info: { id: `m${at}`, role: "assistant", tokens: { input: at } },
          parts: [
            { type: "tool", callID: `c${at}`, tool: "t", state: { input: {}, output: words(at) } },
          ],
        },
      ]),
    }),
  "gemini-cli": (count) => lines(count, geminiCli, [{ sessionId: "s", projectHash: "h" }]),
  "gemini-cli, set anew each time": (count) =>
    lines(
      count,
      (at) => [
        ...geminiCli(at),
        { $set: { messages: [{ id: `s${at}`, type: "user", content: words(at) }] } },
      ],
      [{ sessionId: "s", projectHash: "h" }],
    ),
  "gemini-cli, set anew at the end": (count) =>
    lines(
      count,
      (at) => (at < count / 2 ? geminiCli(at) : [{ $set: { messages: [geminiCli(0)[0]] } }]),
      [{ sessionId: "s", projectHash: "h" }],
    ),
  "qwen-code": (count) => qwenLines(count, qwenCode),
  "qwen-code, compressed each time": (count) =>
    qwenLines(count, (at) => [...qwenCode(at), compressed([at])]),
  "qwen-code, compressed at the end": (count) =>
    qwenLines(count, (at) => (at < count / 2 ? qwenCode(at) : [compressed([0, 0, 0])])),
  "qwen-code, compressed while prompts wait": (count) =>
    qwenLines(count, (at) => (at < count / 2 ? qwenCode(at).slice(0, 1) : [compressed([0])])),
  langchain: (count) =>
    JSON.stringify({
      values: {
        messages: list(count, (at) => [
          { type: "human", content: words(at) },
          { type: "ai", content: "", tool_calls: [{ id: `c${at}`, name: "f", args: {} }] },
          { type: "tool", content: words(at), tool_call_id: `c${at}` },
        ]),
      },
    }),
  "gemini-contents": (count) =>
    JSON.stringify({
      contents: list(count, (at) => [
        { role: "user", parts: [{ text: words(at) }] },
        { role: "model", parts: [{ functionCall: { name: "f", args: { at } } }] },
        {
          role: "user",
          parts: [{ functionResponse: { name: "f", response: { output: words(at) } } }],
        },
      ]),
    }),
  "ai-sdk": (count) =>
    JSON.stringify(
      list(count, (at) => [
        { id: `u${at}`, role: "user", parts: [{ type: "text", text: words(at) }] },
        {
          id: `a${at}`,
          role: "assistant",
          parts: [
            { type: "step-start" },
            {
              type: "tool-ls",
              toolCallId: `c${at}`,
              state: "output-available",
              input: {},
              output: words(at),
            },
          ],
        },
      ]),
    ),
};

/** A replay copies its session after every 16 calls until it has 16 copies: up to then the copies grow in number and in size. */
const MOST_REPLAY = 2.5;

/** Uses of a session file that was read. @type {Record<string, (session: any) => unknown>} */
const USES = {
  "recorded view": (session) => api.recordedView(session).report(),
  "redacted copy": (session) => api.redactSession(session),
  replay: (session) => api.replay(session, { window: { contextTokens: 4_000 } }),
};

for (const [kind, textOf] of Object.entries(FILES)) {
  test(`a session file twice as long takes at most twice the steps: ${kind}`, {
    skip: !api && why,
  }, async () => {
    const read = (/** @type {number} */ count) => api.readSession(Buffer.from(textOf(count)));
    const rows = [
      {
        name: `reading a file, ${kind}`,
        size: 100,
        mayStop: false,
        most: 2.3,
        ready: (/** @type {number} */ count) => {
          const bytes = Buffer.from(textOf(count));
          return () => api.readSession(bytes);
        },
      },
    ];
    for (const [use, of] of Object.entries(USES)) {
      of(read(3));
      const ready = (/** @type {number} */ count) => {
        const session = read(count);
        return () => of(session);
      };
      // One branch of a file with many is its session, however many there are.
      rows.push({
        name: `${use}, ${kind}`,
        size: 100,
        ready,
        mayStop: kind.includes("branch"),
        most: use === "replay" ? MOST_REPLAY : 2.3,
      });
    }
    await checkDoublings(rows);
  });
}
