/** One turn of a session: from the user's text to an answer without tool calls, then the commit. */

const SYSTEM = "You answer questions about the files of one folder. Read before you answer.";
const MAX_CALLS = 50;

/** The part of a request besides the messages. It must be the same in every call: a change costs the provider's whole prompt cache. */
export function partsOf(context, tools) {
  const definitions = [...tools.definitions, ...context.agentTools()];
  return { system: SYSTEM, tools: definitions.map((it) => ({ type: "function", function: it })) };
}

/**
 * Runs a turn and commits it.
 *
 * @param {object} turn
 * @param {import("./session.mjs").Session} turn.session
 * @param {(event: "text" | "tool" | "result" | "context" | "done", data: object) => void} turn.emit
 */
export async function runTurn({ session, text, model, tools, signal, emit }) {
  const { context } = session;
  const parts = { ...partsOf(context, tools), signal };
  const messages = [...session.history, { role: "user", content: text }];

  async function send(prepared) {
    const { edits, compaction, epoch, tokens } = prepared;
    if (edits.length > 0 || compaction) {
      const { status, reason } = compaction ?? { status: "edited", reason: "" };
      emit("context", { status, reason, edits: edits.length, epoch, tokens });
    }
    const { message, usage } = await model({
      messages: [{ role: "system", content: SYSTEM }, ...prepared.messages],
      tools: parts.tools,
      signal,
      onText: (piece) => emit("text", { text: piece }),
    });
    context.observe(usage, prepared);
    return message;
  }

  async function ask() {
    const prepared = await context.prepare(messages, parts);
    try {
      return await send(prepared);
    } catch (error) {
      // Only an overflow has a second try, with a smaller request; the model has not answered yet.
      const smaller = await context.recover(messages, error, parts);
      if (smaller === null) throw error;
      return send(smaller);
    }
  }

  async function runTool({ id, function: { name, arguments: json } }) {
    emit("tool", { id, name, arguments: json });
    const content = await callTool(context, tools, name, json);
    emit("result", { id, text: content.slice(0, 500) });
    return { role: "tool", tool_call_id: id, content };
  }

  for (let call = 0; call < MAX_CALLS; call += 1) {
    const answer = await ask();
    messages.push(answer);
    if (!answer.tool_calls) {
      await session.commit(messages.slice(session.history.length));
      emit("done", { turns: session.turns, text: answer.content });
      return;
    }
    for (const toolCall of answer.tool_calls) messages.push(await runTool(toolCall));
  }
  throw new Error(`no answer after ${MAX_CALLS} model calls`);
}

/** Makes the room that is due, with a summary if it pays, while the user reads the answer: the next turn need not wait for it. */
export async function compactBetweenTurns(session, tools) {
  const { context, history } = session;
  // `open`: the user's next message follows.
  const { status } = await context.compact(history, { ...partsOf(context, tools), open: true });
  if (status !== "none") await session.save();
}

/** A mistake of the model becomes a tool result, so that the model can correct itself. */
async function callTool(context, tools, name, json) {
  try {
    const args = JSON.parse(json || "{}");
    if (context.agentTools().some((tool) => tool.name === name)) {
      return await context.callAgentTool(name, args);
    }
    const known = tools.definitions.map((tool) => tool.name);
    if (!known.includes(name)) throw new Error(`no tool ${name}; there are ${known.join(", ")}`);
    return (await tools.run(name, args)).text;
  } catch (error) {
    return `Error: ${error.message}`;
  }
}
