// @ts-check
/** Anthropic and Bedrock take four cache markers in a request: the earliest of the host's go, and nothing else changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
const skip = api ? false : why;

const ephemeral = { type: "ephemeral" };
const names = ["cache_control", "cacheControl", "cachePoint"];
const marked = { cache_control: ephemeral };
const sdkMark = { providerOptions: { anthropic: { cacheControl: ephemeral } } };

/** How a host marks what its user says in turn `n`, by format. @type {Record<string, Hosts>} */
const hosts = {
  anthropic: {
    options: { format: "anthropic" },
    user: (text, mark) => ({
      role: "user",
      content: [{ type: "text", text, ...(mark && marked) }],
    }),
  },
  bedrock: {
    options: { format: "anthropic", provider: "bedrock" },
    user: (text, mark) => ({
      role: "user",
      content: [{ type: "text", text, ...(mark && marked) }],
    }),
  },
  "openai-chat for Anthropic": {
    options: { format: "openai-chat", provider: "anthropic" },
    user: (text, mark) => ({
      role: "user",
      content: [{ type: "text", text, ...(mark && marked) }],
    }),
  },
  "ai-sdk": {
    options: { format: "ai-sdk" },
    user: (text, mark) => ({
      role: "user",
      content: [{ type: "text", text, ...(mark && sdkMark) }],
    }),
  },
  "ai-sdk, on whole messages": {
    options: { format: "ai-sdk" },
    user: (text, mark) => ({ role: "user", content: text, ...(mark && sdkMark) }),
  },
  "ai-sdk for Bedrock": {
    options: { format: "ai-sdk", provider: "bedrock" },
    user: (text, mark) => ({
      role: "user",
      content: [{ type: "text", text }],
      ...(mark && { providerOptions: { bedrock: { cachePoint: { type: "default" } } } }),
    }),
  },
  langchain: {
    options: { format: "langchain" },
    user: (text, mark) => ({
      type: "human",
      content: [{ type: "text", text, ...(mark && marked) }],
    }),
    assistant: (text) => ({ type: "ai", content: text }),
  },
};
/**
 * @typedef {{ options: object, user: (text: string, mark: boolean) => any, assistant?: (text: string) => any }} Hosts
 */

/** How many markers stand in a value. @param {any} value @returns {number} */
const markers = (value) =>
  typeof value !== "object" || value === null
    ? 0
    : Object.entries(value).reduce(
        (sum, [key, own]) => sum + (names.includes(key) ? 1 : markers(own)),
        0,
      );
/** A message as it is without markers, and without what held nothing else. @param {any} value @returns {any} */
function bare(value) {
  if (Array.isArray(value)) return value.map(bare);
  if (typeof value !== "object" || value === null) return value;
  const own = Object.entries(value).filter(([key]) => !names.includes(key));
  const all = own.map(([key, inner]) => [key, bare(inner)]);
  return Object.fromEntries(
    all.filter(([, inner]) => typeof inner !== "object" || Object.keys(inner).length > 0),
  );
}
/** @param {any} value @returns {any} */
function frozen(value) {
  if (typeof value === "object" && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}
const window = { contextTokens: 100_000 };
const long = (/** @type {number} */ turn) => `Turn ${turn}. ${"Read the next file. ".repeat(20)}`;
/** Turns in which the user's message is marked. @param {Hosts} host @param {number} turns */
function* growing({ user, assistant = (content) => ({ role: "assistant", content }) }, turns) {
  /** @type {any[]} */
  const history = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    history.push(frozen(user(long(turn), true)));
    yield history.slice();
    history.push(frozen(assistant(`Done with ${turn}.`)));
  }
}

for (const [name, host] of Object.entries(hosts)) {
  test(`a session with a cache marker on every user message sends the last four: ${name}`, {
    skip,
  }, () => {
    const options = { window, ...host.options };
    const manager = new api.ContextManager(options);
    /** @type {any[]} */
    let before = [];
    let turn = 0;
    for (const history of growing(host, 12)) {
      turn += 1;
      const own = JSON.stringify(history);
      const snapshot = turn > 1 ? manager.snapshot() : undefined;
      const sent = manager.request(history);
      const marks = sent.messages.flatMap((/** @type {any} */ message, /** @type {number} */ at) =>
        markers(message) > 0 ? [at] : [],
      );
      const last = history.flatMap((_, at) => (at % 2 === 0 ? [at] : [])).slice(-4);
      assert.deepEqual(marks, last, `turn ${turn}`);
      assert.equal(JSON.stringify(history), own);
      assert.deepEqual(sent.messages.slice(0, before.length).map(bare), before, `turn ${turn}`);
      assert.deepEqual([sent.epoch, sent.firstChanged], [0, turn === 1 ? sent.firstChanged : null]);
      const repaired = sent.repairs.map((/** @type {any} */ it) => [it.rule, it.index]);
      // Told once, however many there were, by the last that was removed.
      assert.deepEqual(repaired, turn > 4 ? [["I13", 2 * (turn - 5)]] : [], `turn ${turn}`);
      const again = manager.request(history);
      assert.deepEqual(again.messages, sent.messages);
      // A session that is restored sends the same.
      const restored = snapshot && api.ContextManager.restore(snapshot, options);
      const woken = restored?.request(history) ?? sent;
      assert.equal(JSON.stringify(woken.messages), JSON.stringify(sent.messages), `turn ${turn}`);
      assert.deepEqual([woken.epoch, woken.repairs], [sent.epoch, sent.repairs]);
      before = sent.messages.map(bare);
    }
  });
}

test("markers in system and tools leave less room for those in messages", { skip }, () => {
  const manager = new api.ContextManager({ window, format: "anthropic" });
  const system = [{ type: "text", text: "You are careful.", ...marked }];
  const tools = [{ name: "read", input_schema: { type: "object" }, ...marked }];
  for (const history of growing(/** @type {Hosts} */ (hosts.anthropic), 6)) {
    const { messages } = manager.request(history, { system, tools });
    assert.equal(markers(messages), Math.min(2, Math.ceil(history.length / 2)));
  }
});

test("a marker on a call that LangChain stores twice counts once", {
  skip,
}, () => {
  const manager = new api.ContextManager({ window, format: "langchain" });
  /** @type {any[]} */
  const history = [{ type: "human", content: "Read all of them." }];
  for (let turn = 0; turn < 7; turn += 1) {
    const id = `toolu_${turn}`;
    const use = { type: "tool_use", id, name: "read", input: {}, ...marked };
    const call = { id, name: "read", args: {}, type: "tool_call" };
    history.push(frozen({ type: "ai", content: [use], tool_calls: [call] }));
    history.push({ type: "tool", tool_call_id: id, name: "read", content: long(turn) });
    assert.equal(markers(manager.request(history).messages), Math.min(4, turn + 1));
  }
});

test("markers stay for a provider without a limit", { skip }, () => {
  const manager = new api.ContextManager({ window, format: "openai-chat" });
  for (const history of growing(/** @type {Hosts} */ (hosts["openai-chat for Anthropic"]), 6)) {
    const sent = manager.request(history);
    assert.deepEqual(sent.messages, history);
    assert.deepEqual(sent.repairs, []);
  }
});

test("a marker on a message stays if the message is cut or joined later", {
  skip,
}, () => {
  for (const provider of ["anthropic", "bedrock"]) {
    const options = { window: { contextTokens: 2_500 }, format: "anthropic", provider };
    const manager = new api.ContextManager(options);
    const history = [];
    for (let turn = 0; turn < 40; turn += 1) {
      const content = [{ type: "text", text: long(turn), ...marked }];
      history.push({ role: "user", content });
      if (turn % 3 !== 0) {
        const id = `toolu_${turn}`;
        history.push({
          role: "assistant",
          content: [{ type: "tool_use", id, name: "ls", input: {} }],
        });
        const inner = [{ type: "text", text: `${long(turn)}`.repeat(3), ...marked }];
        const result = { type: "tool_result", tool_use_id: id, content: inner, ...marked };
        history.push({ role: "user", content: [result] });
        history.push({ role: "assistant", content: `Seen ${turn}.` });
      }
      const snapshot = manager.snapshot();
      const { messages, epoch } = manager.request(history);
      assert.ok(markers(messages) <= 4, `turn ${turn}: ${markers(messages)}`);
      const restored = api.ContextManager.restore(snapshot, options);
      assert.deepEqual(
        restored.request(history).messages,
        messages,
        `turn ${turn}, epoch ${epoch}`,
      );
    }
  }
});

/** A host that marks its first message and its last, in three ways. */
for (const [way, move] of /** @type {Array<[string, (all: any[]) => any[]]>} */ ([
  [
    "in place",
    (all) => {
      for (const { content } of all.slice(1)) delete content[0].cache_control;
      all.at(-1).content[0].cache_control = ephemeral;
      return all;
    },
  ],
  [
    "on copies",
    (all) =>
      all.map(({ role, content: [{ cache_control: _, ...block }] }, at) => ({
        role,
        content: [at === 0 || at === all.length - 1 ? { ...block, ...marked } : block],
      })),
  ],
])) {
  test(`a host that moves its last marker ${way} keeps the first one, without a repair`, {
    skip,
  }, () => {
    const manager = new api.ContextManager({ window, format: "anthropic" });
    let history = [{ role: "user", content: [{ type: "text", text: long(0), ...marked }] }];
    for (let turn = 1; turn < 14; turn += 1) {
      const role = turn % 2 === 1 ? "assistant" : "user";
      history.push(/** @type {any} */ ({ role, content: [{ type: "text", text: long(turn) }] }));
      history = move(history);
      if (turn % 2 === 1) continue;
      const { messages, repairs, epoch } = manager.request(history);
      assert.deepEqual(repairs, [], `turn ${turn}`);
      assert.equal(epoch, 0);
      assert.deepEqual(messages, history, `turn ${turn}`);
    }
  });
}

for (const provider of ["anthropic", "bedrock"]) {
  test(`a host that turns texts into blocks to mark them keeps all user text: ${provider}`, {
    skip,
  }, () => {
    const manager = new api.ContextManager({
      window: { contextTokens: 3_000 },
      format: "anthropic",
      provider,
    });
    /** @type {any[]} */
    const stored = [];
    const textOf = (/** @type {number} */ turn) => (turn % 7 === 0 ? `Note ${turn}.` : long(turn));
    for (let turn = 0; turn < 30; turn += 1) {
      stored.push({ role: "user", content: textOf(turn) });
      const newest = stored.filter(({ role }) => role === "user").slice(-2);
      const history = stored.map((message) =>
        newest.includes(message)
          ? { role: "user", content: [{ type: "text", text: message.content, ...marked }] }
          : { ...message },
      );
      const { messages, epoch } = manager.request(history);
      const blocks = messages.flatMap((/** @type {any} */ { content }) => content);
      for (const block of blocks) {
        const text = block.text ?? block;
        assert.ok(text.length > 3, `turn ${turn}, epoch ${epoch}: ${JSON.stringify(text)}`);
      }
      assert.match(JSON.stringify(messages), /Note 0\./, `turn ${turn}, epoch ${epoch}`);
      stored.push({ role: "assistant", content: `Done. ${long(turn)}` });
    }
  });
}

test("a host that marks more messages on copies sends the last four markers", {
  skip,
}, () => {
  const manager = new api.ContextManager({ window, format: "anthropic" });
  const plain = Array.from({ length: 11 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: [{ type: "text", text: long(at) }],
  }));
  const first = manager.request(plain);
  assert.equal(markers(first.messages), 0);
  const all = plain.map(({ role, content: [block] }) => ({
    role,
    content: [{ ...block, ...marked }],
  }));
  const second = manager.request(all);
  assert.deepEqual(
    second.messages.map((/** @type {any} */ message) => markers(message)),
    all.map((_, at) => (at < 7 ? 0 : 1)),
  );
  assert.deepEqual([second.epoch, second.firstChanged], [first.epoch, null]);
  assert.deepEqual(manager.request(plain).messages, plain);
});
