import { createHash } from "node:crypto";
import { ROUTINES } from "./routines.mjs";

/**
 * A model without a model: a script that reads what it is sent, decides by it, and calls tools. It keeps no notes of file
 * contents: before it edits, it looks whether the text is still in the messages it was sent, and reads again if it is not.
 * So a context manager that drops too much shows up as extra calls.
 */
export function createPlanner() {
  let routine = null;
  let serial = 0;
  const view = { messages: [] };

  return async function model(messages) {
    view.messages = messages;
    const results = trailingResults(messages);
    if (routine === null || results.length === 0) {
      const request = lastUserText(messages);
      const found = ROUTINES.find((candidate) => candidate.when.test(request));
      if (found === undefined)
        return assistant({
          text: `I have no routine for that. I know: ${ROUTINES.map((r) => r.name).join(", ")}.`,
        });
      routine = found.run(viewOf(view), request);
      return step(routine.next());
    }
    return step(routine.next(results));
  };

  function step({ value, done }) {
    if (done) routine = null;
    return assistant(value ?? { text: "Done." });
  }

  function assistant({ thinking, text, calls = [] }) {
    const content = [];
    if (thinking)
      content.push({ type: "thinking", thinking, thinkingSignature: signature(thinking) });
    if (text) content.push({ type: "text", text });
    for (const { name, args } of calls)
      content.push({ type: "toolCall", id: nextId(), name, arguments: args });
    return {
      role: "assistant",
      content,
      api: "scripted",
      provider: "example",
      model: "planner-1",
      stopReason: calls.length > 0 ? "toolUse" : "stop",
    };
  }

  function nextId() {
    serial += 1;
    return `call_${String(serial).padStart(5, "0")}`;
  }
}

/** What a routine may ask about the messages it was sent. */
function viewOf(view) {
  return {
    /** Is this text still before our eyes, in a result that no later edit has made stale? */
    shows: (part) =>
      view.messages.some(
        (message) => message.role === "toolResult" && plain(message).includes(part),
      ),
  };
}

function trailingResults(messages) {
  const results = [];
  for (let i = messages.length - 1; i >= 0 && messages[i].role === "toolResult"; i -= 1) {
    results.unshift({ text: plain(messages[i]), isError: messages[i].isError === true });
  }
  return results;
}

function lastUserText(messages) {
  return plain(messages.findLast((message) => message.role === "user") ?? { content: "" });
}

function plain(message) {
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => block.text ?? "").join("");
}

/** Providers sign thinking; so does this one, after its fashion. */
function signature(thinking) {
  return createHash("sha512").update(`planner-1\0${thinking}`).digest("base64");
}
