/** LangChain: `trimMessages`, and the middleware that summarizes. */

import { messageTokens } from "../provider.mjs";
import { summarize } from "../summarizer.mjs";
import { peer, summaryBudget } from "./peer.mjs";

/** Messages as instances, each made once. */
async function shapes() {
  const { AIMessage, HumanMessage, ToolMessage } = await peer("@langchain/core/messages");
  const made = new WeakMap();
  const back = new WeakMap();
  const from = (message) => {
    if (made.has(message)) return made.get(message);
    const { role, content, tool_calls: calls = [], tool_call_id: id } = message;
    const shaped =
      role === "user"
        ? new HumanMessage(content)
        : role === "tool"
          ? new ToolMessage({ content, tool_call_id: id })
          : new AIMessage({
              content,
              tool_calls: calls.map(({ id, function: it }) => ({
                id,
                name: it.name,
                args: JSON.parse(it.arguments),
              })),
            });
    made.set(message, shaped);
    back.set(shaped, message);
    return shaped;
  };
  const to = (shaped) => back.get(shaped) ?? { role: "user", content: shaped.content };
  // Tokens as the provider counts them: the exact counter that its documentation asks for.
  const tokenCounter = (messages) => messages.reduce((sum, it) => sum + messageTokens(to(it)), 0);
  return { from, to, tokenCounter };
}

export const trim = async ({ window, reserve, provider }) => {
  const { trimMessages } = await peer("@langchain/core/messages");
  const { from, to, tokenCounter } = await shapes();
  const maxTokens = window - reserve - provider.extraTokens;
  return {
    async request(history) {
      if (tokenCounter(history.map(from)) <= maxTokens) return history;
      // `startOn: "human"` gives nothing where one turn is larger than the window; then as its documentation has it for agents.
      const options = { maxTokens, tokenCounter, strategy: "last" };
      const shaped = history.map(from);
      let out = await trimMessages(shaped, { ...options, startOn: "human" });
      if (out.length === 0)
        out = await trimMessages(shaped, { ...options, startOn: ["human", "ai"] });
      return out.map(to);
    },
  };
};

/** @param {{ untrimmed?: boolean }} options untrimmed: the summarizer reads all of what goes, not the last 4,000 tokens of it, the default */
export const summarization =
  ({ untrimmed = false } = {}) =>
  async ({ window, reserve, provider }) => {
    const { summarizationMiddleware } = await peer("langchain");
    const { from, to, tokenCounter } = await shapes();
    const room = window - reserve - provider.extraTokens;
    const model = {
      invoke: async (prompt) => {
        const asked =
          typeof prompt === "string" ? prompt : prompt.map(({ content }) => content).join("\n");
        // Calls stand after the words of the assistant, on the same line.
        const transcript = asked
          .slice(Math.max(0, asked.lastIndexOf("Messages to summarize")))
          .replace(/\[\{"id":"call_\d+".*$/gm, "");
        const text = summarize({ transcript, budget: summaryBudget(window) });
        provider.summary(asked, text);
        return { content: text };
      },
    };
    // No default trigger: four fifths of the room; three tenths of it are kept.
    const { beforeModel } = summarizationMiddleware({
      model,
      trigger: { tokens: Math.floor(room * 0.8) },
      keep: { tokens: Math.floor(room * 0.3) },
      tokenCounter,
      trimTokensToSummarize: untrimmed ? room : 4_000,
    });
    const hook = beforeModel.hook ?? beforeModel;
    let kept = [];
    let known = 0;
    return {
      async request(history) {
        kept = [...kept, ...history.slice(known).map(from)];
        known = history.length;
        const update = await hook({ messages: kept }, { context: {} });
        // The first removes all, as its reducer does.
        if (update?.messages) kept = update.messages.slice(1);
        return kept.map(to);
      },
    };
  };
