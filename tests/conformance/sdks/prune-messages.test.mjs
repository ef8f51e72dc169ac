// @ts-check
/** The six threads on `pruneMessages` of vercel/ai, each in the shape of its report: what we send instead, the SDK takes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";
import { refused, versions } from "./ai-sdk-histories.mjs";

const { api, why } = await loadPackage();
const sdks = api ? (await versions()).filter(({ name }) => name !== "ai-v5") : [];
const skip = api ? (sdks.length > 0 ? false : "skipped: no version of ai is installed") : why;

const words = (/** @type {number} */ count, /** @type {string} */ of) =>
  Array.from({ length: count }, (_, at) => `${of}${at}`).join(" ");
const call = (
  /** @type {string} */ id,
  /** @type {string} */ toolName,
  /** @type {any} */ input = {},
  /** @type {any} */ more = {},
) => ({
  type: "tool-call",
  toolCallId: id,
  toolName,
  input,
  ...more,
});
const gave = (
  /** @type {string} */ id,
  /** @type {string} */ toolName,
  /** @type {any} */ value,
) => ({
  type: "tool-result",
  toolCallId: id,
  toolName,
  output: typeof value === "string" ? { type: "text", value } : { type: "json", value },
});
const user = (/** @type {string} */ text) => ({ role: "user", content: [{ type: "text", text }] });

/** Work that fills a small window after a history, so that the start of it has to go. */
const filler = (/** @type {number} */ steps) =>
  Array.from({ length: steps }, (_, at) => [
    { role: "assistant", content: [call(`f${at}`, "read", { path: `${at}.ts` })] },
    { role: "tool", content: [gave(`f${at}`, "read", words(150, `x${at}y`))] },
  ]).flat();

/** Every request of the growing history is taken; the last of them comes back. */
async function grow(/** @type {any[]} */ history, /** @type {any} */ options = {}) {
  const context = new api.ContextManager({
    window: { contextTokens: 4_000, maxOutputTokens: 400 },
    format: "ai-sdk",
    clock: () => 1_700_000_000_000,
    ...options,
  });
  let view = context.request(history.slice(0, 1));
  for (let end = 1; end <= history.length; end += 1) {
    if (end < history.length && history[end].role !== "assistant") continue;
    view = context.request(history.slice(0, end));
    assert.deepEqual(view.repairs, []);
    for (const sdk of sdks)
      assert.deepEqual(refused(await sdk.prompt(view.messages)), [], `${sdk.name} at ${end}`);
  }
  return view;
}

/** @param {any[]} messages */
const ids = (messages) =>
  messages.flatMap(({ content }) =>
    Array.isArray(content)
      ? content.map(
          ({ type, toolCallId, approvalId }) => `${type} ${approvalId ?? toolCallId ?? ""}`,
        )
      : [],
  );

test("vercel/ai #10445: calls before the last messages are pruned, with their results", {
  skip,
}, async () => {
  const ask = (/** @type {number} */ at) => [
    {
      role: "assistant",
      content: [
        { type: "text", text: "What can I help with?" },
        call(`q${at}`, "ask", { question: "which?", options: [words(120, `o${at}p`)] }),
      ],
    },
    { role: "tool", content: [gave(`q${at}`, "ask", words(120, `a${at}b`))] },
  ];
  const history = [
    user("ask me a question"),
    ...Array.from({ length: 20 }, (_, at) => ask(at)).flat(),
  ];
  const view = await grow(history);
  const left = ids(view.messages).filter((id) => id.startsWith("tool-"));
  assert.ok(left.length < ids(history).length - 21, `${left.length}`);
  const called = left.filter((id) => id.startsWith("tool-call")).map((id) => id.split(" ")[1]);
  const answered = left.filter((id) => id.startsWith("tool-result")).map((id) => id.split(" ")[1]);
  assert.deepEqual(called, answered);
});

test("vercel/ai #11036: reasoning items of OpenAI stay or go with the call that needs them", {
  skip,
}, async () => {
  const step = (/** @type {number} */ at) => [
    {
      role: "assistant",
      content: [
        {
          type: "reasoning",
          text: words(20, "r"),
          providerOptions: {
            openai: { itemId: `rs_${at}`, reasoningEncryptedContent: words(40, "e") },
          },
        },
        call(
          `c${at}`,
          "read",
          { path: words(40, `p${at}q`) },
          { providerOptions: { openai: { itemId: `fc_${at}` } } },
        ),
      ],
    },
    { role: "tool", content: [gave(`c${at}`, "read", words(150, `z${at}y`))] },
  ];
  const history = [user("find it"), ...Array.from({ length: 20 }, (_, at) => step(at)).flat()];
  const view = await grow(history, { provider: "openai-responses" });
  assert.ok(view.messages.length < history.length);
  for (const message of view.messages.filter(({ role }) => role === "assistant")) {
    const items = message.content.map(({ providerOptions }) => providerOptions.openai.itemId);
    assert.deepEqual(
      items.map((item) => item.slice(0, 2)),
      ["rs", "fc"],
    );
    // What the provider stored under an id is sent as it stored it.
    assert.equal(
      message,
      history.find((own) => own === message),
    );
  }
});

test("vercel/ai #12504: a call keeps the provider's call that it was made by", {
  skip,
}, async () => {
  const caller = {
    providerOptions: {
      anthropic: { caller: { type: "code_execution_20250825", toolId: "srvtoolu_1" } },
    },
  };
  const history = [
    user("look it up with code"),
    {
      role: "assistant",
      content: [call("srvtoolu_1", "search", { code: words(60, "k") }, { providerExecuted: true })],
    },
    { role: "assistant", content: [call("toolu_1", "read", { path: "a" }, caller)] },
    { role: "tool", content: [gave("toolu_1", "read", words(150, "u"))] },
    {
      role: "assistant",
      content: [
        gave("srvtoolu_1", "search", { type: "code_execution_result", stdout: words(30, "s") }),
        { type: "text", text: "Found." },
      ],
    },
    user("and the others?"),
    ...filler(20),
  ];
  const view = await grow(history);
  const left = ids(view.messages);
  const made = left.includes("tool-call toolu_1");
  assert.equal(made, left.includes("tool-call srvtoolu_1"));
  assert.equal(left.includes("tool-result srvtoolu_1"), left.includes("tool-call srvtoolu_1"));
});

test("vercel/ai #13430: no assistant message is left with reasoning alone", { skip }, async () => {
  const step = (/** @type {number} */ at) => [
    {
      role: "assistant",
      content: [
        {
          type: "reasoning",
          text: words(30, `r${at}s`),
          providerOptions: { anthropic: { signature: words(20, "g") } },
        },
        call(`c${at}`, "read"),
      ],
    },
    { role: "tool", content: [gave(`c${at}`, "read", words(150, `v${at}w`))] },
  ];
  const history = [
    user("check for errors"),
    ...Array.from({ length: 60 }, (_, at) => step(at)).flat(),
  ];
  const view = await grow(history);
  const alone = ({ role, content }) =>
    role === "assistant" && content.every(({ type }) => type === "reasoning");
  assert.ok(view.messages.length < history.length && !view.messages.some(alone));
  // One that a host's own pruning has left behind goes.
  const left = [
    user("a"),
    { role: "assistant", content: [{ type: "reasoning", text: "hm", state: "done" }] },
    user("b"),
  ];
  for (const provider of ["anthropic", "openai-chat", "gemini"]) {
    const { messages, repairs } = api.repair(left, provider, { format: "ai-sdk" });
    assert.deepEqual([messages, repairs.map(({ rule }) => rule)], [[left[0], left[2]], ["I6"]]);
  }
});

const asked = (/** @type {boolean} */ approved) => [
  user("delete it"),
  {
    role: "assistant",
    content: [
      call("c1", "read", { path: words(40, "d") }),
      { type: "tool-approval-request", approvalId: "a1", toolCallId: "c1" },
    ],
  },
  { role: "tool", content: [{ type: "tool-approval-response", approvalId: "a1", approved }] },
];

test("vercel/ai #16385: an approval's response goes with its request and its call", {
  skip,
}, async () => {
  const history = [
    ...asked(true),
    { role: "tool", content: [gave("c1", "read", words(100, "m"))] },
    { role: "assistant", content: "Done." },
    user("go on"),
    ...filler(20),
  ];
  const view = await grow(history);
  const left = ids(view.messages).filter((id) => /1$/.test(id) && !/f\d*1$/.test(id));
  assert.ok(left.length === 0 || left.length === 4, left.join());
  // A response that a host's own pruning has left alone is mended away.
  const alone = [history[0], { role: "assistant", content: "Done." }, history[2], user("b")];
  const { messages, repairs } = api.repair(alone, "anthropic", { format: "ai-sdk" });
  assert.deepEqual(
    [messages, repairs.map(({ rule }) => rule)],
    [[alone[0], alone[1], alone[3]], ["I4"]],
  );
});

for (const approved of [true, false])
  test(`vercel/ai #20953: a call that is ${approved ? "allowed" : "denied"} and not yet run is left to the SDK`, {
    skip,
  }, async () => {
    const history = [user("start"), ...filler(60), ...asked(approved)];
    assert.deepEqual(api.validate(history, "anthropic", { format: "ai-sdk" }), []);
    const view = await grow(history);
    assert.ok(view.messages.length < history.length);
    assert.deepEqual(ids(view.messages).slice(-3), [
      "tool-call c1",
      "tool-approval-request a1",
      "tool-approval-response a1",
    ]);
    for (const sdk of sdks) {
      const shown = await sdk.prompt(view.messages);
      const result = shown
        .flatMap(({ content }) => (Array.isArray(content) ? content : []))
        .find(({ type, toolCallId }) => type === "tool-result" && toolCallId === "c1");
      assert.equal(JSON.stringify(result.output).includes("ran"), approved);
    }
  });
