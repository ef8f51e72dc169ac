/** The calls of other libraries and ours, as docs/coming-from.md has them, on one history: what the page says of both is so. */
import assert from "node:assert/strict";
import { readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import * as langchain from "@langchain/core/messages";
import { exampleOf } from "../support/examples.mjs";
import { project, root, tools, write } from "../support/project.mjs";

const PAGE = "docs/coming-from.md";
const page = readFileSync(join(root, PAGE), "utf8");
const BUDGET = 12_000;
const STEPS = 40;
const RULE = "Never open /etc/secrets. Read every file of the harbour, three at a time.";

const folder = project();
for (const name of ["@langchain", "@context-chef", "ai"]) {
  symlinkSync(join(tools, name), join(folder, "node_modules", name), "dir");
}
Object.assign(globalThis, {
  system: "You audit a harbour.",
  tools: {},
  countTokens: (messages) => messages.reduce((sum, one) => sum + tokensOf(one), 0),
  compressionModel: async () => "## Summary\nSome files were read.",
  summarize: async () => "## Summary\nSome files were read.",
});

/** Tokens of a message's own text and calls. */
const tokensOf = (message) =>
  Math.ceil(JSON.stringify([message.content, message.tool_calls ?? []]).length / 4);

let made = 0;
/** The function of an example of the page, for a window; a session of its own each time. @param {number} number from 1 */
async function beforeCall(number, budget = BUDGET) {
  const file = `example-${number}-${made++}.mjs`;
  const text = exampleOf(PAGE, number).replaceAll("100_000", String(budget));
  write(folder, { [file]: `${text}\nexport { beforeCall };\n` });
  return (await import(pathToFileURL(join(folder, file)).href)).beforeCall;
}

/** The user's request, and steps of three calls each with their results, in a library's own shape. */
function history({ user, step }) {
  const messages = [user(RULE)];
  for (let at = 0; at < STEPS; at += 1) {
    const calls = [1, 2, 3].map((one) => ({
      id: `call_${at}_${one}`,
      path: `src/${at}/${one}.js`,
    }));
    messages.push(
      step(calls, (path) => `${path}\n${"const berth = ledger.find(ship);\n".repeat(25)}`),
    );
  }
  return messages;
}

const SHAPES = {
  langchain: {
    user: (text) => [new langchain.HumanMessage(text)],
    step: (calls, read) => [
      new langchain.AIMessage({
        content: "",
        tool_calls: calls.map(({ id, path }) => ({
          id,
          name: "read",
          args: { path },
          type: "tool_call",
        })),
      }),
      ...calls.map(
        ({ id, path }) => new langchain.ToolMessage({ content: read(path), tool_call_id: id }),
      ),
    ],
    calls: (message) => (message.tool_calls ?? []).map(({ id }) => id),
    results: (message) => [message.tool_call_id].filter(Boolean),
  },
  "ai-sdk": {
    user: (text) => [{ role: "user", content: text }],
    step: (calls, read) => [
      {
        role: "assistant",
        content: calls.map(({ id, path }) => ({
          type: "tool-call",
          toolCallId: id,
          toolName: "read",
          input: { path },
        })),
      },
      {
        role: "tool",
        content: calls.map(({ id, path }) => ({
          type: "tool-result",
          toolCallId: id,
          toolName: "read",
          output: { type: "text", value: read(path) },
        })),
      },
    ],
    calls: ({ role, content }) => (role === "assistant" ? partIds(content) : []),
    results: ({ role, content }) => (role === "tool" ? partIds(content) : []),
  },
  "openai-chat": {
    user: (text) => [{ role: "user", content: text }],
    step: (calls, read) => [
      {
        role: "assistant",
        content: "",
        tool_calls: calls.map(({ id, path }) => ({
          id,
          type: "function",
          function: { name: "read", arguments: JSON.stringify({ path }) },
        })),
      },
      ...calls.map(({ id, path }) => ({ role: "tool", tool_call_id: id, content: read(path) })),
    ],
    calls: ({ tool_calls = [] }) => tool_calls.map(({ id }) => id),
    results: ({ tool_call_id }) => [tool_call_id].filter(Boolean),
  },
};
const partIds = (content) =>
  Array.isArray(content) ? content.map(({ toolCallId }) => toolCallId).filter(Boolean) : [];

/** Ids of the results whose calls are not in a request. */
function orphansIn(sent, { calls, results }) {
  const known = new Set(sent.flatMap(calls));
  return sent.flatMap(results).filter((id) => !known.has(id));
}

/** Asked before each step: how many requests have what a provider, a user or a prompt cache does not want. */
async function play(number, shape) {
  const send = await beforeCall(number);
  const groups = history(SHAPES[shape]);
  const found = { orphans: 0, lost: 0, changed: 0, over: 0 };
  let last = [];
  for (let at = 1; at <= groups.length; at += 1) {
    const sent = await send(groups.slice(0, at).flat());
    const texts = sent.map((message) => JSON.stringify(message));
    if (orphansIn(sent, SHAPES[shape]).length > 0) found.orphans += 1;
    if (!texts.some((text) => text.includes(RULE))) found.lost += 1;
    if (last.some((text, index) => text !== texts[index])) found.changed += 1;
    if (globalThis.countTokens(sent) > BUDGET) found.over += 1;
    last = texts;
  }
  console.log(`${PAGE} ${number}, ${groups.length} requests: ${JSON.stringify(found)}`);
  return found;
}

/** The rows of the page's tables of figures, in its order. */
const figures = [
  ...page.matchAll(/^\| (with a|without|that change) .*\| (\d+) \| (\d+) \|$/gm),
].map(([, , theirs, ours]) => [Number(theirs), Number(ours)]);
const shown = ({ orphans, lost, changed }) => [orphans, lost, changed];

/** Compares the figures with those of the page. */
function checkSame(theirs, ours, inPage) {
  const measured = shown(theirs).map((figure, at) => [figure, shown(ours)[at]]);
  assert.deepEqual(inPage, measured, `${PAGE} has other figures than these: write them there`);
}

test("trimMessages cuts off calls, loses the request and moves the beginning, as often as the page says", async () => {
  const [theirs, ours] = [await play(1, "langchain"), await play(2, "langchain")];
  checkSame(theirs, ours, figures.slice(0, 3));
  assert.ok(theirs.orphans > 20 && ours.orphans === 0 && ours.lost === 0);
  assert.deepEqual([theirs.over, ours.over], [0, 0]);
});

test("trimMessages with startOn keeps calls and results together, or keeps nothing", async () => {
  const all = history(SHAPES.langchain).flat();
  const trimmed = async (startOn) => {
    const options = { maxTokens: BUDGET, strategy: "last", includeSystem: true, startOn };
    const tokenCounter = globalThis.countTokens;
    const sent = await langchain.trimMessages(all, { ...options, tokenCounter });
    return sent.filter(Boolean);
  };
  const fromModel = await trimmed("ai");
  assert.deepEqual(orphansIn(fromModel, SHAPES.langchain), []);
  assert.ok(fromModel.length > 0 && !JSON.stringify(fromModel).includes(RULE));
  assert.deepEqual(await trimmed("human"), []);
});

test("pruneMessages moves the beginning at nearly every call, as often as the page says", async () => {
  const [theirs, ours] = [await play(3, "ai-sdk"), await play(4, "ai-sdk")];
  checkSame(theirs, ours, figures.slice(3, 6));
  assert.ok(theirs.changed > 30 && ours.changed < 5);
  assert.equal(ours.over, 0);
});

test("pruneMessages removes what would fit, sends what does not, and leaves no trace", async () => {
  const roomy = [await beforeCall(3, 200_000), await beforeCall(4, 200_000)];
  const short = history(SHAPES["ai-sdk"]).slice(0, 10).flat();
  const [pruned, kept] = [await roomy[0](short), await roomy[1](short)];
  assert.ok(pruned.length < short.length);
  assert.deepEqual(kept, short, "10 steps fit a window of 200,000 tokens");

  const small = [await beforeCall(3), await beforeCall(4)];
  const { user, step } = SHAPES["ai-sdk"];
  const call = [{ id: "call_1", path: "src/tides.js" }];
  const huge = [
    ...user(RULE),
    ...step(call, () => "const berth = ledger.find(ship);\n".repeat(3_000)),
  ];
  assert.ok(globalThis.countTokens(await small[0](huge)) > BUDGET);
  assert.ok(globalThis.countTokens(await small[1](huge)) < BUDGET);

  const all = history(SHAPES["ai-sdk"]).flat();
  const first = "src/0/1.js";
  assert.ok(!JSON.stringify(await (await beforeCall(3))(all)).includes(first));
  assert.ok(JSON.stringify(await (await beforeCall(4))(all)).includes(first));
});

test("context-chef compresses at 70 % of the window, the user's request too unless it is pinned", async () => {
  const { user, step } = SHAPES["openai-chat"];
  const short = history({ user, step }).slice(0, 14).flat();
  const full = globalThis.countTokens(short) / BUDGET;
  assert.ok(full > 0.7 && full < 0.9, `${full} of the window`);
  const [theirs, ours] = [await (await beforeCall(5))(short), await (await beforeCall(6))(short)];
  assert.ok(theirs.length < short.length, "it is compressed");
  assert.deepEqual(ours.slice(1), short, "it is sent whole");
  assert.ok(!JSON.stringify(theirs).includes(RULE));
  const pinned = [{ ...short[0], pinned: true }, ...short.slice(1)];
  assert.ok(JSON.stringify(await (await beforeCall(5))(pinned)).includes(RULE));
});

test("neither context-chef nor Plimsoll separates a call from its result; Plimsoll keeps the request", async () => {
  const [theirs, ours] = [await play(5, "openai-chat"), await play(6, "openai-chat")];
  assert.equal(theirs.orphans, 0);
  assert.deepEqual(shown(ours).slice(0, 2), [0, 0]);
  assert.equal(ours.over, 0);
});

test("each setting of another system goes where its table says, or is refused by name", async () => {
  const { optionsFrom } = await import(
    pathToFileURL(join(folder, "node_modules/plimsoll/dist/index.js"))
  );
  const heads = [...page.matchAll(/^### .*`optionsFrom\("([\w-]+)", config\)`$/gm)];
  assert.equal(heads.length, 7);
  let read = 0;
  for (const { 1: system, index } of heads) {
    const [body] = page.slice(index + 1).split(/^### /m);
    const rows = body.matchAll(
      /^\| `([\w.]+)` \| `(.*?)` \| (?:`([\w.]+)`.*?\| `(.*)`|(refused): .*) \|(?: \|)?$/gm,
    );
    for (const [, setting, valueJson, path, value, refused] of rows) {
      read += 1;
      const config = nested(setting.split("."), JSON.parse(valueJson));
      if (refused) {
        assert.throws(() => optionsFrom(system, config), {
          code: "INVALID_ARGUMENT",
          message: new RegExp(setting.replaceAll(".", "\\.")),
        });
      } else {
        const found = path.split(".").reduce((at, name) => at?.[name], optionsFrom(system, config));
        assert.deepEqual(found, JSON.parse(value), `${system}: ${setting}`);
      }
    }
  }
  const listed = page.slice(heads[0].index).match(/^\| `/gm).length;
  assert.equal(read, listed, "every row was read");
});

const nested = ([name, ...rest], value) => ({ [name]: rest.length ? nested(rest, value) : value });
