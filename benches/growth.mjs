/**
 * Growth: each entry's time as its input doubles. Linear work takes about twice as long, quadratic work four times; the aim is 2.2 at
 * most in the mean of two doublings (one alone also shows where garbage was collected). Processor time; the three sizes take turns, and
 * each figure is the median of all rounds: other work on the machine slows one round, not the median.
 *
 *     cargo xtask bench growth            all entries
 *     cargo xtask bench growth replay     those whose name has this word
 */

import { loadPackage } from "../tests/conformance/support/package.mjs";
import { longSession } from "../tests/support/long.mjs";

const { api, why } = await loadPackage();
if (!api) throw new Error(why);

const AIM = 2.2;
const ROUNDS = 11;
/** Below this many milliseconds a ratio is noise. */
const LEAST_MS = 4;

const user = (content) => ({ role: "user", content });
const assistant = (content) => ({ role: "assistant", content });
const results = (...ids) =>
  user(ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: `result ${id}` })));
const manager = (more = {}) =>
  new api.ContextManager({ window: { contextTokens: 2_000_000 }, format: "anthropic", ...more });
const talk = (turns) =>
  Array.from({ length: turns }, (_, at) => [
    user(`question ${at}`),
    assistant(`answer ${at}`),
  ]).flat();
const useTool = (at) =>
  assistant([
    { type: "tool_use", id: `t${at}`, name: "read", input: { path: `src/file${at}.rs` } },
  ]);
const talkAt = (at) => (at % 2 ? assistant : user)(`m${at}`);
const works = (at) => (at === 0 ? user("go") : at % 2 ? useTool(at) : results(`t${at - 1}`));
/** A session's file as `readSession` gives it: a call after each message of the user. */
const chain = (messages, messageAt) => ({
  format: "anthropic",
  messageFormat: "anthropic",
  messages: Array.from({ length: messages }, (_, at) => messageAt(at)),
  calls: Array.from({ length: messages / 2 }, (_, at) => ({ sent: 2 * at + 1 })),
  compactions: [],
  receipt: { lines: messages, read: messages, unknown: 0, broken: [] },
});

/**
 * One line of the table each: a name, the first of three sizes, and what is measured, made ready for a size.
 *
 * @type {Array<[name: string, size: number, ready: (size: number) => () => unknown]>}
 */
const ENTRIES = [
  [
    "messages of one role in a row (Bedrock)",
    3_000,
    (size) => {
      const history = Array.from({ length: size }, (_, at) => user(`message ${at}`));
      return () => manager({ provider: "bedrock" }).request(history);
    },
  ],
  [
    "20 turns whose last message differs each time",
    1_000,
    (size) => {
      const history = talk(size);
      return () => {
        const context = manager();
        context.request(history);
        for (let turn = 0; turn < 20; turn++) context.request([...history, user(`now ${turn}`)]);
      };
    },
  ],
  [
    "results without calls in one message",
    7_500,
    (size) => {
      const history = [user("x"), results(...Array.from({ length: size }, (_, at) => `t${at}`))];
      return () => manager().request(history);
    },
  ],
  [
    "calls in one message, without results",
    4_000,
    (size) => {
      const calls = Array.from({ length: size }, (_, at) => useTool(at).content[0]);
      const history = [user("x"), assistant(calls)];
      return () => manager().request(history);
    },
  ],
  [
    "calls in one message, with results",
    4_000,
    (size) => {
      const calls = Array.from({ length: size }, (_, at) => useTool(at).content[0]);
      const answers = results(...Array.from({ length: size }, (_, at) => `t${at}`));
      const history = [user("x"), assistant(calls), answers];
      return () => manager().request(history);
    },
  ],
  [
    "calls without results, each in a turn of its own",
    3_000,
    (size) => {
      const history = Array.from({ length: size }, (_, at) => [useTool(at), user(`no ${at}`)]);
      const all = [user("x"), ...history.flat()];
      return () => manager().request(all);
    },
  ],
  [
    "pruneForRequest of a history that needs many edits",
    2_500,
    (size) => {
      const history = longSession(size);
      return () => api.pruneForRequest(history, { window: { contextTokens: 200_000 } });
    },
  ],
  [
    "10 pins of a text",
    1_500,
    (size) => {
      const history = talk(size);
      return () => {
        const context = manager();
        context.request(history);
        for (let at = 0; at < 10; at++) context.pin({ text: `pinned ${at}` });
      };
    },
  ],
  ...[
    ["plain characters", "word "],
    ["line ends", "\n"],
    ["control characters", "\u0001"],
    ["lone surrogates", "\ud83d"],
  ].map(([name, text]) => [
    `a message of ${name}`,
    500_000,
    (size) => {
      const history = [user(text.repeat(size / text.length))];
      return () => manager().request(history);
    },
  ]),
  [
    "a runaway summary, in characters",
    1_000_000,
    (size) => {
      const answer = "and so on ".repeat(size / 10);
      const history = talk(200);
      return () =>
        manager({
          window: { contextTokens: 20_000 },
          summary: { minimumTokens: 0 },
          summarize: async () => answer,
        }).compact(history, { force: true });
    },
  ],
  [
    "a message too large to be taken, in characters",
    34_000_000,
    (size) => {
      const history = [user("x".repeat(size))];
      return () => {
        try {
          manager().request(history);
        } catch (error) {
          if (error.code !== "TOO_LARGE") throw error;
        }
      };
    },
  ],
  ...[
    ["messages of the user's and the model's", talkAt],
    ["tool calls in one turn", works],
  ].map(([name, messageAt]) => [
    `replay of ${name}`,
    16_000,
    (size) => {
      const session = chain(size, messageAt);
      return () => api.replay({ ...session }, { window: { contextTokens: 200_000 } });
    },
  ]),
];

/** Milliseconds of processor time that a piece of work takes. */
async function time(work) {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1000;
}

const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1];

const shown = (ms) => ms.toFixed(ms < 10 ? 1 : 0).padStart(8);
const word = process.argv[2] ?? "";
manager().request(talk(10));
console.log(
  `${"".padEnd(48)}${"n".padStart(11)}${"n".padStart(8)}${"2n".padStart(8)}${"4n".padStart(8)}   x2   x2 mean`,
);
for (const [name, size, ready] of ENTRIES.filter(([name]) => name.includes(word))) {
  const factors = [1, 2, 4];
  const rounds = [];
  for (let round = 0; round < ROUNDS; round++) {
    const times = [];
    // Made anew each time: messages that were measured once cost less.
    for (const factor of factors) times.push(await time(ready(size * factor)));
    rounds.push(times);
  }
  const times = factors.map((_, at) => median(rounds.map((round) => round[at])));
  const ratios = [1, 2].map((at) => median(rounds.map((round) => round[at] / round[at - 1])));
  const mean = Math.sqrt(ratios[0] * ratios[1]);
  const isOver = mean > AIM && times[2] > LEAST_MS;
  const line = `${name.padEnd(48)}${size.toLocaleString("en").padStart(11)}${times.map(shown).join("")}`;
  console.log(
    `${line} ${[...ratios, mean].map((ratio) => ratio.toFixed(1).padStart(4)).join(" ")}${isOver ? `  over ${AIM}` : ""}`,
  );
}
