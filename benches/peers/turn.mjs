/**
 * Time of one more turn of a long session, beside the functions of other packages that a host would call at every turn.
 * Each gets the same messages in its own shape; what shapes them is not timed. Peers keep nothing between turns: they walk
 * the history again; ours knows it, but for the cold first call that is printed beside it.
 */
import { readFileSync } from "node:fs";
import { loadavg } from "node:os";
import { ContextManager } from "../../npm/dist/index.node.js";
import { largeParts, longSession, requests } from "../../tests/support/long.mjs";

const LENGTHS = [841, 10_000];
const WINDOW = { contextTokens: 200_000, maxOutputTokens: 8_192 };
/** Rounds that are not counted, those that are, and the rounds of what takes long: with many an edit and a fold are among them. */
const WARM = 40;
const ROUNDS = 200;
const FEW = 7;
/** Quadratic: half a second at 841 messages, more than a minute at 10,000. */
const LANGCHAIN = "LangChain trimMessages";
/** Whether a compaction is due, its `Janitor` tells by tokens that the host or `estimateObject` counts; a plan by turns needs none. */
const ESTIMATE = "the same, and its estimateObject";
const CHEF = "context-chef validate + plan + compact";
/** How many times faster ours is to be. */
const AIMS = [
  [841, 3],
  [10_000, 30],
];

const length = (value) => (typeof value === "string" ? value : JSON.stringify(value)).length;
/** The calls and the result of a message of the session, and its text. */
const callOf = ({ content }) =>
  Array.isArray(content) && content.find((it) => it.type === "tool_use");
const resultOf = ({ content }) =>
  Array.isArray(content) && content.find((it) => it.type === "tool_result");
const textOf = ({ content }) =>
  typeof content === "string" ? content : (content.find((it) => it.type === "text")?.text ?? "");

/** Each: how a message of the session looks there, and what is called at a turn with all of them. */
const PEERS = {
  "@context-chef/core": ({
    ensureValidHistory,
    planCompaction,
    compactMessages,
    estimateObject,
  }) => {
    const steps = (messages) => {
      const valid = ensureValidHistory(messages);
      const plan = planCompaction(valid, { keepRecentTurns: 10 });
      const clear = [{ target: "tool-result", keepRecent: 3 }];
      return [plan, compactMessages(valid, { clear })];
    };
    const shape = (message) => {
      const [call, result] = [callOf(message), resultOf(message)];
      if (result)
        return { role: "tool", tool_call_id: result.tool_use_id, content: result.content };
      const { role } = message;
      if (!call) return { role, content: textOf(message) };
      const { id, name, input } = call;
      const made = { name, arguments: JSON.stringify(input) };
      return {
        role,
        content: textOf(message),
        tool_calls: [{ id, type: "function", function: made }],
      };
    };
    return {
      [CHEF]: [shape, steps],
      [ESTIMATE]: [shape, (messages) => [estimateObject(messages), steps(messages)]],
    };
  },
  "@earendil-works/pi-agent-core": (pi) => {
    const settings = pi.DEFAULT_COMPACTION_SETTINGS;
    const shape = (message, at) => {
      const [call, result] = [callOf(message), resultOf(message)];
      const text = textOf(message);
      const textParts = text ? [{ type: "text", text }] : [];
      const made = () => {
        if (result) {
          const content = [{ type: "text", text: result.content }];
          return { role: "toolResult", toolCallId: result.tool_use_id, toolName: "tool", content };
        }
        if (message.role === "user") return { role: "user", content: text };
        const calls = call
          ? [{ type: "toolCall", id: call.id, name: call.name, arguments: call.input }]
          : [];
        return { role: "assistant", content: [...textParts, ...calls], stopReason: "stop" };
      };
      const entry = { type: "message", id: `e${at}`, parentId: at ? `e${at - 1}` : null };
      return { ...entry, timestamp: "2025-01-01T00:00:00Z", message: { timestamp: at, ...made() } };
    };
    const steps = (entries) => {
      const { tokens } = pi.estimateContextTokens(entries.map(({ message }) => message));
      const due = pi.shouldCompact(tokens, WINDOW.contextTokens, settings);
      return [due, pi.findCutPoint(entries, 0, entries.length, settings.keepRecentTokens)];
    };
    return { "pi estimateContextTokens + findCutPoint": [shape, steps] };
  },
  ai: ({ pruneMessages }) => {
    const shape = (message) => {
      const [call, result] = [callOf(message), resultOf(message)];
      if (result) {
        const output = { type: "text", value: result.content };
        const part = {
          type: "tool-result",
          toolCallId: result.tool_use_id,
          toolName: "tool",
          output,
        };
        return { role: "tool", content: [part] };
      }
      const { role } = message;
      if (!call) return { role, content: textOf(message) };
      const { id: toolCallId, name: toolName, input } = call;
      const text = { type: "text", text: textOf(message) };
      return { role, content: [text, { type: "tool-call", toolCallId, toolName, input }] };
    };
    const steps = (messages) =>
      pruneMessages({ messages, reasoning: "all", toolCalls: "before-last-6-messages" });
    return { "AI SDK pruneMessages": [shape, steps] };
  },
  "@langchain/core": async () => {
    const { trimMessages, AIMessage, HumanMessage, ToolMessage } = await import(
      "@langchain/core/messages"
    );
    const shape = (message) => {
      const [call, result] = [callOf(message), resultOf(message)];
      if (result)
        return new ToolMessage({ content: result.content, tool_call_id: result.tool_use_id });
      const content = textOf(message);
      if (message.role === "user") return new HumanMessage(content);
      if (!call) return new AIMessage(content);
      const { id, name, input: args } = call;
      return new AIMessage({ content, tool_calls: [{ id, name, args }] });
    };
    const tokenCounter = (messages) =>
      messages.reduce((sum, { content, tool_calls: calls }) => {
        return sum + Math.ceil((length(content) + (calls?.length ? length(calls) : 0)) / 4);
      }, 0);
    const maxTokens = WINDOW.contextTokens - WINDOW.maxOutputTokens;
    const options = { maxTokens, tokenCounter, strategy: "last", startOn: "human" };
    return { [LANGCHAIN]: [shape, (messages) => trimMessages(messages, options)] };
  },
};

/** What is installed: label, shape of a message, call; and the versions. */
async function installed() {
  const rows = [];
  const versions = {};
  for (const [name, steps] of Object.entries(PEERS)) {
    try {
      const peer = await steps(await import(name));
      const file = new URL(`node_modules/${name}/package.json`, import.meta.url);
      const { version } = JSON.parse(readFileSync(file, "utf8"));
      console.log(`${name} ${version}`);
      versions[name] = version;
      for (const [label, [shape, run]] of Object.entries(peer)) rows.push({ label, shape, run });
    } catch (error) {
      console.log(`skipped: ${name}: ${error.message.split("\n")[0]}`);
    }
  }
  return { peers: rows, versions };
}

function manager() {
  let now = 1_700_000_000_000;
  const clock = () => {
    now += 20_000;
    return now;
  };
  return new ContextManager({ window: WINDOW, clock });
}

/**
 * Turns around a length, twice: each side by itself, one turn after the other, as benchmarks go; and all sides in turn, where
 * each finds the processor's caches full of what the others have walked, as a server does that has other things to do.
 */
async function around(count, peers) {
  // As it comes from a wire or a file: texts in one piece each.
  const each = WARM + ROUNDS;
  const session = JSON.parse(JSON.stringify(longSession(count + 4 * each)));
  const places = requests(session);
  const from = places.findIndex((sent) => sent >= count) - Math.floor(each / 2);
  const [context, withParts] = [manager(), manager()];
  const parts = largeParts();
  for (const sent of places.slice(0, from)) {
    context.request(session.slice(0, sent));
    withParts.request(session.slice(0, sent), parts);
  }
  const [alone, together] = [
    places.slice(from, from + each),
    places.slice(from + each).slice(0, each),
  ];
  const sides = [
    { label: "plimsoll request, one more turn", run: (history) => context.request(history) },
    {
      label: "the same, with 80 kB of system prompt and tools",
      run: (history) => withParts.request(history, parts),
    },
    ...peers,
  ].map((side) => ({
    ...side,
    alone: [],
    together: [],
    all: session.map(side.shape ?? ((it) => it)),
  }));
  // One that takes long would leave the others a cold processor: it comes last, and less often.
  const [slow, quick] = [sides.filter(isSlow), sides.filter((side) => !isSlow(side))];
  for (const side of quick) {
    for (const [round, sent] of alone.entries()) {
      const ms = await timed(side, sent);
      if (round >= WARM) side.alone.push(ms);
    }
  }
  for (const [round, sent] of together.entries()) {
    // Each comes first in its turn.
    const first = round % quick.length;
    for (const side of [...quick.slice(first), ...quick.slice(0, first)]) {
      const ms = await timed(side, sent);
      if (round >= WARM) side.together.push(ms);
    }
  }
  const cold = { label: "plimsoll, the cold first call", alone: [], together: [], all: session };
  // Of messages that no session has measured.
  cold.ready = (history) => structuredClone(history);
  cold.run = (history) => {
    const fresh = manager();
    fresh.request(history);
    fresh[Symbol.dispose]();
  };
  for (const side of [cold, ...slow]) {
    const bearable = side.label !== LANGCHAIN || count === LENGTHS[0];
    for (const sent of bearable ? together.slice(0, FEW) : [])
      side.alone.push(await timed(side, sent));
  }
  return [...quick, cold, ...slow].map(({ label, alone, together }) => ({
    label,
    alone: figuresOf(alone),
    together: figuresOf(together),
    rounds: alone.length,
  }));
}

/** Median, mean and 99th percentile of some times; nothing of none. */
function figuresOf(times) {
  if (times.length === 0) return undefined;
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  const mean = times.reduce((sum, ms) => sum + ms, 0) / times.length;
  return { median: at(0.5), mean, p99: at(0.99) };
}

const isSlow = ({ label }) => label === LANGCHAIN || label === ESTIMATE;

async function timed({ run, all, ready }, sent) {
  const history = ready ? ready(all.slice(0, sent)) : all.slice(0, sent);
  const begun = performance.now();
  await run(history);
  return performance.now() - begun;
}

/** Prints each side's turn at each length, and the ratio of its median to ours: above 1 ours is faster. */
export async function bench() {
  console.log("\none more turn of a coding agent's session at 200,000 tokens\n");
  const { peers, versions } = await installed();
  const lengths = [];
  for (const count of LENGTHS) {
    const rows = await around(count, peers);
    lengths.push({ count, rows });
    const [ours] = rows;
    const times = (row, how) => {
      if (!row[how]) return "".padStart(37);
      const [mid, mean, most] = [row[how].median, row[how].mean, row[how].p99];
      const ms = [mid, mean, most].map((time) => time.toFixed(3).padStart(9)).join("");
      return `${ms} ${(mid / ours[how].median).toFixed(1).padStart(7)} x`;
    };
    console.log(
      `\nat ${count} messages, load ${loadavg()[0].toFixed(1)}: ms, and times our median`,
    );
    const heads = "   median     mean      p99     ratio";
    console.log(`${"by itself, and in turn".padEnd(52)}${heads} ${heads}`);
    for (const row of rows) {
      if (row.rounds === 0) console.log(`skipped: ${row.label}: minutes a call`);
      else {
        const shown = `${times(row, "alone")} ${times(row, "together")}`;
        console.log(`${row.label.padEnd(52)}${shown}  of ${row.rounds}`);
      }
    }
    const chef = rows.find(({ label }) => label === CHEF);
    const [, aim] = AIMS.find(([length]) => length === count);
    if (chef) {
      const ratio = (how, figure) => (chef[how][figure] / ours[how][figure]).toFixed(1);
      console.log(
        `ratio to context-chef by itself ${ratio("alone", "median")} (means ${ratio("alone", "mean")}), in turn ${ratio("together", "median")} (means ${ratio("together", "mean")}), to be ${aim}`,
      );
    }
  }
  return { versions, lengths };
}
