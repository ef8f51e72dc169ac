// @ts-check
/**
 * Code of the host's that throws once, whatever the package was reading or calling. A message that throws costs its call, and the
 * session goes on as one that never saw a throw. A callback that throws costs nothing: the request goes out, valid, and grows at
 * its end within an epoch. By default one read or callback of each kind throws, in half of the sessions; with `--ci` three, in all;
 * with `--long` each.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { size, sized } from "../../support/size.mjs";
import { api, manager, skip, talk } from "../support/agent-session.mjs";
import { session } from "./throwing/session.mjs";

/** Of each kind of read or callback so many are tried in a session. */
const SOME = sized({ short: 1, ci: 3, long: Number.POSITIVE_INFINITY });

const FORMATS = [
  ["anthropic", "anthropic"],
  ["openai-chat", "openai-chat"],
  ["openai-responses", "openai-responses"],
  ["gemini", "gemini"],
  ["ai-sdk", "anthropic"],
  ["pi", "anthropic"],
  ["langchain", "anthropic"],
];
const WAYS = /** @type {const} */ ([
  ["request", "plain"],
  ["request", "keyed"],
  ["request", "counted"],
  ["request", "fed back"],
  ["prepare", "plain"],
  ["compact", "plain"],
]);

/** Some numbers of each kind, as far apart as they go, from another one on in each session. @param {string[]} kinds @param {number} shift */
function chosen(kinds, shift) {
  /** @type {Map<string, number[]>} */
  const byKind = new Map();
  for (const [at, kind] of kinds.entries()) {
    byKind.set(kind, [...(byKind.get(kind) ?? []), at + 1]);
  }
  return [...byKind.values()].flatMap((all) => {
    const count = Math.min(SOME, all.length);
    const step = count > 1 ? (all.length - 1) / (count - 1) : 0;
    const from = count > 1 ? 0 : (shift * 5) % all.length;
    const some = Array.from({ length: count }, (_, at) => all[from + Math.round(at * step)]);
    return /** @type {number[]} */ (some);
  });
}

/** What a listener throws is printed, not thrown. @template T @param {() => Promise<T>} work */
async function listening(work) {
  const before = console.error;
  let printed = 0;
  console.error = () => {
    printed += 1;
  };
  try {
    return { ...(await work()), printed };
  } finally {
    console.error = before;
  }
}

const CALLBACKS = ["create", "clock", "on", "key", "estimator"];
/** Another time and another size may decide otherwise. */
const DECIDING = ["clock", "estimator"];

for (const [row, [format = "", provider = ""]] of FORMATS.entries()) {
  for (const [column, [mode, way]] of WAYS.entries()) {
    if (size === "short" && (row + column) % 6 !== 0) continue;
    test(`a session goes on after the host's code throws (${format}, ${mode}, ${way})`, {
      skip,
    }, async () => {
      const kind = { format, provider, mode, way };
      const reference = await session(api, kind, 0);
      const edits = reference.steps.flatMap((step) => step?.edits ?? []);
      const folds = reference.steps.filter((step) => step?.compaction?.record);
      assert.ok(edits.length > 0 && folds.length > 0, "the session has edits and a fold");
      let injected = 0;
      for (const at of chosen(reference.kinds, row * WAYS.length + column)) {
        const name = `${reference.kinds[at - 1]} (${at} of ${reference.kinds.length})`;
        const [thrower = ""] = name.split(" ");
        const isCallback = CALLBACKS.includes(thrower);
        const { steps, events, failures, thrown, printed } = await listening(() =>
          session(api, kind, at, isCallback),
        );
        injected += 1;
        assert.ok(thrown <= (isCallback ? 0 : 1), name);
        assert.equal(printed, thrower === "on" ? 1 : 0, name);
        assert.deepEqual(failures, isCallback && thrower !== "on" ? [thrower] : [], name);
        if (DECIDING.includes(thrower)) continue;
        for (const [step, facts] of steps.entries())
          assert.deepEqual(facts, reference.steps[step], `${name}: step ${step}`);
        if (mode === "request") assert.deepEqual(events, reference.events, name);
      }
      console.log(
        `${format}, ${mode}, ${way}: ${injected} of ${reference.kinds.length} faults injected`,
      );
    });
  }
}

test("a malformed message fails only its own call, also when all messages are read again", {
  skip,
}, () => {
  const requests = (/** @type {boolean} */ fails) => {
    const { context } = manager(null);
    const history = talk(40);
    const first = context.request(history);
    context.setModel({ estimator: "o200k" });
    for (let times = 0; fails && times < 2; times += 1) {
      const broken = [...history, { role: "assistant", content: [{ type: 5 }] }];
      assert.throws(() => context.request(broken), { code: "MALFORMED_MESSAGE" });
    }
    const { messages, source, tokens, epoch } = context.request(history);
    return JSON.parse(JSON.stringify({ first: first.messages, messages, source, tokens, epoch }));
  };
  assert.deepEqual(requests(true), requests(false));
});
