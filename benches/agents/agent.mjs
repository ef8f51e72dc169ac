/** The loop of one task under one side, and what is counted of it. */
import { Overflow, Provider } from "./provider.mjs";
import { Act, Sight } from "./sight.mjs";
import { DEFINITIONS, Workspace } from "./tools.mjs";

export const SYSTEM = [
  "You are a coding agent that works in one folder with the tools you are given.",
  "Read before you answer. Do what the user asks, keep to what the user forbids, and say what you found in short lines of the form name = value.",
  "Call one tool at a time. When the task is done, answer with the result alone.",
].join(" ");
const EXTRAS = `${SYSTEM}${JSON.stringify(DEFINITIONS)}`;
/** A user repeats a request that the agent has lost so often. */
const REPEATS = 2;

/** Held back for an answer, in a window. */
export const reserveOf = (window) => Math.floor(window / 16);

/** The agent's next step by a script: notes and a call, an answer, or a question after what was lost. */
function decide(task, sight) {
  let current = null;
  let newest = -1;
  for (const turn of task.turns) {
    const at = sight.indexOf(turn.mark);
    if (at >= 0 && at >= newest) [current, newest] = [turn, at];
  }
  if (!current) return { text: "What is it that I should do?", lost: true };
  try {
    return { text: current.script(sight) };
  } catch (step) {
    if (!(step instanceof Act)) throw step;
    return { text: sight.notes.join("\n"), call: step };
  }
}

/**
 * Plays a task.
 *
 * @param {object} task see tasks/index.mjs
 * @param {{ side: object, window: number, trust: object, level: string, cap?: number, model?: Function }} options
 */
export async function play(task, { side: makeSide, window, trust, level, cap = 400, model }) {
  const world = task.world();
  const workspace = new Workspace(world.files, world.run);
  const provider = new Provider({ window, reserve: reserveOf(window), extras: EXTRAS });
  let now = 1_750_000_000_000;
  const side = await makeSide({
    window,
    reserve: provider.reserve,
    system: SYSTEM,
    tools: DEFINITIONS,
    provider,
    clock: () => now,
  });
  const history = [];
  const originals = { texts: new Map(), users: [], own: new Set() };
  const counts = { calls: 0, again: 0, repeats: 0 };
  /** The call of the last look at, and change of, a path. */
  const looks = new Map();
  const answers = [];
  let failure = null;

  const hear = (text) => {
    originals.users.push(text);
    history.push({ role: "user", content: text });
  };
  const send = async (messages) => {
    const usage = provider.request(messages, now);
    side.usage?.(usage);
  };
  const ask = async () => {
    let messages = await side.request(history);
    try {
      await send(messages);
    } catch (error) {
      if (!(error instanceof Overflow) || !side.overflow) throw error;
      messages = await side.overflow(history, error);
      if (!messages) throw error;
      await send(messages);
    }
    now += 20_000;
    if (model) return model(messages);
    return decide(task, new Sight(messages, originals, { trust, seed: `${task.name}/${level}` }));
  };

  try {
    for (const [at, turn] of task.turns.entries()) {
      now += (turn.pause ?? 0) * 1_000;
      hear(turn.user);
      let since = 0;
      for (;;) {
        // The user speaks before the agent is done.
        if (turn.interrupt !== undefined && since >= turn.interrupt) break;
        if (counts.calls >= cap) throw new Error("over the cap on calls");
        const { text, call, lost } = await ask();
        counts.calls += 1;
        since += 1;
        const id = `call_${String(counts.calls).padStart(4, "0")}`;
        const args = call && JSON.stringify(call.args);
        const message = { role: "assistant", content: text || "" };
        if (call)
          message.tool_calls = [
            { id, type: "function", function: { name: call.name, arguments: args } },
          ];
        if (text) originals.own.add(text);
        history.push(message);
        provider.answer(message);
        if (!call) {
          if (lost && counts.repeats < REPEATS) {
            counts.repeats += 1;
            hear(`As I said: ${turn.user}`);
            continue;
          }
          answers[at] = text;
          break;
        }
        const { path } = call.args;
        const isLook = call.name === "read" || call.name === "grep";
        const key = call.name === "read" && call.args.offset ? `${path}@${call.args.offset}` : path;
        if (isLook && (looks.has(key) || (call.name === "grep" && looks.has(`${path}@`))))
          counts.again += 1;
        if (isLook) looks.set(key, true);
        if (call.name === "edit" || call.name === "append") looks.delete(path);
        const result = workspace.call(call.name, call.args);
        originals.texts.set(id, result);
        history.push({ role: "tool", tool_call_id: id, content: result });
      }
    }
  } catch (error) {
    failure = error instanceof Overflow ? "over the window" : error.message;
    if (!(error instanceof Overflow) && error.message !== "over the cap on calls") {
      if (process.env.PLIMSOLL_AGENTS_DEBUG) console.error(error);
      failure = `error: ${error.message.split("\n")[0]}`;
    }
  } finally {
    side.close?.();
  }
  const verdict = task.judge({ answers, files: workspace.files, touched: workspace.touched });
  return {
    solved: failure === null && verdict.wrong.length === 0,
    failure: failure ?? (verdict.wrong.length > 0 ? `wrong: ${verdict.wrong[0]}` : null),
    broken: verdict.broken,
    ...counts,
    billed: Math.round(provider.billed),
    input: provider.input,
    cached: provider.cached,
    output: provider.output,
    summaries: provider.summaries,
    summaryTokens: provider.summaryTokens,
    largest: provider.largest,
    history,
  };
}
