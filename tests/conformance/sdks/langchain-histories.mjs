// @ts-check
/** Histories as LangChain holds them: live instances, and what they are written as. */

/**
 * A session of turns with tools, parallel calls, reasoning and images, as providers' classes leave them.
 * @param {any} core the messages module @param {ReturnType<typeof import("./sdks.mjs").dice>} by @param {number} turns
 */
export function liveMessages(core, { below, words, chance }, turns) {
  let ids = 0;
  /** @type {any[]} */
  const messages = chance(0.3) ? [new core.SystemMessage(words(20))] : [];
  for (let turn = 0; turn < turns; turn += 1) {
    const text = words(30);
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
    messages.push(
      new core.HumanMessage(chance(0.7) ? text : { content: [{ type: "text", text }, image] }),
    );
    for (let step = below(4); step > 0; step -= 1) {
      const calls = Array.from({ length: below(3) + 1 }, () => ({
        id: `c${ids++}`,
        name: ["read", "list"][below(2)],
        args: { path: words(chance(0.2) ? 200 : 2) },
        type: "tool_call",
      }));
      messages.push(answer(core, calls, { below, words, chance }));
      for (const call of calls) {
        const content = words(chance(0.3) ? 400 : 20);
        messages.push(
          new core.ToolMessage({
            content: chance(0.8) ? content : [{ type: "text", text: content }],
            tool_call_id: call.id,
            name: call.name,
            status: chance(0.2) ? "error" : "success",
            artifact: { rows: [ids] },
          }),
        );
      }
    }
    if (turn + 1 < turns) messages.push(new core.AIMessage(words(40)));
  }
  return messages;
}

/** @param {any} core @param {any[]} calls @param {any} by */
function answer(core, calls, { below, words, chance }) {
  const text = words(8);
  const raw = calls.map(({ id, name, args }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(args) },
  }));
  const used = calls.map(({ id, name, args }) => ({ type: "tool_use", id, name, input: args }));
  const thought = { type: "thinking", thinking: words(30), signature: words(10) };
  const chunks = calls.map(({ id, name, args }, index) => ({
    id,
    name,
    args: JSON.stringify(args),
    index,
    type: "tool_call_chunk",
  }));
  switch (below(4)) {
    case 0:
      return new core.AIMessage({
        content: chance(0.5) ? "" : text,
        tool_calls: calls,
        additional_kwargs: { tool_calls: raw },
      });
    case 1:
      return new core.AIMessage({
        content: [...(chance(0.5) ? [thought] : []), { type: "text", text }, ...used],
        tool_calls: calls,
      });
    case 2:
      return new core.AIMessageChunk({ content: text, tool_call_chunks: chunks });
    default:
      return new core.AIMessage({ content: text, tool_calls: calls, id: `m${calls[0].id}` });
  }
}

/** What is not consistent in a message, or among them. @param {any[]} messages live */
export function inconsistent(messages) {
  /** @type {string[]} */
  const found = [];
  /** @type {Map<string, any>} */
  const open = new Map();
  /** @type {Set<string>} */
  const used = new Set();
  for (const [at, message] of messages.entries()) {
    const type = message.getType();
    const written = message.toJSON().kwargs;
    for (const key of ["content", "tool_calls", "tool_call_id"])
      if (key in written && JSON.stringify(written[key]) !== JSON.stringify(message[key]))
        found.push(`${at}: ${key} is written otherwise`);
    if (type !== "tool" && open.size > 0) found.push(`${at}: ${type} while calls are open`);
    if (type === "tool" && !open.delete(message.tool_call_id))
      found.push(`${at}: a result of nothing`);
    if (message.text === "" && !message.tool_calls?.length) found.push(`${at}: empty`);
    if (type !== "ai") continue;
    for (const call of message.tool_calls) {
      if (used.has(call.id)) found.push(`${at}: ${call.id} again`);
      used.add(call.id);
      open.set(call.id, call);
      const args = JSON.stringify(call.args);
      const raw = message.additional_kwargs.tool_calls;
      if (
        raw &&
        !raw.some(
          (/** @type {any} */ it) =>
            it.id === call.id && JSON.stringify(JSON.parse(it.function.arguments)) === args,
        )
      )
        found.push(`${at}: ${call.id} differs in additional_kwargs`);
      const chunks = message.tool_call_chunks;
      if (
        chunks?.length &&
        !chunks.some(
          (/** @type {any} */ it) =>
            it.id === call.id && JSON.stringify(JSON.parse(it.args)) === args,
        )
      )
        found.push(`${at}: ${call.id} differs in tool_call_chunks`);
      const uses = Array.isArray(message.content)
        ? message.content.filter((/** @type {any} */ it) => it.type === "tool_use")
        : [];
      if (
        uses.length > 0 &&
        !uses.some(
          (/** @type {any} */ it) => it.id === call.id && JSON.stringify(it.input) === args,
        )
      )
        found.push(`${at}: ${call.id} differs in the content`);
      const blocks =
        message.contentBlocks?.filter((/** @type {any} */ it) => it.id === call.id) ?? [];
      if (blocks.some((/** @type {any} */ it) => JSON.stringify(it.args ?? it.input) !== args))
        found.push(`${at}: ${call.id} differs in contentBlocks`);
    }
  }
  if (open.size > 0) found.push(`open: ${[...open.keys()]}`);
  if (messages.at(-1)?.getType() === "ai") found.push("the assistant is last");
  return found;
}
