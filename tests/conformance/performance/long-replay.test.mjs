// @ts-check
/** Long sessions are replayed in a time that grows with their length, and not with its square. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { sized } from "../../support/size.mjs";
import { loadPackage } from "../support/package.mjs";

const { api, why } = await loadPackage();
if (!api) console.log(why);

const MESSAGES = sized({ short: 30_000, ci: 100_000, long: 100_000 });
/** A minute; if each call looked at all messages before it, it would be hours. */
const MOST_MS = 60_000;

const user = (/** @type {any} */ content) => ({ role: "user", content });
const assistant = (/** @type {any} */ content) => ({ role: "assistant", content });
const callTool = (/** @type {number} */ at) =>
  assistant([
    { type: "tool_use", id: `t${at}`, name: "read", input: { path: `src/file${at}.rs` } },
  ]);
const result = (/** @type {number} */ at) =>
  user([{ type: "tool_result", tool_use_id: `t${at - 1}`, content: `the text of fn${at - 1}` }]);

/** @type {Record<string, (at: number) => any>} */
const chains = {
  "in which the user writes before each call": (at) => (at % 2 ? assistant : user)(`message ${at}`),
  "that is one turn of tool calls": (at) => {
    if (at === 0) return user("go");
    return at % 2 ? callTool(at) : result(at);
  },
};

for (const [name, messageAt] of Object.entries(chains))
  test(`a session of ${MESSAGES.toLocaleString("en")} messages ${name} is replayed within a minute`, {
    skip: !api && why,
  }, () => {
    const session = {
      format: "anthropic",
      messageFormat: "anthropic",
      messages: Array.from({ length: MESSAGES }, (_, at) => messageAt(at)),
      calls: Array.from({ length: MESSAGES / 2 }, (_, at) => ({ sent: 2 * at + 1 })),
      compactions: [],
      receipt: { lines: MESSAGES, read: MESSAGES, unknown: 0, broken: [] },
    };
    const begun = process.cpuUsage();
    const played = api.replay(session, { window: { contextTokens: 200_000 } });
    const { user: own, system } = process.cpuUsage(begun);
    const ms = (own + system) / 1000;
    console.log(`${name}: ${Math.round(ms)} ms, ${played.totals.folds} folds`);
    played[Symbol.dispose]?.();
    assert.equal(played.calls.length, MESSAGES / 2);
    assert.equal(played.totals.violations, 0);
    assert.ok(ms <= MOST_MS, `${Math.round(ms)} ms`);
  });
