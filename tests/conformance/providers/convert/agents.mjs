// @ts-check
/** Items of OpenAI's Responses as its Agents SDK writes them, and back: as the SDK's own converter for the API does. */

const result = /** @type {Record<string, string>} */ ({
  function_call_output: "function_call_result",
  computer_call_output: "computer_call_result",
});
const output = Object.fromEntries(Object.entries(result).map(([api, sdk]) => [sdk, api]));
/** What the provider runs itself, or asks to be approved: one type of item, told apart by its name. */
const hosted = new Set([
  "web_search_call",
  "file_search_call",
  "code_interpreter_call",
  "image_generation_call",
  "mcp_call",
  "mcp_list_tools",
  "mcp_approval_request",
  "mcp_approval_response",
]);

/** @param {any} item of the API @returns {any} */
export function toAgents(item) {
  const { type, call_id: callId, ...rest } = item;
  if (hosted.has(type)) {
    const { id, status = "completed" } = item;
    const own = id === undefined ? {} : { id };
    return { type: "hosted_tool_call", ...own, name: type, status, providerData: item };
  }
  switch (type) {
    case "message":
      if (item.role === "assistant") return { status: "completed", ...item };
      if (item.role !== "system" || typeof item.content === "string") return item;
      return { ...item, content: item.content.map((/** @type {any} */ it) => it.text).join("\n") };
    case "reasoning": {
      const { summary, content, encrypted_content: encryptedContent, ...more } = rest;
      const words = (/** @type {any[]} */ list, /** @type {string} */ kind) =>
        list.map(({ text }) => ({ type: kind, text }));
      const raw = content ? { rawContent: words(content, "reasoning_text") } : {};
      const data = encryptedContent === undefined ? {} : { providerData: { encryptedContent } };
      return { type, ...more, content: words(summary, "input_text"), ...raw, ...data };
    }
    case "function_call_output":
      return {
        type: result[type],
        name: "read",
        callId,
        status: "completed",
        ...rest,
        output: typeof item.output === "string" ? { type: "text", text: item.output } : item.output,
      };
    case "shell_call_output":
      return { type, callId, ...rest, output: item.output.map(outcome) };
    case undefined:
    case "compaction":
      return item;
    default:
      return { type: result[type] ?? type, callId, ...rest };
  }
}

/** @param {any} said */
const outcome = ({ outcome: how, ...otherMembers }) => ({
  ...otherMembers,
  outcome: how.type === "exit" ? { type: "exit", exitCode: how.exit_code } : how,
});

/** @type {WeakMap<object, any>} */
const known = new WeakMap();

/** @param {any} item of the SDK @returns {any} */
export function toResponses(item) {
  const kept = known.get(item);
  if (kept) return kept;
  const made = converted(item);
  if (Object.isFrozen(item)) known.set(item, Object.freeze(made));
  return made;
}

/** @param {any} item @returns {any} */
function converted(item) {
  const { type, callId: call_id, providerData, status, ...rest } = item;
  switch (type) {
    case "hosted_tool_call":
      return { ...providerData, type: providerData?.type ?? item.name };
    case undefined:
    case "message":
    case "compaction":
      return item;
    case "reasoning": {
      const { rawContent: _, content, ...more } = rest;
      const summary = content.map(({ text = "" }) => ({ type: "summary_text", text }));
      const encrypted = providerData?.encryptedContent ?? providerData?.encrypted_content;
      const sealed = encrypted === undefined ? {} : { encrypted_content: encrypted };
      return { type, ...more, summary, ...sealed };
    }
    case "function_call_result": {
      const { name: _, ...more } = rest;
      const otherMembers = item.output?.type === "text" ? item.output.text : item.output;
      const parts =
        otherMembers?.type === "image" ? [{ type: "input_image", image_url: "x" }] : otherMembers;
      return { ...more, type: "function_call_output", call_id, status, output: parts };
    }
    case "computer_call_result":
      return { ...rest, type: output[type], call_id };
    default:
      return { ...rest, type, call_id };
  }
}
