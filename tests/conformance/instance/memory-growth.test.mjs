// @ts-check
/**
 * Memory grows in large steps once it is large. At each step V8 may collect the whole garbage of the host: a gateway with many
 * sessions, or a replay of a large file, would spend its time there.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { size } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";

const { Instance } = WebAssembly;
/** @type {WebAssembly.Memory[]} */
const memories = [];
WebAssembly.Instance = new Proxy(Instance, {
  construct(target, args) {
    const instance = Reflect.construct(target, args);
    const { memory } = instance.exports;
    if (memory) memories.push(memory);
    return instance;
  },
});
const { api, why } = await loadPackage();
if (!api) console.log(why);
const skip = api
  ? size === "short" &&
    "skipped: 128 MiB of sessions take seconds: `cargo xtask test --ci conformance` makes them"
  : why;

const LARGE = 64 << 20;
const bytes = () => Math.max(...memories.map((memory) => memory.buffer.byteLength));

/** @param {number} messages @param {string} name */
const history = (messages, name) => [
  { role: "user", content: "go" },
  ...Array.from({ length: messages / 2 }, (_, at) => [
    {
      role: "assistant",
      content: [
        {
          type: "tool_use",
          id: `${name}-${at}`,
          name: "read",
          input: { path: `src/${name}/${at}.rs` },
        },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: `${name}-${at}`, content: `fn_${at} in ${name}_${at}` },
      ],
    },
  ]).flat(),
];

test("memory beyond 64 MiB grows by an eighth each time", { skip }, () => {
  const sizes = new Set();
  const contexts = [];
  for (let number = 0; bytes() < 2 * LARGE; number += 1) {
    const context = new api.ContextManager({ window: { contextTokens: 200_000 } });
    context.request(history(2_000, `s${number}`));
    contexts.push(context);
    if (bytes() > LARGE) sizes.add(bytes());
  }
  console.log(`${contexts.length} sessions, ${sizes.size} sizes`);
  for (const context of contexts) context[Symbol.dispose]();
  // One large block may grow it between two steps; without growing ahead it is nearly each session.
  assert.ok(sizes.size <= 16, `${sizes.size} sizes from 64 to 128 MiB`);
});
