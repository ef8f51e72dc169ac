// @ts-check
/**
 * Long texts of plain messages reach the core beside their JSON; a message of a class is written as JSON whole. The core reads the
 * same both ways, whatever is in the texts and in the names.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";
import { random } from "./histories.mjs";

const { api, why } = await loadPackage();
const histories = sized({ short: 300, ci: 1_000, long: 20_000 });

/** U+0001 stands in the JSON for a long text. */
const MARK = "\u0001";
const PIECES = `${MARK} "${MARK}" " \\ \n \ud83d \u{1f600} é 中 \u2028 \u007f`.split(" ");
const NAMES = [MARK, "a", "7", "__proto__", "toString"];

/** @param {(below: number) => number} roll */
function historyOf(roll) {
  const text = () => {
    if (roll(8) === 0) return MARK;
    const end = Array.from({ length: roll(6) }, () => PIECES[roll(PIECES.length)]).join("");
    return roll(2) === 0 ? end : "src/a.ts, ".repeat(20 + roll(30)) + end;
  };
  const input = () => {
    const members = Array.from({ length: roll(4) }, () => {
      const name = NAMES[roll(NAMES.length)];
      return `${JSON.stringify(name)}:${JSON.stringify(text())}`;
    });
    return JSON.parse(`{${members.join(",")}}`);
  };
  const textBlock = () => ({ type: "text", text: text() });
  return [
    { role: "user", content: text() },
    {
      role: "assistant",
      content: [textBlock(), { type: "tool_use", id: "t", name: "run", input: input() }],
    },
    {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "t", content: [textBlock(), textBlock()] }],
    },
    { role: "user", content: [textBlock(), { type: "own", input: input(), more: text() }] },
  ];
}

class Message {}

/** @param {any} message */
const instanceOf = (message) =>
  Object.create(Message.prototype, Object.getOwnPropertyDescriptors(message));

/** What the core made of them. @param {any[]} messages */
function seen(messages) {
  const window = { contextTokens: 200_000 };
  const manager = new api.ContextManager({ window, format: "anthropic", clock: () => 0 });
  try {
    const { tokens, repairs } = manager.request(messages);
    return { tokens, repairs, snapshot: manager.snapshot({ measures: true }) };
  } finally {
    manager[Symbol.dispose]();
  }
}

test("the core reads a long text the same in the JSON and beside it", {
  skip: api ? false : why,
}, () => {
  let long = 0;
  for (let seed = 1; seed <= histories; seed += 1) {
    const next = random(seed);
    const messages = historyOf((below) => Math.floor(next() * below));
    long += Number(JSON.stringify(messages).length > 1_000);
    assert.deepEqual(seen(messages), seen(messages.map(instanceOf)), `seed ${seed}`);
  }
  assert.ok(long > histories / 2);
});
