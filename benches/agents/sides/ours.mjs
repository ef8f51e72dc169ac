/** Plimsoll, with its defaults but for what a row names. */
import { ContextManager } from "../../../npm/dist/index.node.js";
import { summarize } from "../summarizer.mjs";
import { summaryBudget } from "./peer.mjs";

const SUMMARIZER = "You summarize.";

/** @param {object} options of the manager, such as a preset */
export const ours =
  (options = {}) =>
  ({ window, reserve, system, tools, provider, clock }) => {
    let last;
    const context = new ContextManager({
      window: { contextTokens: window, maxOutputTokens: reserve },
      format: "openai-chat",
      estimator: "o200k",
      clock,
      // The first turns of a session are not counted by anyone: what the estimate is off by is corrected by `observe`.
      summarize: async ({
        system: instructions,
        prompt,
        previousSummary,
        maxOutputTokens,
        requiredHeadings,
      }) => {
        const text = summarize({
          transcript: readable(prompt, previousSummary),
          previous: previousSummary,
          budget: Math.min(summaryBudget(window), maxOutputTokens),
          headings: requiredHeadings,
        });
        provider.summary(`${instructions ?? SUMMARIZER}${prompt}`, text);
        return { text, finishReason: "stop" };
      },
      ...options,
    });
    const parts = { system, tools };
    return {
      async request(history) {
        last = await context.prepare(history, parts);
        return last.messages;
      },
      async overflow(history, error) {
        last = await context.recover(history, error, parts);
        return last?.messages ?? null;
      },
      usage: ({ size, cached }) =>
        context.observe(
          {
            prompt_tokens: size,
            prompt_tokens_details: { cached_tokens: cached },
            completion_tokens: 0,
          },
          last,
        ),
      close: () => context[Symbol.dispose](),
    };
  };

const SPEAKERS = { user: "[User]", assistant: "[Assistant]", tool: "[Tool result]" };

/** A prompt in the form that the summarizer reads: what the user said and is kept beside the summary is left out, as the prompt asks. */
function readable(prompt, previous) {
  let left = false;
  return (previous ? prompt.replace(previous, "") : prompt)
    .split("\n")
    .flatMap((line) => {
      const head = /^#\d+ (user|assistant|tool)(.*)/.exec(line);
      if (head) {
        left = head[2].includes("kept");
        return left ? [] : [`${SPEAKERS[head[1]]}:`];
      }
      if (left) return [];
      const text = line.replace(/^ {2}/, "").replace(/^\w+ gave: /, "");
      return text.startsWith("used ") ? `[Assistant tool calls]: ${text}` : text;
    })
    .join("\n");
}
