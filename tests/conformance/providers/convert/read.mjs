// @ts-check
/** Messages of each format as turns: what an adapter of the SDK takes from them, and no more. */
import { toResponses } from "./agents.mjs";
import { parsed } from "./turns.mjs";

/**
 * @typedef {import("./turns.mjs").Turn} Turn
 * @typedef {import("./turns.mjs").Part} Part
 */

/** @param {unknown} value */
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** @param {unknown} value @returns {any[]} */
const list = (value) => (Array.isArray(value) ? value : []);
/** @param {string} value @returns {Part} */
const text = (value) => ({ kind: "text", text: value });
/** @param {unknown} data @param {unknown} mime @returns {Part} */
const image = (data, mime) => ({
  kind: "image",
  data: String(data),
  mime: String(mime ?? "image/png"),
});
/** @param {string} id @param {string} name @param {unknown} input @param {string | null} [sig] @returns {Part} */
function call(id, name, input, sig = null) {
  return isObject(input)
    ? { kind: "call", id, name, input, sig }
    : {
        kind: "call",
        id,
        name,
        input: {},
        raw: typeof input === "string" ? input : JSON.stringify(input),
        sig,
      };
}

/** @type {Record<string, (message: any, provider: string) => Turn[]>} */
export const readers = {
  pi: readPi,
  "ai-sdk": (message, provider) =>
    Array.isArray(message.parts) ? readUi(message, provider) : readModel(message, provider),
  langchain: readLangchain,
  "openai-chat": readChat,
  anthropic: readAnthropic,
  gemini: readGemini,
  "openai-responses": readResponses,
  "openai-agents": (item) => readResponses(toResponses(item)),
};

/** What a frozen message says, by the last provider that was asked for. @type {WeakMap<object, { provider: string, turns: Turn[] }>} */
const known = new WeakMap();

/** What a message says. @param {string} format @param {any} message @param {string} provider @returns {readonly Turn[]} */
export function turnsIn(format, message, provider) {
  const kept = known.get(message);
  if (kept?.provider === provider) return kept.turns;
  const turns = readers[format]?.(message, provider) ?? [];
  if (Object.isFrozen(message)) known.set(message, { provider, turns });
  return turns;
}

/** @param {any} message @param {string} provider @returns {Turn[]} */
function readPi(message, provider) {
  const { role, content } = message;
  const blocks = () =>
    typeof content === "string" ? [text(content)] : list(content).flatMap(piBlock);
  switch (role) {
    case "assistant":
      // Left out with its calls.
      if (message.stopReason === "aborted" || message.stopReason === "error") return [];
      return some({
        role: "assistant",
        parts: list(content).flatMap((block) => piOutput(block, provider)),
      });
    case "toolResult":
      return [
        {
          role: "tool",
          parts: [
            {
              kind: "result",
              id: message.toolCallId,
              name: message.toolName,
              text: piResult(list(content)),
              error: message.isError === true,
            },
          ],
        },
      ];
    case "system": {
      const sections = Object.values(message.sections ?? {}).map(text);
      // A section of white space is no part of the prompt that pi sends.
      const isText = (/** @type {any} */ it) => it.kind === "text" && it.text.trim() !== "";
      const spoken = [...blocks(), ...sections].filter(isText);
      // Half a character is cleaned by pi itself.
      const wellFormed = (/** @type {string} */ it) => it.replace(/\p{Surrogate}/gu, "\ufffd");
      const parts = spoken.map((it) => ({ ...it, text: wellFormed(it.text) }));
      return some({ role: "system", parts });
    }
    case "bashExecution":
      if (message.excludeFromContext) return [];
      return [{ role: "user", parts: [text(`Ran ${message.command}\n${message.output}`)] }];
    case "branchSummary":
    case "compactionSummary":
      return [{ role: "user", parts: [text(String(message.summary))] }];
    default:
      return some({ role: "user", parts: blocks() });
  }
}

/** @param {Turn} turn @returns {Turn[]} */
const some = (turn) => (turn.parts.length > 0 ? [turn] : []);

/** Where a result has images and not a character, pi's adapters write a word of theirs. @param {any[]} content */
function piResult(content) {
  const spoken = content.flatMap((one) => (one?.type === "text" ? [one.text] : [])).join("\n");
  const shows = content.some((one) => one?.type === "image");
  return spoken === "" && shows ? "(see attached image)" : spoken;
}

/** pi's adapters leave blank texts out. @param {any} block @returns {Part[]} */
function piBlock(block) {
  if (block?.type === "text") return /\S/.test(String(block.text)) ? [text(block.text)] : [];
  return block?.type === "image" ? [image(block.data, block.mimeType)] : [];
}

/** @param {any} block @param {string} provider @returns {Part[]} */
function piOutput(block, provider) {
  if (block?.type === "toolCall")
    return [call(block.id, block.name, block.arguments, block.thoughtSignature ?? null)];
  if (block?.type !== "thinking") return piBlock(block);
  const sig = block.thinkingSignature ?? null;
  // Reasoning that nobody signed goes to Claude as words.
  if (!sig && (provider === "anthropic" || provider === "bedrock"))
    return /\S/.test(String(block.thinking)) ? [text(block.thinking)] : [];
  if (provider !== "openai-responses") return [{ kind: "reasoning", text: block.thinking, sig }];
  const item = /** @type {any} */ (parsed(sig));
  if (!isObject(item)) return [];
  return [
    { kind: "reasoning", text: block.thinking, sig: item.encrypted_content ?? "", id: item.id },
  ];
}

/** @type {Record<string, (options: any) => { sig: string | null, id?: string | undefined }>} */
const signatures = {
  anthropic: (options) => ({
    sig: options?.anthropic?.signature ?? options?.anthropic?.redactedData ?? null,
  }),
  bedrock: (options) => ({ sig: options?.bedrock?.signature ?? null }),
  gemini: (options) => ({ sig: options?.google?.thoughtSignature ?? null }),
  "openai-responses": (options) => ({
    sig: options?.openai?.reasoningEncryptedContent ?? null,
    id: options?.openai?.itemId,
  }),
};
/** @param {string} provider @param {any} options */
const signature = (provider, options) => signatures[provider]?.(options) ?? { sig: null };

/** ModelMessage. @param {any} message @param {string} provider @returns {Turn[]} */
function readModel({ role, content }, provider) {
  if (typeof content === "string") return [{ role, parts: [text(content)] }];
  return [{ role, parts: list(content).flatMap((part) => modelPart(part, role, provider)) }];
}

/** @param {any} part @param {string} role @param {string} provider @returns {Part[]} */
function modelPart(part, role, provider) {
  switch (part?.type) {
    case "text":
      // The SDK itself leaves empty texts out of lists.
      return part.text === "" ? [] : [text(part.text)];
    case "image":
    case "file":
      return [image(part.image ?? part.data, part.mediaType)];
    case "reasoning": {
      const { sig, id } = signature(provider, part.providerOptions);
      return [{ kind: "reasoning", text: part.text, sig, ...(id ? { id } : {}) }];
    }
    case "tool-call": {
      const { sig } =
        provider === "gemini" ? signature(provider, part.providerOptions) : { sig: null };
      const made = call(part.toolCallId, part.toolName, part.input, sig);
      return [part.providerExecuted ? /** @type {any} */ ({ ...made, hosted: "" }) : made];
    }
    case "tool-result":
      return role === "assistant" ? [] : [modelResult(part)];
    default:
      return [];
  }
}

/** @param {any} part @returns {Part} */
function modelResult({ toolCallId, toolName, output }) {
  const { type, value, reason } = output ?? {};
  const error =
    typeof type === "string" && (type.startsWith("error") || type === "execution-denied");
  const spoken = typeof value === "string" ? value : JSON.stringify(value ?? reason ?? null);
  return { kind: "result", id: toolCallId, name: toolName, text: spoken, error };
}

/** UIMessage, as convertToModelMessages does. @param {any} message @param {string} provider @returns {Turn[]} */
function readUi({ role, parts }, provider) {
  if (role === "system") {
    const spoken = parts
      .flatMap((/** @type {any} */ part) => (part.type === "text" ? [part.text] : []))
      .join("");
    return [{ role: "system", parts: [text(spoken)] }];
  }
  if (role !== "assistant") {
    const own = parts.flatMap((/** @type {any} */ part) => {
      if (part.type === "text") return part.text === "" ? [] : [text(part.text)];
      return part.type === "file" ? [image(part.url, part.mediaType)] : [];
    });
    return [{ role: "user", parts: own }];
  }
  /** @type {Turn[]} */
  const turns = [];
  /** @type {any[]} */
  let block = [];
  const flush = () => {
    if (block.length === 0) return;
    turns.push({ role: "assistant", parts: block.flatMap((part) => uiOutput(part, provider)) });
    const results = block.flatMap(uiResult);
    if (results.length > 0) turns.push({ role: "tool", parts: results });
    block = [];
  };
  for (const part of parts) {
    if (part?.type === "step-start") flush();
    else block.push(part);
  }
  flush();
  return turns;
}

/** @param {any} part */
const isTool = (part) => part?.type === "dynamic-tool" || String(part?.type).startsWith("tool-");
/** @param {any} part */
const toolName = (part) =>
  part.type === "dynamic-tool" ? part.toolName : part.type.slice("tool-".length);

/** @param {any} part @param {string} provider @returns {Part[]} */
function uiOutput(part, provider) {
  if (part.type === "text") return part.text === "" ? [] : [text(part.text)];
  if (part.type === "reasoning") {
    const { sig, id } = signature(provider, part.providerMetadata);
    return [{ kind: "reasoning", text: part.text, sig, ...(id ? { id } : {}) }];
  }
  if (!isTool(part) || part.state === "input-streaming") return [];
  const { sig } =
    provider === "gemini" ? signature(provider, part.callProviderMetadata) : { sig: null };
  const made = call(part.toolCallId, toolName(part), part.input ?? part.rawInput, sig);
  return [part.providerExecuted ? /** @type {any} */ ({ ...made, hosted: "" }) : made];
}

/** @param {any} part @returns {Part[]} */
function uiResult(part) {
  if (!isTool(part) || part.providerExecuted) return [];
  const base = { kind: /** @type {const} */ ("result"), id: part.toolCallId, name: toolName(part) };
  switch (part.state) {
    case "output-denied":
      return [{ ...base, text: part.approval?.reason ?? "Tool execution denied.", error: true }];
    case "output-error":
      return [{ ...base, text: String(part.errorText), error: true }];
    case "output-available":
      return [
        {
          ...base,
          text: typeof part.output === "string" ? part.output : JSON.stringify(part.output ?? null),
          error: false,
        },
      ];
    default:
      return [];
  }
}

/** @type {Record<string, string>} */
const langchainRoles = {
  human: "user",
  HumanMessage: "user",
  user: "user",
  ai: "assistant",
  AIMessage: "assistant",
  AIMessageChunk: "assistant",
  assistant: "assistant",
  system: "system",
  SystemMessage: "system",
  tool: "tool",
  ToolMessage: "tool",
};

/** An instance, or what it is written as. @param {any} message @returns {{ role: string, fields: any }} */
export function langchainFields(message) {
  if (typeof message?.getType === "function")
    return { role: langchainRoles[message.getType()] ?? "", fields: message };
  if (message?.lc === 1)
    return { role: langchainRoles[message.id?.at(-1)] ?? "", fields: message.kwargs ?? {} };
  const role = langchainRoles[message?.type ?? message?.role] ?? "";
  return { role, fields: isObject(message?.data) ? message.data : message };
}

/** @param {any} message @returns {Turn[]} */
function readLangchain(message) {
  const { role, fields } = langchainFields(message);
  const { content } = fields;
  if (role === "tool") {
    const spoken =
      typeof content === "string"
        ? content
        : list(content)
            .map((one) => one?.text ?? "")
            .join("\n");
    const result = {
      kind: /** @type {const} */ ("result"),
      id: fields.tool_call_id,
      text: spoken,
      error: fields.status === "error",
    };
    return [{ role, parts: [{ ...result, name: fields.name ?? undefined }] }];
  }
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : list(content);
  if (role !== "assistant") {
    const parts = blocks.flatMap((block) => {
      if (block?.type === "text") return [text(block.text)];
      return [image(block?.image_url?.url ?? block?.data ?? "", "image/png")];
    });
    return [{ role: /** @type {any} */ (role), parts }];
  }
  const more = fields.additional_kwargs ?? {};
  const signed = more.__gemini_function_call_thought_signatures__ ?? {};
  const calls = list(fields.tool_calls).map((one) =>
    call(one.id, one.name, one.args, signed[one.id] ?? null),
  );
  /** @type {Part[]} */
  const parts = [];
  if (more.reasoning_content !== undefined)
    parts.push({ kind: "reasoning", text: more.reasoning_content, sig: null });
  if (more.reasoning?.encrypted_content !== undefined) {
    const { summary, encrypted_content: sig, id } = more.reasoning;
    parts.push({
      kind: "reasoning",
      text: list(summary)
        .map((one) => one.text)
        .join(""),
      sig,
      id,
    });
  }
  for (const block of blocks) {
    if (block?.type === "thinking")
      parts.push({ kind: "reasoning", text: block.thinking, sig: block.signature ?? null });
    else if (block?.type === "reasoning_content")
      parts.push({
        kind: "reasoning",
        text: block.reasoningText?.text ?? "",
        sig: block.reasoningText?.signature ?? null,
      });
    // No adapter sends the empty content of a message that calls.
    else if (
      block?.type === "text" &&
      !(block.text === "" && calls.length > 0 && typeof content === "string")
    )
      parts.push(text(block.text));
  }
  return [{ role: "assistant", parts: [...parts, ...calls] }];
}

/** @param {any} message @returns {Turn[]} */
function readChat({ role, content, ...message }) {
  const spoken =
    typeof content === "string"
      ? content
      : list(content)
          .map((one) => one?.text ?? "")
          .join("\n");
  if (role === "tool")
    return [
      {
        role,
        parts: [
          {
            kind: "result",
            id: message.tool_call_id,
            name: message.name,
            text: spoken,
            error: false,
          },
        ],
      },
    ];
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : list(content);
  const parts = blocks.flatMap((block) => {
    if (block?.type === "text") return [text(block.text)];
    const [head = "", data = ""] = String(block?.image_url?.url).split(";base64,");
    return block?.type === "image_url" ? [image(data, head.replace("data:", ""))] : [];
  });
  if (role !== "assistant") return [{ role: role === "developer" ? "system" : role, parts }];
  const calls = list(message.tool_calls).map((one) => {
    const input = parsed(one.function?.arguments);
    const sig = one.extra_content?.google?.thought_signature ?? null;
    return call(one.id, one.function?.name, isObject(input) ? input : one.function?.arguments, sig);
  });
  const words = content === "" && calls.length > 0 ? [] : parts;
  /** @type {Part[]} */
  const thoughts =
    message.reasoning_content !== undefined
      ? [{ kind: "reasoning", text: message.reasoning_content, sig: null }]
      : [];
  return [{ role, parts: [...thoughts, ...words, ...calls] }];
}

/** Anthropic's results and words of one message are two turns. @param {any} message @returns {Turn[]} */
function readAnthropic({ role, content }) {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : list(content);
  const parts = blocks.flatMap((block) => anthropicPart(block));
  if (role === "assistant") return [{ role, parts }];
  const results = parts.filter((part) => part.kind === "result");
  const rest = parts.filter((part) => part.kind !== "result");
  return [
    ...some({ role: "tool", parts: results }),
    ...some({ role: "user", parts: rest, plain: typeof content === "string" }),
  ];
}

/** @param {any} block @returns {Part[]} */
function anthropicPart(block) {
  switch (block?.type) {
    case "text":
      return [text(block.text)];
    case "image":
      return [image(block.source?.data ?? "", block.source?.media_type)];
    case "thinking":
      return [{ kind: "reasoning", text: block.thinking, sig: block.signature ?? null }];
    case "redacted_thinking":
      return [{ kind: "reasoning", text: "", sig: block.data, redacted: true }];
    case "tool_use":
      return [call(block.id, block.name, block.input)];
    case "tool_result": {
      const { content } = block;
      const spoken =
        typeof content === "string"
          ? content
          : list(content)
              .map((one) => one?.text ?? "")
              .join("\n");
      return [
        { kind: "result", id: block.tool_use_id, text: spoken, error: block.is_error === true },
      ];
    }
    default:
      return [];
  }
}

/** Calls without ids get one from their place: Gemini pairs by place. @param {any} content @returns {Turn[]} */
function readGemini({ role, parts }) {
  const own = list(parts).flatMap((part) => {
    if (part?.functionCall) {
      const { id, name, args } = part.functionCall;
      return [call(id ?? "", name, args ?? {}, part.thoughtSignature ?? null)];
    }
    if (part?.functionResponse) {
      const { id, name, response } = part.functionResponse;
      const spoken = response?.output ?? response?.error ?? response;
      const result = {
        kind: /** @type {const} */ ("result"),
        id: id ?? "",
        name,
        error: response?.error !== undefined,
      };
      return [{ ...result, text: typeof spoken === "string" ? spoken : JSON.stringify(spoken) }];
    }
    if (part?.inlineData) return [image(part.inlineData.data, part.inlineData.mimeType)];
    if (typeof part?.text !== "string") return [];
    return [
      part.thought
        ? /** @type {Part} */ ({ kind: "reasoning", text: part.text, sig: null })
        : text(part.text),
    ];
  });
  if (role === "model") return [{ role: "assistant", parts: own }];
  const results = own.filter((part) => part.kind === "result");
  const rest = own.filter((part) => part.kind !== "result");
  return [...some({ role: "tool", parts: results }), ...some({ role: "user", parts: rest })];
}

/** @param {any} item @returns {Turn[]} */
function readResponses(item) {
  switch (item.type ?? "message") {
    case "message": {
      const { role, content } = item;
      const parts = (typeof content === "string" ? [{ text: content }] : list(content)).flatMap(
        (part) =>
          typeof part?.text === "string"
            ? [text(part.text)]
            : part?.image_url
              ? [image(part.image_url, "image/png")]
              : [],
      );
      return [{ role: role === "developer" ? "system" : role, parts }];
    }
    case "reasoning": {
      const spoken = list(item.summary)
        .map((one) => one.text)
        .join("\n");
      return [
        {
          role: "assistant",
          parts: [
            { kind: "reasoning", text: spoken, sig: item.encrypted_content ?? null, id: item.id },
          ],
        },
      ];
    }
    case "function_call": {
      const input = parsed(item.arguments);
      return [
        {
          role: "assistant",
          parts: [call(item.call_id, item.name, isObject(input) ? input : item.arguments)],
        },
      ];
    }
    case "custom_tool_call":
      return [{ role: "assistant", parts: [call(item.call_id, item.name, { input: item.input })] }];
    case "function_call_output":
    case "custom_tool_call_output": {
      const spoken =
        typeof item.output === "string"
          ? item.output
          : list(item.output)
              .map((one) => one?.text ?? "")
              .join("\n");
      return [
        { role: "tool", parts: [{ kind: "result", id: item.call_id, text: spoken, error: false }] },
      ];
    }
    default:
      return [];
  }
}
