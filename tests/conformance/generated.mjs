// @ts-check
/** Histories that no agent should write and some do: calls without results, results late, twice or of nothing, blanks. */

const WORDS = [
  "alpha",
  "src/foo.rs",
  "parseThing",
  "my_value_x",
  "4711234",
  "日本語",
  "😀",
  "E1234",
  " ",
  "\n",
];

/** A generator of numbers from 0 to 1, the same for the same seed. @param {number} seed */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** @param {"anthropic" | "openai-chat" | "pi"} format @param {() => number} next */
export function history(format, next) {
  const below = (/** @type {number} */ n) => Math.floor(next() * n);
  const chance = (/** @type {number} */ share) => next() < share;
  const text = (/** @type {number} */ most) =>
    Array.from({ length: below(most) + 1 }, () => WORDS[below(WORDS.length)]).join(" ");
  const long = (/** @type {number} */ usual) => text(chance(0.2) ? 3000 : usual);
  /** @type {string[]} */
  const ids = [];
  const id = () => {
    ids.push(chance(0.1) ? "dup" : `c${ids.length}${chance(0.05) ? " not legal" : ""}`);
    return /** @type {string} */ (ids.at(-1));
  };
  const shape = shapes[format]({ below, chance, text, long });
  /** @type {any[]} */
  const messages = [];
  for (let turn = below(40) + 1; turn > 0; turn -= 1) {
    const kind = next();
    if (kind < 0.25) messages.push(...shape.user());
    else if (kind < 0.6) {
      const calls = Array.from({ length: below(4) }, id);
      messages.push(shape.assistant(calls));
      messages.push(...shape.results(calls.filter(() => chance(0.9))));
    } else if (kind < 0.7 && ids.length > 0) {
      messages.push(...shape.results([/** @type {string} */ (ids[below(ids.length)])]));
    } else if (kind < 0.75) messages.push(...shape.odd());
  }
  return messages;
}

/**
 * @typedef {{ below: (n: number) => number, chance: (share: number) => boolean,
 *   text: (most: number) => string, long: (usual: number) => string }} Dice
 * @typedef {{ user: () => any[], assistant: (calls: string[]) => any, results: (calls: string[]) => any[],
 *   odd: () => any[] }} Shape
 * @type {Record<string, (dice: Dice) => Shape>}
 */
const shapes = {
  anthropic: ({ chance, text, long }) => ({
    user: () => [
      {
        role: "user",
        content: chance(0.5)
          ? text(50)
          : [
              { type: "text", text: chance(0.1) ? "  " : text(400) },
              ...(chance(0.2) ? [IMAGE] : []),
            ],
      },
    ],
    assistant: (calls) => ({
      role: "assistant",
      content: [
        ...(chance(0.3) ? [{ type: "thinking", thinking: text(100), signature: "s" }] : []),
        ...(chance(0.5) ? [{ type: "text", text: chance(0.1) ? "" : text(50) }] : []),
        ...calls.map((id) => ({ type: "tool_use", id, name: "read", input: { path: long(5) } })),
      ],
    }),
    results: (calls) => {
      const blocks = calls.map((id) => ({
        type: "tool_result",
        tool_use_id: id,
        ...(chance(0.1)
          ? {}
          : { content: chance(0.5) ? long(100) : [{ type: "text", text: text(200) }] }),
        ...(chance(0.2) ? { is_error: true } : {}),
      }));
      /** @type {any[]} */
      const content = chance(0.2) ? [...blocks, { type: "text", text: text(20) }] : blocks;
      return content.length > 0
        ? [{ role: "user", content: chance(0.1) ? content.reverse() : content }]
        : [];
    },
    odd: () => [{ role: "assistant", content: text(30) }],
  }),
  "openai-chat": ({ chance, text, long }) => ({
    user: () => [
      { role: "user", content: chance(0.5) ? text(100) : [{ type: "text", text: text(300) }] },
    ],
    assistant: (calls) => ({
      role: "assistant",
      content: chance(0.4) ? null : chance(0.1) ? "" : text(40),
      ...(chance(0.2) ? { reasoning_content: text(60) } : {}),
      ...(calls.length > 0
        ? {
            tool_calls: calls.map((id) => ({
              id,
              type: "function",
              function: {
                name: "read",
                arguments: chance(0.05) ? "{bad" : JSON.stringify({ path: long(5) }),
              },
            })),
          }
        : {}),
    }),
    results: (calls) =>
      calls.map((id) => ({
        role: "tool",
        tool_call_id: id,
        content: chance(0.1) ? "" : long(100),
      })),
    odd: () => [{ role: "system", content: text(50) }],
  }),
  pi: ({ below, chance, text, long }) => ({
    user: () => [
      {
        role: "user",
        content: chance(0.5) ? text(100) : [{ type: "text", text: text(300) }],
        timestamp: 1,
      },
    ],
    assistant: (calls) => ({
      role: "assistant",
      content: [
        ...(chance(0.3) ? [{ type: "thinking", thinking: text(100), thinkingSignature: "s" }] : []),
        ...(chance(0.5) ? [{ type: "text", text: chance(0.1) ? "" : text(50) }] : []),
        ...calls.map((id) => ({
          type: "toolCall",
          id,
          name: "read",
          arguments: { path: long(5) },
        })),
      ],
      stopReason: chance(0.1) ? ["error", "aborted"][below(2)] : "toolUse",
      timestamp: 2,
    }),
    results: (calls) =>
      calls.map((id) => ({
        role: "toolResult",
        toolCallId: id,
        toolName: "read",
        content: [{ type: "text", text: long(100) }],
        isError: chance(0.2),
        timestamp: 3,
      })),
    odd: () => [{ role: "bashExecution", command: "ls", output: text(20), timestamp: 4 }],
  }),
};

const IMAGE = { type: "image", source: { type: "base64", media_type: "image/png", data: "aaaa" } };
